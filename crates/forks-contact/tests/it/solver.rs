//! Behaviour of solvers as a whole: restitution and energy, rows, warm starts, repeatability.

use crate::support;

use forks_contact::{
    Contact, ContactProblem, Friction, Method, Row, Settings, Side, Solver, Status, point_jacobian,
};
use forks_contact::{
    lie::{
        SpatialInertia, Twist,
        glam::{DMat3, DVec3},
    },
    linalg::Matrix,
};
use support::random_problem;

const METHODS: [Method; 2] = [Method::GaussSeidel, Method::Robust];

/// An oblique rod that hits the ground sliding: Newton's restitution alone would create energy
/// (Kane's paradox).
#[test]
fn restitution_never_creates_energy() {
    let inertia = SpatialInertia::new(1.0, DVec3::ZERO, DMat3::from_diagonal(DVec3::splat(0.02)));
    let mut solver = Solver::new();
    let (mut reduced, mut whole) = (0, 0);
    for tilt in 0..16 {
        for slide in -8..=8 {
            for mu in [0.2, 0.5, 1.0] {
                let angle = 0.1 * f64::from(tilt);
                let point = 0.3 * DVec3::new(angle.sin(), 0.0, -angle.cos());
                let linear = DVec3::new(0.5 * f64::from(slide), 0.0, -1.0);
                let free = Twist { linear, angular: DVec3::ZERO };
                let mut problem = ContactProblem::new(1e-3).unwrap();
                let body = problem.add_rigid_body(&inertia, free).unwrap();
                let jacobian = point_jacobian(point, [DVec3::Z, DVec3::X, DVec3::Y], 1.0);
                let contact = Contact {
                    restitution: 0.9,
                    approach: -1.0,
                    ..Contact::new(Friction::Cone { mu })
                };
                problem.add_contact(&contact, &[Side::of(body, &jacobian)]).unwrap();
                for method in METHODS {
                    let settings = Settings { method, ..Settings::default() };
                    let report = solver.solve(&problem, &settings);
                    assert_eq!(report.status, Status::Converged);
                    let v: [f64; 6] = solver.velocity(body).unwrap().try_into().unwrap();
                    let energy = |t: Twist| inertia.kinetic_energy(t);
                    let gain = energy(Twist::from_array(v)) - energy(free);
                    assert!((gain - report.energy_gain).abs() < 1e-12, "{gain} {report:?}");
                    assert!(gain < 1e-9, "{gain}: {report:?}");
                    let normal: f64 = jacobian[..6].iter().zip(&v).map(|(j, v)| j * v).sum();
                    let expected = 0.9 * report.restitution_share;
                    assert!((normal - expected).abs() < 1e-8, "{normal}, {report:?}");
                    if report.restitution_share < 1.0 {
                        // A little more would have created energy.
                        reduced += 1;
                        assert!(gain > -0.2 * energy(free), "{gain} {report:?}");
                    } else {
                        whole += 1;
                    }
                }
            }
        }
    }
    println!("reduced {reduced}, whole {whole}");
    assert!(reduced > 10 && whole > 200);
}

/// Newton's cradle of two: equal balls swap their velocities at e = 1.
#[test]
fn equal_balls_swap_their_velocities() {
    let inertia = SpatialInertia::new(0.2, DVec3::ZERO, DMat3::from_diagonal(DVec3::splat(1e-4)));
    let mut problem = ContactProblem::new(1e-3).unwrap();
    let at = |x: f64| Twist { linear: DVec3::new(x, 0.0, 0.0), angular: DVec3::ZERO };
    let a = problem.add_rigid_body(&inertia, at(1.0)).unwrap();
    let b = problem.add_rigid_body(&inertia, at(0.0)).unwrap();
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    let (left, right) = (DVec3::new(-0.05, 0.0, 0.0), DVec3::new(0.05, 0.0, 0.0));
    let (on_b, on_a) = (point_jacobian(left, axes, 1.0), point_jacobian(right, axes, -1.0));
    let sides = [Side::of(b, &on_b), Side::of(a, &on_a)];
    let elastic =
        Contact { restitution: 1.0, approach: -1.0, ..Contact::new(Friction::Cone { mu: 0.3 }) };
    problem.add_contact(&elastic, &sides).unwrap();
    let mut solver = Solver::new();
    let report = solver.solve(&problem, &Settings::default());
    assert_eq!(report.restitution_share, 1.0);
    assert!(solver.velocity(a).unwrap()[0].abs() < 1e-12);
    assert!((solver.velocity(b).unwrap()[0] - 1.0).abs() < 1e-12);
}

/// One coordinate with a limit, a drive that is held, dry friction: closed forms of single rows.
#[test]
fn rows_hold_limits_constraints_and_dry_friction() {
    let mass = 2.0;
    let solve = |row: Row, speed: f64, method: Method| {
        let mut problem = ContactProblem::new(1e-2).unwrap();
        let inverse = Matrix::from_fn(1, 1, |_, _| 1.0 / mass);
        let body = problem.add_body(&inverse, &[speed]).unwrap();
        let id = problem.add_row(&row, &[Side::of(body, &[1.0])]).unwrap();
        let mut solver = Solver::new();
        let report = solver.solve(&problem, &Settings { method, ..Settings::default() });
        assert_eq!(report.status, Status::Converged);
        (solver.velocity(body).unwrap()[0], solver.impulse(id).unwrap()[0])
    };
    let close = |(v, l): (f64, f64), velocity: f64, impulse: f64| {
        assert!((v - velocity).abs() < 1e-12 && (l - impulse).abs() < 1e-12, "{v} {l}");
    };
    for method in METHODS {
        close(solve(Row::unilateral(0.0), -3.0, method), 0.0, 6.0);
        close(solve(Row::unilateral(0.0), 3.0, method), 3.0, 0.0);
        // 10 mm away: it may come nearer by 10 mm in the step of 10 ms.
        close(solve(Row::unilateral(0.01), -3.0, method), -1.0, 4.0);
        let rebound = Row { restitution: 0.5, approach: -3.0, ..Row::unilateral(0.0) };
        close(solve(rebound, -3.0, method), 1.5, 9.0);
        close(solve(Row::bilateral(0.0), -3.0, method), 0.0, 6.0);
        close(solve(Row { relaxation: 0.01, ..Row::bilateral(0.01) }, 3.0, method), -0.5, -7.0);
        close(solve(Row::friction(1.5), -3.0, method), -2.25, 1.5);
        close(solve(Row::friction(1.5), 0.5, method), 0.0, -1.0);
        // A spring of 1/c: v + c/h² λ = 0.
        let soft = Row { compliance: 1e-4, ..Row::bilateral(0.0) };
        close(solve(soft, -3.0, method), -2.0, 2.0);
    }
}

#[test]
fn a_solution_is_found_again_at_once_from_its_own_impulses() {
    let mut solver = Solver::new();
    let mut again = 0;
    for seed in 0..100 {
        let mut random = random_problem(seed);
        let settings = Settings { tolerance: 1e-9, ..Settings::default() };
        let first = solver.solve(&random.problem, &settings);
        if first.status != Status::Converged || first.restitution_share < 1.0 {
            continue;
        }
        for &id in &random.ids {
            random.problem.set_warm_start(id, solver.impulse(id).unwrap()).unwrap();
        }
        let second = solver.solve(&random.problem, &Settings { tolerance: 1e-8, ..settings });
        assert_eq!(second.status, Status::Converged);
        // One sweep where all contacts are open: no impulses look like a cold start.
        assert!(second.sweeps <= 1 && second.newton_iterations == 0, "seed {seed}");
        again += 1;
    }
    assert!(again > 50, "{again}");
}

/// Bits depend on the problem alone, not on what the solver did before.
#[test]
fn results_are_equal_in_every_bit() {
    let mut used = Solver::new();
    for seed in 0..24 {
        let random = random_problem(seed);
        for method in METHODS {
            let settings = Settings { method, max_iterations: 300, ..Settings::default() };
            let first = used.solve(&random.problem, &settings);
            let mut fresh = Solver::new();
            let second = fresh.solve(&random.problem, &settings);
            assert_eq!(first, second, "seed {seed}");
            for &id in &random.ids {
                let (a, b) = (used.impulse(id).unwrap(), fresh.impulse(id).unwrap());
                assert!(a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()), "seed {seed}");
            }
        }
    }
}

/// Gauss–Seidel on a stack of equal blocks: its counters are pinned.
#[test]
fn counters_tell_the_work() {
    let mut problem = ContactProblem::new(1e-3).unwrap();
    let body = problem.add_body(&Matrix::identity(3), &[0.2, 0.1, -1.0]).unwrap();
    let up = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let contact = Contact::new(Friction::Cone { mu: 0.5 });
    problem.add_contact(&contact, &[Side::of(body, &up)]).unwrap();
    let mut solver = Solver::new();
    for method in METHODS {
        let report =
            solver.solve(&problem, &Settings { method, tolerance: 1e-8, ..Settings::default() });
        // The first sweep solves one contact, the second finds that nothing is left to do.
        assert_eq!((report.sweeps, report.newton_iterations, report.factorisations), (2, 0, 0));
    }
}
