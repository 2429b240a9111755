//! Why there are no commands.

use crate::{
    filter::FilterError, lexicographic::RowError, limits::LimitError, objective::ObjectiveError,
    plant::PlantError, task::TaskError,
};

/// Why there are no commands.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// A task that is refused.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// An objective that is refused.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// A step that cannot be made.
    #[error(transparent)]
    Plant(#[from] PlantError),
    /// A filter that is refused.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// A touch that is refused.
    #[error("touch {touch}: {what} is {value}")]
    Touch {
        /// Which of the touches.
        touch: usize,
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// Limits of commands that leave nothing, or rows that overflow.
    #[error("level {level}: {error}")]
    Row {
        /// Level of the problem: 0 for limits, then tasks.
        level: usize,
        /// What is wrong.
        error: RowError,
    },
    /// Limits as many as commands.
    #[error("{found} limits of commands, expected {expected}")]
    Limits {
        /// How many were given.
        found: usize,
        /// How many commands there are.
        expected: usize,
    },
    /// Limits of a joint that cannot be kept.
    #[error("limits of joint {joint}: {error}")]
    Joint {
        /// The joint's name, or its number where the plant knows no joints.
        joint: String,
        /// What is wrong.
        error: LimitError,
    },
    /// Limits of a joint that is no tree joint with one coordinate.
    #[error("limits of joint {joint}: it is no tree joint with one coordinate")]
    NoCoordinate {
        /// The joint's name, or its number where there is none.
        joint: String,
    },
}
