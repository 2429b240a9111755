//! Frames that goals are about.

use forks_dynamics::mechanism::{LinkId, lie::Pose};

/// A frame in a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// The link.
    pub link: LinkId,
    /// The frame in it.
    pub link_from_frame: Pose,
}

impl Frame {
    /// The link's own frame.
    pub fn of(link: LinkId) -> Self {
        Self { link, link_from_frame: Pose::IDENTITY }
    }
}
