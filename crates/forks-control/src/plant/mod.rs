//! Mechanisms as affine maps from commands to rates at the end of a step.
//!
//! A controller needs V⁺ = V₀⁺ + G z of the step that will be made, not of the instant: what an
//! implicit step makes of a command differs from the acceleration at its start, even in sign where
//! a stiff spring is near. Each plant gives the map of its own step, exact to rounding.

mod error;
mod implicit;
mod tree;

pub use error::PlantError;
pub use implicit::ImplicitPlant;
pub use tree::{Command, TreePlant};

use forks_dynamics::mechanism::linalg::Matrix;

/// Rates at the end of the next step: `free` + `gain` z.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// Rates without commands (accelerations that are commands at zero).
    pub free: Vec<f64>,
    /// Rates by commands.
    pub gain: Matrix,
}

impl Response {
    /// Rates under commands.
    ///
    /// # Panics
    /// If the number of commands is wrong.
    pub fn rates(&self, commands: &[f64]) -> Vec<f64> {
        let mut out = self.gain.mul_vec(commands);
        out.iter_mut().zip(&self.free).for_each(|(y, x)| *y += x);
        out
    }
}

/// A mechanism that is stepped with commands.
pub trait Plant {
    /// Length of z.
    fn command_count(&self) -> usize;

    /// The map of the next step from the state as it is.
    ///
    /// # Errors
    /// Where the step itself fails.
    fn response(&mut self) -> Result<Response, PlantError>;

    /// Moves on by one step.
    ///
    /// # Errors
    /// A wrong number of commands, commands that are not finite, a step that fails; the state
    /// stays.
    fn step(&mut self, commands: &[f64]) -> Result<(), PlantError>;
}
