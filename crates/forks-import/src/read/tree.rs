//! The kinematic tree as it is written.

use forks_mechanism::{
    ContactMask, Geometry, ObstacleKind, Surface,
    lie::{Pose, SpatialInertia, glam::DVec3},
};

use super::{
    geom::GeomMass,
    inertial_fault::InertialFault,
    joint::RawJoint,
    names::{BodyId, GeomId, Names, SiteId, TreeJointId},
};
use crate::Location;

/// A body as it is written.
#[derive(Clone, Debug)]
pub(crate) struct RawBody {
    /// Name; `#i` for the unnamed body with index i.
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) at: Location,
    pub(crate) parent: usize,
    /// Position as it is written, frames around the body left out.
    pub(crate) position: DVec3,
    /// Pose in the parent at the start.
    pub(crate) parent_from_body: Pose,
    pub(crate) gravity_compensation: f64,
    pub(crate) joints: Vec<RawJoint>,
    pub(crate) inertial: Option<SpatialInertia>,
    /// What no body has in the inertial element; it matters where the body moves.
    pub(crate) inertial_fault: Option<InertialFault>,
    pub(crate) geoms: Vec<GeomMass>,
    /// The body or one that carries it has joints.
    pub(crate) moves: bool,
    /// It is put by hand where it stands.
    pub(crate) mocap: bool,
}

/// A named site.
#[derive(Clone, Debug)]
pub(crate) struct RawSite {
    pub(crate) name: String,
    pub(crate) body: BodyId,
    pub(crate) body_from_site: Pose,
}

/// A named geom, as far as cables can wrap it.
#[derive(Clone, Debug)]
pub(crate) struct RawGeom {
    pub(crate) body: BodyId,
    pub(crate) body_from_geom: Pose,
    /// Sphere or cylinder, and its radius.
    pub(crate) round: Option<(ObstacleKind, f64)>,
}

/// A shape that takes part in contacts.
#[derive(Clone, Debug)]
pub(crate) struct RawShape {
    pub(crate) name: String,
    pub(crate) body: usize,
    pub(crate) body_from_shape: Pose,
    pub(crate) geometry: Geometry,
    pub(crate) friction: f64,
    pub(crate) mask: ContactMask,
}

/// What is drawn of a body: pose in it, form, colour.
pub(crate) type RawLook = (BodyId, Pose, Surface, Option<[u8; 4]>);

/// The tree as it is written; body 0 is the world.
#[derive(Clone, Debug)]
pub(crate) struct RawTree {
    pub(crate) bodies: Vec<RawBody>,
    pub(crate) sites: Vec<RawSite>,
    pub(crate) shapes: Vec<RawShape>,
    pub(crate) looks: Vec<RawLook>,
    pub(crate) body_names: Names<BodyId>,
    pub(crate) joint_names: Names<TreeJointId>,
    pub(crate) site_names: Names<SiteId>,
    pub(crate) geoms: Vec<RawGeom>,
    pub(crate) geom_names: Names<GeomId>,
}
