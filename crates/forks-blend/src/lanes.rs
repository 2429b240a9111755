//! Padding to whole lane groups.
use forks_linalg::simd::LANES;

/// Numbers of whole lane groups.
pub(crate) fn padded(n: usize) -> usize {
    n.div_ceil(LANES) * LANES
}
