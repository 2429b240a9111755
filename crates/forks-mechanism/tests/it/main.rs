//! Integration tests of forks-mechanism, one binary: a file per subject.

mod builder;
mod cables;
mod common;
mod constraint_error;
mod contact_filter;
mod grasp;
mod joints;
mod kinematics;
mod limits;
mod loops;
mod mechanism;
mod mount;
mod preparation;
mod released;
mod superelement;
