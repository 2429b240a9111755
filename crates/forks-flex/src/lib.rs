//! MJCF's flexible bodies as tissue, and tissue as MJCF.
//!
#![doc = include_str!("../README.md")]

mod error;
mod grid;
mod numbers;
mod read;
mod write;

pub use error::FlexError;
pub use read::{FlexBody, FlexModel, parse};
pub use write::write;
