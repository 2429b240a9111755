//! What a mechanism shall do, as rates at the end of the next step.
//!
//! A task with error e and rate V asks for V⁺ = V + h (a + k e − d (V − v)), v and a the rates of a
//! target that moves: a spring and a damper per unit of mass, e the logarithm of the pose error in
//! the frame's own axes, rotation included.

mod check;
mod definition;
mod goal;
mod rows;

pub use check::TaskError;
pub use definition::{Moving, Task};
pub use goal::{Axes, Goal};
pub(crate) use rows::Rows;

pub use crate::frame::Frame;
