//! Kernels of the run time: what [`forks_linalg::simd`] runs on four lanes of `f64` at once.

mod link_blocks;
mod pose;

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
pub use forks_linalg::simd::Avx2;
pub use forks_linalg::simd::Isa;
pub use link_blocks::{LinkBlocks, POSE, pose_entries, pose_of};
pub(crate) use pose::{
    MAX_QUARTER_ANGLE_SQUARED, cosine_and_sinc, half_angle_series, half_angle_series_of_lanes,
    turned_by,
};
pub use pose::{displaced, half_angle_coefficients};
