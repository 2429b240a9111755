//! Integration tests of forks-testkit, one binary: a file per subject.

mod closed_forms;
mod consistency;
mod dynamics;
mod held_roots;
mod loaded;
mod mechanism;
