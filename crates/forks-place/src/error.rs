//! Errors of building blends.

use forks_mechanism::lie::Digits;
use forks_reduce::ReduceError;
use forks_rom::ModelError;
use thiserror::Error;

/// Why a blend cannot be built.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum BlendError {
    /// No region of loads was given.
    #[error("no region of loads is given")]
    NoRegion,
    /// A region names an effector that does not exist.
    #[error("a region of loads is about effector {effector}, there are {count}")]
    UnknownEffector {
        /// Index of the effector.
        effector: usize,
        /// Number of effectors.
        count: usize,
    },
    /// A setting is out of its range.
    #[error("{quantity} is {value}; it must be {expected}", value = Digits(*.value))]
    Setting {
        /// Which.
        quantity: &'static str,
        /// Its value.
        value: f64,
        /// What is possible.
        expected: &'static str,
    },
    /// No blend without a start: there is no equilibrium, or no sample can be made.
    #[error("there is no equilibrium to begin at ({status}): {explanation}")]
    NoStart {
        /// How the full solver ended.
        status: &'static str,
        /// What that means and what helps.
        explanation: String,
    },
    /// No sample at a state: the full solver finds no equilibrium there.
    #[error("there is no equilibrium with the effectors there: the full solver ended as {status}")]
    NoEquilibriumThere {
        /// How the full solver ended.
        status: &'static str,
    },
    /// The blend belongs to another problem.
    #[error("the blend has {found} effectors, the problem {expected}")]
    AnotherProblem {
        /// Effectors of the blend.
        found: usize,
        /// Effectors of the problem.
        expected: usize,
    },
    /// The full mechanism has its servos where the samples have them.
    #[error(
        "servo '{servo}' has the target {value}; a state is handed over with targets of 0",
        value = Digits(*.value)
    )]
    Driven {
        /// Name of the servo.
        servo: String,
        /// Its target.
        value: f64,
    },
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// The thread that did the work ended without a result.
    #[error("the thread that builds the blend ended without a result")]
    WorkerLost,
    /// A force along a region's axis does not move its effector, so that the size of its loads is
    /// not known.
    #[error(
        "a force along the axis of its region does not move end effector '{effector}'; choose \
        another direction"
    )]
    Unmoved {
        /// Name of the effector.
        effector: String,
    },
    /// None of the training loads has an equilibrium.
    #[error(
        "none of the {count} training loads has a stable equilibrium: the region is too wide, or \
        nothing holds the mechanism there"
    )]
    NoTrainingLoad {
        /// How many were tried.
        count: usize,
    },
    /// What a blend whose base floats cannot have.
    #[error("a blend whose base floats cannot have {what}")]
    CannotFloat {
        /// What was asked for.
        what: &'static str,
    },
    /// No samples were given.
    #[error("a blend needs at least one sample")]
    NoSample,
    /// A chart of joint displacements gets all its samples at once.
    #[error("a blend in a chart of joint displacements takes no further samples")]
    FixedChart,
    /// Numbers of a sample are not finite.
    #[error("{quantity} is not finite")]
    NotFinite {
        /// Which.
        quantity: &'static str,
    },
    /// A sample cannot be made.
    #[error(transparent)]
    Reduce(#[from] ReduceError),
    /// The numbers do not make a blend.
    #[error(transparent)]
    Model(#[from] ModelError),
}
