//! Dense helpers against their defining equations, on random matrices.

use forks_lie::SplitMix64;
use forks_linalg::{Matrix, dense};

fn random(r: &mut SplitMix64, rows: usize, columns: usize) -> Matrix {
    Matrix::from_fn(rows, columns, |_, _| r.range(-1.0, 1.0))
}

/// A symmetric positive definite matrix with eigenvalues of at least 1.
fn definite(r: &mut SplitMix64, n: usize) -> Matrix {
    let a = random(r, n, n);
    let s = a.mul(&a.transpose());
    Matrix::from_fn(n, n, |i, j| s[(i, j)] + if i == j { 1.0 } else { 0.0 })
}

fn diagonal(d: &[f64]) -> Matrix {
    Matrix::from_fn(d.len(), d.len(), |i, j| if i == j { d[i] } else { 0.0 })
}

/// Backward errors of n = 7 with entries below 10.
const BOUND: f64 = 7.0 * 10.0 * 8.0 * f64::EPSILON;

fn near(a: &Matrix, b: &Matrix) {
    let error = a.sub(b).max_abs();
    assert!(error < BOUND, "{error}");
}

#[test]
fn decompositions_rebuild_the_matrix() {
    let mut r = SplitMix64::new(1);
    for (rows, columns) in [(7, 7), (7, 3), (3, 7), (1, 5)] {
        let m = random(&mut r, rows, columns);
        let d = dense::svd(&m).unwrap();
        near(&d.u.mul(&diagonal(&d.s)).mul(&d.v.transpose()), &m);
        assert!(d.s.windows(2).all(|w| w[0] >= w[1]));
        let full = dense::full_svd(&m).unwrap();
        near(&full.u.transpose_mul(&full.u), &Matrix::identity(rows));
        near(&full.v.transpose_mul(&full.v), &Matrix::identity(columns));
        let s = definite(&mut r, rows);
        let (e, v) = dense::symmetric_eigen(&s).unwrap();
        near(&v.mul(&diagonal(&e)).mul(&v.transpose()), &s);
        assert!(e.windows(2).all(|w| w[0] <= w[1]));
    }
}

#[test]
fn solutions_satisfy_their_equations() {
    let mut r = SplitMix64::new(2);
    let (s, b) = (definite(&mut r, 7), random(&mut r, 7, 2));
    near(&s.mul(&dense::cholesky_solve(&s, &b).unwrap()), &b);
    near(&s.mul(&dense::lu_solve(&s, &b)), &b);
    assert!(dense::cholesky_solve(&diagonal(&[1.0, -1.0]), &random(&mut r, 2, 1)).is_none());
    assert!(!dense::lu_solve(&Matrix::zeros(2, 2), &random(&mut r, 2, 1)).is_finite());
    let k = definite(&mut r, 7);
    let (e, x) = dense::generalized_symmetric_eigen(&k, &s).unwrap();
    // Eigenvalues of the pair are below 100.
    let error = k.mul(&x).sub(&s.mul(&x).mul(&diagonal(&e))).max_abs();
    assert!(error < 100.0 * BOUND, "{error}");
    near(&x.transpose_mul(&s.mul(&x)), &Matrix::identity(7));
}

#[test]
fn nullspaces_and_smallest_solutions_of_deficient_matrices() {
    let mut r = SplitMix64::new(3);
    // Rank 2 by construction.
    let m = random(&mut r, 4, 2).mul(&random(&mut r, 2, 6));
    let (rank, n) = dense::nullspace(&m, 1e-10).unwrap();
    assert_eq!((rank, n.rows(), n.columns()), (2, 6, 4));
    assert!(m.mul(&n).max_abs() < BOUND);
    near(&n.transpose_mul(&n), &Matrix::identity(4));
    let b = m.mul_vec(&[1.0, -2.0, 0.5, 0.3, 0.7, -0.1]);
    let x = dense::min_norm_solve(&m, &b, 1e-10);
    for (a, b) in m.mul_vec(&x).iter().zip(&b) {
        assert!((a - b).abs() < BOUND);
    }
    // No part in the nullspace; the pseudo-inverse is as large as 1/σ₂.
    assert!(n.transpose_mul_vec(&x).iter().all(|x| x.abs() < 100.0 * BOUND));
    assert_eq!(dense::nullspace(&Matrix::zeros(0, 3), 1e-10).unwrap().1, Matrix::identity(3));
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    let m = Matrix::from_fn(2, 2, |_, _| f64::NAN);
    assert!(dense::svd(&m).is_none() && dense::full_svd(&m).is_none());
    assert!(dense::nullspace(&m, 1e-10).is_none() && dense::symmetric_eigen(&m).is_none());
    assert_eq!(dense::min_norm_solve(&m, &[1.0, 1.0], 1e-10), [0.0, 0.0]);
}

/// Householder's QR beside the normal equations, and an exact solution of redundant equations.
#[test]
fn least_squares_leave_what_is_orthogonal_to_the_columns() {
    let m = Matrix::from_fn(6, 4, |i, j| ((7 * i + 3 * j + i * j) as f64).sin());
    let b = Matrix::from_fn(6, 2, |i, j| ((5 * i + 11 * j + 1) as f64).cos());
    let x = dense::least_squares(&m, &b);
    let left = m.transpose_mul(&m.mul(&x).sub(&b));
    assert!(left.max_abs() < 1e-13, "{:e}", left.max_abs());
    let exact = Matrix::from_fn(4, 2, |i, j| (i + 2 * j) as f64 - 1.5);
    let found = dense::least_squares(&m, &m.mul(&exact));
    // The condition number of m is below 100.
    assert!(found.sub(&exact).max_abs() < 1e2 * 8.0 * f64::EPSILON, "{found:?}");
}
