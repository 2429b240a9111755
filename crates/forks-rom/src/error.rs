//! Errors of a reduced model.

use thiserror::Error;

/// Why numbers do not make a reduced model, or a call does not fit one.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ModelError {
    /// A list or matrix has the wrong size.
    #[error("{quantity} has size {found}, expected {expected}")]
    WrongSize {
        /// Which.
        quantity: &'static str,
        /// Size found.
        found: usize,
        /// Size needed.
        expected: usize,
    },
    /// A number is NaN or infinite.
    #[error("{quantity} is not finite")]
    NotFinite {
        /// Which.
        quantity: &'static str,
    },
    /// The stiffness in reduced coordinates is not positive definite.
    #[error(
        "the reduced stiffness is not positive definite: the pose is unstable, or held only by the loads on the effectors"
    )]
    NotPositiveDefinite,
}
