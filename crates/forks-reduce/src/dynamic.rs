//! A reduced model with the mass and the damping of one's choice.

use forks_mechanism::{Mechanism, linalg::Matrix};
use forks_rom::{ModelData, ReducedModel};

use crate::{
    condensed::{damping_of, mass_of},
    damping::{Damping, JointDamping, inverse_projection},
    error::ReduceError,
    fixed_modes::{FixedModes, check_dense, fixed_modes, stiffness},
    inertia::{MassModel, accelerability, effector_jacobian, inverse_mass},
    modal_loads::modal_loads,
    reduce::Reduction,
    response::{Effector, Linearisation},
    shapes::{Shapes, above, beside, joint_rows},
};

/// The run-time model of a reduction with mass and damping as asked for.
///
/// `at` must be what the reduction was made with. With [`MassModel::CraigBampton`] the model has
/// further coordinates after those of the basis, [`modes_of`] of them: as many as were asked for,
/// or as there are. A base that floats is not carried over: its momentum depends on the mass model.
///
/// # Errors
/// Damping coefficients that are negative or not finite, undamped joints with
/// [`JointDamping::Inverse`], motions without mass with [`MassModel::Accelerability`], poses that
/// are not stable with the effectors held and mechanisms above [`crate::DENSE_LIMIT`] where dense
/// algebra is needed.
pub fn dynamic_model(
    m: &Mechanism,
    effectors: &[Effector],
    at: Linearisation<'_>,
    reduction: &Reduction,
    mass: MassModel,
    damping: &Damping,
) -> Result<ReducedModel, ReduceError> {
    damping.check()?;
    let q = at.positions();
    let static_data = reduction.model.data();
    let mut data = static_data.clone();
    data.base = None;
    let mut shapes = Shapes::of_model(m, &data);
    match mass {
        MassModel::Condensed => data.mass = mass_of(m, &shapes),
        MassModel::Accelerability => {
            check_dense(m, "accelerability")?;
            let inverse = inverse_mass(m, effectors, q, reduction);
            let mass = inverse.and_then(|a| accelerability(&a, reduction));
            data.mass = mass.ok_or(ReduceError::Massless)?;
        }
        MassModel::CraigBampton { modes } => {
            check_dense(m, "the computation of fixed-effector modes")?;
            let k = stiffness(m, at, reduction)?;
            let modes = fixed_modes(m, effectors, at, reduction, &k, modes)?;
            shapes = shapes.beside(&modes.shapes);
            let poses = &reduction.response.world_from_link;
            let j = effector_jacobian(m, q, reduction, effectors);
            let loads = modal_loads(m, effectors, at, poses, &j, &modes, &k)?;
            append_modes(m, &mut data, &modes, &k, &loads);
            data.mass = mass_of(m, &shapes);
        }
    }
    let joints = joint_damping(m, effectors, q, reduction, damping.joints, &shapes)?;
    data.damping = damping.added(joints, &data.mass, &data.hessian)?;
    Ok(ReducedModel::new(data)?)
}

/// How many fixed-effector modes a model of this reduction has.
pub fn modes_of(reduction: &Reduction, model: &ReducedModel) -> usize {
    model.dof() - reduction.basis.rank
}

/// The joints' part of the damping on static shapes and modes.
fn joint_damping(
    m: &Mechanism,
    effectors: &[Effector],
    q: &[f64],
    reduction: &Reduction,
    joints: JointDamping,
    shapes: &Shapes,
) -> Result<Matrix, ReduceError> {
    let n = shapes.joints.columns();
    let poses = &reduction.response.world_from_link;
    match joints {
        JointDamping::Ignored => Ok(Matrix::zeros(n, n)),
        JointDamping::Shapes => Ok(damping_of(m, poses, shapes)),
        JointDamping::Inverse => {
            check_dense(m, "the inverse projection of the damping")?;
            let j = effector_jacobian(m, q, reduction, effectors);
            let effector = inverse_projection(m, q, poses, &j, &reduction.basis.dual)?;
            let rank = effector.rows();
            let of_shapes = damping_of(m, poses, shapes);
            Ok(Matrix::from_fn(n, n, |i, j| match (i < rank, j < rank) {
                (true, true) => effector[(i, j)],
                (false, false) => of_shapes[(i, j)],
                _ => 0.0,
            }))
        }
    }
}

/// Widens everything that is per reduced coordinate; mass and damping follow.
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
    let mut rest = modes.shapes.joints.transpose_mul(&k.mul(&outputs));
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
        if joint.load_map.rows() > 0 {
            joint.load_map = beside(&joint.load_map, load);
        }
    }
}
