//! Warm decisions and steps of trees and reduced models ask for no memory.

use std::sync::Arc;

use allocation_counter::measure;
use forks_control::{
    controller::Controller,
    limits::CoordinateLimits,
    objective::{Metric, Objective, Quantity},
    plant::{Command, Plant, ReducedCommand, ReducedPlant, TreePlant},
    prediction::{self, Commands, Mpc, MpcSettings},
    task::{Axes, Frame, Goal, Task},
};
use forks_dynamics::mechanism::{JointId, Limit, LinkId, lie::glam::DVec3};
use forks_models::{HelixJoints, helix, peg_arm};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_rom::{Stepper, System, lie::Pose};

/// Allocations of so many turns after as many that may ask for what they need.
fn warm(turns: usize, mut turn: impl FnMut()) -> u64 {
    (0..turns).for_each(|_| turn());
    measure(|| (0..turns).for_each(|_| turn())).count_total
}

#[test]
fn trees_are_driven_without_allocation() {
    let m = Arc::new(helix(4, HelixJoints::Alternating).mechanism);
    let (q, n) = (m.start_positions(), m.velocity_count());
    let all: Vec<Command> = (0..n).map(Command::Force).collect();
    let mut plant = TreePlant::new(Arc::clone(&m), &q, &vec![0.0; n], &all, 1e-4).unwrap();
    let tip = Frame::of(LinkId::new(m.links().len() - 1));
    let place = m.link_poses(&q)[tip.link.index()];
    let tasks = [
        Task::new("place", Goal::Position(tip, place.translation + DVec3::X * 1e-3))
            .in_axes(Axes::World),
        Task::new("axis", Goal::Direction(tip, DVec3::Z, DVec3::Z)).on_level(1),
        Task::new("posture", Goal::Posture(vec![(JointId::new(0), 0.0)])).on_level(2),
    ];
    let position = Some(Limit { lower: -1.0, upper: 1.0 });
    let limits = CoordinateLimits { position, velocity: 10.0, acceleration: 1e5 };
    let objective = Objective::torque().and(Quantity::Jerk, Metric::Unit, 1e-9);
    let mut controller = Controller::new(vec![(-1e4, 1e4); n])
        .minimise(objective)
        .limit_joint(JointId::new(1), limits);
    let count = warm(50, || {
        let found = controller.solve(&mut plant, &tasks).unwrap();
        plant.step(&found.commands).unwrap();
    });
    assert_eq!(count, 0);
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
            goals: vec![prediction::Goal::position(0)],
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

#[test]
fn reduced_models_are_driven_without_allocation() {
    let p = helix(6, HelixJoints::Hinge3);
    let name = p.mechanism.link(p.effectors[0]).name.clone();
    let problem = Problem::new(&p.mechanism, &[&name], &ProblemOptions::default()).unwrap();
    let model = problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap().model;
    let system = Stepper::new(Arc::new(model), 1e-3).unwrap();
    let commands = [0, 1, 2].map(|component| ReducedCommand::Wrench { effector: 0, component });
    let state = system.state();
    let mut plant = ReducedPlant::new(system, state, &commands, DVec3::ZERO).unwrap();
    let mask = [true, true, true, false, false, false];
    let tasks = [Task::new("tip", Goal::Still(Frame::of(LinkId::new(0)))).masked(mask)];
    let mut controller = Controller::new(vec![(-10.0, 10.0); 3]);
    let count = warm(50, || {
        let found = controller.solve(&mut plant, &tasks).unwrap();
        plant.step(&found.commands).unwrap();
    });
    assert_eq!(count, 0);
}
