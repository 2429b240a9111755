//! Tissue condensed to superelements, and skins of mechanisms that are reduced together with it.
//!
//! # Conventions
//! - SI units, radians, `f64`; right-handed frames; positions of nodes are in the world frame.
//! - Twists and wrenches have their linear part first, in a body's own frame at its origin.
//! - Coordinates of a superelement: twists of its frames, of its outputs, amplitudes of its modes.
#![doc = include_str!("../README.md")]

mod carried;
mod condense;
mod error;
mod file;
pub mod finger;
mod json;
mod local;
mod matrix_market;
mod modes;
pub mod notch;
mod patch;
mod skin;

pub use condense::{Condensed, TissuePose, condense};
pub use error::CondenseError;
pub use file::superelement_from_file;
pub use forks_deform as deform;
pub use forks_reduce as reduce;
pub use forks_skin::{self as skins, SkinnedModel};
pub use json::{superelement_from_json, superelement_to_json};
pub use local::{LocalCompliance, local_compliance};
pub use matrix_market::{MatrixMarket, superelement_from_matrices};
pub use patch::Patch;
pub use skin::{SkinKind, skin, surface_places};
