//! Ports: constraints on w = P v are those on v with the Jacobian J P.

use crate::support;

use forks_contact::linalg::Matrix;
use forks_contact::{
    BodyId, Contact, ContactError, ContactProblem, Friction, Method, Row, Settings, Side, Solver,
};
use support::{Rng, STEP, inverse};

/// Coordinates of the mechanism, and rates of its three ports.
const N: usize = 9;
const WIDTHS: [usize; 3] = [6, 6, 2];

/// The same contacts twice: through ports, and through all coordinates.
struct Twice {
    ports: ContactProblem,
    plain: ContactProblem,
    bodies: [BodyId; 2],
}

fn matrix(rng: &mut Rng, rows: usize, columns: usize) -> Matrix {
    Matrix::from_fn(rows, columns, |_, _| rng.range(-1.0, 1.0))
}

/// F Fᵀ + 0.3.
fn system(rng: &mut Rng, n: usize) -> Matrix {
    let f = matrix(rng, n, n);
    let product = |i: usize, j: usize| f.row(i).iter().zip(f.row(j)).map(|(x, y)| x * y).sum();
    Matrix::from_fn(n, n, |i, j| {
        let x: f64 = product(i, j);
        x + if i == j { 0.3 } else { 0.0 }
    })
}

fn times(j: &Matrix, p: &Matrix) -> Matrix {
    Matrix::from_fn(j.rows(), p.columns(), |i, k| {
        (0..p.rows()).map(|l| j[(i, l)] * p[(l, k)]).sum()
    })
}

impl Twice {
    /// A mechanism of N coordinates and a body of six, in `count` contacts and a row on a
    /// coordinate of the mechanism.
    fn new(rng: &mut Rng, count: usize) -> Self {
        let a = [inverse(&system(rng, N)), inverse(&system(rng, 6))];
        let free = [matrix(rng, 1, N), matrix(rng, 1, 6)];
        let maps = WIDTHS.map(|w| matrix(rng, w, N));
        let [mut ports, mut plain] = [(); 2].map(|()| ContactProblem::new(STEP).unwrap());
        let add = |p: &mut ContactProblem, k: usize| p.add_body(&a[k], free[k].as_slice()).unwrap();
        let bodies = [add(&mut plain, 0), add(&mut plain, 1)];
        assert_eq!(bodies, [add(&mut ports, 0), add(&mut ports, 1)]);
        let ids = maps.each_ref().map(|m| ports.add_port(bodies[0], m).unwrap());
        for k in 0..count {
            let which = k % 3;
            let (j, other) = (matrix(rng, 3, WIDTHS[which]), matrix(rng, 3, 6));
            let contact = Contact {
                gap: rng.range(-1e-4, 1e-4),
                warm: [rng.unit(), 0.0, 0.1 * rng.unit()],
                ..Contact::new(Friction::Cone { mu: rng.range(0.1, 1.0) })
            };
            let through = Side::through(ids[which], j.as_slice());
            ports.add_contact(&contact, &[through, Side::of(bodies[1], other.as_slice())]).unwrap();
            let j = times(&j, &maps[which]);
            let of = Side::of(bodies[0], j.as_slice());
            plain.add_contact(&contact, &[of, Side::of(bodies[1], other.as_slice())]).unwrap();
        }
        let row = matrix(rng, 1, N);
        for p in [&mut ports, &mut plain] {
            p.add_row(&Row::unilateral(0.0), &[Side::of(bodies[0], row.as_slice())]).unwrap();
        }
        Self { ports, plain, bodies }
    }

    fn assert_same(&self, settings: &Settings, bound: f64) {
        let [mut a, mut b] = [(); 2].map(|()| Solver::new());
        let _ = a.solve(&self.ports, settings);
        let _ = b.solve(&self.plain, settings);
        for body in self.bodies {
            let (x, y) = (a.velocity(body).unwrap(), b.velocity(body).unwrap());
            let size = y.iter().fold(0.0f64, |m, y| m.max(y.abs()));
            for (x, y) in x.iter().zip(y) {
                assert!((x - y).abs() <= bound * size, "{x} {y}");
            }
        }
    }
}

#[test]
fn a_sweep_through_ports_is_a_sweep_through_coordinates() {
    let mut rng = Rng::new(11);
    // From fewer rows than rates, where W is assembled, to many more, where it is not.
    for count in [1, 2, 3, 5, 9, 30] {
        for _ in 0..10 {
            let twice = Twice::new(&mut rng, count);
            let settings = Settings {
                method: Method::GaussSeidel,
                tolerance: 0.0,
                absolute_tolerance: 0.0,
                max_sweeps: 3,
                ..Settings::default()
            };
            // Sums of some tens of products in other orders, three times over.
            twice.assert_same(&settings, 1e-9);
        }
    }
}

#[test]
fn the_robust_method_sees_ports_too() {
    let mut rng = Rng::new(12);
    for _ in 0..20 {
        // One contact per body at most: the solution is unique.
        Twice::new(&mut rng, 1).assert_same(&Settings::default(), 1e-7);
    }
}

#[test]
fn ports_follow_another_inverse_system() {
    let mut rng = Rng::new(13);
    let mut twice = Twice::new(&mut rng, 4);
    let other = inverse(&system(&mut rng, N));
    let body = twice.bodies[0];
    twice.ports.set_inverse_system(body, &other).unwrap();
    twice.plain.set_inverse_system(body, &other).unwrap();
    let settings = Settings { method: Method::GaussSeidel, max_sweeps: 5, ..Settings::default() };
    twice.assert_same(&settings, 1e-9);
}

#[test]
fn bad_ports_are_refused_by_name() {
    let mut problem = ContactProblem::new(STEP).unwrap();
    let body = problem.add_body(&Matrix::identity(3), &[0.0; 3]).unwrap();
    let error = problem.add_port(body, &Matrix::identity(2)).unwrap_err();
    assert!(
        matches!(error, ContactError::BodySize { body: 0, found: 2, expected: 3, .. }),
        "{error}"
    );
    let mut nan = Matrix::identity(3);
    nan[(1, 1)] = f64::NAN;
    let error = problem.add_port(body, &nan).unwrap_err();
    assert!(matches!(error, ContactError::BodyNotFinite { body: 0, .. }), "{error}");
    let port = problem.add_port(body, &Matrix::zeros(2, 3)).unwrap();
    let error = problem.add_row(&Row::unilateral(0.0), &[Side::through(port, &[1.0])]).unwrap_err();
    assert!(matches!(error, ContactError::JacobianSize { found: 1, expected: 2, .. }), "{error}");
    let mut other = ContactProblem::new(STEP).unwrap();
    let error =
        other.add_row(&Row::unilateral(0.0), &[Side::through(port, &[1.0; 2])]).unwrap_err();
    assert_eq!(error, ContactError::NoSuchPort { port: 1, count: 0 });
    assert_eq!(error.to_string(), "there is no port 1; 0 were added");
    let empty = other.add_body(&Matrix::zeros(0, 0), &[]).unwrap();
    let error = other.add_port(empty, &Matrix::zeros(1, 0)).unwrap_err();
    assert!(matches!(error, ContactError::BodySize { body: 0, found: 0, .. }), "{error}");
}

#[test]
fn bodies_and_ports_without_coordinates_take_part_and_do_not_move() {
    let mut problem = ContactProblem::new(STEP).unwrap();
    let nothing = problem.add_body(&Matrix::zeros(0, 0), &[]).unwrap();
    let body = problem.add_body(&Matrix::identity(3), &[0.0, 0.0, -1.0]).unwrap();
    let port = problem.add_port(body, &Matrix::zeros(0, 3)).unwrap();
    let up = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let contact = Contact::new(Friction::Cone { mu: 0.5 });
    let sides = [Side::of(nothing, &[]), Side::of(body, &up), Side::through(port, &[])];
    problem.add_contact(&contact, &sides).unwrap();
    problem.add_row(&Row::unilateral(0.0), &[Side::of(nothing, &[])]).unwrap();
    for method in [Method::GaussSeidel, Method::Robust] {
        let mut solver = Solver::new();
        let _ = solver.solve(&problem, &Settings { method, ..Settings::default() });
        assert_eq!(solver.velocity(nothing).unwrap(), []);
        assert!(solver.velocity(body).unwrap().iter().all(|v| v.abs() < 1e-12));
    }
}

#[test]
fn a_contact_whose_two_sides_move_as_one_pushes_nothing() {
    // Both ports see the same motion to rounding: nothing that acts between them moves anything.
    let mut rng = Rng::new(77);
    for count in [1, 6] {
        let mut p = ContactProblem::new(STEP).unwrap();
        let a = inverse(&system(&mut rng, N));
        let body = p.add_body(&a, &[0.3; N]).unwrap();
        let other = p.add_body(&inverse(&system(&mut rng, 6)), &[0.2; 6]).unwrap();
        let map = matrix(&mut rng, 6, N);
        let off =
            Matrix::from_fn(6, N, |i, j| map[(i, j)] * (1.0 + 1e-16 * (i + 2 * j) as f64) + 1e-17);
        let ports = [p.add_port(body, &map).unwrap(), p.add_port(body, &off).unwrap()];
        for _ in 0..count {
            let j = matrix(&mut rng, 3, 6);
            let minus: Vec<f64> = j.as_slice().iter().map(|x| -x).collect();
            let gap = Contact {
                gap: -1e-3,
                warm: [1.0, 0.0, 0.0],
                ..Contact::new(Friction::Cone { mu: 0.5 })
            };
            let sides = [Side::through(ports[0], &minus), Side::through(ports[1], j.as_slice())];
            p.add_contact(&gap, &sides).unwrap();
        }
        // It closes.
        let j = matrix(&mut rng, 3, 6);
        let sign = if j.row(0).iter().sum::<f64>() > 0.0 { -1.0 } else { 1.0 };
        let j = Matrix::from_fn(3, 6, |i, k| sign * j[(i, k)]);
        let real = Contact { gap: -1e-4, ..Contact::new(Friction::Cone { mu: 0.5 }) };
        let last = p.add_contact(&real, &[Side::of(other, j.as_slice())]).unwrap();
        for method in [Method::Fallback, Method::GaussSeidel, Method::Robust] {
            let mut solver = Solver::new();
            let report = solver.solve(&p, &Settings { method, ..Settings::default() });
            for id in p.constraint_ids().filter(|id| *id != last) {
                assert_eq!(solver.impulse(id).unwrap(), [0.0; 3], "{method:?} {report:?}");
            }
            assert!(solver.impulse(last).unwrap()[0] > 0.0, "{method:?}");
            assert!(solver.velocity(body).unwrap().iter().all(|v| (v - 0.3).abs() < 1e-12));
        }
    }
}
