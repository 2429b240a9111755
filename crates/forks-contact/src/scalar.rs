//! Short vectors.

use forks_linalg::sqrt;

/// Length of a tangential vector.
#[inline]
pub(crate) fn hypot(x: f64, y: f64) -> f64 {
    sqrt(x * x + y * y)
}

/// Largest absolute entry; NaN if there is one.
#[inline]
pub(crate) fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| if x.is_nan() || m < x.abs() { x.abs() } else { m })
}
