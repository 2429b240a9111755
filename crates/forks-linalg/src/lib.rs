//! Dense linear algebra for small problems.
//!
//! - [`Matrix`]: a plain matrix of any size, by rows.
//! - [`simd`]: work on four numbers at once, on the instruction set that the processor has.
//! - `dense` (feature `faer`): decompositions of matrices of any size.
//!
//! # Features
//! - `std` (default): links the standard library and uses its square root. Without it the crate is
//!   `no_std` with `alloc`.
//! - `simd`: [`simd::Isa::detect`] finds AVX2 with fused multiply-adds where the processor has
//!   them.
//! - `faer`: module `dense`.
//! - `serde`: serialises [`Matrix`].
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

#[cfg(feature = "faer")]
pub mod dense;
mod matrix;
mod scalar;
pub mod simd;
mod slices;

pub use matrix::Matrix;
pub use scalar::sqrt;
pub use slices::{axpy, dot};

/// The example of the README is compiled and run with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
