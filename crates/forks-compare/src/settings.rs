//! What a comparison is about.

use std::time::Duration;

use crate::CompareError;

/// What a comparison is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Relative displacement of an effector up to which forces in all directions move it: 1 is the
    /// mechanism's size, or half a turn.
    pub range: f64,
    /// Number of loads at which errors are measured.
    pub loads: usize,
    /// Let gravity act.
    pub gravity: bool,
    /// Largest static error that is good enough.
    pub static_tolerance: f64,
    /// Largest constraint error that is good enough.
    pub constraint_tolerance: f64,
    /// Largest number of linearisation points of the blend.
    pub samples: usize,
    /// After this time the blend is the best that was found.
    pub time_limit: Option<Duration>,
    /// Modes of the Craig-Bampton model besides its static shapes.
    pub modes: usize,
    /// Instances of the batch.
    pub instances: usize,
    /// Length of the steps that are timed, s.
    pub step: f64,
    /// Of the loads.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            range: 0.3,
            loads: 32,
            gravity: false,
            static_tolerance: 0.02,
            constraint_tolerance: 0.01,
            samples: 8,
            time_limit: Some(Duration::from_secs(60)),
            modes: 6,
            instances: 1024,
            step: 1e-3,
            seed: 1,
        }
    }
}

impl Settings {
    pub(crate) fn check(&self) -> Result<(), CompareError> {
        let numbers = [
            ("the range", self.range),
            ("the static tolerance", self.static_tolerance),
            ("the constraint tolerance", self.constraint_tolerance),
            ("the step", self.step),
        ];
        for (quantity, value) in numbers {
            if !(value.is_finite() && value > 0.0) {
                let expected = "finite and positive";
                return Err(CompareError::Setting { quantity, value, expected });
            }
        }
        let counts = [
            ("the number of loads", self.loads),
            ("the number of samples", self.samples),
            ("the number of modes", self.modes),
            ("the number of instances", self.instances),
        ];
        match counts.into_iter().find(|(_, n)| *n == 0) {
            Some((quantity, _)) => {
                Err(CompareError::Setting { quantity, value: 0.0, expected: "at least 1" })
            }
            None => Ok(()),
        }
    }
}
