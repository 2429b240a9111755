//! Statics and linearised dynamics of articulated mechanisms with loops: the full reference solver.
//!
//! # Conventions
//! - SI units, radians, `f64`; twists and wrenches have their linear part first, in the body's own
//!   frame.
//! - Positions `q`, velocities `v` and loop equations are laid out as in [`forks_mechanism`]: tree
//!   joints first, then loop-closing joints; six rows per closing joint in its child's frame, then
//!   couplings.
//! - Generalised forces f do the work f · v. Multipliers have the sign f + Gᵀλ = 0.
//! - Functions that need link poses take `world_from_link` from `Mechanism::link_poses(q)`.
//! - Servos are ignored; [`forks_mechanism::Preparation`] turns them into springs.
#![doc = include_str!("../README.md")]

pub mod adaptive;
mod algebra;
mod branches;
pub mod cables;
mod cancel;
pub mod constrained;
mod constraint_space;
pub mod dca;
mod energy;
mod equilibrium;
mod explanation;
mod frontal;
pub mod integrate;
mod loads;
mod logarithm;
mod mass;
pub mod modes;
mod moving_joints;
mod newton;
pub mod passive;
mod phases;
mod scaling;
mod search;
pub mod springs;
mod stability;
mod stage;
pub mod statics;
mod tangent;
pub mod tree;

pub use cancel::Cancel;
pub use constrained::MechanismEnergy;
pub use energy::{elastic_energy, generalized_forces, gravitational_energy, potential_energy};
pub use forks_mechanism as mechanism;
pub use loads::{AppliedWrench, Loads, WrenchFrame};
pub use mass::mass_matrix;
pub use tangent::{body_axes_derivative, tangent_stiffness};
