//! Forward kinematics over the spanning forest.

use forks_lie::Pose;

use crate::{JointColumns, Mechanism, TreeEdge};

/// World poses of all links at positions `q`, the ground first. One pass over the tree joints.
pub fn forward_kinematics(m: &Mechanism, q: &[f64], world_from_link: &mut Vec<Pose>) {
    world_from_link.clear();
    world_from_link.resize(m.links().len(), Pose::IDENTITY);
    for e in m.forest().edges() {
        let j = m.joint(e.joint);
        let p = j.parent_from_child(&q[m.position_range(e.joint)]);
        let inner_from_outer = if e.reversed { p.inverse() } else { p };
        world_from_link[e.outer.index()] =
            (world_from_link[e.inner.index()] * inner_from_outer).normalized();
    }
}

impl Mechanism {
    /// World poses of all links at `q`, the ground first; see [`forward_kinematics`].
    pub fn link_poses(&self, q: &[f64]) -> Vec<Pose> {
        let mut poses = Vec::new();
        forward_kinematics(self, q, &mut poses);
        poses
    }
}

/// A tree joint seen from the ground outwards: the relative pose and the columns that map θ̇ to the
/// outer link's body twist relative to the inner link. Reversed joints are turned round here, once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeJointMotion {
    /// Pose of the outer link in the inner one.
    pub inner_from_outer: Pose,
    /// Columns J, twists in the outer link's frame.
    pub columns: JointColumns,
}

/// The motion of one tree joint at positions `q` of the whole mechanism.
pub fn tree_joint_motion(m: &Mechanism, e: &TreeEdge, q: &[f64]) -> TreeJointMotion {
    let j = m.joint(e.joint);
    let qj = &q[m.position_range(e.joint)];
    let parent_from_child = j.parent_from_child(qj);
    let columns = j.columns(qj);
    if !e.reversed {
        return TreeJointMotion { inner_from_outer: parent_from_child, columns };
    }
    // The parent moves against the child: ξ_p = −Ad(parent_from_child) J θ̇.
    let ad = parent_from_child.adjoint();
    TreeJointMotion {
        inner_from_outer: parent_from_child.inverse(),
        columns: columns.map(|c| -ad.apply(c)),
    }
}
