//! Exact first order reduction of compliant mechanisms to their end effectors (FORK⁻¹S).
//!
//! # Conventions
//! - SI units, radians, `f64`; right-handed frames; `Pose` maps body to world coordinates.
//! - Twists and wrenches have their linear part first, in the body's own frame at its origin.
//! - Matrices over effectors are flattened effector by effector: 6E numbers.
//! - Compliance maps wrenches to small twists; at loaded poses in exponential coordinates of the
//!   effectors.
#![doc = include_str!("../README.md")]

mod base;
mod basis;
mod condensed;
mod damping;
mod differences;
mod dynamic;
mod error;
mod fixed_modes;
mod floating;
mod frontier;
mod gaps;
mod inertia;
mod joint_loads;
mod maps;
mod modal_loads;
mod motion;
mod plan;
mod prestress;
mod problem;
mod reduce;
mod refine;
mod response;
mod servo_terms;
mod shapes;
mod small;
mod sweep;
mod table;

pub use base::floating_base;
pub use basis::Basis;
pub use damping::{Damping, JointDamping};
pub use differences::{Differences, relative_difference, response_by_differences};
pub use dynamic::{dynamic_model, modes_of};
pub use error::ReduceError;
pub use floating::{
    FloatingCase, FloatingDeviation, FullTrack, compare, floating_deviation, full_track,
};
pub use gaps::{RelativeConstraintError, relative_constraint_error, relative_displacement};
pub use inertia::{DENSE_LIMIT, MassModel, ReducedInertia, inertia_report, reduced_inertia};
pub use problem::{Problem, ProblemOptions};
pub use reduce::{
    Drive, Linearised, Reduction, effector_load, linearise, reduce, reduce_held, static_wrenches,
    world_fixed_compliance,
};
pub use response::{Effector, Linearisation, Response, response};
