//! Integration tests of forks-mechanism, one binary: a file per subject.

mod builder;
mod common;
mod constraint_error;
mod grasp;
mod joints;
mod kinematics;
mod loops;
mod mechanism;
mod mount;
mod preparation;
