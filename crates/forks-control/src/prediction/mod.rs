//! Prediction on reduced models: commands that follow moving poses best over the next steps.
//!
//! [`Mpc`] is for any reduced system on a fixed base, a single linearisation or a blend; commands
//! are the targets of its servos or forces on its effectors, within bounds. [`set_point`] finds
//! commands under which effectors rest where they shall. [`BoxQp`] solves the quadratic problem
//! that is left of a horizon, again and again with the bounds that held last.

mod box_qp;
mod commands;
mod end;
mod goals;
mod horizon;
mod mpc;
mod riccati;
mod set_point;
mod settings;
mod slopes;

pub use box_qp::{BoxQp, QpError, QpStatus};
pub use commands::Commands;
pub use goals::Goal;
pub use mpc::{Mpc, MpcReport, MpcStatus};
pub use set_point::{SetPoint, set_point};
pub use settings::{MpcError, MpcSettings};
