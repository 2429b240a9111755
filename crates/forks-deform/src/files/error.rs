//! What is wrong with a mesh file.

use crate::mesh::MeshError;

/// Why a file is no mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file cannot be read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// A name that ends in no known format.
    #[error("'{extension}' is none of the formats msh, mesh, node, ele")]
    UnknownFormat {
        /// The end of its name.
        extension: String,
    },
    /// A version that is not read.
    #[error("version {version} of Gmsh's format; 2.2 and 4.1 are read")]
    Version {
        /// As the file writes it.
        version: String,
    },
    /// The text of a line is not what the format asks for.
    #[error("line {line}: {expected} expected, found '{found}'")]
    Text {
        /// The line, from 1.
        line: usize,
        /// What should be there.
        expected: &'static str,
        /// What is.
        found: String,
    },
    /// The file ends too early.
    #[error("the file ends where {expected} is expected")]
    End {
        /// What should be there.
        expected: &'static str,
    },
    /// An element names a node that the file does not have.
    #[error("element {element} refers to node {node}, which is not there")]
    NoSuchNode {
        /// The element, from 0 in the order of the file.
        element: usize,
        /// The node's number in the file.
        node: u64,
    },
    /// There are no tetrahedra.
    #[error("the file has no tetrahedra")]
    NoTetrahedra,
    /// The tetrahedra are no mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}
