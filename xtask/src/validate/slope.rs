//! Derivatives of forces by coordinates of order 1, by central differences.

use forks_mechanism::linalg::Matrix;

/// ∂f/∂x, as many rows as columns.
pub(super) fn slope(x: &[f64], f: &impl Fn(&[f64]) -> Vec<f64>) -> Matrix {
    const STEP: f64 = 1e-5;
    let n = x.len();
    let mut out = Matrix::zeros(n, n);
    let mut y = x.to_vec();
    for j in 0..n {
        y[j] = x[j] + STEP;
        let plus = f(&y);
        y[j] = x[j] - STEP;
        let minus = f(&y);
        y[j] = x[j];
        for i in 0..n {
            out[(i, j)] = (plus[i] - minus[i]) / (2.0 * STEP);
        }
    }
    out
}
