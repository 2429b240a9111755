//! Pseudo-inverses of the small matrices of a frontier update.

use forks_mechanism::linalg::{Accuracy, Matrix};

/// A pseudo-inverse, and the directions that it leaves out.
pub(crate) struct PseudoInverse {
    /// The pseudo-inverse.
    pub(crate) inverse: Matrix,
    /// Unit directions (columns) whose eigenvalue counts as zero.
    pub(crate) null: Matrix,
}

/// The pseudo-inverse of a symmetric matrix whose rows carry rounding errors of size ε·`scale[i]`.
///
/// The matrix is made dimensionless by the scales before eigenvalues are compared with `tolerance`;
/// a direction whose variance is below `noise` counts as zero as well.
pub(crate) fn pseudo_inverse(
    s: &Matrix,
    scale: &[f64],
    tolerance: f64,
    noise: f64,
) -> PseudoInverse {
    let n = s.rows();
    let d: Vec<f64> = scale.iter().map(|&x| if x > noise { 1.0 / x.sqrt() } else { 0.0 }).collect();
    let scaled = Matrix::from_fn(n, n, |i, j| d[i] * s[(i, j)] * d[j]);
    let (values, vectors) = scaled.jacobi_eigen(Accuracy::Norm);
    let mut inverse = Matrix::zeros(n, n);
    let mut null_columns = Vec::new();
    for (k, &value) in values.iter().enumerate() {
        let x: Vec<f64> = (0..n).map(|i| d[i] * vectors[(i, k)]).collect();
        // The variance of the unit direction along x is value / |x|².
        let length: f64 = x.iter().map(|x| x * x).sum();
        if value.abs() <= tolerance.max(noise * length) {
            null_columns.push(if length > 0.0 {
                x.iter().map(|x| x / length.sqrt()).collect()
            } else {
                x
            });
            continue;
        }
        for i in 0..n {
            for j in 0..n {
                inverse[(i, j)] += x[i] * x[j] / value;
            }
        }
    }
    let null = Matrix::from_fn(n, null_columns.len(), |i, k| null_columns[k][i]);
    PseudoInverse { inverse, null }
}
