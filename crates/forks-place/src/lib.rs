//! Automatic placement of linearisation points: from a mechanism, its effectors and a region of
//! loads to a blended model that keeps to tolerances.
//!
//! # Conventions
//! - Forces on effectors act at the effectors' origins and are fixed in the world.
//! - Constraint error: gaps at all joints and effectors over the mechanism's size r (\[A16\] §8.2).
//! - Relative displacement: norm of the effector's twist from rest, lengths over r, angles over π.
#![doc = include_str!("../README.md")]

mod around;
mod bent;
mod candidates;
mod certificate;
mod chart;
mod choose;
mod curvature;
mod dead_loads;
mod error;
mod floating;
mod frames;
mod jets;
mod lift;
mod link_forces;
pub mod live;
mod loads;
mod measure;
mod near;
mod placer;
mod plan;
mod ports;
mod region;
mod ruler;
mod sample;
mod search;
mod settings;
mod sharpen;
mod swing;
#[cfg(test)]
mod testing;
mod tree_chart;
mod truth;
mod whole_chart;
mod worse;

pub use error::BlendError;
pub use floating::with_base;
pub use lift::blend_data;
pub use measure::{Errors, Gauge};
pub use placer::{place, unseen_loads};
pub use region::LoadRegion;
pub use ruler::{Ruler, Shown, Worst};
pub use sample::Sample;
pub use settings::{
    Attempt, Certificate, Chart, Placed, Placement, PlacementStatus, Progress, Round, Skipped,
};
pub use truth::{Forces, Truth};
