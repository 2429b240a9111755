//! Integration tests of forks-control, one binary: a file per subject.

mod filter;
mod lexicographic;
mod plant;
