//! The joint graph: spanning forest, loop closures.

mod forest;
mod parts;

pub use forest::{SpanningForest, TreeEdge};
