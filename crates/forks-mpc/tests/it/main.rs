//! Integration tests of forks-mpc, one binary: a file per subject.

mod allocation;
mod blend;
mod prediction;
