//! The joint-space mass matrix: composite rigid bodies, from the outermost links inwards.

use forks_mechanism::{
    JointId, Mechanism,
    lie::{Mat6, Matrix, Pose, Twist, Wrench},
};

use crate::branches::{Branch, Branches};

/// The mass matrix M(q) (nv×nv) with armature: kinetic energy ½ vᵀ M v.
///
/// The coordinates of loop-closing joints carry no mass but their armature; loops are not in M.
pub fn mass_matrix(m: &Mechanism, q: &[f64], world_from_link: &[Pose]) -> Matrix {
    let branches = Branches::new(m, q, world_from_link);
    let n = m.velocity_count();
    let mut out = Matrix::zeros(n, n);
    let mut composite: Vec<Mat6> = m.links().iter().map(|l| l.inertia.matrix().to_mat6()).collect();
    composite.resize(branches.world_from_link.len(), Mat6::ZERO);
    for b in branches.list.iter().rev() {
        let inertia = composite[b.outer];
        if inertia == Mat6::ZERO {
            continue;
        }
        for (column, j) in b.columns.as_slice().iter().zip(b.velocities.clone()) {
            let momentum = Wrench::from_array(inertia.mul_vec(&column.to_array()));
            for (other, i) in b.columns.as_slice().iter().zip(b.velocities.clone()) {
                out[(i, j)] = other.dot(momentum);
            }
            carry_inward(&branches, b, j, momentum, &mut out);
        }
        let ad = b.inner_from_outer.inverse().adjoint().matrix();
        composite[b.inner] += ad.transpose() * inertia * ad;
    }
    for (i, j) in m.joints().iter().enumerate() {
        for (k, armature) in m.velocity_range(JointId::new(i)).zip(&j.armature) {
            out[(k, k)] += armature;
        }
    }
    out
}

/// Momentum of the bodies outward of a joint, felt by the joints inward of it.
fn carry_inward(branches: &Branches, b: &Branch, j: usize, momentum: Wrench, out: &mut Matrix) {
    let mut carried = b.inner_from_outer.adjoint().apply_to_wrench(momentum);
    for inner in branches.path(b.inner) {
        for (column, i) in inner.columns.as_slice().iter().zip(inner.velocities.clone()) {
            let entry = Twist::dot(*column, carried);
            out[(i, j)] = entry;
            out[(j, i)] = entry;
        }
        carried = inner.inner_from_outer.adjoint().apply_to_wrench(carried);
    }
}
