//! Sparse symmetric matrices of 3×3 blocks, and their Cholesky factors with a fixed pattern.

mod blocks;
mod factor;
mod order;
mod panel;
mod solve;
mod supernodes;
#[cfg(test)]
mod tests;

pub use blocks::SymmetricBlocks;
pub use factor::{BlockCholesky, NotPositive};
pub use order::nested_dissection;

/// Nothing, in lists of places.
const NONE: usize = usize::MAX;
