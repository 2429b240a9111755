//! What a mechanism shall do, as rates at the end of the next step.
//!
//! A task with error e and rate V asks for V⁺ = V + h (k e − d V): a spring and a damper per unit
//! of mass, e the logarithm of the pose error in the frame's own axes, rotation included.

mod check;
mod definition;
mod goal;
mod rows;

pub use check::TaskError;
pub use definition::Task;
pub use goal::{Axes, Goal};
pub(crate) use rows::Rows;

pub use crate::frame::Frame;
