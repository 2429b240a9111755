//! Commands for mechanisms from what they shall do, by least squares with priorities.
//!
#![doc = include_str!("../README.md")]

pub mod controller;
pub mod filter;
mod frame;
pub mod ik;
pub mod keyframe;
pub mod lexicographic;
pub mod limits;
pub mod objective;
pub mod plant;
pub mod playback;
pub mod task;
