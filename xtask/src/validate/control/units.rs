//! Machines in millimetres and in metres, in degrees and in radians: the same commands.

use std::sync::Arc;

use forks_control::{
    controller::{Controller, Origin},
    objective::{Metric, Objective, Quantity, Term},
    plant::{Command, TreePlant},
    task::{Frame, Goal, Task},
};
use forks_mechanism::lie::glam::DQuat;
use forks_testkit::Rng;

use super::machines::{arm, way};
use crate::validate::record::{Recorder, larger};

pub(super) fn check(count: u64, out: &mut Recorder) -> Result<(), String> {
    let (mut apart, mut renamed) = (0.0f64, 0);
    for seed in 0..count {
        let (metres, named) = commands(seed, 1.0, 1.0)?;
        let size = metres.iter().fold(0.0f64, |m, z| m.max(z.abs()));
        for (s, degrees) in [(1e3, 1.0), (1.0, 180.0 / core::f64::consts::PI), (1e-2, 57.3)] {
            let (other, others) = commands(seed, s, degrees)?;
            for (a, b) in metres.iter().zip(&other) {
                apart = larger(apart, (a - b / (s * s)).abs() / size);
            }
            renamed += usize::from(named != others);
        }
    }
    let of = |what: &str| format!("{what} in mm and m, deg and rad, {count} arms");
    out.at_most(&of("commands apart"), apart, 1e-12);
    out.equal(&of("other rows give way"), renamed, 0);
    Ok(())
}

/// Commands and the rows that give way of a generated arm; a unit of length is 1/`s` m, an angle
/// counts 1/`degrees` rad.
fn commands(seed: u64, s: f64, degrees: f64) -> Result<(Vec<f64>, Vec<Origin>), String> {
    let mut rng = Rng::new(400 + seed);
    let n = 3 + rng.index(4);
    let m = arm(&mut rng, n, s)?;
    let [q, v] = [(); 2].map(|()| (0..n).map(|_| rng.symmetric()).collect::<Vec<f64>>());
    let all: Vec<Command> = (0..n).map(Command::Force).collect();
    let plant = TreePlant::new(Arc::clone(&m.mechanism), &q, &v, &all, 1e-3);
    let mut plant = plant.map_err(|e| e.to_string())?;
    let tip = m.mechanism.link_poses(&q)[m.tips[0].index()];
    let frame = Frame::of(m.tips[0]);
    let target = tip.translation + 0.03 * s * way(&mut rng);
    let turned = tip.rotation * DQuat::from_rotation_y(0.2 * rng.symmetric());
    let tasks = [
        // Both on one level, often more than the joints can do: weights decide.
        Task::new("place", Goal::Position(frame, target)).weighing(rng.range(0.5, 3.0) / s),
        Task::new("turn", Goal::Orientation(frame, turned)).weighing(rng.range(0.1, 1.0)),
        Task::new("joint", Goal::Joint(m.hinges[1], rng.symmetric())).on_level(1),
    ];
    let weights = (0..n).map(|_| rng.range(0.5, 4.0) / (s * s).powi(2)).collect();
    let term = Term { quantity: Quantity::Command, metric: Metric::Diagonal(weights), weight: 1.0 };
    // Velocities in degrees weigh less as their numbers are larger.
    let angles = Metric::Diagonal(vec![degrees.powi(2); n]);
    let objective = Objective { terms: vec![term] };
    let objective = objective.and(Quantity::Velocity, angles, 0.1 / degrees.powi(2));
    let most = rng.range(5.0, 60.0) * s * s;
    let mut c = Controller::new(vec![(-most, most); n]).minimise(objective);
    let found = c.solve(&mut plant, &tasks).map_err(|e| e.to_string())?;
    Ok((found.commands.clone(), found.relaxed.iter().map(|r| r.origin).collect()))
}
