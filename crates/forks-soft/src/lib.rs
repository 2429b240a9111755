//! Soft mechanisms: files of tissue on a skeleton become reduced models with their skins, which
//! move on pages.
//!
//! # Conventions
//! - SI units, radians, `f64`; right-handed frames; positions of nodes and vertices in the world.
//! - Twists and wrenches have their linear part first, in a body's own frame at its origin.
#![doc = include_str!("../README.md")]

mod beside;
mod blend;
mod error;
mod film;
mod loaded;
mod place;
mod problem;
mod report;
mod run;
mod scene;

pub use beside::beside;
pub use blend::{BlendedPlaces, SkinnedBlend};
pub use error::SoftModelError;
pub use film::{Film, Moment};
pub use forks_condense as condense;
pub use forks_tissue as tissue;
pub use loaded::{LoadedModel, Skins};
pub use place::{ForceCone, PlaceOptions, PlacedBlend};
pub use problem::{PadForce, SoftProblem, SoftProblemOptions};
pub use report::{BlendReport, LoadError};
pub use run::{SoftReport, run};
pub use scene::{SoftScene, SoftTotals};
