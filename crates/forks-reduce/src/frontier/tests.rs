//! Frontier operations against dense Gaussian conditioning, written down here once more.

use forks_mechanism::linalg::Matrix;
use forks_testkit::{
    Rng,
    linear::{product, solve, transposed_product},
};

use super::*;

/// Rounding of a few products and solves of well conditioned 8×8 matrices.
const ROUNDING: f64 = 1e-12;

fn random(rng: &mut Rng, rows: usize, columns: usize) -> Matrix {
    Matrix::from_fn(rows, columns, |_, _| rng.symmetric())
}

/// A A ᵀ + 0.1.
fn random_covariance(rng: &mut Rng, n: usize) -> Matrix {
    let a = random(rng, n, n);
    let mut c = product(&a, &a.transpose());
    (0..n).for_each(|i| c[(i, i)] += 0.1);
    c
}

fn combine(a: &Matrix, s: f64, b: &Matrix) -> Matrix {
    Matrix::from_fn(a.rows(), a.columns(), |i, j| a[(i, j)] + s * b[(i, j)])
}

fn covariance(f: &Frontier, n: usize) -> Matrix {
    Matrix::from_fn(n, n, |i, j| f.covariance(i as Variable, j as Variable))
}

fn free_part(f: &Frontier, n: usize) -> Matrix {
    Matrix::from_fn(n, f.free_count(), |i, k| f.free[f.slot[i] as usize][k])
}

/// Variables 0…n with covariance `c` and free columns `free`.
fn frontier(c: &Matrix, free: &Matrix) -> Frontier {
    let n = c.rows();
    let mut f = Frontier::new(n + 6);
    f.add_independent(&(0..n as Variable).collect::<Vec<_>>(), c, free);
    f
}

fn rows_of(matrix: &Matrix) -> Rows {
    let variables: Vec<Variable> = (0..matrix.columns() as Variable).collect();
    Rows::zero(matrix.rows()).plus(1.0, matrix, &variables)
}

/// C − C Uᵀ (U C Uᵀ)⁻¹ U C.
fn conditioned(c: &Matrix, u: &Matrix) -> Matrix {
    let uc = product(u, c);
    let s = product(&uc, &u.transpose());
    combine(c, -1.0, &transposed_product(&uc, &solve(&s, &uc)))
}

/// (C⁻¹ + Rᵀ Λ R)⁻¹.
fn informed(c: &Matrix, r: &Matrix, lambda: &Matrix) -> Matrix {
    let identity = Matrix::identity(c.rows());
    let information = transposed_product(r, &product(lambda, r));
    solve(&combine(&solve(c, &identity), 1.0, &information), &identity)
}

fn assert_close(a: &Matrix, b: &Matrix, tolerance: f64, what: &str) {
    let error = combine(a, -1.0, b).max_abs() / b.max_abs().max(1.0);
    assert!(error < tolerance, "{what}: {error:e}");
}

#[test]
fn appended_twists_are_linear_maps() {
    let mut rng = Rng::new(1);
    let n = 8;
    let (c, free) = (random_covariance(&mut rng, n), random(&mut rng, n, 2));
    let mut f = frontier(&c, &free);
    // Six new rows of eight sources; a zero weight among them.
    let mut t = random(&mut rng, 6, n);
    t[(2, 3)] = 0.0;
    let mut expression = TwistExpression::default();
    expression.add(&[0, 1, 2, 3, 4, 5, 6, 7], |i, j| t[(i, j)]);
    let twist: [Variable; 6] = core::array::from_fn(|i| (n + i) as Variable);
    f.add_dependent(twist, &expression);
    let all = Matrix::from_fn(n + 6, n, |i, j| match i < n {
        true => f64::from(i == j),
        false => t[(i - n, j)],
    });
    let expected = product(&product(&all, &c), &all.transpose());
    assert_close(&covariance(&f, n + 6), &expected, ROUNDING, "covariance");
    assert_close(&free_part(&f, n + 6), &product(&all, &free), ROUNDING, "free part");
    // Dropping variables leaves the rest as it was.
    f.drop_variable(0);
    f.drop_variable(5);
    for i in (1..n + 6).filter(|i| *i != 5) {
        for j in (1..n + 6).filter(|j| *j != 5) {
            let error = f.covariance(i as Variable, j as Variable) - expected[(i, j)];
            assert!(error.abs() < ROUNDING * expected.max_abs(), "after dropping: {i}, {j}");
        }
    }
}

#[test]
fn accumulated_outputs_are_linear_maps() {
    let mut rng = Rng::new(2);
    let n = 5;
    let (c, free) = (random_covariance(&mut rng, n), random(&mut rng, n, 1));
    let mut f = frontier(&c, &free);
    let weights = [0.5, -2.0, 0.0, 1.5, 3.0];
    let y = f.new_variable();
    for (x, w) in weights.iter().enumerate() {
        f.add_multiple(y, *w, x as Variable);
    }
    let a = Matrix::from_fn(n, 1, |i, _| weights[i]);
    let expected = product(&c, &a);
    for x in 0..n {
        assert!((f.covariance(y, x as Variable) - expected[(x, 0)]).abs() < ROUNDING * 10.0);
        assert_eq!(f.covariance(y, x as Variable), f.covariance(x as Variable, y));
    }
    let variance = product(&a.transpose(), &expected)[(0, 0)];
    assert!((f.covariance(y, y) - variance).abs() < ROUNDING * variance.abs().max(10.0));
    let moved = f.free[f.slot[y as usize] as usize][0];
    assert!((moved - product(&a.transpose(), &free)[(0, 0)]).abs() < ROUNDING * 10.0);
}

#[test]
fn constraints_condition_also_where_rows_are_redundant() {
    let mut rng = Rng::new(3);
    for _ in 0..50 {
        let n = 7;
        let c = random_covariance(&mut rng, n);
        let u = random(&mut rng, 3, n);
        // A fourth row that says nothing new.
        let redundant = Matrix::from_fn(4, n, |i, j| match i < 3 {
            true => u[(i, j)],
            false => u[(0, j)] - 2.0 * u[(2, j)],
        });
        let mut f = frontier(&c, &Matrix::zeros(n, 0));
        f.condition(rows_of(&redundant), &mut vec![]).unwrap();
        // Conditions of S in this sample reach 1e4.
        assert_close(&covariance(&f, n), &conditioned(&c, &u), 1e4 * ROUNDING, "conditioned");
    }
}

#[test]
fn free_motions_are_used_up_as_if_their_variance_were_infinite() {
    let mut rng = Rng::new(4);
    for _ in 0..50 {
        let n = 7;
        let c = random_covariance(&mut rng, n);
        let free = random(&mut rng, n, 3);
        let u = random(&mut rng, 2, n);
        let mut f = frontier(&c, &free);
        f.condition(rows_of(&u), &mut vec![]).unwrap();
        assert_eq!(f.free_count(), 1);
        let left = free_part(&f, n);
        // U N = 0 for what is left.
        assert!(product(&u, &left).max_abs() < 1e-10);
        let spread = product(&left, &left.transpose());
        let at = |kappa: f64| {
            let wide = combine(&c, kappa, &product(&free, &free.transpose()));
            combine(&conditioned(&wide, &u), -kappa, &spread)
        };
        // The finite part has an error of order 1/κ: one Richardson step. With singular values of U
        // N above 0.03 the next order is below (1e3/κ)², rounding κ ε 1e3.
        let (coarse, fine) = (at(1e5), at(2e5));
        let limit = combine(&fine, 1.0, &combine(&fine, -1.0, &coarse));
        let smallest = *forks_testkit::linear::singular_values(&product(&u, &free)).last().unwrap();
        if smallest > 0.03 {
            assert_close(&covariance(&f, n), &limit, 1e-4, "limit");
        }
    }
}

#[test]
fn constraints_beyond_the_free_motions_agree_with_a_saddle_point_system() {
    let mut rng = Rng::new(5);
    for _ in 0..50 {
        let (n, free_count, m) = (7, 2, 4);
        let c = random_covariance(&mut rng, n);
        let free = random(&mut rng, n, free_count);
        let u = random(&mut rng, m, n);
        let mut f = frontier(&c, &free);
        f.condition(rows_of(&u), &mut vec![]).unwrap();
        assert_eq!(f.free_count(), 0);
        // x = C p + N y with U x = 0, Nᵀ(w + Uᵀλ) = 0, p = w + Uᵀλ: unknown (y, λ).
        let size = free_count + m;
        let un = product(&u, &free);
        let ucu = product(&product(&u, &c), &u.transpose());
        let system = Matrix::from_fn(size, size, |i, j| match (i < free_count, j < free_count) {
            (true, true) => 0.0,
            (true, false) => un[(j - free_count, i)],
            (false, true) => un[(i - free_count, j)],
            (false, false) => ucu[(i - free_count, j - free_count)],
        });
        let uc = product(&u, &c);
        let right = Matrix::from_fn(size, n, |i, j| match i < free_count {
            true => -free[(j, i)],
            false => -uc[(i - free_count, j)],
        });
        let x = solve(&system, &right);
        let y = x.block(0, 0, free_count, n);
        let lambda = x.block(free_count, 0, m, n);
        let p = combine(&Matrix::identity(n), 1.0, &transposed_product(&u, &lambda));
        let expected = combine(&product(&c, &p), 1.0, &product(&free, &y));
        // Conditions of the saddle point matrix in this sample reach 1e4.
        assert_close(&covariance(&f, n), &expected, 1e5 * ROUNDING, "saddle point");
    }
}

#[test]
fn energies_of_either_sign_inform() {
    let mut rng = Rng::new(6);
    for k in 0..50 {
        let n = 6;
        let c = random_covariance(&mut rng, n);
        let r = random(&mut rng, 2, n);
        // The negative one is small enough to leave every motion stiff: |Λ| ‖R‖² ‖C‖ < 1.
        let sign = if k % 2 == 0 { 1.0 } else { -5e-3 };
        let lambda = random_covariance(&mut rng, 2);
        let lambda = Matrix::from_fn(2, 2, |i, j| sign * lambda[(i, j)]);
        let expected = informed(&c, &r, &lambda);
        let mut f = frontier(&c, &Matrix::zeros(n, 0));
        f.inform(rows_of(&r), &lambda, &mut vec![]).unwrap();
        assert_close(&covariance(&f, n), &expected, 1e3 * ROUNDING, "informed");
        // The general way without a free motion.
        let mut f = frontier(&c, &Matrix::zeros(n, 0));
        f.inform_free(rows_of(&r), &lambda, 0.0, &mut vec![]).unwrap();
        assert_close(&covariance(&f, n), &expected, 1e3 * ROUNDING, "informed, nothing free");
    }
}

/// The response x to unit forces: x = C p + N y, p = 1 − RᵀΛR x, Nᵀp = 0.
fn response(c: &Matrix, free: &Matrix, r: &Matrix, lambda: &Matrix) -> Matrix {
    let (n, z) = (c.rows(), free.columns());
    let stiffness = transposed_product(r, &product(lambda, r));
    let (kc, kn) = (product(&stiffness, c), product(&stiffness, free));
    let system = Matrix::from_fn(n + z, n + z, |i, j| match (i < n, j < n) {
        (true, true) => kc[(i, j)] + f64::from(i == j),
        (true, false) => kn[(i, j - n)],
        (false, true) => free[(j, i - n)],
        (false, false) => 0.0,
    });
    let unit = Matrix::from_fn(n + z, n, |i, j| f64::from(i == j));
    let x = solve(&system, &unit);
    let (p, y) = (x.block(0, 0, n, n), x.block(n, 0, z, n));
    combine(&product(c, &p), 1.0, &product(free, &y))
}

#[test]
fn energies_of_either_sign_resist_free_motions() {
    let mut rng = Rng::new(7);
    for k in 0..50 {
        let (n, z) = (7, 2);
        let (c, free) = (random_covariance(&mut rng, n), random(&mut rng, n, z));
        let r = random(&mut rng, 4, n);
        // Coupling of two by two as geometric terms have it, soft and very soft; or springs.
        let lambda = random_covariance(&mut rng, 4);
        let scale = [1.0, 1e-3, 1e-9][k % 3];
        let lambda = Matrix::from_fn(4, 4, |i, j| match k % 2 == 0 || (i < 2) != (j < 2) {
            true => scale * lambda[(i, j)],
            false => 0.0,
        });
        let expected = response(&c, &free, &r, &lambda);
        let mut f = frontier(&c, &free);
        f.inform_free(rows_of(&r), &lambda, 0.0, &mut vec![]).unwrap();
        assert_eq!(f.free_count(), 0);
        // Conditions of the response in this sample reach 1e5.
        assert_close(&covariance(&f, n), &expected, 1e5 * ROUNDING, "response");
    }
}

#[test]
fn what_an_energy_does_not_resist_stays_free_in_its_new_shape() {
    let mut rng = Rng::new(8);
    for _ in 0..50 {
        let n = 6;
        let (c, free) = (random_covariance(&mut rng, n), random(&mut rng, n, 2));
        // One row: of two free motions one is left; later energies resist it.
        let (first, second) = (random(&mut rng, 1, n), random(&mut rng, 3, n));
        let (soft, stiff) = (Matrix::identity(1), random_covariance(&mut rng, 3));
        let mut f = frontier(&c, &free);
        f.inform_free(rows_of(&first), &soft, 0.0, &mut vec![]).unwrap();
        assert_eq!(f.free_count(), 1);
        f.inform_free(rows_of(&second), &stiff, 0.0, &mut vec![]).unwrap();
        assert_eq!(f.free_count(), 0);
        let r = Matrix::from_fn(4, n, |i, j| match i {
            0 => first[(0, j)],
            _ => second[(i - 1, j)],
        });
        let lambda = Matrix::from_fn(4, 4, |i, j| match (i, j) {
            (0, 0) => 1.0,
            (0, _) | (_, 0) => 0.0,
            _ => stiff[(i - 1, j - 1)],
        });
        let expected = response(&c, &free, &r, &lambda);
        assert_close(&covariance(&f, n), &expected, 1e6 * ROUNDING, "two energies");
    }
}

#[test]
fn an_energy_below_the_least_resists_no_motion() {
    let mut f = frontier(&Matrix::zeros(1, 1), &Matrix::identity(1));
    let k = Matrix::from_fn(1, 1, |_, _| 1e-17);
    f.inform_free(rows_of(&Matrix::identity(1)), &k, 1e-15, &mut vec![]).unwrap();
    assert_eq!(f.free_count(), 1);
}

#[test]
fn a_spring_on_a_free_motion_gives_it_its_compliance() {
    // One free variable with a spring k: 1/k.
    let mut f = frontier(&Matrix::zeros(1, 1), &Matrix::identity(1));
    let k = Matrix::from_fn(1, 1, |_, _| 40.0);
    f.inform_free(rows_of(&Matrix::identity(1)), &k, 0.0, &mut vec![]).unwrap();
    assert_eq!(f.free_count(), 0);
    assert!((f.covariance(0, 0) - 1.0 / 40.0).abs() < 1e-16);
}

#[test]
fn an_energy_that_takes_all_stiffness_is_singular() {
    let mut f = frontier(&Matrix::identity(2), &Matrix::zeros(2, 0));
    let lambda = Matrix::from_fn(1, 1, |_, _| -1.0);
    let rows = Rows::zero(1).plus(1.0, &Matrix::identity(1), &[1]);
    assert_eq!(f.inform(rows, &lambda, &mut vec![]), Err(Singular));
}
