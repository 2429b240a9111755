//! Integration tests of forks-direct, one binary: a file per subject.

mod refused;
mod scenes;
