//! The spanning forest with every loop-closing joint hung on as one more branch.
//!
//! A closing joint carries a virtual link: the place where the joint puts its child. The closure
//! then is a relation between two links like a bushing, and every sweep treats all joints alike.

use std::ops::Range;

use forks_mechanism::{
    JointColumns, JointId, Mechanism,
    kinematics::tree_joint_motion,
    lie::{Pose, Wrench},
};

/// One joint, directed away from the ground.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) joint: JointId,
    pub(crate) inner: usize,
    pub(crate) outer: usize,
    /// True if the joint's child is the inner link.
    pub(crate) reversed: bool,
    pub(crate) velocities: Range<usize>,
    pub(crate) inner_from_outer: Pose,
    /// θ̇ to the outer link's body twist relative to the inner link, in the outer frame.
    pub(crate) columns: JointColumns,
}

/// All joints in an order in which inner links come before outer ones.
#[derive(Clone, Debug)]
pub(crate) struct Branches {
    pub(crate) list: Vec<Branch>,
    /// Links and virtual links; poses of the virtual ones follow those of the links.
    pub(crate) world_from_link: Vec<Pose>,
    carrier: Vec<Option<usize>>,
}

impl Branches {
    pub(crate) fn new(m: &Mechanism, q: &[f64], world_from_link: &[Pose]) -> Self {
        Self::with_poses(m, q, Some(world_from_link))
    }

    /// The same with the poses of [`Mechanism::link_poses`].
    pub(crate) fn at(m: &Mechanism, q: &[f64]) -> Self {
        Self::with_poses(m, q, None)
    }

    fn with_poses(m: &Mechanism, q: &[f64], given: Option<&[Pose]>) -> Self {
        let links = m.links().len();
        let closures = m.forest().closures();
        let mut list = Vec::with_capacity(m.joints().len());
        let mut poses = Vec::with_capacity(links + closures.len());
        match given {
            Some(given) => poses.extend_from_slice(given),
            None => poses.resize(links, Pose::IDENTITY),
        }
        for e in m.forest().edges() {
            let motion = tree_joint_motion(m, e, q);
            if given.is_none() {
                poses[e.outer.index()] =
                    (poses[e.inner.index()] * motion.inner_from_outer).normalized();
            }
            list.push(Branch {
                joint: e.joint,
                inner: e.inner.index(),
                outer: e.outer.index(),
                reversed: e.reversed,
                velocities: m.velocity_range(e.joint),
                inner_from_outer: motion.inner_from_outer,
                columns: motion.columns,
            });
        }
        for (k, &id) in closures.iter().enumerate() {
            let j = m.joint(id);
            let qj = &q[m.position_range(id)];
            let parent_from_child = j.parent_from_child(qj);
            list.push(Branch {
                joint: id,
                inner: j.parent.index(),
                outer: links + k,
                reversed: false,
                velocities: m.velocity_range(id),
                inner_from_outer: parent_from_child,
                columns: j.columns(qj),
            });
            poses.push(poses[j.parent.index()] * parent_from_child);
        }
        let mut carrier = vec![None; links + closures.len()];
        for (i, b) in list.iter().enumerate() {
            carrier[b.outer] = Some(i);
        }
        Self { list, world_from_link: poses, carrier }
    }

    /// Generalised forces of wrenches on the links.
    pub(crate) fn pull_back(&self, edges: usize, coordinates: usize, w: &[Wrench]) -> Vec<f64> {
        let (mut carried, mut out) = (w.to_vec(), vec![0.0; coordinates]);
        for b in self.list[..edges].iter().rev() {
            let w = carried[b.outer];
            if w == Wrench::ZERO {
                continue;
            }
            for (c, k) in b.columns.as_slice().iter().zip(b.velocities.clone()) {
                out[k] = c.dot(w);
            }
            carried[b.inner] += b.inner_from_outer.adjoint().apply_to_wrench(w);
        }
        out
    }

    /// The joints from a link down to the ground.
    pub(crate) fn path(&self, link: usize) -> impl Iterator<Item = &Branch> {
        let mut at = link;
        std::iter::from_fn(move || {
            let b = &self.list[self.carrier[at]?];
            at = b.inner;
            Some(b)
        })
    }

    /// The wrench that a joint's parent-side child link feels, in the child's frame, for a wrench
    /// on the outer link in the outer frame; a reversed joint turns its displacement round: ξ_outer
    /// = −Ad ξ_child.
    pub(crate) fn wrench_on_child(branch: &Branch, on_outer: Wrench) -> Wrench {
        if branch.reversed {
            -branch.inner_from_outer.adjoint().apply_to_wrench(on_outer)
        } else {
            on_outer
        }
    }
}
