//! Damping of a reduced model: what the joints dissipate, Rayleigh's two terms, and modal ratios.

use forks_dynamics::modes::admissible_motions;
use forks_mechanism::linalg::{Matrix, dense};

use crate::{
    attached::add_forms, condensed::damping_of, error::ReduceError, linearised::Linearised,
    shapes::Shapes,
};

/// How the joints' own damping enters a reduced model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JointDamping {
    /// XᵀDX: what the joints dissipate when the mechanism moves along its shapes.
    #[default]
    Shapes,
    /// (J D⁻¹ Jᵀ)⁻¹ with the loops in D⁻¹: \[A16\]'s projection, only where every joint is damped.
    /// The fixed-effector modes keep their own XᵀDX and are not coupled to it.
    Inverse,
    /// Left out.
    Ignored,
}

/// Damping of a reduced model: the sum of its terms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Damping {
    /// The damping of joints, bushings, cables and springs on combinations.
    pub joints: JointDamping,
    /// Rayleigh's a in a·M, 1/s.
    pub rayleigh_mass: f64,
    /// Rayleigh's b in b·𝓗, s.
    pub rayleigh_stiffness: f64,
    /// Ratio ζ to critical damping that every mode of the reduced model gets *in addition* to the
    /// other terms (0.02 = 2 %); alone with [`JointDamping::Ignored`] it is the ratio of every
    /// mode.
    pub modal_ratio: Option<f64>,
}

impl Damping {
    /// The same ratio of critical damping for every mode, and nothing else.
    pub fn modal(ratio: f64) -> Self {
        Self { joints: JointDamping::Ignored, modal_ratio: Some(ratio), ..Self::default() }
    }

    /// # Errors
    /// [`ReduceError::Damping`] for a coefficient that is negative or not finite.
    pub(crate) fn check(&self) -> Result<(), ReduceError> {
        let coefficients = [
            ("Rayleigh damping by mass", self.rayleigh_mass),
            ("Rayleigh damping by stiffness", self.rayleigh_stiffness),
            ("modal damping ratio", self.modal_ratio.unwrap_or(0.0)),
        ];
        for (quantity, value) in coefficients {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(ReduceError::Damping { quantity, value });
            }
        }
        Ok(())
    }

    /// The damping of a model with these shapes, mass and stiffness.
    pub(crate) fn matrix(
        &self,
        linear: &Linearised<'_>,
        shapes: &Shapes,
        mass: &Matrix,
        hessian: &Matrix,
    ) -> Result<Matrix, ReduceError> {
        let joints = of_joints(linear, self.joints, shapes)?;
        let (a, b) = (self.rayleigh_mass, self.rayleigh_stiffness);
        let n = joints.rows();
        let mut out =
            Matrix::from_fn(n, n, |i, j| joints[(i, j)] + a * mass[(i, j)] + b * hessian[(i, j)]);
        if let Some(ratio) = self.modal_ratio.filter(|&r| r > 0.0) {
            add_modal(&mut out, ratio, mass, hessian)?;
        }
        Ok(out.symmetric_part())
    }
}

/// Σ 2ζ √ν (𝓗x)(𝓗x)ᵀ over the modes M x = ν 𝓗 x, xᵀ𝓗x = 1, ν = ω⁻²: nothing for a motion without
/// mass.
fn add_modal(out: &mut Matrix, ratio: f64, mass: &Matrix, h: &Matrix) -> Result<(), ReduceError> {
    let modes = dense::generalized_symmetric_eigen(mass, h);
    let (nu, x) = modes.ok_or(forks_rom::ModelError::NotPositiveDefinite)?;
    let forces = h.mul(&x);
    for (k, nu) in nu.iter().enumerate() {
        let s = 2.0 * ratio * nu.max(0.0).sqrt();
        for i in 0..out.rows() {
            for j in 0..out.columns() {
                out[(i, j)] += s * forces[(i, k)] * forces[(j, k)];
            }
        }
    }
    Ok(())
}

/// The joints' part of the damping on static shapes and modes.
fn of_joints(
    linear: &Linearised<'_>,
    joints: JointDamping,
    shapes: &Shapes,
) -> Result<Matrix, ReduceError> {
    let n = shapes.joints.columns();
    let of_shapes = || {
        let mut d = damping_of(linear.mechanism(), linear.poses(), shapes);
        add_forms(&mut d, linear.attached(), shapes, |e| &e.damping);
        d
    };
    match joints {
        JointDamping::Ignored => Ok(Matrix::zeros(n, n)),
        JointDamping::Shapes => Ok(of_shapes()),
        JointDamping::Inverse => {
            if !linear.attached().is_empty() {
                return Err(ReduceError::WithSuperelements { quantity: "inverse projection" });
            }
            linear.check_dense("the inverse projection of the damping")?;
            let effector = inverse_projection(linear)?;
            let (rank, of_shapes) = (effector.rows(), of_shapes());
            Ok(Matrix::from_fn(n, n, |i, j| match (i < rank, j < rank) {
                (true, true) => effector[(i, j)],
                (false, false) => of_shapes[(i, j)],
                _ => 0.0,
            }))
        }
    }
}

/// (B⁺ J N (NᵀDN)⁻¹ Nᵀ Jᵀ B⁺ᵀ)⁻¹, n_η × n_η.
fn inverse_projection(linear: &Linearised<'_>) -> Result<Matrix, ReduceError> {
    let (m, q, poses) = (linear.mechanism(), linear.q(), linear.poses());
    for (i, joint) in m.joints().iter().enumerate() {
        let d = Matrix::from_fn(joint.dof(), joint.dof(), |a, b| joint.damping.get(a, b));
        if dense::cholesky_solve(&d, &Matrix::identity(d.rows())).is_none() {
            let id = forks_mechanism::JointId::new(i);
            return Err(ReduceError::Undamped { joint: m.joint_label(id) });
        }
    }
    let n = admissible_motions(m, q, poses);
    let reduced = linear.basis.dual.transpose_mul(linear.effector_jacobian()).mul(&n);
    let d = damping_of(m, poses, &Shapes::of_motions(m, q, n));
    let invert = |a: &Matrix, b: &Matrix| {
        dense::cholesky_solve(a, b)
            .filter(Matrix::is_finite)
            .ok_or(ReduceError::NotFinite { quantity: "the inverse projection of the damping" })
    };
    let inverse = reduced.mul(&invert(&d, &reduced.transpose())?).symmetric_part();
    Ok(invert(&inverse, &Matrix::identity(inverse.rows()))?.symmetric_part())
}
