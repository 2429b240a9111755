//! Steps in two halves, against whole steps of the same scheme.

use std::sync::Arc;

use forks_dynamics::{
    ImpulseStepper, Integrator, Simulation, SimulationOptions, StepStatus,
    mechanism::{
        Mechanism, MechanismBuilder,
        lie::glam::DVec3,
        parametric::{HelixJoints, four_bar, helix, irregular_ladder},
    },
};

/// With a gravity that no pose at rest resists along its chains alone.
fn under_gravity(m: &Mechanism) -> Mechanism {
    let mut b = MechanismBuilder::from_mechanism(m);
    b.set_gravity(DVec3::new(3.0, 1.0, -9.0));
    b.build().unwrap()
}

/// Largest difference of tree positions from the whole steps' over their largest displacement.
fn difference(m: &Mechanism, h: f64, steps: usize) -> f64 {
    let q = &m.start_positions()[..m.tree_position_count()];
    let v = vec![0.0; m.tree_velocity_count()];
    let options = SimulationOptions {
        integrator: Integrator::Implicit,
        energy_halvings: 0,
        ..SimulationOptions::default()
    };
    let mut whole = Simulation::new(m, q, &v, options);
    let mut halves = ImpulseStepper::new(Arc::new(m.clone()), q, &v, true, h).unwrap();
    let start = whole.state().q.clone();
    let apart =
        |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    let (mut worst, mut moved) = (0.0f64, 0.0f64);
    for _ in 0..steps {
        assert_eq!(whole.step(h), StepStatus::Completed);
        halves.free(&[], &[]).unwrap();
        halves.finish(&halves.velocities().to_vec()).unwrap();
        worst = worst.max(apart(halves.positions(), &whole.state().q));
        moved = moved.max(apart(&start, &whole.state().q));
        assert!(halves.loop_gap() < 1e-12);
    }
    assert_eq!(whole.statistics().damped, 0);
    worst / moved
}

#[test]
fn without_impulses_steps_are_whole_steps_but_for_the_asymmetry_of_the_stiffness() {
    for m in [helix(20, HelixJoints::Hinge3).mechanism, irregular_ladder(15).mechanism] {
        let m = under_gravity(&m);
        // At rest under weights and springs the stiffness is symmetric.
        let first = difference(&m, 1e-3, 1);
        let errors = [2e-3, 1e-3, 5e-4].map(|h| difference(&m, h, (0.1 / h) as usize));
        println!("{}: one step {first:e}, 0.1 s {errors:?}", m.name());
        assert!(first < 1e-12);
        assert!(errors[1] < 0.6 * errors[0] && errors[2] < 0.6 * errors[1] && errors[0] < 1e-3);
    }
}

#[test]
fn a_loop_of_one_motion_has_no_asymmetry() {
    let m = under_gravity(&four_bar().mechanism);
    let error = difference(&m, 1e-3, 100);
    println!("{error:e}");
    assert!(error < 1e-11);
}
