//! Surfaces that follow reduced models, vertex by vertex.
//!
//! # Conventions
//! - SI units, radians, `f64`; right-handed frames; positions in the world frame.
//! - Twists have their linear part first; those of vertices are in world axes at the linearisation
//!   pose, those relative to a link in the link's axes.
#![doc = include_str!("../README.md")]

mod buffer;
mod error;
mod file;
mod kernel;
mod skin;
mod skinned;

pub use buffer::SkinBuffer;
pub use error::SkinError;
pub use forks_rom as rom;
pub use skin::{Following, Skin};
pub use skinned::SkinnedModel;
