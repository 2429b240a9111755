//! A shared block of compliance against the same compliance within the body's own inverse.

use crate::support;

use forks_contact::linalg::Matrix;
use forks_contact::{
    Contact, ContactError, ContactProblem, Friction, Method, Settings, Side, Solver,
};
use support::{Rng, STEP, inverse};

fn random(rng: &mut Rng, rows: usize, columns: usize) -> Matrix {
    Matrix::from_fn(rows, columns, |_, _| rng.range(-1.0, 1.0))
}

/// Contacts of one body on the ground: with R as a block, and with R between its own coordinates.
#[test]
fn a_singular_block_is_as_if_it_were_in_the_body() {
    let mut rng = Rng::new(11);
    for round in 0..20 {
        let (n, contacts) = (6, 2 + round % 4);
        let a = {
            let f = random(&mut rng, n, n);
            inverse(&f.mul(&f.transpose()).plus_scaled(0.3, &Matrix::identity(n)))
        };
        // R of a rank below its size.
        let f = random(&mut rng, 3 * contacts, 3 * contacts - 2);
        let r = f.mul(&f.transpose());
        let jacobians: Vec<Matrix> = (0..contacts).map(|_| random(&mut rng, 3, n)).collect();
        let free: Vec<f64> = (0..n).map(|_| rng.range(-1.0, 1.0)).collect();
        let mut with_block = ContactProblem::new(STEP).unwrap();
        let body = with_block.add_body(&a, &free).unwrap();
        let shared = with_block.add_shared_compliance(&r).unwrap();
        assert_eq!(shared.rank(), 3 * contacts - 2);
        // The rival: coordinates of body and contacts together, R made regular by next to nothing.
        let whole = n + 3 * contacts;
        let both = Matrix::from_fn(whole, whole, |i, j| match (i < n, j < n) {
            (true, true) => a[(i, j)],
            (false, false) => r[(i - n, j - n)] + if i == j { 1e-13 } else { 0.0 },
            _ => 0.0,
        });
        let mut plain = ContactProblem::new(STEP).unwrap();
        let free_of_all: Vec<f64> =
            free.iter().copied().chain(core::iter::repeat_n(0.0, 3 * contacts)).collect();
        let one = plain.add_body(&both, &free_of_all).unwrap();
        for (k, j) in jacobians.iter().enumerate() {
            let contact = Contact::new(Friction::Cone { mu: 0.5 });
            let own = shared.jacobian(3 * k, &Matrix::identity(3));
            let sides = [Side::of(body, j.as_slice()), Side::of(shared.body(), own.as_slice())];
            with_block.add_contact(&contact, &sides).unwrap();
            let wide = Matrix::from_fn(3, whole, |i, c| match c < n {
                true => j[(i, c)],
                false => f64::from(u8::from(c - n == 3 * k + i)),
            });
            plain.add_contact(&contact, &[Side::of(one, wide.as_slice())]).unwrap();
        }
        let settings = Settings { method: Method::Robust, tolerance: 1e-12, ..Settings::default() };
        let (mut x, mut y) = (Solver::new(), Solver::new());
        let _ = x.solve(&with_block, &settings);
        let _ = y.solve(&plain, &settings);
        let scale = free.iter().fold(1.0f64, |m, v| m.max(v.abs()));
        let (v, w) = (x.velocity(body).unwrap(), y.velocity(one).unwrap());
        for i in 0..n {
            assert!((v[i] - w[i]).abs() < 1e-7 * scale, "round {round}: {} {}", v[i], w[i]);
        }
    }
}

#[test]
fn blocks_that_are_none_are_refused() {
    let mut p = ContactProblem::new(STEP).unwrap();
    let refused = |p: &mut ContactProblem, m: Matrix| p.add_shared_compliance(&m).unwrap_err();
    assert!(matches!(
        refused(&mut p, Matrix::zeros(2, 3)),
        ContactError::BodySize { found: 3, expected: 2, .. }
    ));
    let nan = Matrix::from_fn(2, 2, |_, _| f64::NAN);
    assert!(matches!(refused(&mut p, nan), ContactError::BodyNotFinite { .. }));
    let skew = Matrix::from_fn(2, 2, |i, j| i as f64 - j as f64);
    assert!(matches!(refused(&mut p, skew), ContactError::NotSymmetric { difference: 2.0, .. }));
    let negative = Matrix::from_fn(2, 2, |i, j| if i == j { 1.0 - 2.0 * i as f64 } else { 0.0 });
    assert!(matches!(refused(&mut p, negative), ContactError::NotPositiveDefinite { .. }));
    // Nothing was added.
    assert_eq!(p.body_count(), 0);
}

/// Jacobians turn with the contact's axes.
#[test]
fn rows_of_the_block_are_weighed() {
    let mut p = ContactProblem::new(STEP).unwrap();
    let mut rng = Rng::new(2);
    let f = random(&mut rng, 6, 6);
    let r = f.mul(&f.transpose());
    let shared = p.add_shared_compliance(&r).unwrap();
    let axes = random(&mut rng, 3, 3);
    let j = shared.jacobian(3, &axes);
    let found = j.mul(&j.transpose());
    let expected = axes.mul(&r.block(3, 3, 3, 3)).mul(&axes.transpose());
    assert!(found.sub(&expected).max_abs() < 1e-13 * expected.max_abs());
}
