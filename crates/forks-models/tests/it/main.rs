//! Integration tests of forks-models, one binary: a file per subject.

mod mechanisms;
mod scenes;
