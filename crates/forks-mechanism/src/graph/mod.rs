//! The joint graph: spanning forest, loop closures, binary assembly tree.

mod forest;

pub use forest::{SpanningForest, TreeEdge};
