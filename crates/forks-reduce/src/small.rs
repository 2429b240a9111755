//! Small matrices of a frontier update: pseudo-inverse by Jacobi rotations, Gaussian elimination.

use forks_mechanism::linalg::Matrix;

/// Eigenvalues and eigenvectors (columns) of a small symmetric matrix by cyclic Jacobi rotations.
pub(crate) fn jacobi_eigen(m: &Matrix) -> (Vec<f64>, Matrix) {
    let n = m.rows();
    let mut a = m.clone();
    let mut v = Matrix::identity(n);
    for _ in 0..60 {
        let mut off = 0.0;
        let mut total = 0.0;
        for i in 0..n {
            total += a[(i, i)] * a[(i, i)];
            for j in 0..i {
                off += a[(i, j)] * a[(i, j)];
            }
        }
        if off <= f64::EPSILON * f64::EPSILON * (total + off) || !off.is_finite() {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, &mut v, p, q);
            }
        }
    }
    ((0..n).map(|i| a[(i, i)]).collect(), v)
}

fn rotate(a: &mut Matrix, v: &mut Matrix, p: usize, q: usize) {
    if a[(p, q)] == 0.0 {
        return;
    }
    let tau = (a[(q, q)] - a[(p, p)]) / (2.0 * a[(p, q)]);
    let t = tau.signum() / (tau.abs() + (1.0 + tau * tau).sqrt());
    let t = if tau == 0.0 { 1.0 } else { t };
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = t * c;
    let n = a.rows();
    for k in 0..n {
        let (x, y) = (a[(k, p)], a[(k, q)]);
        a[(k, p)] = c * x - s * y;
        a[(k, q)] = s * x + c * y;
    }
    for k in 0..n {
        let (x, y) = (a[(p, k)], a[(q, k)]);
        a[(p, k)] = c * x - s * y;
        a[(q, k)] = s * x + c * y;
    }
    for k in 0..n {
        let (x, y) = (v[(k, p)], v[(k, q)]);
        v[(k, p)] = c * x - s * y;
        v[(k, q)] = s * x + c * y;
    }
}

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
    let (values, vectors) = jacobi_eigen(&scaled);
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

/// Gaussian elimination with partial pivoting; `None` where a pivot vanishes to rounding.
pub(crate) fn solve_small(a: &Matrix, b: &Matrix) -> Option<Matrix> {
    let (n, k) = (a.rows(), b.columns());
    let (mut a, mut b) = (a.clone(), b.clone());
    let scale = a.max_abs();
    for p in 0..n {
        let best = (p..n).max_by(|&i, &j| a[(i, p)].abs().total_cmp(&a[(j, p)].abs()))?;
        if a[(best, p)].is_nan() || a[(best, p)].abs() <= 1e-14 * scale {
            return None;
        }
        for j in 0..n {
            let t = a[(p, j)];
            a[(p, j)] = a[(best, j)];
            a[(best, j)] = t;
        }
        for j in 0..k {
            let t = b[(p, j)];
            b[(p, j)] = b[(best, j)];
            b[(best, j)] = t;
        }
        for i in 0..n {
            if i != p && a[(i, p)] != 0.0 {
                let f = a[(i, p)] / a[(p, p)];
                for j in p..n {
                    a[(i, j)] -= f * a[(p, j)];
                }
                for j in 0..k {
                    b[(i, j)] -= f * b[(p, j)];
                }
            }
        }
    }
    for i in 0..n {
        for j in 0..k {
            b[(i, j)] /= a[(i, i)];
        }
    }
    Some(b)
}
