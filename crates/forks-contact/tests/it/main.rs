//! Integration tests of forks-contact, one binary: a file per subject.

mod enumeration;
mod errors;
mod grasp;
mod ports;
mod random;
mod shared_compliance;
mod single_contacts;
mod solver;
mod support;
