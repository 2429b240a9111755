//! XML files as one tree of elements, includes resolved.

mod include;
mod text;
mod tree;

pub(crate) use include::{load, parse};
pub(crate) use tree::{Element, Tree};
