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

/// Sum of products. Four sums side by side: one alone waits for every addition.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    let (fours, more) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = fours.remainder().iter().zip(more.remainder()).map(|(x, y)| x * y).sum();
    let mut sums = [0.0; 4];
    for (x, y) in fours.zip(more) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += x * y;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// y += a x. A call of its own: only there is it known that the two are apart, and the loop takes two numbers at a time.
#[inline(never)]
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
