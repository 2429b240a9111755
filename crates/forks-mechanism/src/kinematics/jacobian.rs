//! Jacobians of link motions.

use forks_lie::{Pose, Twist, Wrench};
use forks_linalg::Matrix;

use crate::{LinkId, Mechanism, kinematics::tree_joint_motion};

/// The 6×nv Jacobian of a link: velocities of all joints (loop-closing ones have zero columns) to
/// the link's body twist, linear part first.
pub fn link_jacobian(m: &Mechanism, q: &[f64], world_from_link: &[Pose], link: LinkId) -> Matrix {
    let mut out = Matrix::zeros(6, m.velocity_count());
    let link_from_world = world_from_link[link.index()].inverse();
    for e in m.forest().path_to_ground(link) {
        let motion = tree_joint_motion(m, e, q);
        let ad = (link_from_world * world_from_link[e.outer.index()]).adjoint();
        for (column, k) in motion.columns.as_slice().iter().zip(m.velocity_range(e.joint)) {
            let t = ad.apply(*column).to_array();
            for i in 0..6 {
                out[(i, k)] = t[i];
            }
        }
    }
    out
}

/// Body twists of all links for joint velocities `v`, the ground first. One pass over the tree
/// joints.
pub fn link_twists(m: &Mechanism, q: &[f64], v: &[f64]) -> Vec<Twist> {
    let mut twists = vec![Twist::ZERO; m.links().len()];
    for e in m.forest().edges() {
        let motion = tree_joint_motion(m, e, q);
        let carried = motion.inner_from_outer.adjoint().apply_inverse(twists[e.inner.index()]);
        twists[e.outer.index()] = carried + motion.columns.combine(&v[m.velocity_range(e.joint)]);
    }
    twists
}

/// Generalised forces Σ J_lᵀ w_l of body wrenches on all links (the ground first). One pass
/// inwards.
pub fn pull_back_wrenches(m: &Mechanism, q: &[f64], wrenches: &[Wrench]) -> Vec<f64> {
    let mut carried = wrenches.to_vec();
    let mut out = vec![0.0; m.velocity_count()];
    for e in m.forest().edges().iter().rev() {
        let motion = tree_joint_motion(m, e, q);
        let w = carried[e.outer.index()];
        for (column, k) in motion.columns.as_slice().iter().zip(m.velocity_range(e.joint)) {
            out[k] = column.dot(w);
        }
        carried[e.inner.index()] += motion.inner_from_outer.adjoint().apply_to_wrench(w);
    }
    out
}
