//! What is wrong with a scene of tissue.

use forks_deform::{MaterialError, MeshError, SoftError, files::FileError};

/// Why a scene cannot be made or go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TissueError {
    /// A file that cannot be read.
    #[error("{file}: {reason}")]
    Read {
        /// Its name.
        file: String,
        /// Why.
        reason: String,
    },
    /// Text that is no scene.
    #[error("{file}: {problem}")]
    Syntax {
        /// Its name.
        file: String,
        /// Where and what.
        problem: String,
    },
    /// An element of the scene.
    #[error("{element} {problem}")]
    Invalid {
        /// Which.
        element: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A model file.
    #[error("{element}: {problem}")]
    Model {
        /// Whose.
        element: String,
        /// Why.
        problem: String,
    },
    /// A mesh file.
    #[error("{element}: {source}")]
    File {
        /// Whose.
        element: String,
        /// Why.
        source: FileError,
    },
    /// A mesh.
    #[error("{element}: {source}")]
    Mesh {
        /// Whose.
        element: String,
        /// Why.
        source: MeshError,
    },
    /// A material.
    #[error("{element}: {source}")]
    Material {
        /// Whose.
        element: String,
        /// Why.
        source: MaterialError,
    },
    /// A body, or a step.
    #[error("{element}: {source}")]
    Body {
        /// Whose.
        element: String,
        /// Why.
        source: SoftError,
    },
}

/// An element and what is wrong with it.
pub(crate) fn invalid(element: impl Into<String>, problem: impl Into<String>) -> TissueError {
    TissueError::Invalid { element: element.into(), problem: problem.into() }
}
