//! What drives a mechanism under the full solver.

use forks_dynamics::integrate::ImpulseStepper;
use forks_reduce::Effector;

/// A mechanism's solver, and what drives it.
#[derive(Debug)]
pub struct FullDrive<'a> {
    /// The solver, in the axes of the mechanism's own world.
    pub stepper: &'a ImpulseStepper,
    /// Forces of velocity coordinates per unit of each servo's target at the state.
    pub servos: Vec<Vec<(usize, f64)>>,
    /// Its effectors.
    pub effectors: &'a [Effector],
}
