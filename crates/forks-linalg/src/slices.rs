//! Plain vectors of numbers, as rows of dense matrices.

/// Sum of products. Four sums side by side: one alone waits for every addition.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
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

/// y += a x. A call of its own: only there is it known that the two are apart, and the loop takes
/// two numbers at a time.
#[inline(never)]
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Root of the sum of squares.
#[inline]
pub fn norm(x: &[f64]) -> f64 {
    crate::sqrt(dot(x, x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_any_length() {
        let x: [f64; 11] = core::array::from_fn(|i| i as f64 + 1.0);
        let y: [f64; 11] = core::array::from_fn(|i| 2.0 - i as f64);
        for n in 0..=11 {
            // Small integers: every order of the sum is exact.
            let plain: f64 = (0..n).map(|i| x[i] * y[i]).sum();
            assert_eq!(dot(&x[..n], &y[..n]), plain);
            let mut z = y;
            axpy(3.0, &x[..n], &mut z[..n]);
            assert!((0..11).all(|i| z[i] == y[i] + if i < n { 3.0 * x[i] } else { 0.0 }));
        }
    }
}
