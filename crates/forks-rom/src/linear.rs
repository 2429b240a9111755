//! Small dense linear algebra, done once per model or step size.

use alloc::vec::Vec;

use forks_linalg::Matrix;

/// A⁻¹ b; `None` if A is singular. As `solve_matrix`, for one column and without a check of the
/// result.
pub fn solve(a: Matrix, b: &[f64]) -> Option<Vec<f64>> {
    let column = Matrix::from_fn(b.len(), 1, |i, _| b[i]);
    Some(eliminate(a, column)?.column(0))
}

/// A⁻¹ B; `None` if A is singular or the result is not finite.
pub(crate) fn solve_matrix(a: &Matrix, b: &Matrix) -> Option<Matrix> {
    eliminate(a.clone(), b.clone()).filter(Matrix::is_finite)
}

/// Gaussian elimination with partial pivoting.
fn eliminate(mut a: Matrix, mut x: Matrix) -> Option<Matrix> {
    let (n, columns) = (a.rows(), x.columns());
    for p in 0..n {
        let best = (p..n).max_by(|&i, &j| a[(i, p)].abs().total_cmp(&a[(j, p)].abs()))?;
        if a[(best, p)] == 0.0 || !a[(best, p)].is_finite() {
            return None;
        }
        swap_rows(&mut a, p, best);
        swap_rows(&mut x, p, best);
        for i in p + 1..n {
            let f = a[(i, p)] / a[(p, p)];
            for j in p..n {
                a[(i, j)] -= f * a[(p, j)];
            }
            for j in 0..columns {
                x[(i, j)] -= f * x[(p, j)];
            }
        }
    }
    for i in (0..n).rev() {
        for j in 0..columns {
            for k in i + 1..n {
                x[(i, j)] -= a[(i, k)] * x[(k, j)];
            }
            x[(i, j)] /= a[(i, i)];
        }
    }
    Some(x)
}

fn swap_rows(m: &mut Matrix, i: usize, j: usize) {
    for k in 0..m.columns() {
        let t = m[(i, k)];
        m[(i, k)] = m[(j, k)];
        m[(j, k)] = t;
    }
}

/// a + s b.
pub fn sum(a: &Matrix, s: f64, b: &Matrix) -> Matrix {
    Matrix::from_fn(a.rows(), a.columns(), |i, j| a[(i, j)] + s * b[(i, j)])
}

/// Cholesky's algorithm as a test, in the form L D Lᵀ.
pub fn is_positive_definite(m: &Matrix) -> bool {
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

/// (L Lᵀ)⁻¹ = L⁻ᵀ L⁻¹, exactly symmetric; L is the lower triangle of `l`.
pub fn invert_factored(l: &[f64], out: &mut Matrix) {
    let n = out.rows();
    // L⁻¹ into the lower triangle.
    for j in 0..n {
        for i in j..n {
            let unit = f64::from(i == j);
            let rest: f64 = (j..i).map(|k| l[i * n + k] * out[(k, j)]).sum();
            out[(i, j)] = (unit - rest) / l[i * n + i];
        }
    }
    // Row by row: entry (i, j) needs rows from i on only, of which row i is not yet overwritten
    // beyond j.
    for i in 0..n {
        for j in 0..=i {
            out[(i, j)] = (i..n).map(|k| out[(k, i)] * out[(k, j)]).sum();
        }
        for j in 0..i {
            out[(j, i)] = out[(i, j)];
        }
    }
}
