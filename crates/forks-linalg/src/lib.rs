//! Dense linear algebra for small problems.
//!
//! - [`Matrix`]: a plain matrix of any size, by rows.
//! - [`cholesky`], [`Ldl6`], [`solve_lu`], [`jacobi`], [`OrthogonalRows`]: factorisations, with the
//!   pivots that they accept by name, [`Pivots`].
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

mod cholesky;
#[cfg(feature = "faer")]
pub mod dense;
mod jacobi;
mod ldl;
mod lu;
mod matrix;
mod orthogonal_rows;
mod pivots;
mod scalar;
pub mod simd;
mod slices;

pub use cholesky::{
    cholesky, invert_cholesky, solve_cholesky, solve_lower, solve_lower_transposed,
};
pub use jacobi::{Accuracy, jacobi};
pub use ldl::Ldl6;
pub use lu::solve_lu;
pub use matrix::Matrix;
pub use orthogonal_rows::OrthogonalRows;
pub use pivots::{BadPivot, Pivots};
pub use scalar::sqrt;
pub use slices::{axpy, dot, norm};

/// The example of the README is compiled and run with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
