//! Scenes whose mechanisms are driven by tasks, keyframes and prediction.
//!
#![doc = include_str!("../README.md")]

mod actuators;
mod aim;
mod commands;
mod curve;
mod direct;
mod driver;
mod error;
mod keys;
pub mod near;
mod plant;
mod predict;
mod recording;
mod resolve;
pub mod spec;
mod task_spec;
mod touches;
mod watch;

pub use actuators::{Actuator, actuators};
pub use direct::{Direct, DirectReport};
pub use error::DirectError;
pub use resolve::{Effectors, Names, find_joint, resolve, row_names, single_joints, turns, unit};
pub use task_spec::{Aspect, Subject, TaskSpec};
pub use watch::{Mark, Watched};
