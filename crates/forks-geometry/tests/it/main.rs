//! Integration tests of forks-geometry, one binary: a file per subject.
mod hull;
mod mesh_mass;
