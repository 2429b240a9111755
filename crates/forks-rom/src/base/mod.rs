//! A mechanism whose base floats (\[A16\] §6.1): motion of the base together with the reduced
//! coordinates.
//!
//! # Equations
//! With φ₀ = (v; ω) the base link's body twist, the links' maps give the kinetic energy T = ½ φ₀ᵀ
//! I(η) φ₀ + φ₀ᵀ S(η) η̇ + ½ η̇ᵀ M η̇ and the momentum p = I(η) φ₀ + S(η) η̇ in the base's frame.
//! Gravity and the base's translation are solved exactly beforehand: the centre of mass c(η), base
//! frame, moves on a parabola under gravity and the net force, and about it no net linear momentum
//! is left, v = −ω×c − G η̇ with G = ∂c/∂η. What remains is
//!
//! T = ½ ωᵀJ(η)ω + ωᵀΣ(η)η̇ + ½ η̇ᵀM̃η̇, J = inertia about the centre of mass, Σ = S_ang − c ×
//! S_lin, M̃ = M − m GᵀG,
//!
//! with spin L = Jω + Ση̇ (base axes) and, in Lagrange's and Euler's form,
//!
//! - L̇ = L × ω + Σ_e ((r_e − c) × f_e + τ_e),
//! - d/dt(Σᵀω + M̃η̇)_k = ½ ωᵀJ_kω + ωᵀΣ_kη̇ + g_k − G_k·Σ_e f_e − (b_η + 𝓗(η − η_s) + Dη̇)_k,
//!
//! J_k and Σ_k the derivatives by η_k: centrifugal and gyroscopic terms. J and Σ are taken to first
//! order in η with their exact derivatives, c to second order, M to order 0 as for a fixed base.
//!
//! # The step
//! Implicit Euler for (L, Σᵀω + M̃η̇, η), L carried over by the rotation of the step: L⁺ =
//! exp(−hω⁺)(L + hτ). The mass matrix of (ω, η̇) is affine in η, so that the kinetic energy as a
//! function of momenta and η is jointly convex (a matrix fractional function); so is the elastic
//! energy. For a convex Hamiltonian H(z) this scheme gives H(z) ≥ H(z⁺) + ∇H(z⁺)·(z − z⁺), in which
//! all terms but damping and the loads' work cancel: ω⁺ is fixed by its own rotation, forces and
//! velocities cancel in pairs. The energy cannot grow without work, whatever h. Momentum is a state
//! variable in world axes and changes by the impulse to rounding. The equations are solved by
//! Newton's method.
//!
//! # The simpler forms, and what they count twice
//! \[A16\] gives the base the inertia of the whole mechanism, drives it by gravity and the net
//! wrench, and lets it not act on η: [`BaseCoupling::External`]. The mass that moves with η is then
//! counted twice, once in the base and once in M: a wrench on an effector moves both, as if each
//! had its own mass. Momentum of the base alone is right (a rigid body under the net wrench), so
//! the base of a compliant mechanism follows its mean motion; it does not feel the mechanism swing.
//! [`BaseCoupling::ExternalCorrected`] takes what moves with η out of the base: J − ΣM⁻¹Σᵀ and m −
//! ⅓ tr(S_lin M⁻¹ S_linᵀ), the inertia that the base has while η follows without force. It is right
//! for what happens faster than the mechanism's oscillations, and too light for everything slower.

mod contact;
mod coordinates;
mod coupling;
mod derivatives;
mod effectors;
mod energy;
mod inertia;
mod model;
mod near;
mod newton;
mod placing;
mod poses;
mod response;
mod start;
mod state;
mod step;
mod system;
mod workspace;

pub use coupling::BaseCoupling;
pub use inertia::{BaseInertia, contract, vectors};
pub use model::FloatingModel;
pub use newton::{Equations, FIRST_RATE, FloatingWork, angular, solve, zero_padded};
pub use poses::carry;
pub use response::Response;
pub use start::Start;
pub use state::{FloatingState, Momentum};
pub use step::FloatingStepper;
pub use workspace::FloatingWorkspace;
