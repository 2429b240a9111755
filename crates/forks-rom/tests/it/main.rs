//! Integration tests of forks-rom, one binary: a file per subject.

mod all_kinds;
mod batch;
mod bits;
mod contact;
mod energy;
mod exponential;
mod file_damage;
mod file_support;
mod files;
mod floating_base;
mod fuzz_corpus;
mod joints;
mod kernel;
mod random_model;
mod reconstruction;
mod statics;
mod stepping;
mod support;
