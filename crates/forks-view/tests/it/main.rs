//! Integration tests of forks-view, one binary: a file per subject.

mod door;
mod session;
mod support;
