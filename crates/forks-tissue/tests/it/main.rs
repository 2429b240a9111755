//! Scenes of tissue.

mod block;
mod files;
mod plant;
mod refused;
mod scenes;
mod support;
