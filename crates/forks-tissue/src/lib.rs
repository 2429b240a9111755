//! Scenes of tissue on skeletons.
//!
#![doc = include_str!("../README.md")]

mod contact;
mod drive;
mod error;
mod merge;
mod ply;
mod quality;
mod record;
mod scene;
mod skin;
pub mod spec;
mod tissue;

pub use contact::Touching;
pub use error::TissueError;
pub use forks_deform as deform;
pub use quality::Quality;
pub use record::Recording;
pub use scene::{TissueScene, Totals};
