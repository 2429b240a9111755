//! Errors of comparing.

use forks_mechanism::lie::Digits;
use forks_place::BlendError;
use forks_reduce::ReduceError;
use thiserror::Error;

/// Why nothing can be compared.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CompareError {
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
    /// The mechanism comes to rest nowhere near its start pose.
    #[error("there is no equilibrium to begin at ({status}): {explanation}")]
    NoEquilibrium {
        /// How the full solver ended.
        status: &'static str,
        /// What that means and what helps.
        explanation: String,
    },
    /// Nothing to measure errors at.
    #[error("no load up to a relative displacement of {range} has a stable equilibrium")]
    NoLoad {
        /// [`Settings::range`](crate::Settings::range).
        range: f64,
    },
    /// The mechanism cannot be reduced.
    #[error(transparent)]
    Reduce(#[from] ReduceError),
    /// The loads cannot be made.
    #[error(transparent)]
    Loads(#[from] BlendError),
}
