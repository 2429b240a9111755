//! What links look like.

use forks_geometry::{Geometry, mesh::MeshFile};
use forks_lie::Pose;

use crate::LinkId;

/// A form that is drawn with a link and touches nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// The link that carries it.
    pub link: LinkId,
    /// Pose of its frame in the link.
    pub link_from_look: Pose,
    /// What is drawn.
    pub surface: Surface,
    /// Red, green, blue (sRGB) and opacity, over those of a file's materials; `None` where the
    /// model says nothing.
    pub colour: Option<[u8; 4]>,
}

impl From<Geometry> for Surface {
    fn from(form: Geometry) -> Self {
        Self::Form(form)
    }
}

/// What is drawn, about its own frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Surface {
    /// A form.
    Form(Geometry),
    /// A mesh file, which whoever draws it reads.
    File(MeshFile),
}
