//! Integration tests of forks-lie, one binary: a file per subject.

mod accuracy;
mod oracle;
mod properties;
#[cfg(feature = "serde")]
mod serde;
