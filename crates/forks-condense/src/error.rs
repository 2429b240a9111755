//! Why tissue is not condensed, or numbers are not read.

use forks_deform::SoftError;
use forks_reduce::ReduceError;

/// Why there is no superelement, or no model of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CondenseError {
    /// A part that nothing holds.
    #[error(
        "the part of the tissue with node {node} is attached to no bone: it cannot be condensed"
    )]
    LoosePart {
        /// Its first node.
        node: usize,
    },
    /// A stiffness that is not positive definite with the bones held.
    #[error("with its bones held the tissue is not stable at node {node} (pivot {pivot:e})")]
    Unstable {
        /// Where it was noticed.
        node: usize,
        /// The pivot.
        pivot: f64,
    },
    /// A patch with fewer than three nodes, or with all of them in a line.
    #[error(
        "patch '{patch}' has {nodes} node(s) and the condition {condition:e}: its pose needs three \
         nodes that are not in a line"
    )]
    Patch {
        /// The patch.
        patch: String,
        /// Its nodes.
        nodes: usize,
        /// Largest over least spread about its axes; infinite in a line.
        condition: f64,
    },
    /// A node that the mesh does not have.
    #[error("patch '{patch}' has node {node}, the mesh has {count}")]
    NoSuchNode {
        /// The patch.
        patch: String,
        /// The node.
        node: usize,
        /// Nodes of the mesh.
        count: usize,
    },
    /// A torque where forces alone are known.
    #[error("patch '{patch}' carries a torque of {torque} N·m: linearisations know forces alone")]
    Torque {
        /// The patch.
        patch: String,
        /// Its size, N·m.
        torque: f64,
    },
    /// A list of another length.
    #[error("{found} {quantity} instead of {expected}")]
    Length {
        /// What they are.
        quantity: &'static str,
        /// How many came.
        found: usize,
        /// How many there are.
        expected: usize,
    },
    /// A link that is not there.
    #[error("there is no link named '{name}'")]
    UnknownLink {
        /// The name.
        name: String,
    },
    /// Text that is not what it should be.
    #[error("line {line}: {problem}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// JSON that is no superelement.
    #[error("no superelement: {0}")]
    Json(String),
    /// TOML that names no matrices.
    #[error("no list of matrices: {0}")]
    Toml(String),
    /// A file that the system does not give.
    #[error("{0}")]
    Unreadable(String),
    /// A file that is not what it should be.
    #[error("{file}: {source}")]
    File {
        /// Its name.
        file: String,
        /// What is wrong with it.
        source: Box<CondenseError>,
    },
    /// An interface node that the matrices do not have, or that has a rotation too many.
    #[error("interface node {node}: {problem}")]
    Interface {
        /// The node.
        node: usize,
        /// What is wrong.
        problem: String,
    },
    /// Patches that cannot move in all directions.
    #[error("the patches' compliance is singular: some of their twists cannot be")]
    RigidPatch,
    /// Tissue that cannot be.
    #[error(transparent)]
    Soft(#[from] SoftError),
    /// A mechanism that cannot be reduced.
    #[error(transparent)]
    Reduce(#[from] ReduceError),
    /// Skins that do not fit the model.
    #[error(transparent)]
    Skin(#[from] forks_skin::SkinError),
}
