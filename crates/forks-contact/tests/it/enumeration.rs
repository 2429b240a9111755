//! Small problems whose solutions are enumerated: every combination of open, sticking and sliding
//! is tried.

use crate::support;

use forks_contact::linalg::Matrix;
use forks_contact::{
    Contact, ContactProblem, Friction, Method, Row, Settings, Side, Solver, Status,
    lie::glam::DMat2, lie::glam::DVec2,
};
use support::{Rng, inverse};

/// Both solvers are asked for this; solutions are compared to κ times that.
const TOLERANCE: f64 = 1e-12;
const CLOSE: f64 = 1e-8;

/// One body of n coordinates with A = F Fᵀ + ½, and W, q of random rows.
struct Small {
    inverse: Matrix,
    free: Vec<f64>,
    rows: Matrix,
    w: Matrix,
    q: Vec<f64>,
}

impl Small {
    fn new(rng: &mut Rng, n: usize, rows: usize) -> Self {
        let f = Matrix::from_fn(n, n, |_, _| rng.range(-1.0, 1.0));
        let a = f.mul(&f.transpose());
        let a = Matrix::from_fn(n, n, |i, j| a[(i, j)] + if i == j { 0.5 } else { 0.0 });
        let inverse = inverse(&a);
        let rows = Matrix::from_fn(rows, n, |_, _| rng.range(-1.0, 1.0));
        let free: Vec<f64> = (0..n).map(|_| rng.range(-1.0, 1.0)).collect();
        let w = rows.mul(&inverse).mul(&rows.transpose());
        let q = rows.mul_vec(&free);
        Self { inverse, free, rows, w, q }
    }

    /// λ of both solvers. `kinds` gives the friction of contacts; none: scalar unilateral rows.
    fn solve(&self, kinds: &[Option<Friction>]) -> Vec<Vec<f64>> {
        let mut problem = ContactProblem::new(1e-3).unwrap();
        let body = problem.add_body(&self.inverse, &self.free).unwrap();
        let n = self.free.len();
        let (mut at, mut ids) = (0, vec![]);
        for kind in kinds {
            let count = if kind.is_some() { 3 } else { 1 };
            let jacobian = &self.rows.as_slice()[at * n..(at + count) * n];
            let sides = [Side::of(body, jacobian)];
            ids.push(match kind {
                Some(f) => problem.add_contact(&Contact::new(*f), &sides).unwrap(),
                None => problem.add_row(&Row::unilateral(0.0), &sides).unwrap(),
            });
            at += count;
        }
        let mut solver = Solver::new();
        let mut solutions = vec![];
        for method in [Method::GaussSeidel, Method::Robust] {
            let settings = Settings {
                method,
                tolerance: TOLERANCE,
                max_sweeps: 100_000,
                ..Settings::default()
            };
            let report = solver.solve(&problem, &settings);
            if report.status == Status::Converged {
                let of = |&c| solver.impulse(c).unwrap().to_vec();
                solutions.push(ids.iter().flat_map(of).collect());
            } else {
                assert_eq!(method, Method::GaussSeidel, "{report:?}");
            }
        }
        solutions
    }

    fn velocity(&self, lambda: &[f64]) -> Vec<f64> {
        self.w.mul_vec(lambda).iter().zip(&self.q).map(|(x, q)| x + q).collect()
    }
}

/// Solves a small linear system; none if it is nearly singular.
fn linear(a: &Matrix, b: &[f64]) -> Option<Vec<f64>> {
    let n = a.rows();
    let mut m = Matrix::from_fn(n, n + 1, |i, j| if j < n { a[(i, j)] } else { b[i] });
    for k in 0..n {
        let p = (k..n).max_by(|&i, &j| m[(i, k)].abs().total_cmp(&m[(j, k)].abs()))?;
        if m[(p, k)].abs() < 1e-9 {
            return None;
        }
        for j in 0..=n {
            let (x, y) = (m[(k, j)], m[(p, j)]);
            m[(k, j)] = y;
            m[(p, j)] = x;
        }
        for i in (0..n).filter(|&i| i != k) {
            let f = m[(i, k)] / m[(k, k)];
            for j in k..=n {
                m[(i, j)] -= f * m[(k, j)];
            }
        }
    }
    Some((0..n).map(|i| m[(i, n)] / m[(i, i)]).collect())
}

/// A solution is near one of the list.
fn is_among(x: &[f64], list: &[Vec<f64>]) -> bool {
    let near = |y: &Vec<f64>| {
        let scale = y.iter().fold(1.0_f64, |m, v| m.max(v.abs()));
        x.iter().zip(y).all(|(a, b)| (a - b).abs() <= CLOSE * scale)
    };
    list.iter().any(near)
}

#[test]
fn frictionless_rows_solve_the_linear_complementarity_problem() {
    let mut rng = Rng::new(1);
    for case in 0..300 {
        let count = 1 + case % 6;
        let small = Small::new(&mut rng, 7, count);
        let mut found = vec![];
        for active in 0..1_usize << count {
            let on = |i: usize| active >> i & 1 == 1;
            let a = Matrix::from_fn(count, count, |i, j| match (on(i), i == j) {
                (true, _) => small.w[(i, j)],
                (false, same) => f64::from(u8::from(same)),
            });
            let b: Vec<f64> = (0..count).map(|i| if on(i) { -small.q[i] } else { 0.0 }).collect();
            let Some(lambda) = linear(&a, &b) else { continue };
            let u = small.velocity(&lambda);
            let slack = 1e-12;
            if lambda.iter().all(|l| *l >= -slack) && u.iter().all(|u| *u >= -slack) {
                found.push(lambda);
            }
        }
        assert!(!found.is_empty(), "case {case}");
        let solutions = small.solve(&vec![None; count]);
        assert_eq!(solutions.len(), 2);
        for s in solutions {
            assert!(is_among(&s, &found), "case {case}: {s:?} {found:?}");
        }
    }
}

/// Bounds of the tangents by friction: (constant, per unit of normal impulse).
fn bounds(friction: &Friction) -> [(f64, f64); 2] {
    match friction {
        Friction::Pyramid { mu } => [(0.0, mu[0]), (0.0, mu[1])],
        Friction::Box { limit } => [(limit[0], 0.0), (limit[1], 0.0)],
        other => panic!("{other:?}"),
    }
}

/// All solutions of one or two pyramid or box contacts: per contact open or closed, per tangent
/// sticking or at a bound.
fn enumerate(small: &Small, kinds: &[Friction]) -> Vec<Vec<f64>> {
    let rows = 3 * kinds.len();
    let mut found = vec![];
    // Per contact 2 states of the normal and 3 of either tangent.
    for code in 0..18_usize.pow(kinds.len() as u32) {
        let state = |c: usize| {
            let s = code / 18_usize.pow(c as u32) % 18;
            (s % 2 == 1, [s / 2 % 3, s / 6])
        };
        let (mut a, mut b) = (Matrix::zeros(rows, rows), vec![0.0; rows]);
        for (c, kind) in kinds.iter().enumerate() {
            let (closed, tangents) = state(c);
            let n = 3 * c;
            if closed {
                (0..rows).for_each(|j| a[(n, j)] = small.w[(n, j)]);
                b[n] = -small.q[n];
            } else {
                a[(n, n)] = 1.0;
            }
            for (t, (constant, slope)) in bounds(kind).into_iter().enumerate() {
                let i = n + 1 + t;
                if tangents[t] == 0 {
                    (0..rows).for_each(|j| a[(i, j)] = small.w[(i, j)]);
                    b[i] = -small.q[i];
                } else {
                    let sign = if tangents[t] == 1 { 1.0 } else { -1.0 };
                    a[(i, i)] = 1.0;
                    a[(i, n)] = -sign * slope;
                    b[i] = sign * constant;
                }
            }
        }
        let Some(lambda) = linear(&a, &b) else { continue };
        if holds(small, kinds, &lambda) {
            found.push(lambda);
        }
    }
    found
}

fn holds(small: &Small, kinds: &[Friction], lambda: &[f64]) -> bool {
    let u = small.velocity(lambda);
    let slack = 1e-11;
    kinds.iter().enumerate().all(|(c, kind)| {
        let n = 3 * c;
        let normal = lambda[n] >= -slack && u[n] >= -slack && (lambda[n] * u[n]).abs() <= slack;
        let tangents = bounds(kind).into_iter().enumerate().all(|(t, (constant, slope))| {
            let (i, bound) = (n + 1 + t, constant + slope * lambda[n]);
            let inside = lambda[i].abs() <= bound + slack;
            let slides = u[i].abs() <= slack || (lambda[i] + bound * u[i].signum()).abs() <= slack;
            inside && slides
        });
        normal && tangents
    })
}

#[test]
fn pyramids_and_boxes_are_among_the_enumerated_solutions() {
    let mut rng = Rng::new(2);
    let mut compared = 0;
    for case in 0..200 {
        let count = 1 + case % 2;
        let small = Small::new(&mut rng, 7, 3 * count);
        let kinds: Vec<Friction> = (0..count)
            .map(|_| {
                let pair = [rng.range(0.1, 1.0), rng.range(0.1, 1.0)];
                if rng.chance(0.5) {
                    Friction::Pyramid { mu: pair }
                } else {
                    Friction::Box { limit: pair.map(|x| 0.2 * x) }
                }
            })
            .collect();
        let found = enumerate(&small, &kinds);
        assert!(!found.is_empty(), "case {case}");
        for s in small.solve(&kinds.iter().copied().map(Some).collect::<Vec<_>>()) {
            compared += 1;
            assert!(is_among(&s, &found), "case {case}: {s:?} {found:?}");
        }
    }
    assert!(compared > 350, "{compared}");
}

/// All solutions of one contact with the exact cone: open, sticking, or sliding into a direction
/// found by a scan of the circle.
fn enumerate_cone(small: &Small, mu: f64) -> Vec<Vec<f64>> {
    let (w, q) = (&small.w, &small.q);
    let mut found = vec![];
    if q[0] >= 0.0 {
        found.push(vec![0.0; 3]);
    }
    let stick = linear(w, &[-q[0], -q[1], -q[2]]).unwrap();
    if stick[1].hypot(stick[2]) <= mu * stick[0] {
        found.push(stick);
    }
    let wt = DVec2::new(w[(0, 1)], w[(0, 2)]);
    let wtt = DMat2::from_cols_array(&[w[(1, 1)], w[(2, 1)], w[(1, 2)], w[(2, 2)]]);
    let slide = |angle: f64| {
        // λ = λ_n (1, −μ d), u_n = 0.
        let d = DVec2::from_angle(angle);
        let lambda = -q[0] / (w[(0, 0)] - mu * wt.dot(d));
        let u = lambda * (wt - mu * (wtt * d)) + DVec2::new(q[1], q[2]);
        (lambda, d, u)
    };
    let across = |angle: f64| {
        let (_, d, u) = slide(angle);
        d.perp_dot(u)
    };
    let steps = 20_000;
    let at = |i: usize| i as f64 / steps as f64 * std::f64::consts::TAU;
    for i in 0..steps {
        let (mut a, mut b) = (at(i), at(i + 1));
        if across(a) * across(b) > 0.0 {
            continue;
        }
        for _ in 0..60 {
            let m = 0.5 * (a + b);
            if across(a) * across(m) <= 0.0 { b = m } else { a = m }
        }
        let (lambda, d, u) = slide(a);
        if lambda > 0.0 && u.dot(d) >= 0.0 && across(a).abs() < 1e-9 {
            found.push(vec![lambda, -mu * lambda * d.x, -mu * lambda * d.y]);
        }
    }
    found
}

#[test]
fn the_exact_cone_of_one_contact_is_among_the_enumerated_solutions() {
    let mut rng = Rng::new(3);
    let (mut sliding, mut several) = (0, 0);
    for case in 0..300 {
        let small = Small::new(&mut rng, 5, 3);
        let mu = rng.range(0.05, 1.5);
        let found = enumerate_cone(&small, mu);
        assert!(!found.is_empty(), "case {case}");
        several += usize::from(found.len() > 1);
        for s in small.solve(&[Some(Friction::Cone { mu })]) {
            assert!(is_among(&s, &found), "case {case}: {s:?} {found:?}");
            sliding += usize::from(s[0] > 0.0 && (s[1].hypot(s[2]) - mu * s[0]).abs() < 1e-9);
        }
    }
    println!("sliding {sliding}, several solutions {several}");
    assert!(sliding > 100);
}
