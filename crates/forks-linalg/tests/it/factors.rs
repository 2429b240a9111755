//! Factorisations against their defining equations: residuals within c n ε of the sizes that enter,
//! on random matrices of 0 to 19 rows, and singular matrices by every policy of pivots.

use forks_lie::SplitMix64;
use forks_linalg::{
    Accuracy, Ldl6, Matrix, OrthogonalRows, Pivots, cholesky, invert_cholesky, jacobi, norm,
    solve_cholesky, solve_lu,
};

fn random(r: &mut SplitMix64, rows: usize, columns: usize) -> Matrix {
    Matrix::from_fn(rows, columns, |_, _| r.range(-1.0, 1.0))
}

/// A symmetric positive definite matrix with eigenvalues of at least 1.
fn definite(r: &mut SplitMix64, n: usize) -> Matrix {
    let a = random(r, n, n);
    a.mul(&a.transpose()).plus_scaled(1.0, &Matrix::identity(n))
}

/// c n ε with a c of 8: a few roundings for each of n products.
fn bound(n: usize, size: f64) -> f64 {
    8.0 * (n + 1) as f64 * f64::EPSILON * size
}

#[test]
fn cholesky_rebuilds_the_matrix_and_leaves_the_upper_triangle() {
    let mut r = SplitMix64::new(1);
    for n in 0..20 {
        let a = definite(&mut r, n);
        // In a larger array, with something of its own above the diagonal.
        let stride = n + 3;
        let mut l = vec![7.0; n * stride];
        (0..n).for_each(|i| l[i * stride..][..=i].copy_from_slice(&a.row(i)[..=i]));
        cholesky(n, &mut l, stride, Pivots::LOST).unwrap();
        let lower = a.cholesky(Pivots::AboveZero).unwrap();
        let entry = |i: usize, j: usize| if j <= i { lower[(i, j)] } else { 7.0 };
        assert!((0..n).all(|i| (0..n).all(|j| l[i * stride + j] == entry(i, j))));
        let gap = lower.mul(&lower.transpose()).sub(&a).max_abs();
        assert!(gap <= bound(n, a.max_abs()), "{n}: {gap:e}");
        // A A⁻¹ = 1 and A x = b within ε of the condition number, the eigenvalues being at least 1.
        let condition = a.norm();
        let mut inverse = Matrix::zeros(n, n);
        invert_cholesky(n, &l, stride, inverse.as_mut_slice());
        assert_eq!(inverse, inverse.transpose());
        let gap = a.mul(&inverse).sub(&Matrix::identity(n)).max_abs();
        assert!(gap <= bound(n, condition), "{n}: {gap:e}");
        let b = random(&mut r, n, 1).column(0);
        let mut x = b.clone();
        solve_cholesky(&l, stride, &mut x);
        let gap: Vec<f64> = a.mul_vec(&x).iter().zip(&b).map(|(y, b)| y - b).collect();
        assert!(norm(&gap) <= bound(n, condition * norm(&x)), "{n}");
    }
}

#[test]
fn elimination_solves_for_columns_and_vectors_alike() {
    let mut r = SplitMix64::new(2);
    for n in 0..20 {
        let (mut a, b) = (random(&mut r, n, n), random(&mut r, n, 3));
        // A zero where only an exchange of rows helps.
        if n > 1 {
            a[(0, 0)] = 0.0;
        }
        let x = a.solve(&b, Pivots::AboveZero).unwrap();
        // Partial pivoting is backward stable: the condition number does not enter.
        let gap = a.mul(&x).sub(&b).max_abs();
        assert!(gap <= bound(n, a.norm() * x.norm() + b.norm()), "{n}: {gap:e}");
        let column = a.solve_vec(&b.column(1), Pivots::AboveZero).unwrap();
        assert_eq!(column, x.column(1));
    }
}

#[test]
fn factors_of_six_rows_are_those_of_any_number() {
    let mut r = SplitMix64::new(3);
    for n in 0..=6 {
        let a = definite(&mut r, n);
        let mut m = [[0.0; 6]; 6];
        (0..n).for_each(|i| m[i][..n].copy_from_slice(a.row(i)));
        let mut x: [f64; 6] = core::array::from_fn(|_| r.range(-1.0, 1.0));
        let b = x;
        Ldl6::new(&m, n, Pivots::ROUNDING).unwrap().solve(&mut x);
        let rival = a.solve_vec(&b[..n], Pivots::AboveZero).unwrap();
        for (x, y) in x.iter().zip(&rival) {
            assert!((x - y).abs() <= bound(n, a.norm() * norm(&rival)), "{n}: {x} {y}");
        }
    }
}

#[test]
fn rotations_rebuild_the_matrix_with_either_end() {
    let mut r = SplitMix64::new(4);
    for n in 0..12 {
        let s = random(&mut r, n, n).symmetric_part();
        for accuracy in [Accuracy::Norm, Accuracy::Entries] {
            let (values, v) = s.jacobi_eigen(accuracy);
            let scaled = Matrix::from_fn(n, n, |i, j| v[(i, j)] * values[j]);
            let gap = scaled.mul(&v.transpose()).sub(&s).max_abs();
            // Five sweeps or so, two roundings each.
            assert!(gap <= 10.0 * bound(n, s.norm()), "{n}: {gap:e}");
            let gap = v.transpose_mul(&v).sub(&Matrix::identity(n)).max_abs();
            assert!(gap <= 10.0 * bound(n, 1.0), "{n}: {gap:e}");
        }
    }
}

/// The matrix D (1 + E) D with D from 1 to 1e-12: its small eigenvalues are known to ε of their own
/// size, which only [`Accuracy::Entries`] finds.
#[test]
fn small_eigenvalues_of_graded_matrices_have_all_their_digits() {
    let d = [1.0, 1e-4, 1e-8, 1e-12];
    let a = |i: usize, j: usize| d[i] * d[j] * if i == j { 1.0 } else { 0.25 };
    let (mut m, mut v) = (Matrix::from_fn(4, 4, a), [0.0; 16]);
    jacobi(4, m.as_mut_slice(), &mut v, Accuracy::Entries);
    let product: f64 = (0..4).map(|i| m[(i, i)]).product();
    // det (1 + E) of n rows with ¼ beside the diagonal: (¾)ⁿ⁻¹ (¾ + n/4).
    let expected = d.iter().map(|d| d * d).product::<f64>() * 0.75f64.powi(3) * 1.75;
    assert!((product / expected - 1.0).abs() < 64.0 * f64::EPSILON, "{product:e} {expected:e}");
}

#[test]
fn singular_values_are_those_of_the_normal_matrix() {
    let mut r = SplitMix64::new(5);
    for (m, n) in [(1, 4), (3, 3), (5, 2), (6, 9)] {
        let a = random(&mut r, m, n);
        let mut found: Vec<f64> = OrthogonalRows::new(&a).singular_values().collect();
        let (mut rival, _) = a.mul(&a.transpose()).jacobi_eigen(Accuracy::Norm);
        found.sort_by(f64::total_cmp);
        rival.sort_by(f64::total_cmp);
        for (s, square) in found.iter().zip(&rival) {
            assert!((s * s - square).abs() <= bound(m + n, a.norm().powi(2)), "{m} × {n}");
        }
    }
}

/// A matrix whose last pivot is `last` of its diagonal entry, 2.
fn nearly_singular(last: f64) -> Matrix {
    Matrix::from_fn(2, 2, |i, j| if i + j == 2 { 1.0 + last } else { 1.0 })
}

#[test]
fn every_policy_refuses_what_it_says() {
    let row = |m: &Matrix, pivots| {
        let mut l = m.clone();
        cholesky(2, l.as_mut_slice(), 2, pivots).map(|()| l[(1, 1)]).map_err(|bad| bad.row)
    };
    let (flat, rounded, lost) =
        (nearly_singular(0.0), nearly_singular(2.0 * f64::EPSILON), nearly_singular(1e-14));
    assert_eq!(row(&flat, Pivots::AboveZero), Err(1));
    assert!(row(&rounded, Pivots::AboveZero).is_ok());
    assert!(row(&rounded, Pivots::ROUNDING).is_ok());
    assert_eq!(row(&flat, Pivots::ROUNDING), Err(1));
    assert_eq!(row(&lost, Pivots::LOST), Err(1));
    assert!(row(&nearly_singular(1e-12), Pivots::LOST).is_ok());
    assert_eq!(row(&nearly_singular(0.5), Pivots::AboveEach(&[0.0, 0.6])), Err(1));
    assert!(row(&nearly_singular(0.5), Pivots::AboveEach(&[0.0, 0.4])).is_ok());
    let raised = Pivots::RaisedTo { refused: -1e-9, floor: 1e-12 };
    assert_eq!(row(&flat, raised), Ok(1e-6));
    assert!(row(&nearly_singular(-1e-10), raised).is_ok());
    assert_eq!(row(&nearly_singular(-0.5), raised), Err(1));
    for bad in [f64::NAN, f64::INFINITY] {
        for pivots in [Pivots::AboveZero, Pivots::ROUNDING, Pivots::LOST, raised] {
            assert_eq!(row(&nearly_singular(bad), pivots), Err(1), "{pivots:?}");
        }
    }
    let solved = |m: &Matrix, pivots| m.solve_vec(&[1.0, 1.0], pivots).is_some();
    assert!(!solved(&flat, Pivots::AboveZero) && solved(&lost, Pivots::AboveZero));
    assert!(!solved(&lost, Pivots::AboveLargest(1e-13)));
    assert!(solved(&nearly_singular(1e-12), Pivots::AboveLargest(1e-13)));
    assert!(!solved(&nearly_singular(f64::NAN), Pivots::AboveZero));
    assert!(!solve_lu(1, &mut [f64::INFINITY], &mut [1.0], 1, Pivots::AboveZero));
}
