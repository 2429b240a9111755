//! The mass of a reduced model.
//!
//! The condensed mass is XᵀMX with X the static shape per reduced coordinate \[Guyan65\]. The
//! accelerability (\[A16\] Eq. 7) is J M⁻¹ Jᵀ with the loops' couplings in M⁻¹.

use forks_mechanism::{
    Mechanism,
    linalg::{Matrix, dense},
};
use forks_rom::data::ModelData;

use crate::{
    attached::add_forms,
    condensed::mass_of,
    error::ReduceError,
    fixed_modes::{FixedModes, fixed_modes},
    linearised::Linearised,
    modal_loads::modal_loads,
    shapes::{Shapes, above, beside, joint_rows},
};

/// How the reduced mass is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MassModel {
    /// Static shapes: XᵀMX. Frequencies a little too high.
    #[default]
    Condensed,
    /// The mass felt at infinite frequency, (J M⁻¹ Jᵀ)⁻¹: frequencies far too high (\[A16\]).
    Accelerability,
    /// Static shapes and the lowest modes with all effectors held \[CB68\], which
    /// become further coordinates of the model.
    CraigBampton {
        /// How many; fewer where there are not so many.
        modes: usize,
    },
}

/// Gives a model its mass, with modes its further coordinates; the shapes are widened with it.
pub(crate) fn add_mass(
    linear: &Linearised<'_>,
    mass: MassModel,
    data: &mut ModelData,
    shapes: &mut Shapes,
) -> Result<(), ReduceError> {
    let (m, attached) = (linear.mechanism(), linear.attached());
    data.mass = match mass {
        MassModel::Condensed => mass_of(m, shapes),
        MassModel::Accelerability => {
            if !attached.is_empty() {
                return Err(ReduceError::WithSuperelements { quantity: "accelerability" });
            }
            linear.check_dense("accelerability")?;
            accelerability(linear).ok_or(ReduceError::Massless)?
        }
        MassModel::CraigBampton { modes } => {
            linear.check_dense("the computation of fixed-effector modes")?;
            let k = linear.stiffness_with_elements()?.symmetric_part();
            let modes = fixed_modes(linear, &k, modes)?;
            *shapes = shapes.beside(&modes.shapes);
            let loads = match attached.is_empty() {
                true => modal_loads(linear, &modes, &k)?,
                // Not known: superelements carry a part of them.
                false => vec![Matrix::default(); data.joints.len()],
            };
            append_modes(m, data, &modes, &k, &loads);
            mass_of(m, shapes)
        }
    };
    add_forms(&mut data.mass, attached, shapes, |e| &e.mass);
    Ok(())
}

/// (B⁺ J M⁻¹ Jᵀ B⁺ᵀ)⁻¹; `None` where a motion has no mass.
fn accelerability(linear: &Linearised<'_>) -> Option<Matrix> {
    let dual = &linear.basis.dual;
    let reduced = dual.transpose_mul(&linear.inverse_mass()?.mul(dual)).symmetric_part();
    let inverse = dense::cholesky_solve(&reduced, &Matrix::identity(reduced.rows()))?;
    inverse.is_finite().then(|| inverse.symmetric_part())
}

/// Widens everything that is per reduced coordinate by the modes.
fn append_modes(
    m: &Mechanism,
    data: &mut ModelData,
    modes: &FixedModes,
    k: &Matrix,
    loads: &[Matrix],
) {
    let (rank, count) = (data.basis.columns(), modes.stiffness.len());
    // A drive with the forces f moves a mode to ζ = φᵀf / φᵀKφ, and φᵀf = φᵀK Y: its static shapes
    // do no work on it. What the modes take over is no longer part of the motion at fixed
    // coordinates.
    let outputs = joint_rows(m, data, data.servos.len(), |j| &j.servo_map);
    let nv = outputs.rows();
    let mut rest = modes.shapes.joints.transpose_mul(&k.block(0, 0, nv, nv).mul(&outputs));
    for (i, s) in modes.stiffness.iter().enumerate() {
        rest.row_mut(i).iter_mut().for_each(|x| *x /= s);
    }
    data.servo_rest = above(&data.servo_rest, &rest);
    data.basis = beside(&data.basis, &Matrix::zeros(data.basis.rows(), count));
    data.hessian = Matrix::from_fn(rank + count, rank + count, |i, j| match (i < rank, j < rank) {
        (true, true) => data.hessian[(i, j)],
        (false, false) if i == j => modes.stiffness[i - rank],
        _ => 0.0,
    });
    for (link, shape) in data.links.iter_mut().zip(&modes.shapes.links) {
        link.map = beside(&link.map, shape);
        link.servo_map = link.servo_map.sub(&shape.mul(&rest));
    }
    let forest = m.forest();
    let ids = forest.edges().iter().map(|e| e.joint).chain(forest.closures().iter().copied());
    for ((joint, id), load) in data.joints.iter_mut().zip(ids).zip(loads) {
        let range = m.velocity_range(id);
        let shape = modes.shapes.joints.block(range.start, 0, range.len(), count);
        joint.map = beside(&joint.map, &shape);
        joint.servo_map = joint.servo_map.sub(&shape.mul(&rest));
        if joint.load_map.rows() > 0 && load.rows() > 0 {
            joint.load_map = beside(&joint.load_map, load);
        } else {
            joint.load_map = Matrix::default();
        }
    }
}
