//! Dense matrices of a step, by rows.

use forks_linalg::{Matrix, sqrt};

/// Σ α_i A_i.
#[inline(always)]
pub(crate) fn blend<'a>(
    out: &mut [f64],
    weights: &[f64],
    matrices: impl Iterator<Item = &'a Matrix>,
) {
    out.fill(0.0);
    for (alpha, m) in weights.iter().zip(matrices) {
        if *alpha != 0.0 {
            out.iter_mut().zip(m.as_slice()).for_each(|(o, x)| *o += alpha * x);
        }
    }
}

/// Rows of fewer numbers are summed one by one: the four sums at once cost more than they spare.
const SHORT: usize = 8;

/// Σ a b; four sums at once, inlined so that they are one register where there is one.
#[inline(always)]
pub(crate) fn row(a: &[f64], b: &[f64]) -> f64 {
    if a.len() < SHORT {
        return a.iter().zip(b).map(|(x, y)| x * y).sum();
    }
    let ((fours, rest), (others, more)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (x, y) in fours.iter().zip(others) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    let rest: f64 = rest.iter().zip(more).map(|(x, y)| x * y).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// A x.
#[inline(always)]
pub(crate) fn multiply(a: &[f64], x: &[f64], out: &mut [f64]) {
    a.chunks_exact(x.len().max(1)).zip(out).for_each(|(a, out)| *out = row(a, x));
}

/// xᵀ A x.
#[inline(always)]
pub(crate) fn quadratic(a: &[f64], x: &[f64]) -> f64 {
    a.chunks_exact(x.len().max(1)).zip(x).map(|(a, own)| own * row(a, x)).sum()
}

/// Cholesky's L Lᵀ of M̄ + h D̄ + h² K̄ in place of K̄, lower triangle. A pivot that is not
/// positive, as at poses that only their loads hold, is replaced by its size: the matrix steers
/// Newton's method, which must go downhill. False if numbers are not finite or nothing resists a
/// motion.
#[inline(always)]
pub(crate) fn factor_system(
    mass: &[f64],
    damping: &[f64],
    a: &mut [f64],
    h: f64,
    n: usize,
) -> bool {
    for (s, (m, d)) in a.iter_mut().zip(mass.iter().zip(damping)) {
        *s = m + h * d + h * h * *s;
    }
    for j in 0..n {
        let mut pivot = a[j * n + j];
        let size = pivot.abs();
        for k in 0..j {
            pivot -= a[j * n + k] * a[j * n + k];
        }
        let pivot = if pivot > 1e-13 * size { pivot } else { pivot.abs().max(1e-6 * size) };
        if !(pivot.is_finite() && pivot > 0.0) {
            return false;
        }
        let root = sqrt(pivot);
        a[j * n + j] = root;
        for i in j + 1..n {
            let mut x = a[i * n + j];
            for k in 0..j {
                x -= a[i * n + k] * a[j * n + k];
            }
            a[i * n + j] = x / root;
        }
    }
    true
}

/// x = (L Lᵀ)⁻¹ x.
#[inline(always)]
pub(crate) fn solve_factored(l: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        for k in 0..i {
            x[i] -= l[i * n + k] * x[k];
        }
        x[i] /= l[i * n + i];
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            x[i] -= l[k * n + i] * x[k];
        }
        x[i] /= l[i * n + i];
    }
}
