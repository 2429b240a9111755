//! Worlds of reduced compliant mechanisms, free rigid bodies and static geometry in frictional
//! contact.
//!
//! # Conventions
//! - SI units, radians, `f64`; right-handed frames; a pose maps body to world coordinates.
//! - Twists and wrenches have their linear part first, in the body's own frame at its origin unless
//!   a name says otherwise.
//! - A contact's normal points from its first shape to its second; a positive gap separates them;
//!   impulses (N·s) act on the second.
//! - The geometry library (`parry3d-f64`) appears in no public signature.
#![doc = include_str!("../README.md")]

pub use forks_blend as blend;
pub use forks_contact as contact_solver;
pub use forks_geometry::Geometry;
pub use forks_lie as lie;
pub use forks_linalg as linalg;
pub use forks_rom as rom;

mod assemble;
mod contact;
mod convert;
mod detect;
mod energy;
mod error;
mod handles;
mod joint_force;
mod manifold;
mod material;
mod mechanism;
mod report;
mod rigid;
#[cfg(feature = "scene")]
pub mod scene;
mod shape;
mod snapshot;
mod step;
#[cfg(feature = "twin")]
pub mod twin;
mod world;

pub use contact::ContactPoint;
pub use energy::Energy;
pub use error::SimError;
pub use handles::{
    BodyHandle, JointFrictionHandle, LimitHandle, MechanismHandle, Owner, ShapeHandle,
};
pub use joint_force::JointForces;
pub use material::Material;
pub use report::{Part, StepReport, WorldStatus};
pub use rigid::RigidBody;
pub use shape::{CollisionShape, ELLIPSOID_POINTS};
pub use snapshot::Snapshot;
pub use world::{Trial, World, WorldSettings};
