//! What a prediction is asked for, and what is refused.

use std::time::Duration;

use forks_rom::{ModelError, System};

use crate::{box_qp::QpError, commands::Commands, goals::Goal};

/// What a prediction is for.
#[derive(Clone, Debug, PartialEq)]
pub struct MpcSettings {
    /// Steps of the horizon.
    pub horizon: usize,
    /// What may be commanded.
    pub commands: Commands,
    /// Bounds (lower, upper) of each command, infinite for none.
    pub bounds: Vec<(f64, f64)>,
    /// Which effectors follow poses.
    pub goals: Vec<Goal>,
    /// Cost of a command's distance from where it shall end, ½ effort d².
    pub effort: f64,
    /// Cost of a command's change from step to step, ½ change d².
    pub change: f64,
    /// Guesses of the quadratic problem at most.
    pub pivots: usize,
    /// Time after which no further guess is tried.
    pub budget: Option<Duration>,
}

/// Why there is no prediction.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MpcError {
    /// The system refuses numbers.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A horizon without steps, or no guess allowed.
    #[error("{quantity} is 0")]
    Zero {
        /// Which.
        quantity: &'static str,
    },
    /// Nothing to command.
    #[error("there is nothing to command: the system has no servos and no effector takes forces")]
    NoCommands,
    /// Nothing to follow.
    #[error("no goal has a weight")]
    NoGoals,
    /// Bounds as many as commands.
    #[error("{found} bounds of commands, expected {expected}")]
    BoundCount {
        /// How many were given.
        found: usize,
        /// How many commands there are.
        expected: usize,
    },
    /// A bound that leaves nothing.
    #[error("bounds of command {command} are {lower} and {upper}")]
    Bounds {
        /// Which command.
        command: usize,
        /// Its bounds.
        lower: f64,
        /// Its bounds.
        upper: f64,
    },
    /// A weight that is negative or not a number; costs of commands must be above 0.
    #[error("{quantity} is {value}")]
    Weight {
        /// Which.
        quantity: &'static str,
        /// Its value.
        value: f64,
    },
    /// An effector that does not exist.
    #[error("effector {index} of {count}")]
    NoEffector {
        /// Its index.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A base that floats: its pose is no coordinate that could be predicted to first order.
    #[error("the base floats")]
    FloatingBase,
    /// A pose to follow that is not finite.
    #[error("the pose of goal {goal} after step {step} is not finite")]
    Target {
        /// Which goal.
        goal: usize,
        /// After which step, from 1.
        step: usize,
    },
    /// Motions that do not die out and that no command stops.
    #[error("the system is not stable, and no command makes it so")]
    Unstable,
    /// Rounding leaves no single best plan.
    #[error(transparent)]
    Cost(#[from] QpError),
}

/// Everything that can be said before a prediction.
pub(crate) fn check<S: System>(system: &S, s: &MpcSettings) -> Result<(), MpcError> {
    if system.data().base.is_some() || system.coordinate_count() != system.dof() {
        return Err(MpcError::FloatingBase);
    }
    for (quantity, number) in [("the horizon", s.horizon), ("the number of pivots", s.pivots)] {
        if number == 0 {
            return Err(MpcError::Zero { quantity });
        }
    }
    let count = system.data().effectors.len();
    let forced = match &s.commands {
        Commands::Forces(effectors) => &effectors[..],
        Commands::Servos => &[],
    };
    let named = s.goals.iter().map(|g| g.effector).chain(forced.iter().copied());
    for index in named {
        if index >= count {
            return Err(MpcError::NoEffector { index, count });
        }
    }
    let expected = s.commands.count(system);
    if expected == 0 {
        return Err(MpcError::NoCommands);
    }
    if s.bounds.len() != expected {
        return Err(MpcError::BoundCount { found: s.bounds.len(), expected });
    }
    for (command, &(lower, upper)) in s.bounds.iter().enumerate() {
        if !(lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY) {
            return Err(MpcError::Bounds { command, lower, upper });
        }
    }
    let weights = s.goals.iter().flat_map(|g| [g.position, g.orientation]);
    if let Some(value) = weights.clone().find(|w| !(w.is_finite() && *w >= 0.0)) {
        return Err(MpcError::Weight { quantity: "the weight of a goal", value });
    }
    if weights.fold(0.0, f64::max) == 0.0 {
        return Err(MpcError::NoGoals);
    }
    for (quantity, value) in [("effort", s.effort), ("change", s.change)] {
        if !(value.is_finite() && value > 0.0) {
            return Err(MpcError::Weight { quantity, value });
        }
    }
    Ok(())
}
