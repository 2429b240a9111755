//! Scalar functions with and without the standard library, and short vectors.

/// Square root.
#[inline]
pub(crate) fn sqrt(x: f64) -> f64 {
    #[cfg(feature = "std")]
    return x.sqrt();
    #[cfg(not(feature = "std"))]
    return libm::sqrt(x);
}

/// Length of a tangential vector.
#[inline]
pub(crate) fn hypot(x: f64, y: f64) -> f64 {
    sqrt(x * x + y * y)
}

/// Sum of products.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// y += a x.
#[inline]
pub(crate) fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Largest absolute entry; NaN if there is one.
#[inline]
pub(crate) fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| if x.is_nan() || m < x.abs() { x.abs() } else { m })
}
