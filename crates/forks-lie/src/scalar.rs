//! Trigonometry that is the same on every target and without the standard library.

/// Sine and cosine.
#[inline]
pub(crate) fn sin_cos(x: f64) -> (f64, f64) {
    libm::sincos(x)
}

/// Four-quadrant arc tangent of `y / x`.
#[inline]
pub(crate) fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}
