//! Impulses of frictional contact: inverse system matrices, Jacobians and cones in, impulses and a
//! certificate out.
//!
//! # Conventions
//! - SI units, radians, `f64`. A body is its n coordinates' velocity v and its inverse system
//!   matrix A⁻¹ (n × n), which maps generalised impulses to velocities. What the coordinates mean
//!   is the user's business.
//! - A contact has three rows (normal, first tangent, second tangent); a positive normal velocity
//!   separates. Jacobians are stored row after row.
//! - λ are impulses (N·s), forces times the step; u = J v + R λ + bias are velocities (m/s).
//! - A twist of a rigid body has its linear part first, in the frame of its inertia.
//!
//! # The law
//! With W = J A⁻¹ Jᵀ + R and the free velocity of the rows q:
//!
//! ```text
//! u = W λ + q,   K = {λ : ‖λ_t‖ ≤ μ λ_n},   K ∋ λ ⊥ u + μ‖u_t‖ n ∈ K*
//! ```
//!
//! This is Coulomb's law with the largest dissipation, in De Saxcé's form. It is not associated:
//! sliding surfaces do not lift off, as they would without the term μ‖u_t‖ n (that would be a
//! convex problem, and another law). It can have no, one or several solutions; W positive definite
//! (a compliance and a slip compliance everywhere) gives at least one.
//!
//! # Features
//! - `std` (default): links the standard library. Without it the crate is `no_std` with `alloc`.
//! - `simd` (default): AVX2 with fused multiply-adds where the processor has them.
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub use forks_lie as lie;
pub use forks_linalg as linalg;

mod admm;
mod block;
mod body;
mod constraint;
mod delassus;
mod dense;
mod error;
mod frame;
mod gauss_seidel;
mod goal;
mod ids;
mod interior;
mod law;
mod newton;
mod ports;
mod prepare;
mod problem;
mod quad;
mod robust;
mod scalar;
mod shared_compliance;
mod solver;
mod system;

pub use constraint::{Contact, Friction, Row, Side};
pub use error::ContactError;
pub use frame::{point_columns, point_jacobian, tangents};
pub use goal::Method;
pub use ids::{BodyId, ConstraintId, PortId};
pub use problem::{ContactProblem, NewContact};
pub use shared_compliance::SharedCompliance;
pub use solver::{Report, Settings, Solver, Status};

/// The example of the README is compiled and run with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
