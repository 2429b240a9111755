//! Exact first order reduction of compliant mechanisms to their end effectors (FORK⁻¹S).
//!
//! # Conventions
//! - SI units, radians, `f64`; right-handed frames; `Pose` maps body to world coordinates.
//! - Twists and wrenches have their linear part first, in the body's own frame at its origin.
//! - Matrices over effectors are flattened effector by effector: 6E numbers.
//! - Compliance maps wrenches to small twists; at loaded poses in exponential coordinates of the
//!   effectors.
#![doc = include_str!("../README.md")]

mod attached;
mod base;
mod basis;
mod condensed;
mod damping;
mod displacements;
mod drive;
mod effector;
mod error;
mod fixed_modes;
mod frontier;
mod gaps;
mod joint_loads;
mod linearisation;
mod linearised;
mod load_stiffness;
mod maps;
mod mass;
mod modal_loads;
mod motion;
mod plan;
mod prestress;
mod problem;
mod pseudo_inverse;
mod reduction;
mod refine;
mod response;
mod servo_terms;
mod shapes;
mod static_model;
mod superelements;
mod sweep;
mod table;
mod with_elements;

pub use attached::Attached;
pub use basis::Basis;
pub use damping::{Damping, JointDamping};
pub use drive::Drive;
pub use effector::Effector;
pub use error::ReduceError;
pub use gaps::{RelativeConstraintError, relative_constraint_error, relative_displacement};
pub use linearisation::Linearisation;
pub use linearised::{DENSE_LIMIT, Linearised};
pub use load_stiffness::load_stiffness;
pub use mass::MassModel;
pub use problem::{Problem, ProblemOptions};
pub use reduction::{ReduceOptions, Reduction, natural_frequencies};
pub use response::Response;
