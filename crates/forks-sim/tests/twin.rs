//! Full mechanisms in worlds, against the full solver alone, closed forms and reduced models.

#![cfg(feature = "twin")]

mod support;

use forks_dynamics::{Integrator, Simulation, SimulationOptions};
use forks_mechanism::{
    Mechanism, Preparation,
    parametric::{HelixJoints, helix},
};
use forks_sim::{
    World, WorldSettings, WorldStatus,
    lie::{
        Pose, Wrench,
        glam::{DQuat, DVec3},
    },
    rom::LoadFrame,
    twin::{FullMechanism, Gravity},
};

/// Largest difference of two lists.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

fn step(world: &mut World) {
    let report = world.step();
    assert!(
        matches!(report.status, WorldStatus::Completed | WorldStatus::ContactInexact),
        "{report:?}"
    );
}

fn full(m: &Mechanism, effector: &str) -> FullMechanism {
    FullMechanism::new(m, &Preparation::default(), &[effector]).unwrap()
}

/// World and solver side by side for `steps`: largest difference of positions over the largest displacement.
fn against_the_solver(joints: HelixJoints, wrench: Wrench, h: f64, time: f64) -> f64 {
    let helix = helix(20, joints);
    let m = &helix.mechanism;
    let tip = m.link(helix.effectors[0]).name.clone();
    let settings = WorldSettings { step: h, ..WorldSettings::default() };
    let mut world = World::new(settings).unwrap();
    let placement = Pose::new(DQuat::from_rotation_y(0.4), DVec3::new(1.0, 2.0, 3.0));
    let full = full(m, &tip).under(Gravity::Off);
    let id = world.add_full("helix", &full, placement).unwrap();
    world.set_effector_load(id, 0, wrench, LoadFrame::Body).unwrap();

    let options = SimulationOptions {
        integrator: Integrator::Implicit,
        gravity: false,
        ..SimulationOptions::default()
    };
    let start = m.start_positions();
    let mut solver = Simulation::new(m, &start, &vec![0.0; m.tree_velocity_count()], options);
    let mut external = vec![Wrench::ZERO; m.links().len()];
    external[helix.effectors[0].index()] = wrench;
    solver.set_loads(&vec![0.0; m.tree_velocity_count()], &external);
    let (mut worst, mut moved) = (0.0f64, 0.0f64);
    for _ in 0..(time / h).round() as usize {
        step(&mut world);
        assert_eq!(solver.step(h).name(), "completed");
        let q = &solver.state().q;
        worst = worst.max(apart(world.coordinates(id).unwrap(), q));
        moved = moved.max(apart(q, &start));
    }
    assert_eq!(solver.statistics().rejected, 0);
    worst / moved
}

#[test]
fn without_contact_a_full_mechanism_moves_as_the_solver_alone() {
    let wrench = Wrench::new(DVec3::new(3.0, 5.0, -20.0), DVec3::ZERO);
    for joints in [HelixJoints::Alternating, HelixJoints::Hinge3] {
        let first = against_the_solver(joints, wrench, 1e-3, 1e-3);
        let errors = [2e-3, 1e-3, 5e-4].map(|h| against_the_solver(joints, wrench, h, 0.2));
        println!("{joints:?}: one step {first:e}, 0.2 s {errors:?}");
        // The step's matrix is symmetric here, and the load turns with the tip: what is left out is of the order h.
        assert!(errors[2] < 1e-3 && errors[1] < 0.6 * errors[0] && errors[2] < 0.6 * errors[1]);
    }
}
