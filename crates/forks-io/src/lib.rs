//! Writes results for people and programs: CSV, checked JSON, text tables, 3D pages, glTF.
//!
//! # Conventions
//! - Numbers are written with the fewest digits that read back as the same `f64`.
//! - NaN and infinities are never written: every writer refuses them with an [`IoError`] that says
//!   where they stood.
//! - Output depends on the input alone: no dates, no hash order, no locale.
//! - Files are written under a temporary name and renamed, so a reader never sees half a file.
//!
#![doc = include_str!("../README.md")]

pub use forks_geometry::{self as geometry, Geometry};
pub use forks_lie as lie;

pub mod animation;
mod base64;
mod csv;
mod error;
mod file;
mod finite;
pub mod gltf;
pub mod html;
pub mod json;
mod link_pose;
mod mesh;
mod table;
mod text;
mod trajectory;

pub use csv::{Cell, CsvTable};
pub use error::IoError;
pub use file::write_atomically;
pub use link_pose::LinkPose;
pub use table::{Align, TextTable};
pub use text::{Text, short};
pub use trajectory::{Scalars, Trajectory, TrajectorySample};
