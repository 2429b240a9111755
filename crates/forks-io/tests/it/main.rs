//! Integration tests of forks-io, one binary: a file per subject.

mod animation;
mod browser;
mod gltf;
mod html;
mod text;
mod trajectory;
