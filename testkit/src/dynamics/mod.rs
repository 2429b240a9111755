//! Forward dynamics the naive way: every link a free body, every joint six equations with
//! multipliers.
//!
//! Unknown are the rates of all body twists a, of all joint velocities θ̈ (loop-closing joints too)
//! and the multipliers of all joints and couplings. With g the gap between a joint's child and
//! where the joint puts it, ġ = G_a φ + G_θ θ̇:
//!
//! ```text
//! I a      − G_aᵀ λ          = w − φ ×* I φ            every link
//! A θ̈     − G_θᵀ λ − Cᵀ μ   = τ − springs − dampers   every joint coordinate, A the armature
//! G_a a + G_θ θ̈             = −g̈ at a = 0, θ̈ = 0    every joint
//! C θ̈                       = −c̈ at θ̈ = 0           every coupling
//! ```
//!
//! All derivatives are taken by truncated power series of time, so that no Jacobian and no velocity
//! product is written down. Kinematics, matrices and residuals are in numbers of twice the usual
//! precision; the solutions are exact for the given `f64` numbers, to rounding at the very end.
//! Spring and damper forces are those of [`crate::Potential`], in `f64`.

mod dense;
mod double;
mod energy;
mod equations;
mod motion;
mod state;
mod taylor;
mod tree;

pub use dense::{Acceleration, forward_dynamics, open_forward_dynamics};
pub use double::Double;
pub use energy::{Energies, energies};
pub use state::{State, StateOptions, random_state};
pub use taylor::Taylor;
pub use tree::{TreeAcceleration, tree_forward_dynamics};
