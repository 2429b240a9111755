//! Articulated mechanisms: links, joints, springs, couplings, loops, and their kinematics.
//!
//! # Conventions
//! - SI units, radians, `f64`; right-handed frames; `Pose` maps body to world coordinates.
//! - Twists and wrenches have their linear part first, in the body's own frame at its origin.
//! - A joint joins a parent link to a child link; its columns J map θ̇ to the child's body twist
//!   relative to the parent, in the child's frame. Velocities of spherical, planar and free joints
//!   are body twists.
//! - A spring is the gradient of an energy ½ΔᵀKΔ with Δ the displacement from its rest pose.
//! - Link 0 is the ground (`LinkId::WORLD`).

mod balance;
mod builder;
mod cable;
mod checks;
mod contact_filter;
mod contact_mask;
mod error;
mod graph;
mod grasp;
mod ids;
mod joint;
mod joint_kind;
pub mod kinematics;
mod limits;
mod link;
mod look;
mod mechanism;
mod mount;
mod possible;
mod prepare;
pub mod redundancy;
mod released;
mod servos;
mod spring;
mod superelement;

pub use balance::BalancedInertia;
pub use builder::MechanismBuilder;
pub use cable::{
    Cable, CableBranch, CableHessian, CableNode, CableObstacle, CablePoint, CableSegment,
    CableTension, ObstacleKind,
};
pub use contact_mask::ContactMask;
pub use error::BuildError;
pub use forks_geometry::{self as geometry, Geometry, mesh::MeshFile};
pub use forks_lie as lie;
pub use forks_linalg as linalg;
pub use graph::{SpanningForest, TreeEdge};
pub use grasp::{Grasp, GraspCarrier};
pub use ids::{
    BushingId, CableId, CombinationSpringId, CouplingId, FrameId, JointId, LinkId, ServoId, ShapeId,
};
pub use joint::{Joint, Limit};
pub use joint_kind::{JointColumns, JointKind};
pub use limits::LimitTerm;
pub use link::{Frame, Link, Shape};
pub use look::{Look, Surface};
pub use mechanism::{Keyframe, Mechanism};
pub use mount::{Mount, Slide};
pub use possible::{ImpossibleInertia, InertiaVerdict};
pub use prepare::{Preparation, PreparedMechanism, ServoSpring};
pub use spring::{
    Bushing, Combination, CombinationSpring, Coordinate, Coupling, CouplingTerm, JointMatrix,
    JointSpring, Servo, Transmission,
};
pub use superelement::{HeldFrame, OutputFrame, Superelement, SuperelementError, SuperelementNote};

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
