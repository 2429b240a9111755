//! The linear behaviour of the effectors about a pose.

use std::sync::OnceLock;

use forks_dynamics::{
    Cancel, Loads,
    modes::{effective_inverse_mass, lowest_frequencies},
    tangent_stiffness,
};
use forks_mechanism::{
    Mechanism,
    kinematics::{link_jacobian, loops},
    lie::{Pose, Twist},
    linalg::{Matrix, dense},
};

use crate::{
    attached::Attached,
    basis::{Basis, basis},
    drive::Drive,
    effector::Effector,
    error::ReduceError,
    linearisation::Linearisation,
    problem::Problem,
    response::{Response, response},
};

/// Above this many coordinates dense computations on the full mechanism are left out.
pub const DENSE_LIMIT: usize = 1500;
/// How many of the full mechanism's frequencies are reported.
const REPORTED_FREQUENCIES: usize = 24;

/// The linear behaviour of a problem's effectors about a pose, whether or not it makes a model.
#[derive(Clone, Debug)]
pub struct Linearised<'a> {
    /// The linear response; its compliance is 𝓗⁻¹ in effector coordinates.
    pub response: Response,
    /// Rank and basis of the effectors' motion.
    pub basis: Basis,
    /// 𝓗, n_η × n_η. Positive definite at rest; at poses that are held only by the loads on the
    /// effectors it need not be.
    pub hessian: Matrix,
    /// Compliance C, 6E × 6E, for loads that keep their world axes (components in the axes of the
    /// linearisation pose); equal to the response's where no static wrench acts.
    pub compliance: Matrix,
    pub(crate) problem: &'a Problem,
    pub(crate) at: Linearisation<'a>,
    /// The servos, then the further drives.
    pub(crate) drives: Vec<Drive>,
    effector_jacobian: OnceLock<Matrix>,
}

impl Problem {
    /// The linear response about a pose, servos' targets included.
    ///
    /// # Errors
    /// See [`ReduceError`].
    pub fn response(&self, at: Linearisation<'_>) -> Result<Response, ReduceError> {
        let tangent = at.tangent_limits(self.mechanism());
        let m = tangent.as_ref().unwrap_or(self.mechanism());
        let drives = drives_at(m, at, &self.servos);
        response(m, &self.effectors, at, &drives, &self.attached, &Cancel::default())
    }

    /// Linearises about a pose, also where that makes no model.
    ///
    /// # Errors
    /// See [`ReduceError`].
    pub fn linearise<'a>(&'a self, at: Linearisation<'a>) -> Result<Linearised<'a>, ReduceError> {
        Linearised::new(self, at, &[], &Cancel::default())
    }
}

/// Drives with the directions that they have in a pose.
fn drives_at(m: &Mechanism, at: Linearisation<'_>, drives: &[Drive]) -> Vec<Drive> {
    if drives.iter().all(|d| d.cable.is_none()) {
        return drives.to_vec();
    }
    let (Linearisation::Rest { q } | Linearisation::Loaded { q, .. }) = at;
    let poses = m.link_poses(q);
    drives.iter().map(|d| d.at(m, q, &poses)).collect()
}

impl<'a> Linearised<'a> {
    pub(crate) fn new(
        problem: &'a Problem,
        at: Linearisation<'a>,
        further: &[Drive],
        cancel: &Cancel,
    ) -> Result<Self, ReduceError> {
        let tangent = at.tangent_limits(problem.mechanism());
        let m = tangent.as_ref().unwrap_or(problem.mechanism());
        let effectors = &problem.effectors;
        let drives = drives_at(m, at, &[&problem.servos, further].concat());
        let response = response(m, effectors, at, &drives, &problem.attached, cancel)?;
        let names: Vec<String> = effectors.iter().map(|e| format!("'{}'", e.name)).collect();
        let loaded = matches!(at, Linearisation::Loaded { .. });
        let basis = basis(m, &response, &problem.attached, loaded, &names.join(", "))?;
        let compliance = response.world_fixed_compliance()?;
        // C_η = (SU)ᵀ C (SU), 𝓗 = C_η⁻¹.
        let reduced = basis.dual.transpose_mul(&response.compliance).mul(&basis.dual);
        let identity = Matrix::identity(basis.rank);
        let hessian = dense::lu_solve(&reduced.symmetric_part(), &identity).symmetric_part();
        if !hessian.is_finite() {
            return Err(ReduceError::NotFinite { quantity: "the reduced stiffness" });
        }
        let effector_jacobian = OnceLock::new();
        Ok(Self { response, basis, hessian, compliance, problem, at, drives, effector_jacobian })
    }

    /// Largest residual of the loop equations at the linearisation pose, released directions
    /// included.
    pub fn closure_residual(&self) -> f64 {
        let (m, q, poses) = (self.mechanism(), self.q(), self.poses());
        let couplings = 6 * m.forest().closures().len();
        let gaps = m.forest().closures().iter().map(|&id| loops::closure_gap(m, q, poses, id));
        let mut residual: Vec<f64> = gaps.flat_map(|g| g.to_array()).collect();
        residual.extend(&loops::constraint_residual(m, q, poses)[couplings..]);
        residual.iter().fold(0.0, |m, x| m.max(x.abs()))
    }

    /// J M⁻¹ Jᵀ of the effectors with the loops in M⁻¹, 6E × 6E; `None` where a motion has no mass,
    /// with superelements, or where the mechanism is above [`DENSE_LIMIT`].
    pub fn inverse_mass(&self) -> Option<Matrix> {
        let m = self.mechanism();
        (m.velocity_count() <= DENSE_LIMIT && self.attached().is_empty())
            .then(|| effective_inverse_mass(m, self.q(), self.poses(), self.effector_jacobian()))
            .flatten()
    }

    /// The lowest frequencies of the full mechanism at the pose, rad/s, ascending; superelements
    /// take part with their internal modes. None above [`DENSE_LIMIT`], or at a loaded pose with
    /// superelements.
    pub fn full_frequencies(&self) -> Vec<f64> {
        let m = self.mechanism();
        if m.velocity_count() > DENSE_LIMIT {
            return vec![];
        }
        if !self.attached().is_empty() {
            return self.frequencies_with_elements(REPORTED_FREQUENCIES).unwrap_or_default();
        }
        let of =
            |k: Matrix| lowest_frequencies(m, self.q(), self.poses(), &k, REPORTED_FREQUENCIES);
        self.tangent_stiffness().ok().and_then(of).unwrap_or_default()
    }

    /// The tangent stiffness at the pose, nv × nv; of unstressed springs at rest.
    pub(crate) fn tangent_stiffness(&self) -> Result<Matrix, ReduceError> {
        let (m, poses) = (self.mechanism(), self.poses());
        Ok(match self.at {
            Linearisation::Rest { q } => {
                let m = m.unstressed_at(q)?;
                let lambda = vec![0.0; loops::constraint_rows(&m)];
                tangent_stiffness(&m, q, poses, &Loads::none(), &lambda)
            }
            Linearisation::Loaded { q, loads, multipliers } => {
                tangent_stiffness(m, q, poses, loads, multipliers)
            }
        })
    }

    /// Jacobian of the effectors, 6E × nv.
    pub(crate) fn effector_jacobian(&self) -> &Matrix {
        self.effector_jacobian.get_or_init(|| {
            let (m, effectors) = (self.mechanism(), self.effectors());
            let mut out = Matrix::zeros(6 * effectors.len(), m.velocity_count());
            for (e, effector) in effectors.iter().enumerate() {
                let j = link_jacobian(m, self.q(), self.poses(), effector.link);
                let ad = effector.link_from_effector.adjoint();
                for k in 0..j.columns() {
                    let t =
                        ad.apply_inverse(Twist::from_array(core::array::from_fn(|i| j[(i, k)])));
                    for (i, x) in t.to_array().into_iter().enumerate() {
                        out[(6 * e + i, k)] = x;
                    }
                }
            }
            out
        })
    }

    /// # Errors
    /// [`ReduceError::TooLarge`].
    pub(crate) fn check_dense(&self, quantity: &'static str) -> Result<(), ReduceError> {
        let coordinates = self.mechanism().velocity_count();
        if coordinates <= DENSE_LIMIT {
            return Ok(());
        }
        Err(ReduceError::TooLarge { quantity, coordinates, limit: DENSE_LIMIT })
    }

    pub(crate) fn mechanism(&self) -> &'a Mechanism {
        self.problem.mechanism()
    }

    pub(crate) fn attached(&self) -> &'a [Attached] {
        &self.problem.attached
    }

    pub(crate) fn effectors(&self) -> &'a [Effector] {
        &self.problem.effectors
    }

    pub(crate) fn q(&self) -> &'a [f64] {
        self.at.positions()
    }

    /// World poses of the links.
    pub(crate) fn poses(&self) -> &[Pose] {
        &self.response.world_from_link
    }
}
