//! Dynamics of the spanning tree in O(n): forward, inverse and hybrid, mass matrix, derivatives.
//!
//! A [`Tree`] is a mechanism's forest compiled to flat arrays; every function takes it with a
//! workspace that the caller owns and reuses. No call allocates, recurses, or depends on an earlier
//! call. Equal inputs give equal bits.

mod aba;
mod articulated;
pub(crate) mod block;
pub(crate) mod compile;
mod crba;
mod derivatives;
mod error;
mod hybrid;
mod kinematics;
mod loads;
pub(crate) mod motion;
mod rnea;

pub use aba::aba;
pub use articulated::AbaWorkspace;
pub use compile::Tree;
pub use crba::{CrbaWorkspace, crba};
pub use derivatives::{AccelerationDerivatives, DerivativeWorkspace, acceleration_derivatives};
pub use error::DynamicsError;
pub use hybrid::hybrid;
pub use loads::LinkLoads;
pub use rnea::{RneaWorkspace, bias, rnea};

#[cfg(test)]
mod tests;
