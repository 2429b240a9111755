//! Why a scene is not driven.

use forks_control::controller::ControlError;
use forks_mpc::MpcError;
use forks_rom::ModelError;
use forks_sim::{SimError, scene::SceneError};

/// Why a scene is not driven, or not any further.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirectError {
    /// The scene itself.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A value of a table that makes no sense.
    #[error("{element} {problem}")]
    Invalid {
        /// What it belongs to.
        element: String,
        /// What is wrong, with the value.
        problem: String,
    },
    /// Something the world refuses.
    #[error(transparent)]
    World(#[from] SimError),
    /// Commands that are not found.
    #[error("control of mechanism {mechanism:?}: {source}")]
    Control {
        /// The mechanism.
        mechanism: String,
        /// What is wrong.
        source: ControlError,
    },
    /// A prediction that cannot be made.
    #[error("prediction of mechanism {mechanism:?}: {source}")]
    Mpc {
        /// The mechanism.
        mechanism: String,
        /// What is wrong.
        source: MpcError,
    },
    /// A reduced model that refuses numbers.
    #[error("prediction of mechanism {mechanism:?}: {source}")]
    Model {
        /// The mechanism.
        mechanism: String,
        /// What is wrong.
        source: ModelError,
    },
}

/// A value that makes no sense.
pub(crate) fn invalid(element: impl Into<String>, problem: impl Into<String>) -> DirectError {
    DirectError::Invalid { element: element.into(), problem: problem.into() }
}
