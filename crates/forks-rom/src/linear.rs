//! Small dense linear algebra, done once per model or step size.

use alloc::vec::Vec;

use forks_lie::Matrix;

/// Gaussian elimination with partial pivoting.
pub(crate) fn solve(mut a: Matrix, b: &[f64]) -> Option<Vec<f64>> {
    let n = b.len();
    let mut x = b.to_vec();
    for p in 0..n {
        let best = (p..n).max_by(|&i, &j| a[(i, p)].abs().total_cmp(&a[(j, p)].abs()))?;
        if a[(best, p)] == 0.0 || !a[(best, p)].is_finite() {
            return None;
        }
        for j in 0..n {
            let t = a[(p, j)];
            a[(p, j)] = a[(best, j)];
            a[(best, j)] = t;
        }
        x.swap(p, best);
        for i in p + 1..n {
            let f = a[(i, p)] / a[(p, p)];
            for j in p..n {
                a[(i, j)] -= f * a[(p, j)];
            }
            x[i] -= f * x[p];
        }
    }
    for i in (0..n).rev() {
        for j in i + 1..n {
            x[i] -= a[(i, j)] * x[j];
        }
        x[i] /= a[(i, i)];
    }
    Some(x)
}

/// A⁻¹ B by Gaussian elimination with partial pivoting; `None` if A is singular.
pub(crate) fn solve_matrix(a: &Matrix, b: &Matrix) -> Option<Matrix> {
    let mut out = Matrix::zeros(b.rows(), b.columns());
    for j in 0..b.columns() {
        let x = solve(a.clone(), &b.column(j))?;
        x.into_iter().enumerate().for_each(|(i, x)| out[(i, j)] = x);
    }
    out.is_finite().then_some(out)
}

/// a + s b.
pub(crate) fn sum(a: &Matrix, s: f64, b: &Matrix) -> Matrix {
    Matrix::from_fn(a.rows(), a.columns(), |i, j| a[(i, j)] + s * b[(i, j)])
}

/// Cholesky's algorithm as a test, in the form L D Lᵀ.
pub(crate) fn is_positive_definite(m: &Matrix) -> bool {
    let n = m.rows();
    let mut l = m.clone();
    for j in 0..n {
        let pivot = l[(j, j)];
        if pivot.is_nan() || pivot <= 0.0 {
            return false;
        }
        for i in j + 1..n {
            let factor = l[(i, j)] / pivot;
            for k in j + 1..=i {
                l[(i, k)] -= factor * l[(k, j)];
            }
        }
    }
    true
}
