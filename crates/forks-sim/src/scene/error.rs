//! What is wrong with a scene.

use thiserror::Error;

use crate::SimError;

/// Why a scene cannot be built.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SceneError {
    /// A file that cannot be read.
    #[error("{file}: {source}")]
    Read {
        /// The file.
        file: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// Text that is no scene.
    #[error("{file}: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// Line and reason.
        message: String,
    },
    /// A value that makes no sense.
    #[error("{element} {problem}")]
    Invalid {
        /// What it belongs to.
        element: String,
        /// What is wrong, with the value.
        problem: String,
    },
    /// A model file that cannot be used.
    #[error("mechanism {mechanism:?}: {source}")]
    Import {
        /// The mechanism.
        mechanism: String,
        /// What is wrong.
        source: Box<forks_import::ImportError>,
    },
    /// A mechanism that cannot be put together.
    #[error("mechanism {mechanism:?}: {source}")]
    Build {
        /// The mechanism.
        mechanism: String,
        /// What is wrong.
        source: forks_mechanism::BuildError,
    },
    /// A mechanism that cannot be reduced.
    #[error("mechanism {mechanism:?}: {source}")]
    Reduce {
        /// The mechanism.
        mechanism: String,
        /// What is wrong.
        source: Box<forks_reduce::ReduceError>,
    },
    /// A blend that cannot be read.
    #[error("mechanism {mechanism:?}: {source}")]
    Blend {
        /// The mechanism.
        mechanism: String,
        /// What is wrong.
        source: Box<forks_rom::file::FileError>,
    },
    /// Something the world refuses.
    #[error(transparent)]
    World(#[from] SimError),
    /// What MJCF cannot express.
    #[error("the scene cannot be written as MJCF: {0}")]
    Write(#[from] forks_import::write::WriteError),
}

/// A value that makes no sense.
pub(super) fn invalid(element: impl Into<String>, problem: impl Into<String>) -> SceneError {
    SceneError::Invalid { element: element.into(), problem: problem.into() }
}
