//! Scenes of tissue on skeletons.
//!
#![doc = include_str!("../README.md")]

mod contact;
mod drive;
mod error;
mod merge;
mod pad;
mod plant;
mod ply;
mod quality;
mod record;
mod report;
mod scene;
mod skin;
pub mod spec;
mod tissue;
mod worth;

pub use contact::Touching;
pub use error::TissueError;
pub use forks_deform as deform;
pub use pad::Pad;
pub use plant::TissuePlant;
pub use quality::Quality;
pub use record::Recording;
pub use report::Report;
pub use scene::{TissueScene, Totals};
