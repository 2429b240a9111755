//! A blend whose base floats: chart coordinates x of what moves relative to the base, and the
//! motion of the base (REDUCTION 8).
//!
//! # Equations
//! As for one linearisation the centre of mass moves on its own and the kinetic energy about it is
//! T = ½ ωᵀJω + ωᵀΣẋ + ½ ẋᵀM̃ẋ, with functions of x that are the samples' in their weights,
//!
//! c = Σ α_i c_i(y_i), J = Σ α_i J_i(y_i), Σ = Σ α_i Σ_i(y_i), M̃ = Σ α_i M̃_i, y_i = x − x_i.
//!
//! c_i, J_i and Σ_i are the sample's, c to second and the others to first order, in chart
//! coordinates. Their derivatives have the weights' too, Σ α_i ∂J_i + J_i ∂α_i, so that G = ∂c/∂x
//! is what the base gives way by and forces are those of one energy; as on a fixed base those of M̃
//! are left out.
//!
//! # The step
//! Near the place where a step begins all of this is what a single model has: values and slopes. So
//! it is the same implicit step, U replaced by its slope and the samples' stiffness, with
//! corrections of Newton's method where the force at the new place says so. Momentum is a state
//! variable and the base is put where the centre of mass has it, R c(x⁺) before it: momentum is
//! kept to rounding whatever c, J and Σ are. What convexity gives a single model is enforced here:
//! the energy U + ½ LᵀJ⁻¹L + ½ ẋᵀ(M̃ − ΣᵀJ⁻¹Σ)ẋ + ½ mV² does not grow by more than the work of
//! loads, if need be by a slower ẋ or a shorter move.

mod first_law;
mod measures;
mod model;
mod place;
mod state;
mod step;
mod system;
mod workspace;

pub use model::FloatingBlend;
pub use state::FloatingBlendState;
pub use step::FloatingBlendStepper;
pub use workspace::FloatingBlendWorkspace;
