//! Integration tests of forks-linalg, one binary: a file per subject.

mod arithmetic;
#[cfg(feature = "faer")]
mod dense;
mod factors;
mod factors_of_rows;
mod ldl;
mod operators;
mod rows;
#[cfg(feature = "serde")]
mod serde;
