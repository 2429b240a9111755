//! Constants that no material has.

use forks_dynamics::mechanism::lie::Digits;

/// A constant out of its range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MaterialError {
    /// Young's modulus.
    #[error("Young's modulus is {} Pa; it must be positive and finite", Digits(*.0))]
    Young(f64),
    /// Poisson's ratio.
    #[error(
        "Poisson's ratio is {}; it must be above -1 and below 0.5 (which is incompressible)",
        Digits(*.0)
    )]
    Poisson(f64),
    /// Density.
    #[error("the density is {} kg/m³; it must be positive and finite", Digits(*.0))]
    Density(f64),
    /// The window of StVK.
    #[error(
        "the window of squared stretches is {} to {}; it must begin above 1/3 (below, the \
         stiffness is negative) and below 1, and end above 1",
        Digits(*.lower),
        Digits(*.upper)
    )]
    Window {
        /// λ_L.
        lower: f64,
        /// λ_U.
        upper: f64,
    },
}
