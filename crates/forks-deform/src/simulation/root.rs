//! The base of a skeleton that floats.

use forks_dynamics::mechanism::{JointKind, LinkId, Mechanism, lie::Pose};

use crate::body::SoftBody;

/// The one link that a free joint ties to the ground, and nothing else does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Root {
    pub(crate) link: LinkId,
    /// First velocity coordinate of its joint.
    pub(crate) first: usize,
    /// The joint's frame in the link, which twist coordinates refer to.
    pub(crate) link_from_joint: Pose,
}

impl Root {
    /// Where momentum can be set: no other joint to the ground, no node in the ground.
    pub(crate) fn of(m: &Mechanism, body: &SoftBody) -> Option<Self> {
        let mut grounded = m.forest().edges().iter().filter(|e| e.inner == LinkId::WORLD);
        let (edge, more) = (grounded.next()?, grounded.next());
        let joint = m.joint(edge.joint);
        let held =
            body.holder.contains(&Some(LinkId::WORLD)) || body.reference.contains(&LinkId::WORLD);
        if more.is_some() || held || edge.reversed || joint.kind != JointKind::Free {
            return None;
        }
        let first = m.velocity_range(edge.joint).start;
        Some(Self { link: edge.outer, first, link_from_joint: joint.child_from_joint })
    }
}
