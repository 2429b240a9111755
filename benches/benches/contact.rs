//! Contact impulses of a stack of three boxes, the lowest a thousand times as heavy as the next: by
//! sweeps and by the robust solver, from setting velocities to reading them.

use criterion::{Criterion, criterion_group, criterion_main};
use forks_contact::{
    BodyId, Contact, ContactError, ContactProblem, Friction, Method, Settings, Side, Solver,
    lie::{
        SpatialInertia, Twist,
        glam::{DMat3, DVec3},
    },
    point_jacobian,
};

const METHODS: [(&str, Method); 2] = [("sweeps", Method::GaussSeidel), ("robust", Method::Robust)];

/// Four contacts below each box, which is pushed aside.
fn touch(problem: &mut ContactProblem, bodies: &[BodyId], push: f64) -> Result<(), ContactError> {
    problem.clear_constraints();
    let axes = [DVec3::Z, DVec3::X, DVec3::Y];
    for (b, &body) in bodies.iter().enumerate() {
        problem.set_free_velocity(body, &[push, 0.0, -0.01, 0.0, 0.0, push])?;
        for (x, y) in [(-0.1, -0.1), (0.1, -0.1), (-0.1, 0.1), (0.1, 0.1)] {
            let above = point_jacobian(DVec3::new(x, y, -0.1), axes, 1.0);
            let below = point_jacobian(DVec3::new(x, y, 0.1), axes, -1.0);
            let mut sides = vec![Side::of(body, &above)];
            sides.extend(bodies.get(b + 1).map(|&next| Side::of(next, &below)));
            problem.add_contact(&Contact::new(Friction::Cone { mu: 0.4 }), &sides)?;
        }
    }
    Ok(())
}

fn stack(c: &mut Criterion) {
    let mut problem = ContactProblem::new(1e-3).expect("a step above 0");
    let bodies: Vec<BodyId> = [1000.0, 0.1, 1.0]
        .map(|mass| {
            let moment = DMat3::from_diagonal(DVec3::splat(mass / 60.0));
            let inertia = SpatialInertia::new(mass, DVec3::ZERO, moment);
            problem.add_rigid_body(&inertia, Twist::ZERO).expect("a valid body")
        })
        .to_vec();
    let mut group = c.benchmark_group("contact of a stack");
    for (name, method) in METHODS {
        let settings = Settings { method, max_sweeps: 100, ..Settings::default() };
        let (mut solver, mut call) = (Solver::new(), 0);
        group.bench_function(name, |b| {
            b.iter(|| {
                call = (call + 1) % 7;
                touch(&mut problem, &bodies, 1e-3 * f64::from(call)).expect("valid contacts");
                solver.solve(&problem, &settings)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, stack);
criterion_main!(benches);
