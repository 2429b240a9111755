//! Integration tests of forks-mechanism, one binary: a file per subject.

mod assembly_tree;
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
