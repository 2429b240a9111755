//! Scenes of tissue.

mod block;
mod files;
mod refused;
mod scenes;
mod support;
