//! Frictional contact.
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub use forks_lie as lie;

mod admm;
mod block;
mod constraint;
mod delassus;
mod dense;
mod error;
mod frame;
mod gauss_seidel;
mod interior;
mod law;
mod newton;
mod problem;
mod robust;
mod scalar;
mod solver;
mod system;

pub use constraint::{Contact, Friction, Row, Side};
pub use error::ContactError;
pub use frame::{point_jacobian, tangents};
pub use problem::{BodyId, ConstraintId, Problem};
pub use solver::{Method, Report, Settings, Solver, Status};
