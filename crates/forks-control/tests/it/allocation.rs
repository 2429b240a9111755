//! Warm decisions and steps of trees ask for no memory.

use std::sync::Arc;

use allocation_counter::measure;
use forks_control::{
    controller::Controller,
    limits::CoordinateLimits,
    objective::{Metric, Objective, Quantity},
    plant::{Command, Plant, TreePlant},
    task::{Axes, Frame, Goal, Task},
};
use forks_dynamics::mechanism::{JointId, Limit, LinkId, lie::glam::DVec3};
use forks_models::{HelixJoints, helix};

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
