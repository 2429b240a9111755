//! The joint graph: spanning forest, loop closures, binary assembly tree.

mod assembly_tree;
mod forest;
mod parts;
mod pieces;

pub use assembly_tree::{AssemblyKind, AssemblyNode, AssemblyTree};
pub use forest::{SpanningForest, TreeEdge};
