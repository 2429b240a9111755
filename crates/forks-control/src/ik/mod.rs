//! Inverse kinematics: frames are dragged, others are pinned, loops stay closed, limits hold.
//!
//! Loops, pins, balance and drags are levels, one after the other: each brings its errors to zero
//! or to a minimum by damped Newton steps. Every step is a lexicographic problem that keeps what
//! the levels before it have attained and stays within limits (drag and pin as in \[K08\] §3.3,
//! with bounds). The result depends on the start pose and the targets alone.

mod balance;
mod handle;
mod rows;
mod solver;

pub use handle::{AtLimit, Handle, IkError, IkReport, IkStatus, Root, Unmet};
pub use solver::InverseKinematics;
