//! Robots that run into limits of joints with torques that are bounded, too: by the whole
//! controller, step after step. Limits and bounds that contradict each other give way together, by
//! name where that is more than 1e-9 of the sizes of their terms.

use std::sync::Arc;

use forks_control::{
    controller::{Controller, Origin},
    limits::CoordinateLimits,
    plant::{Command, Plant, Response, TreePlant},
    task::{Goal, Task},
};
use forks_mechanism::{Limit, linalg::norm};
use forks_testkit::Rng;
use rayon::prelude::*;

use super::machines::arm;
use crate::validate::record::{Recorder, larger};

/// Largest shares beyond limits, and how often a limit gave way by name.
#[derive(Clone, Copy, Default)]
struct Beyond {
    torque: f64,
    position: f64,
    speed: f64,
    acceleration: f64,
    at_bounds: usize,
    named: usize,
}

impl Beyond {
    fn with(self, other: Self) -> Self {
        Self {
            torque: larger(self.torque, other.torque),
            position: larger(self.position, other.position),
            speed: larger(self.speed, other.speed),
            acceleration: larger(self.acceleration, other.acceleration),
            at_bounds: self.at_bounds + other.at_bounds,
            named: self.named + other.named,
        }
    }
}

pub(super) fn check(robots: usize, steps: usize, out: &mut Recorder) -> Result<(), String> {
    let all: Vec<Beyond> = (0..robots as u64)
        .into_par_iter()
        .map(|seed| robot(seed, steps))
        .collect::<Result<_, String>>()?;
    let worst = all.into_iter().fold(Beyond::default(), Beyond::with);
    let of = |what: &str| format!("{what}, {robots} arms under bounded torques, {steps} steps");
    out.at_most(&of("torque beyond a bound not named, over all torques"), worst.torque, 1e-9);
    out.at_most(&of("position beyond a limit not named"), worst.position, 1e-12);
    out.at_most(&of("speed beyond a limit not named"), worst.speed, 1e-12);
    let sizes = of("acceleration beyond a limit not named, over what torques do");
    out.at_most(&sizes, worst.acceleration, 1e-9);
    out.info(&of("torques at their bounds"), worst.at_bounds as f64);
    out.info(&of("limits that gave way by name"), worst.named as f64);
    Ok(())
}

fn robot(seed: u64, steps: usize) -> Result<Beyond, String> {
    let mut rng = Rng::new(9000 + seed);
    let n = 1 + rng.index(5);
    let m = arm(&mut rng, n, 1.0)?;
    let h = 10f64.powf(rng.range(-3.5, -2.0));
    let limits: Vec<CoordinateLimits> = (0..n)
        .map(|_| CoordinateLimits {
            position: Some(Limit { lower: -rng.range(0.1, 1.0), upper: rng.range(0.1, 1.0) }),
            velocity: rng.range(0.5, 8.0),
            acceleration: rng.range(5.0, 50.0),
        })
        .collect();
    let bounds: Vec<(f64, f64)> = (0..n)
        .map(|_| {
            let most = 10f64.powf(rng.range(0.5, 2.0));
            (-most, most)
        })
        .collect();
    let all: Vec<Command> = (0..n).map(Command::Force).collect();
    let mut v = vec![0.0; n];
    let plant =
        TreePlant::new(Arc::clone(&m.mechanism), &m.mechanism.start_positions(), &v, &all, h);
    let mut plant = plant.map_err(|e| e.to_string())?;
    let mut c = Controller::new(bounds.clone());
    for (j, l) in m.hinges.iter().zip(&limits) {
        c = c.limit_joint(*j, *l);
    }
    let goals = m.hinges.iter().enumerate();
    let goals = goals.map(|(i, j)| Task::new(format!("joint {i}"), Goal::Joint(*j, 0.0)));
    let mut tasks: Vec<Task> = goals.collect();
    let mut out = Beyond::default();
    // What has been said of a joint holds until it is back within its limits.
    let (mut named, mut response) = (vec![false; n], Response::default());
    for _ in 0..steps {
        if rng.chance(0.01) {
            for (task, j) in tasks.iter_mut().zip(&m.hinges) {
                task.goal = Goal::Joint(*j, 1.5 * rng.symmetric());
                (task.stiffness, task.damping) = (rng.range(1.0, 1e3), rng.range(0.0, 20.0));
            }
        }
        let s = c.solve(&mut plant, &tasks).map_err(|e| e.to_string())?;
        plant.respond(&mut response).map_err(|e| e.to_string())?;
        let size = norm(&s.commands);
        for (i, (z, (_, most))) in s.commands.iter().zip(&bounds).enumerate() {
            if !s.relaxed.iter().any(|r| r.origin == Origin::Command(i)) {
                out.torque = larger(out.torque, (z.abs() - most).max(0.0) / (size + most));
            }
            out.at_bounds += usize::from(z.abs() >= most * (1.0 - 1e-12));
        }
        let relaxed = |j| s.relaxed.iter().any(|r| r.origin == Origin::Joint(j));
        let says: Vec<bool> =
            m.hinges.iter().map(|j| relaxed(*j) || s.beyond.contains(j)).collect();
        let commands = s.commands.clone();
        let open = |i: usize| {
            let may = limits[i].range(plant.positions()[i], plant.velocities()[i], h);
            may.map(|r| [r.lower, r.upper].map(|b| (b - response.free[i]).abs()))
        };
        let open: Vec<[f64; 2]> =
            (0..n).map(open).collect::<Result<_, _>>().map_err(|e| e.to_string())?;
        plant.step(&commands).map_err(|e| e.to_string())?;
        for (i, l) in limits.iter().enumerate() {
            out.named += usize::from(says[i]);
            named[i] |= says[i];
            let (place, rate) = (plant.positions()[i], plant.velocities()[i]);
            let Some(Limit { lower, upper }) = l.position else { continue };
            let beyond = (place - upper).max(lower - place);
            let fast = rate.abs() / l.velocity - 1.0;
            if named[i] {
                named[i] = says[i] || beyond > 0.0 || fast > 0.0;
            } else {
                out.position = larger(out.position, beyond.max(0.0) / (1.0 + upper - lower));
                out.speed = larger(out.speed, fast.max(0.0));
                // What the controller takes for rounding of a rate.
                let rounding = 1e-12 * (response.free[i].abs() + place.abs() / h);
                let change = (rate - v[i]).abs() - rounding - h * l.acceleration;
                let sizes = norm(response.gain.row(i)) * size + open[i][0].max(open[i][1]);
                out.acceleration = larger(out.acceleration, change.max(0.0) / sizes);
            }
        }
        v.copy_from_slice(plant.velocities());
    }
    Ok(out)
}
