//! Integration tests of forks-linalg, one binary: a file per subject.

#[cfg(feature = "faer")]
mod dense;
#[cfg(feature = "serde")]
mod serde;
