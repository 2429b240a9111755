//! Sweeps and time of projected Gauss–Seidel against the number of contacts, cold and warm, as CSV.
//!
//! `cargo run --release -p forks-contact --example pgs_scaling`
//!
//! Unit boxes lie side by side on a plane under gravity with four contacts each, in rows of eight that touch each other, and are
//! pushed along the row: friction and normal forces couple the whole row. Time is the median of seven solves.

use std::time::Instant;

use forks_contact::lie::{
    SpatialInertia, Twist,
    glam::{DMat3, DVec3},
};
use forks_contact::{
    Contact, ContactError, Friction, Method, Problem, Settings, Side, Solver, point_jacobian,
};

const H: f64 = 1e-3;
const ROW: usize = 8;

fn main() -> Result<(), ContactError> {
    println!("contacts,sweeps_cold,us_cold,sweeps_warm,us_warm,us_per_sweep,residual");
    for boxes in [1, 2, 4, 8, 16, 32, 64, 128] {
        let mut problem = scene(boxes)?;
        let mut solver = Solver::new();
        let settings = Settings {
            method: Method::GaussSeidel,
            tolerance: 1e-4,
            max_sweeps: 10_000,
            ..Settings::default()
        };
        let (cold, cold_time) = measure(&mut solver, &problem, &settings);
        let ids = problem.constraint_ids();
        for id in ids {
            let impulse = solver.impulse(id)?.to_vec();
            // The load of the next step differs by a per cent.
            let nearly: Vec<f64> = impulse.iter().map(|x| 1.01 * x).collect();
            problem.set_warm_start(id, &nearly)?;
        }
        let (warm, warm_time) = measure(&mut solver, &problem, &settings);
        println!(
            "{},{},{:.1},{},{:.1},{:.2},{:.1e}",
            problem.constraint_count(),
            cold.sweeps,
            cold_time,
            warm.sweeps,
            warm_time,
            cold_time / cold.sweeps.max(1) as f64,
            cold.relative_residual
        );
    }
    Ok(())
}

/// Report and median time in µs.
fn measure(
    solver: &mut Solver,
    problem: &Problem,
    settings: &Settings,
) -> (forks_contact::Report, f64) {
    let mut times = vec![];
    let mut last = solver.solve(problem, settings);
    for _ in 0..7 {
        let begin = Instant::now();
        last = solver.solve(problem, settings);
        times.push(begin.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    (last, times[3])
}

fn scene(boxes: usize) -> Result<Problem, ContactError> {
    let mut problem = Problem::new(H)?;
    let inertia =
        SpatialInertia::new(1.0, DVec3::ZERO, DMat3::from_diagonal(DVec3::splat(1.0 / 6.0)));
    let floor = Contact::new(Friction::Cone { mu: 0.5 });
    let wall = Contact::new(Friction::Cone { mu: 0.3 });
    let mut last = None;
    for b in 0..boxes {
        let push = if b % ROW == 0 { 30.0 } else { 0.0 };
        let linear = H * DVec3::new(push, 0.0, -9.81);
        let body = problem.add_rigid_body(&inertia, Twist { linear, angular: DVec3::ZERO })?;
        for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
            let point = DVec3::new(x, y, -0.5);
            let jacobian = point_jacobian(point, [DVec3::Z, DVec3::X, DVec3::Y], 1.0);
            problem.add_contact(&floor, &[Side { body, jacobian: &jacobian }])?;
        }
        if let Some(before) = last.filter(|_| b % ROW != 0) {
            for (y, z) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
                let axes = [DVec3::X, DVec3::Y, DVec3::Z];
                let ours = point_jacobian(DVec3::new(-0.5, y, z), axes, 1.0);
                let theirs = point_jacobian(DVec3::new(0.5, y, z), axes, -1.0);
                let sides =
                    [Side { body, jacobian: &ours }, Side { body: before, jacobian: &theirs }];
                problem.add_contact(&wall, &sides)?;
            }
        }
        last = Some(body);
    }
    Ok(problem)
}
