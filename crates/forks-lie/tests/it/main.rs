//! Integration tests of forks-lie, one binary: a file per subject.

mod accuracy;
mod digits;
mod oracle;
mod properties;
mod random;
#[cfg(feature = "serde")]
mod serde;
