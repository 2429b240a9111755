//! Integration tests of forks-linalg, one binary: a file per subject.

#[cfg(feature = "faer")]
mod dense;
mod factors;
#[cfg(feature = "serde")]
mod serde;
