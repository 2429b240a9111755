//! Rigid motions for mechanism dynamics: rotations, poses, twists, wrenches, adjoints and spatial
//! inertia.
//!
//! # Conventions
//! - SI units, radians, `f64`; right-handed frames.
//! - A [`Pose`] maps body coordinates to world coordinates (`world_from_body`).
//! - A [`Twist`] is (linear `v`; angular `ω`), a [`Wrench`] is (force `f`; torque `τ`): **linear
//!   part first**, in the body's own frame at its origin unless a name says otherwise. Only
//!   flattened arrays ([`Vec6`], [`Mat6`]) depend on that order.
//! - The [`Adjoint`] of a pose maps twists; its inverse transpose maps wrenches.
//! - `H_ξ = H exp(ξ)`; the right Jacobian `J_r(ξ)` maps `ξ̇` to the body twist: `φ = J_r(ξ) ξ̇`.
//! - Quaternion constructors name their order (`from_wxyz`).
//!
//! # Features
//! - `std` (default): links the standard library and uses its square root. Without it the crate is
//!   `no_std` with `alloc`.
//! - `serde`: serialises every data type; a pose as `position` and `quaternion_wxyz`.
#![cfg_attr(not(feature = "std"), no_std)]

pub use glam;

mod adjoint;
mod coefficients;
mod digits;
mod equivariant;
mod inertia;
mod mat6;
mod pose;
mod random;
mod scalar;
pub mod se3;
mod skew;
pub mod so3;
mod sym_mat6;
mod twist;

pub use adjoint::Adjoint;
pub use digits::{Digits, DigitsOf};
pub use inertia::{InertiaError, SpatialInertia};
pub use mat6::{Mat6, Vec6};
pub use pose::{Pose, PoseError};
pub use random::SplitMix64;
pub use skew::skew;
pub use sym_mat6::SymMat6;
pub use twist::{Twist, Wrench};

/// The example of the README is compiled and run with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
