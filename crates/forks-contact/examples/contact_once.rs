//! Solves one problem again and again, for heap counters: allocations must not depend on the number
//! of calls.
//!
//! `valgrind target/release/examples/contact_once robust 10`, then with 1000; also `sweeps`.

use forks_contact::lie::{
    SpatialInertia, Twist,
    glam::{DMat3, DVec3},
};
use forks_contact::{
    Contact, ContactError, ContactProblem, Friction, Method, Settings, Side, Solver, point_jacobian,
};

fn main() -> Result<(), ContactError> {
    let mut arguments = std::env::args().skip(1);
    let method = match arguments.next().as_deref() {
        Some("sweeps") => Method::GaussSeidel,
        _ => Method::Robust,
    };
    let calls: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(10);
    let mut problem = ContactProblem::new(1e-3)?;
    let mut bodies = vec![];
    for mass in [1000.0, 0.1, 1.0] {
        let moment = DMat3::from_diagonal(DVec3::splat(mass / 60.0));
        let inertia = SpatialInertia::new(mass, DVec3::ZERO, moment);
        bodies.push(problem.add_rigid_body(&inertia, Twist::ZERO)?);
    }
    let mut solver = Solver::new();
    let settings = Settings { method, max_sweeps: 100, ..Settings::default() };
    let (mut sum, mut work) = (0.0, 0);
    for call in 0..calls {
        // What a step of a simulation does: velocities, contacts, solve, read.
        problem.clear_constraints();
        for (b, &body) in bodies.iter().enumerate() {
            let push = 1e-3 * (call % 7) as f64;
            problem.set_free_velocity(body, &[push, 0.0, -0.01, 0.0, 0.0, push])?;
            for (x, y) in [(-0.1, -0.1), (0.1, -0.1), (-0.1, 0.1), (0.1, 0.1)] {
                let axes = [DVec3::Z, DVec3::X, DVec3::Y];
                let ours = point_jacobian(DVec3::new(x, y, 0.1), axes, -1.0);
                let theirs = point_jacobian(DVec3::new(x, y, -0.1), axes, 1.0);
                let contact = Contact::new(Friction::Cone { mu: 0.4 });
                let under = Side::of(body, &theirs);
                if b + 1 < bodies.len() {
                    let sides = [Side::of(bodies[b + 1], &ours), under];
                    problem.add_contact(&contact, &sides)?;
                } else {
                    problem.add_contact(&contact, &[under])?;
                }
            }
        }
        let report = solver.solve(&problem, &settings);
        work += report.sweeps + report.newton_iterations + report.admm_iterations;
        sum += solver.velocity(bodies[0])?[0];
    }
    println!("{sum} after {work} iterations");
    Ok(())
}
