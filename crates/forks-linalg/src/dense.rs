//! Decompositions of matrices of any size: thin wrappers that keep the library behind them private.
//!
//! Ranks are decided relative to the largest singular value.

use faer::{
    Mat, Side,
    linalg::solvers::{Solve, SolveLstsq},
};

use crate::Matrix;

fn to_faer(m: &Matrix) -> Mat<f64> {
    Mat::from_fn(m.rows(), m.columns(), |i, j| m[(i, j)])
}

fn from_faer(m: faer::MatRef<'_, f64>) -> Matrix {
    Matrix::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)])
}

/// A thin singular value decomposition `m = u diag(s) vᵀ`, singular values descending.
#[derive(Clone, Debug)]
pub struct Svd {
    /// Left singular vectors as columns (rows × min).
    pub u: Matrix,
    /// Singular values.
    pub s: Vec<f64>,
    /// Right singular vectors as columns (columns × min).
    pub v: Matrix,
}

/// The thin singular value decomposition; `None` if it does not converge (NaN in the input).
pub fn svd(m: &Matrix) -> Option<Svd> {
    if m.rows() == 0 || m.columns() == 0 {
        return Some(Svd {
            u: Matrix::zeros(m.rows(), 0),
            s: vec![],
            v: Matrix::zeros(m.columns(), 0),
        });
    }
    if !m.is_finite() {
        return None;
    }
    let d = to_faer(m).thin_svd().ok()?;
    let s = d.S().column_vector();
    Some(Svd {
        u: from_faer(d.U()),
        s: (0..s.nrows()).map(|i| s[i]).collect(),
        v: from_faer(d.V()),
    })
}

/// Number of singular values above `tolerance` times the largest.
pub fn numerical_rank(s: &[f64], tolerance: f64) -> usize {
    let top = s.first().copied().unwrap_or(0.0);
    s.iter().filter(|&&x| top > 0.0 && x > tolerance * top).count()
}

/// The rank of `m` and an orthonormal basis of its nullspace (columns).
pub fn nullspace(m: &Matrix, tolerance: f64) -> Option<(usize, Matrix)> {
    let n = m.columns();
    if m.rows() == 0 || n == 0 {
        return Some((0, Matrix::identity(n)));
    }
    if !m.is_finite() {
        return None;
    }
    let d = to_faer(m).svd().ok()?;
    let s = d.S().column_vector();
    let values: Vec<f64> = (0..s.nrows()).map(|i| s[i]).collect();
    let rank = numerical_rank(&values, tolerance);
    let v = d.V();
    Some((rank, Matrix::from_fn(n, n - rank, |i, j| v[(i, rank + j)])))
}

/// The solution of smallest norm of `m x ≈ b` in the least-squares sense; singular values below
/// `tolerance` times the largest count as zero. Zero where the input is not finite.
pub fn min_norm_solve(m: &Matrix, b: &[f64], tolerance: f64) -> Vec<f64> {
    let mut x = vec![0.0; m.columns()];
    let Some(d) = svd(m) else { return x };
    let rank = numerical_rank(&d.s, tolerance);
    for k in 0..rank {
        let c: f64 = (0..m.rows()).map(|i| d.u[(i, k)] * b[i]).sum::<f64>() / d.s[k];
        for (j, x) in x.iter_mut().enumerate() {
            *x += c * d.v[(j, k)];
        }
    }
    x
}

/// Eigenvalues (ascending) and eigenvectors (columns) of a symmetric matrix; its lower triangle is
/// read.
pub fn symmetric_eigen(m: &Matrix) -> Option<(Vec<f64>, Matrix)> {
    if m.rows() == 0 {
        return Some((vec![], Matrix::zeros(0, 0)));
    }
    if !m.is_finite() {
        return None;
    }
    let d = to_faer(m).self_adjoint_eigen(Side::Lower).ok()?;
    let s = d.S().column_vector();
    Some(((0..s.nrows()).map(|i| s[i]).collect(), from_faer(d.U())))
}

/// All eigenvalues of a square matrix as (real part, imaginary part); `None` if they do not
/// converge.
pub fn eigenvalues(m: &Matrix) -> Option<Vec<(f64, f64)>> {
    if m.rows() == 0 {
        return Some(vec![]);
    }
    if !m.is_finite() {
        return None;
    }
    let values = to_faer(m).eigenvalues().ok()?;
    Some(values.iter().map(|z| (z.re, z.im)).collect())
}

/// Solves the square system `m x = b` (columns of `b`) by LU with partial pivoting; the result is
/// not finite where `m` is singular.
pub fn lu_solve(m: &Matrix, b: &Matrix) -> Matrix {
    if m.rows() == 0 {
        return Matrix::zeros(0, b.columns());
    }
    from_faer(to_faer(m).partial_piv_lu().solve(to_faer(b)).as_ref())
}

/// The `x` for which `m x` is nearest to `b` (columns of `b`), for `m` with no fewer rows than
/// columns, by Householder's QR; the result is not finite where `m` has dependent columns.
pub fn least_squares(m: &Matrix, b: &Matrix) -> Matrix {
    if m.columns() == 0 {
        return Matrix::zeros(0, b.columns());
    }
    from_faer(to_faer(m).qr().solve_lstsq(to_faer(b)).as_ref())
}

/// Solves `m x = b` (columns of `b`) for symmetric positive definite `m`; `None` where it is not.
pub fn cholesky_solve(m: &Matrix, b: &Matrix) -> Option<Matrix> {
    if m.rows() == 0 {
        return Some(Matrix::zeros(0, b.columns()));
    }
    let d = to_faer(m).llt(Side::Lower).ok()?;
    Some(from_faer(d.solve(to_faer(b)).as_ref()))
}

/// Eigenvalues (ascending) of `k x = λ m x` for symmetric `k` and symmetric positive definite `m`,
/// and the eigenvectors as columns with `xᵀ m x = 1`; `None` where `m` is not positive definite.
pub fn generalized_symmetric_eigen(k: &Matrix, m: &Matrix) -> Option<(Vec<f64>, Matrix)> {
    let n = m.rows();
    if n == 0 {
        return Some((vec![], Matrix::zeros(0, 0)));
    }
    let factor = to_faer(m).llt(Side::Lower).ok()?;
    let l = from_faer(factor.L());
    // L⁻¹ K L⁻ᵀ by two forward substitutions.
    let half = forward_substitution(&l, k);
    let full = forward_substitution(&l, &half.transpose());
    let (values, vectors) = symmetric_eigen(&full.symmetric_part())?;
    Some((values, backward_substitution(&l, &vectors)))
}

fn forward_substitution(l: &Matrix, b: &Matrix) -> Matrix {
    let mut x = b.clone();
    for i in 0..l.rows() {
        for k in 0..i {
            let a = l[(i, k)];
            for j in 0..x.columns() {
                x[(i, j)] -= a * x[(k, j)];
            }
        }
        for j in 0..x.columns() {
            x[(i, j)] /= l[(i, i)];
        }
    }
    x
}

/// Solves `lᵀ x = b`.
fn backward_substitution(l: &Matrix, b: &Matrix) -> Matrix {
    let mut x = b.clone();
    for i in (0..l.rows()).rev() {
        for k in i + 1..l.rows() {
            let a = l[(k, i)];
            for j in 0..x.columns() {
                x[(i, j)] -= a * x[(k, j)];
            }
        }
        for j in 0..x.columns() {
            x[(i, j)] /= l[(i, i)];
        }
    }
    x
}

/// The full singular value decomposition: `u` (rows × rows) and `v` (columns × columns) are square.
pub fn full_svd(m: &Matrix) -> Option<Svd> {
    if m.rows() == 0 || m.columns() == 0 {
        return Some(Svd {
            u: Matrix::identity(m.rows()),
            s: vec![],
            v: Matrix::identity(m.columns()),
        });
    }
    if !m.is_finite() {
        return None;
    }
    let d = to_faer(m).svd().ok()?;
    let s = d.S().column_vector();
    Some(Svd {
        u: from_faer(d.U()),
        s: (0..s.nrows()).map(|i| s[i]).collect(),
        v: from_faer(d.V()),
    })
}
