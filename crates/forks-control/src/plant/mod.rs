//! Mechanisms as affine maps from commands to rates at the end of a step.
//!
//! A controller needs V⁺ = V₀⁺ + G z of the step that will be made, not of the instant: what an
//! implicit step makes of a command differs from the acceleration at its start, even in sign where
//! a stiff spring is near. Each plant gives the map of its own step, exact to rounding.

mod error;
mod implicit;
mod mass_factor;
mod reduced;
mod response;
mod tree;
mod tree_frames;

pub use error::{PlantError, check, check_commands};
pub use implicit::{ForceCommand, ImplicitPlant};
pub use reduced::{ReducedCommand, ReducedPlant};
pub use response::{Kinematics, Plant, Response, ResponseMemory};
pub use tree::{Command, TreePlant};
pub use tree_frames::TreeFrames;
