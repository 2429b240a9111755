//! Bodies that touch the world.

use forks_dynamics::{AppliedWrench, WrenchFrame};
use forks_mechanism::{
    LinkId, Mechanism,
    lie::{Pose, Wrench},
};

use crate::error::ReduceError;

/// A body that touches the world: a link, or a frame fixed in one.
#[derive(Clone, Debug, PartialEq)]
pub struct Effector {
    /// Name.
    pub name: String,
    /// The link.
    pub link: LinkId,
    /// The effector's frame in the link.
    pub link_from_effector: Pose,
}

impl Effector {
    /// A wrench at the effector's origin, components in the world's axes or the effector's.
    pub fn applied(&self, wrench: Wrench, frame: WrenchFrame) -> AppliedWrench {
        let (link, link_from_point) = (self.link, self.link_from_effector);
        AppliedWrench { link, link_from_point, wrench, frame }
    }

    /// A link at its own frame.
    pub fn of_link(m: &Mechanism, link: LinkId) -> Self {
        Self { name: m.link(link).name.clone(), link, link_from_effector: Pose::IDENTITY }
    }

    /// The link of that name, or the frame if `name` starts with `site:`.
    ///
    /// # Errors
    /// [`ReduceError::UnknownEffector`].
    pub fn find(m: &Mechanism, name: &str) -> Result<Self, ReduceError> {
        let unknown = || ReduceError::UnknownEffector { name: name.into() };
        if let Some(site) = name.strip_prefix("site:") {
            let f = &m.frames()[m.find_frame(site).ok_or_else(unknown)?.index()];
            return Ok(Self {
                name: name.into(),
                link: f.link,
                link_from_effector: f.link_from_frame,
            });
        }
        let link = m.find_link(name).filter(|&l| l != LinkId::WORLD).ok_or_else(unknown)?;
        Ok(Self::of_link(m, link))
    }
}
