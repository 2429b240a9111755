//! A thousand seeded random contact problems, judged by an oracle that recomputes velocities,
//! energy and residuals.
//!
//! `cargo test -p forks-contact --test it random -- --nocapture` prints the figures.

use crate::support;

use forks_contact::{ConstraintId, Friction, Method, Report, Settings, Solver, Status};
use support::{Random, convex_problem, random_problem};

/// Relative residual that counts as solved, and the share of problems that must be.
const RESIDUAL: f64 = 1e-8;
const SHARE: f64 = 0.995;
/// Largest violation of a cone, relative to the impulse.
const CONE: f64 = 1e-10;

/// Velocities v_free + A⁻¹ Jᵀ λ of all bodies, from A by elimination.
fn velocities(random: &Random, impulses: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut pushes: Vec<Vec<f64>> = random.bodies.iter().map(|b| vec![0.0; b.free.len()]).collect();
    for (blocks, lambda) in random.blocks.iter().zip(impulses) {
        for (b, j) in blocks {
            let n = random.bodies[*b].free.len();
            for (r, l) in lambda.iter().enumerate() {
                pushes[*b].iter_mut().zip(&j[r * n..]).for_each(|(p, j)| *p += l * j);
            }
        }
    }
    let body = |(b, push): (&support::RandomBody, &Vec<f64>)| {
        let change = support::inverse(&b.system).mul_vec(push);
        b.free.iter().zip(change).map(|(v, d)| v + d).collect()
    };
    random.bodies.iter().zip(&pushes).map(body).collect()
}

/// Rows of J v.
fn rows(random: &Random, i: usize, velocity: &[Vec<f64>]) -> Vec<f64> {
    let blocks = &random.blocks[i];
    let n = |b: usize| random.bodies[b].free.len();
    let count = blocks[0].1.len() / n(blocks[0].0);
    let row = |r: usize| {
        let one = |(b, j): &(usize, Vec<f64>)| {
            let part = &j[r * n(*b)..(r + 1) * n(*b)];
            part.iter().zip(&velocity[*b]).map(|(j, v)| j * v).sum::<f64>()
        };
        blocks.iter().map(one).sum()
    };
    (0..count).map(row).collect()
}

fn kinetic_energy(random: &Random, velocity: &[Vec<f64>]) -> f64 {
    let of = |(b, v): (&support::RandomBody, &Vec<f64>)| {
        0.5 * b.system.mul_vec(v).iter().zip(v).map(|(p, v)| p * v).sum::<f64>()
    };
    random.bodies.iter().zip(velocity).map(of).sum()
}

struct Judgement {
    impulses: Vec<Vec<f64>>,
    velocity: Vec<Vec<f64>>,
}

/// Checks that hold for every result, converged or not.
fn judge(seed: u64, random: &Random, solver: &Solver, report: &Report) -> Judgement {
    let count = random.blocks.len();
    let ids: Vec<ConstraintId> = random.ids.clone();
    assert_eq!(ids.len(), count);
    let impulses: Vec<Vec<f64>> =
        ids.iter().map(|&c| solver.impulse(c).unwrap().to_vec()).collect();
    let numbers = [report.residual, report.relative_residual, report.speed, report.energy_gain];
    assert!(numbers.iter().all(|x| x.is_finite()), "seed {seed}: {report:?}");
    assert!(impulses.iter().flatten().all(|x| x.is_finite()), "seed {seed}");
    for (contact, l) in random.contacts.iter().zip(&impulses) {
        let Some(contact) = contact else { continue };
        let outside = match contact.friction {
            Friction::Cone { mu } => l[1].hypot(l[2]) - mu * l[0],
            Friction::EllipticCone { mu } if mu[0] > 0.0 && mu[1] > 0.0 => {
                (l[1] / mu[0]).hypot(l[2] / mu[1]) - l[0]
            }
            Friction::EllipticCone { mu } | Friction::Pyramid { mu } => {
                (l[1].abs() - mu[0] * l[0]).max(l[2].abs() - mu[1] * l[0])
            }
            Friction::Box { limit } => (l[1].abs() - limit[0]).max(l[2].abs() - limit[1]),
            other => panic!("unknown friction {other:?}"),
        };
        let size = l[0].abs().max(1e-300);
        assert!(outside.max(-l[0]) <= CONE * size, "seed {seed}: {l:?} {contact:?}");
    }
    assert!(solver.cone_violation() <= CONE, "seed {seed}: {}", solver.cone_violation());
    let velocity = velocities(random, &impulses);
    Judgement { impulses, velocity }
}

/// T(v) − T(v_free) is at most what corrections of penetrations put in; restitution never adds
/// energy.
///
/// Roundings are relative to the energies that the impulses move back and forth.
fn judge_energy(seed: u64, random: &Random, judged: &Judgement, report: &Report) {
    let free: Vec<Vec<f64>> = random.bodies.iter().map(|b| b.free.clone()).collect();
    let gain = kinetic_energy(random, &judged.velocity) - kinetic_energy(random, &free);
    let (mut allowed, mut moved, mut loose) = (0.0, kinetic_energy(random, &free), 0.0);
    for (i, l) in judged.impulses.iter().enumerate() {
        if let Some(c) = &random.contacts[i] {
            allowed += l[0] * (-c.gap / (support::STEP + c.relaxation)).max(0.0);
        }
        let (before, after) = (rows(random, i, &free), rows(random, i, &judged.velocity));
        for (r, l) in l.iter().enumerate() {
            moved += l.abs() * (before[r].abs() + after[r].abs());
            loose += l.abs() * report.residual;
        }
    }
    let bound = allowed + 1e-9 * moved + 3.0 * loose;
    assert!(gain <= bound, "seed {seed}: gained {gain} J of {bound} J; {report:?}");
}

#[test]
fn a_thousand_random_problems() {
    let mut solver = Solver::new();
    let settings = Settings { tolerance: RESIDUAL, ..Settings::default() };
    let mut unsolved = vec![];
    let (mut worst_velocity, mut reduced) = (0.0_f64, 0);
    for seed in 0..1000 {
        let random = random_problem(seed);
        let report = solver.solve(&random.problem, &settings);
        assert_ne!(report.status, Status::Overflow, "seed {seed}");
        let judged = judge(seed, &random, &solver, &report);
        judge_energy(seed, &random, &judged, &report);
        for (b, v) in random.bodies.iter().zip(&judged.velocity) {
            let ours = solver.velocity(b.id).unwrap();
            for (x, y) in ours.iter().zip(v) {
                worst_velocity = worst_velocity.max((x - y).abs() / (1.0 + y.abs()));
            }
        }
        reduced += usize::from(report.restitution_share < 1.0);
        if report.relative_residual > RESIDUAL {
            unsolved.push((seed, report.relative_residual));
        }
    }
    println!("not solved: {} of 1000: {unsolved:?}", unsolved.len());
    println!("restitution reduced in {reduced}; velocities off by {worst_velocity:.1e}");
    assert!(unsolved.len() as f64 <= (1.0 - SHARE) * 1000.0, "{unsolved:?}");
}

/// Gauss–Seidel gives admissible impulses and no energy either, however far it came.
#[test]
fn gauss_seidel_is_safe_on_random_problems() {
    let mut solver = Solver::new();
    let settings = Settings {
        method: Method::GaussSeidel,
        tolerance: RESIDUAL,
        max_sweeps: 200,
        ..Settings::default()
    };
    let mut solved = 0;
    for seed in 0..1000 {
        let random = random_problem(seed);
        let report = solver.solve(&random.problem, &settings);
        let judged = judge(seed, &random, &solver, &report);
        judge_energy(seed, &random, &judged, &report);
        solved += usize::from(report.status == Status::Converged);
    }
    println!("Gauss-Seidel solved {solved} of 1000 in 200 sweeps");
    assert!(solved > 100, "{solved}");
}

/// Few sweeps, and where they do not do the robust method; sweeps over what is solved already keep
/// it solved.
#[test]
fn falling_back_solves_what_sweeps_do_not() {
    let mut solver = Solver::new();
    let settings = Settings {
        method: Method::Fallback,
        tolerance: RESIDUAL,
        min_sweeps: 3,
        max_sweeps: 50,
        ..Settings::default()
    };
    let (mut solved, mut fell_back) = (0, 0);
    for seed in 0..60 {
        let mut random = random_problem(seed);
        let report = solver.solve(&random.problem, &settings);
        let judged = judge(seed, &random, &solver, &report);
        judge_energy(seed, &random, &judged, &report);
        fell_back += usize::from(report.factorisations > 0);
        if report.status != Status::Converged || report.restitution_share < 1.0 {
            continue;
        }
        solved += 1;
        for (id, impulse) in random.ids.iter().zip(&judged.impulses) {
            random.problem.set_warm_start(*id, impulse).unwrap();
        }
        let again = solver.solve(&random.problem, &settings);
        assert_eq!(again.status, Status::Converged, "seed {seed}: {again:?}");
        assert!(again.sweeps >= 1 || again.speed == 0.0, "seed {seed}: {again:?}");
    }
    println!("solved {solved} of 60, {fell_back} with matrices");
    assert!(fell_back > 20 && solved > 50, "{fell_back} {solved}");
}

/// Without cones the problem is convex: the velocities are unique, and both solvers find them.
#[test]
fn both_solvers_agree() {
    let mut solver = Solver::new();
    let (mut compared, mut worst) = (0, 0.0_f64);
    for seed in 0..200 {
        let random = convex_problem(seed);
        let robust = Settings { tolerance: 1e-12, ..Settings::default() };
        let plain = Settings { method: Method::GaussSeidel, max_sweeps: 5000, ..robust };
        let mut velocities = |settings: &Settings| {
            let report = solver.solve(&random.problem, settings);
            let of = |b: &support::RandomBody| solver.velocity(b.id).unwrap().to_vec();
            (report, random.bodies.iter().flat_map(of).collect::<Vec<f64>>())
        };
        let ((first, a), (second, b)) = (velocities(&robust), velocities(&plain));
        if first.status == Status::Converged && second.status == Status::Converged {
            compared += 1;
            let scale = a.iter().fold(first.speed, |m, x| m.max(x.abs()));
            a.iter().zip(&b).for_each(|(x, y)| worst = worst.max((x - y).abs() / scale));
        }
    }
    println!("compared {compared}, worst difference {worst:.1e}");
    assert!(compared > 100, "{compared}");
    assert!(worst < 1e-8, "{worst}");
}
