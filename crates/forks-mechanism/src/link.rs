//! Links, named frames and collision shapes.

use forks_geometry::Geometry;
use forks_lie::{Pose, SpatialInertia};

use crate::{LinkId, contact_mask::ContactMask};

/// A rigid body.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Unique name.
    pub name: String,
    /// Mass properties in the link's frame.
    pub inertia: SpatialInertia,
    /// A massless frame between two joints of a chain that stands for one connection (several MJCF
    /// joints on one body); not a link in the user's sense.
    pub auxiliary: bool,
    /// Fraction of gravity that is cancelled on this link (0: none, 1: all).
    pub gravity_compensation: f64,
}

impl Link {
    /// A massless link.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            inertia: SpatialInertia::ZERO,
            auxiliary: false,
            gravity_compensation: 0.0,
        }
    }

    /// The same link with mass properties.
    pub fn with_inertia(mut self, inertia: SpatialInertia) -> Self {
        self.inertia = inertia;
        self
    }

    /// The same link marked as a massless frame between joints.
    pub fn auxiliary(mut self) -> Self {
        self.auxiliary = true;
        self
    }
}

/// A named frame fixed in a link (a site, a tool frame).
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Unique name among frames.
    pub name: String,
    /// The link that carries the frame.
    pub link: LinkId,
    /// Pose of the frame in the link.
    pub link_from_frame: Pose,
}

/// A collision shape: plain data for contact code.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Name, may be empty.
    pub name: String,
    /// The link that carries the shape.
    pub link: LinkId,
    /// Pose of the shape's frame in the link.
    pub link_from_shape: Pose,
    /// The form.
    pub geometry: Geometry,
    /// Coefficient of sliding friction.
    pub friction: f64,
    /// Which shapes it may touch.
    pub mask: ContactMask,
}
