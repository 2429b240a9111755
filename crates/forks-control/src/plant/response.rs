//! What every plant can do.

use forks_dynamics::mechanism::linalg::Matrix;

use super::error::PlantError;

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
