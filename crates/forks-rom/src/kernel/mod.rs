//! Kernels that run on four lanes of `f64` at once, with the instruction set chosen at run time.
//!
//! A kernel is written once over [`Lanes`]. Every lane does the same operations in the same order wherever it
//! lies, so that results do not depend on blocks, batches or threads; only fused multiply-adds distinguish the
//! instruction sets.

mod isa;
mod lanes;
mod link_blocks;
mod pose;

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
pub use isa::Avx2;
pub use isa::Isa;
pub(crate) use isa::Kernel;
pub(crate) use lanes::{LANES, Lane4, Lanes, Portable};
pub(crate) use link_blocks::{LinkBlocks, POSE, pose_entries, pose_of};
pub(crate) use pose::{
    MAX_QUARTER_ANGLE_SQUARED, cosine_and_sinc, cross, displaced, half_angle_coefficients,
    half_angle_series, half_angle_series_of_lanes, turned_by,
};
