//! What is wrong with a flexible body.

use forks_deform::{MaterialError, MeshError, SoftError};
use forks_import::{ImportError, write::WriteError};

/// Why a file or a body is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlexError {
    /// Text that is no XML.
    #[error("the text is no XML: {0}")]
    Xml(String),
    /// A flexible body that cannot be tissue.
    #[error("flex '{name}' {problem}")]
    Flex {
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The rest of the model.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A mechanism that MJCF cannot hold.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Its tetrahedra.
    #[error("flex '{name}': {source}")]
    Mesh {
        /// Its name.
        name: String,
        /// What is wrong with them.
        source: MeshError,
    },
    /// Its material.
    #[error("flex '{name}': {source}")]
    Material {
        /// Its name.
        name: String,
        /// What is wrong with it.
        source: MaterialError,
    },
    /// Its nodes.
    #[error("flex '{name}': {source}")]
    Body {
        /// Its name.
        name: String,
        /// What is wrong with them.
        source: SoftError,
    },
}
