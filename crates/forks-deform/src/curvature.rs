//! Second derivatives as they are, or without what is negative in them.

use forks_dynamics::mechanism::linalg::{Accuracy, jacobi};

/// Which second derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curvature {
    /// The exact one.
    Exact,
    /// The nearest that is positive semidefinite.
    Projected,
}

/// The nearest symmetric matrix without negative eigenvalues.
pub(crate) fn positive_part(m: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let mut a = [0.0; 9];
    for i in 0..3 {
        for j in 0..3 {
            a[3 * i + j] = 0.5 * (m[i][j] + m[j][i]);
        }
    }
    // Sylvester: most are positive, and then nothing is to be done.
    let minor = a[0] * a[4] - a[1] * a[1];
    let det = a[0] * (a[4] * a[8] - a[5] * a[5]) - a[1] * (a[1] * a[8] - a[5] * a[2])
        + a[2] * (a[1] * a[5] - a[4] * a[2]);
    if a[0] > 0.0 && minor > 0.0 && det > 0.0 {
        return m;
    }
    let mut v = [0.0; 9];
    jacobi(3, &mut a, &mut v, Accuracy::Norm);
    let mut out = [[0.0; 3]; 3];
    for k in 0..3 {
        let l = a[4 * k].max(0.0);
        for i in 0..3 {
            for j in 0..3 {
                out[i][j] += l * v[3 * k + i] * v[3 * k + j];
            }
        }
    }
    out
}
