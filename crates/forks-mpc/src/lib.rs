//! Prediction on reduced models: commands that follow moving poses best over the next steps.
//!
#![doc = include_str!("../README.md")]

mod active_system;
mod bordered;
mod box_qp;
mod commands;
mod descent;
mod end;
mod goals;
mod horizon;
mod mpc;
mod riccati;
mod separable;
mod set_point;
mod settings;
mod slopes;
mod sums;

pub use box_qp::{BoxQp, QpError, QpStatus};
pub use commands::Commands;
pub use goals::Goal;
pub use mpc::{Mpc, MpcReport, MpcStatus};
pub use set_point::{SetPoint, set_point};
pub use settings::{MpcError, MpcSettings};
