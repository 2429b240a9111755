//! Bad input is an error that names the place and the value; extreme input never gives NaN.

use forks_contact::{
    BodyId, Contact, ContactError, ContactProblem, Friction, Method, Row, Settings, Side, Solver,
    Status,
};
use forks_contact::{
    lie::{
        SpatialInertia, Twist,
        glam::{DMat3, DVec3},
    },
    linalg::{Matrix, simd::Lanes},
};

fn one_body() -> (ContactProblem, BodyId) {
    let mut problem = ContactProblem::new(1e-3).unwrap();
    let body = problem.add_body(&Matrix::identity(3), &[0.0, 0.0, -1.0]).unwrap();
    (problem, body)
}

const UP: [f64; 9] = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];

#[test]
fn steps_must_be_positive_and_finite() {
    for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = ContactProblem::new(step).unwrap_err();
        assert!(matches!(error, ContactError::Step { .. }), "{error}");
    }
}

#[test]
fn bodies_name_what_is_wrong() {
    let (mut problem, body) = one_body();
    let error = problem.add_body(&Matrix::identity(2), &[0.0; 3]).unwrap_err();
    let size =
        |quantity, found, expected| ContactError::BodySize { body: 1, quantity, found, expected };
    assert_eq!(error, size("the inverse system matrix", 2, 3));
    let mut m = Matrix::identity(2);
    m[(1, 1)] = f64::NAN;
    let error = problem.add_body(&m, &[0.0; 2]).unwrap_err();
    assert!(matches!(error, ContactError::BodyNotFinite { body: 1, .. }), "{error}");
    m[(1, 1)] = -4.0;
    let error = problem.add_body(&m, &[0.0; 2]).unwrap_err();
    assert_eq!(error, ContactError::NotPositiveDefinite { body: 1, row: 1, pivot: -4.0 });
    m[(1, 1)] = 1.0;
    m[(0, 1)] = 0.25;
    let error = problem.add_body(&m, &[0.0; 2]).unwrap_err();
    assert_eq!(error, ContactError::NotSymmetric { body: 1, difference: 0.25 });
    let error = problem.add_body(&Matrix::identity(1), &[f64::INFINITY]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "body 1: the free velocity contains inf",
        "the message names body and value"
    );
    let error = problem.set_free_velocity(body, &[0.0; 2]).unwrap_err();
    let expected =
        ContactError::BodySize { body: 0, quantity: "the free velocity", found: 2, expected: 3 };
    assert_eq!(error, expected);
    let flat = SpatialInertia::new(0.0, DVec3::ZERO, DMat3::IDENTITY);
    let error = problem.add_rigid_body(&flat, Twist::ZERO).unwrap_err();
    assert!(matches!(error, ContactError::NotPositiveDefinite { body: 1, .. }), "{error}");
    assert_eq!(problem.body_count(), 1);
}

#[test]
fn contacts_name_what_is_wrong() {
    let (mut problem, body) = one_body();
    let side = [Side::of(body, &UP)];
    let good = Contact::new(Friction::Cone { mu: 0.5 });
    problem.add_contact(&good, &side).unwrap();
    let mut fails = |c: Contact| problem.add_contact(&c, &side).unwrap_err().to_string();
    let message = fails(Contact::new(Friction::Cone { mu: -0.5 }));
    assert_eq!(message, "constraint 1: the coefficient of friction is -0.5; 0 or more is allowed");
    let message = fails(Contact::new(Friction::Cone { mu: f64::NAN }));
    assert_eq!(message, "constraint 1: the coefficient of friction is NaN");
    let message = fails(Contact::new(Friction::Pyramid { mu: [0.5, -1.0] }));
    assert!(message.contains("second coefficient of friction is -1"), "{message}");
    let message = fails(Contact { gap: f64::INFINITY, ..good });
    assert_eq!(message, "constraint 1: the gap is inf");
    let message = fails(Contact { restitution: 1.5, ..good });
    assert_eq!(message, "constraint 1: the restitution is 1.5; 0 to 1 is allowed");
    let message = fails(Contact { compliance: -1e-6, ..good });
    assert!(message.contains("compliance is -1e-6"), "{message}");
    let message = fails(Contact { warm: [0.0, f64::NAN, 0.0], ..good });
    assert!(message.contains("warm-start impulse is NaN"), "{message}");
    let error = problem.add_contact(&good, &[Side::of(body, &UP[..6])]).unwrap_err();
    let expected = ContactError::JacobianSize { constraint: 1, body: 0, found: 6, expected: 9 };
    assert_eq!(error, expected);
    let mut nan = UP;
    nan[4] = f64::NAN;
    let error = problem.add_contact(&good, &[Side::of(body, &nan)]).unwrap_err();
    assert!(error.to_string().contains("constraint 1: an entry of the Jacobian is NaN"), "{error}");
    let row = Row { lower: 1.0, ..Row::unilateral(0.0) };
    let error = problem.add_row(&row, &[Side::of(body, &[1.0, 0.0, 0.0])]).unwrap_err();
    assert!(error.to_string().contains("constraint 1: the lower bound is 1"), "{error}");
    let (mut other, _) = one_body();
    let second = other.add_body(&Matrix::identity(3), &[0.0; 3]).unwrap();
    let error = problem.add_contact(&good, &[Side::of(second, &UP)]).unwrap_err();
    assert_eq!(error, ContactError::NoSuchBody { body: 1, count: 1 });
    assert_eq!(problem.constraint_count(), 1, "what failed was not added");
}

/// Numbers near the ends of the range of f64: some status, finite numbers.
#[test]
fn extreme_numbers_do_not_become_nan() {
    let mut solver = Solver::new();
    for speed in [1e-300, 1e-150, 1e100, 1e200, 1e300] {
        for inverse in [1e-250, 1e-100, 1.0, 1e100, 1e250] {
            for mu in [0.0, 1e-300, 0.5, 1e12, 1e300] {
                for method in [Method::GaussSeidel, Method::Robust] {
                    let mut problem = ContactProblem::new(1e-3).unwrap();
                    let a = Matrix::from_fn(3, 3, |i, j| inverse * if i == j { 1.0 } else { 0.3 });
                    let free = [0.3 * speed, 0.2 * speed, -speed];
                    let body = problem.add_body(&a, &free).unwrap();
                    let contact = Contact::new(Friction::Cone { mu });
                    for _ in 0..2 {
                        problem.add_contact(&contact, &[Side::of(body, &UP)]).unwrap();
                    }
                    let settings = Settings { method, ..Settings::default() };
                    let report = solver.solve(&problem, &settings);
                    let velocity = solver.velocity(body).unwrap();
                    assert!(velocity.iter().all(|v| v.is_finite()), "{speed} {inverse} {mu}");
                    let numbers = [
                        report.residual,
                        report.relative_residual,
                        report.energy_gain,
                        report.speed,
                    ];
                    assert!(numbers.iter().all(|x| x.is_finite()), "{speed} {inverse}: {report:?}");
                    assert!(solver.residuals().iter().all(|x| x.is_finite()));
                }
            }
        }
    }
}

#[test]
fn an_empty_problem_and_an_immovable_contact_are_solved() {
    let mut solver = Solver::new();
    let (mut problem, body) = one_body();
    let report = solver.solve(&problem, &Settings::default());
    assert_eq!(report.status, Status::Converged);
    assert_eq!(solver.velocity(body).unwrap(), [0.0, 0.0, -1.0]);
    // A contact between fixed bodies can do nothing.
    let contact = problem.add_contact(&Contact::new(Friction::Cone { mu: 0.5 }), &[]).unwrap();
    let report = solver.solve(&problem, &Settings::default());
    assert_eq!(report.status, Status::Converged);
    assert_eq!(solver.impulse(contact).unwrap(), [0.0; 3]);
    // One that asks for a velocity that nothing can give says so.
    let pressed = Contact { gap: -1e-3, ..Contact::new(Friction::NONE) };
    problem.add_contact(&pressed, &[]).unwrap();
    let report = solver.solve(&problem, &Settings::default());
    assert_eq!(report.status, Status::IterationLimit);
    assert!((report.residual - 1.0).abs() < 1e-12, "{report:?}");
}

#[test]
fn unknown_ids_are_errors() {
    let (mut problem, body) = one_body();
    let contact = Contact::new(Friction::NONE);
    let id = problem.add_contact(&contact, &[Side::of(body, &UP)]).unwrap();
    let solver = Solver::new();
    let error = solver.impulse(id).unwrap_err();
    assert_eq!(error, ContactError::NoSuchConstraint { constraint: 0, count: 0 });
    let error = solver.velocity(body).unwrap_err();
    assert_eq!(error, ContactError::NoSuchBody { body: 0, count: 0 });
    problem.clear_constraints();
    let error = problem.set_warm_start(id, &[1.0]).unwrap_err();
    assert_eq!(error, ContactError::NoSuchConstraint { constraint: 0, count: 0 });
}

#[test]
fn columns_of_any_number_of_rates_are_looked_at_one_by_one() {
    for n in [3, 6, 7] {
        let mut problem = ContactProblem::new(1e-3).unwrap();
        let body = problem.add_body(&Matrix::identity(n), &vec![0.0; n]).unwrap();
        let contact = Contact::new(Friction::Cone { mu: 0.5 });
        // Zeros below the rows may have a sign.
        let good = vec![Lanes([1.0, -2.0, 1e300, -0.0]); n];
        let add = |problem: &mut ContactProblem, columns: &[Lanes]| {
            let side = Side::of(body, &[]).by_columns(columns);
            problem.add_contact(&contact, &[side])
        };
        assert_eq!(add(&mut problem, &good).unwrap().index(), 0);
        for k in 0..n {
            for row in 0..4 {
                for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    let mut columns = good.clone();
                    columns[k][row] = bad;
                    let error = add(&mut problem, &columns).unwrap_err();
                    assert!(matches!(error, ContactError::NotFinite { constraint: 1, .. }));
                }
            }
            let mut columns = good.clone();
            columns[k][3] = f64::MIN_POSITIVE * 0.25;
            let error = add(&mut problem, &columns).unwrap_err();
            let found = matches!(error, ContactError::OutOfRange { value, .. } if value > 0.0);
            assert!(found, "{error}");
        }
        let error = add(&mut problem, &good[1..]).unwrap_err();
        assert!(matches!(error, ContactError::JacobianSize { constraint: 1, .. }), "{error}");
        // What was refused left nothing behind, also where the first side was good.
        let one = Side::of(body, &[]).by_columns(&good);
        let two = Side::of(body, &[]).by_columns(&good[1..]);
        problem.add_contact(&contact, &[one, two]).unwrap_err();
        let mut new = problem.start_contact();
        new.add_side(&one).unwrap();
        new.finish(&Contact { gap: f64::NAN, ..contact }).unwrap_err();
        assert_eq!(problem.constraint_count(), 1);
        let side = Side::of(body, &[]).by_columns(&good);
        assert_eq!(problem.add_contact(&contact, &[side]).unwrap().index(), 1);
        let _ = Solver::new().solve(&problem, &Settings::default());
    }
}
