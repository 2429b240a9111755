//! XML files as one tree of elements; includes are resolved where the format has them.

mod include;
mod text;
mod tree;

pub(crate) use include::{load, parse, with_includes};
pub(crate) use tree::{Element, Tree, XACRO};
