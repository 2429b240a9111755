//! Work on four numbers at once, with the instruction set chosen at run time.
//!
//! A [`Kernel`] is written once over [`Arithmetic`], with operators on [`Wide`]. Every lane does
//! the same operations in the same order wherever it lies, so that results do not depend on blocks,
//! batches or threads; only fused multiply-adds distinguish the instruction sets.
//!
//! ```
//! use forks_linalg::simd::{Arithmetic, Isa, Kernel, Lanes};
//!
//! /// Σ a b, four products at a time.
//! struct Dot<'a>(&'a [Lanes], &'a [Lanes]);
//!
//! impl Kernel for Dot<'_> {
//!     type Output = f64;
//!     #[inline(always)]
//!     fn run<L: Arithmetic>(self, l: L) -> f64 {
//!         let pairs = self.0.iter().zip(self.1);
//!         pairs.fold(l.splat(0.0), |sum, (a, b)| sum + l.load(a) * l.load(b)).total()
//!     }
//! }
//!
//! let (a, b) = ([Lanes([1.0, 2.0, 3.0, 4.0])], [Lanes([1.0; 4])]);
//! assert_eq!(Isa::detect().run(Dot(&a, &b)), 10.0);
//! ```

mod arithmetic;
mod factor;
mod isa;
mod lanes;
mod registers;
mod rows;
mod unfused;
mod vectors;
mod wide;
mod wide_vectors;

pub use arithmetic::Arithmetic;
pub use factor::{Factors, cholesky_of_rows, inverse_of_rows};
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
pub use isa::Avx2;
pub use isa::{Isa, Kernel};
pub use lanes::{LANES, Lanes};
pub use registers::{Portable, Registers};
pub use rows::{Rows, add_rows, all_finite, all_lanes_finite, dot_lanes};
pub use unfused::Unfused;
pub use vectors::Vectors;
pub use wide::{Product, Wide};
pub use wide_vectors::WideVectors;
