//! Integration tests of forks-mesh, one binary: a file per subject.
mod broken;
mod collada;
mod files;
mod gltf;
