//! Integration tests of forks-view, one binary: a file per subject.

mod door;
mod fuzz;
mod hands;
mod session;
mod support;
