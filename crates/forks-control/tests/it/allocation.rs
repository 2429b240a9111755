//! Warm decisions and steps of trees and reduced models ask for no memory.

use std::sync::Arc;

use allocation_counter::measure;
use forks_control::{
    controller::Controller,
    limits::CoordinateLimits,
    objective::{Metric, Objective, Quantity},
    plant::{Command, Plant, ReducedCommand, ReducedPlant, TreePlant},
    task::{Axes, Frame, Goal, Task},
};
use forks_dynamics::mechanism::{JointId, Limit, LinkId, lie::glam::DVec3};
use forks_models::{HelixJoints, helix};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_rom::{Stepper, System};

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
