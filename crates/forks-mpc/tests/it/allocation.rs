//! Warm predictions ask for no memory.

use std::sync::Arc;

use allocation_counter::measure;
use forks_models::peg_arm;
use forks_mpc::{Commands, Goal, Mpc, MpcSettings};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_rom::{
    Stepper, System,
    lie::{Pose, glam::DVec3},
};

/// Allocations of so many turns after as many that may ask for what they need.
fn warm(turns: usize, mut turn: impl FnMut()) -> u64 {
    (0..turns).for_each(|_| turn());
    measure(|| (0..turns).for_each(|_| turn())).count_total
}

#[test]
fn predictions_of_servos_ask_for_no_memory() {
    let p = peg_arm();
    let name = p.mechanism.link(p.effectors[0]).name.clone();
    let problem = Problem::new(&p.mechanism, &[&name], &ProblemOptions::default()).unwrap();
    let model = problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap().model;
    let start = model.data().effectors[0].rest;
    let stepper = Stepper::new(Arc::new(model), 5e-3).unwrap();
    let mut mpc = Mpc::new(
        stepper.clone(),
        MpcSettings {
            horizon: 10,
            commands: Commands::Servos,
            bounds: vec![(-0.05, 0.05); 6],
            goals: vec![Goal::position(0)],
            effort: 1e-6,
            change: 1e-5,
            pivots: 50,
            budget: None,
        },
    )
    .unwrap();
    let (mut state, mut work) = (stepper.state(), stepper.workspace());
    let (mut x, mut v, mut k) = (vec![0.0; 6], vec![0.0; 6], 0);
    let mut bound = 0;
    let count = warm(50, || {
        stepper.coordinates(&state, &mut x);
        stepper.velocity(&state, &mut v);
        let target = |step: usize, _: usize| {
            let s = (0.1 * (k + step) as f64).sin();
            Pose { translation: start.translation + DVec3::new(0.0, 0.03 * s, 0.01), ..start }
        };
        bound += mpc.solve((&x, &v), &[], target).unwrap().at_bounds;
        stepper.set_servo_targets(&mut state, mpc.commands()).unwrap();
        let _ = stepper.step(&mut state, &mut work, &[]);
        k += 1;
    });
    assert_eq!(count, 0);
    assert!(bound > 0);
}
