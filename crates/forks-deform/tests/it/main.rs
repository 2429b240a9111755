//! Integration tests of forks-deform, one binary: a file per subject.

mod body;
mod cantilever;
mod dynamics;
mod files;
mod four;
mod golden;
mod material;
mod mesh;
mod patch;
mod statics;
mod support;
mod two_bones;
mod window;
