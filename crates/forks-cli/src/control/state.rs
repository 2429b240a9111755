//! A mechanism that is driven by tasks.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use forks_control::{
    controller::{Controller, Solution},
    limits::CoordinateLimits,
    plant::{ImplicitPlant, Plant as _},
    task::Task,
};
use forks_direct::{Actuator, actuators, find_joint, resolve, row_names, single_joints};
use forks_mechanism::{JointId, JointKind, Limit, Mechanism};

use super::{args::ControlArgs, words::TaskWords};
use crate::{
    model::Model,
    mujoco::FreeJoints,
    progress::{Progress, seconds},
};

/// A run of the command.
pub(super) struct Run {
    pub(super) mechanism: Arc<Mechanism>,
    pub(super) actuators: Vec<Actuator>,
    /// The largest command of each; infinite for none.
    pub(super) largest: Vec<f64>,
    pub(super) tasks: Vec<Task>,
    /// What the rows of every task are called.
    pub(super) rows: Vec<Vec<String>>,
    pub(super) plant: ImplicitPlant,
    controller: Controller,
    pub(super) tally: Tally,
}

/// What is watched on the way.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// What was found for the last step.
    pub(super) last: Solution,
    pub(super) steps: usize,
    pub(super) relaxed_steps: usize,
    pub(super) largest_norm: f64,
    pub(super) largest_gap: f64,
    pub(super) deciding: Duration,
}

impl Run {
    pub(super) fn new(
        args: &ControlArgs,
        m: Arc<Mechanism>,
        model: &Model,
    ) -> Result<Self, String> {
        let (actuators, largest) = commanded(args, &m)?;
        let q = &model.positions[..m.tree_position_count()];
        let mut v = model.velocities.clone();
        FreeJoints::new(&m, q).to_body(&mut v);
        let commanded: Vec<usize> = actuators.iter().map(|a| a.coordinate).collect();
        let plant = ImplicitPlant::new(Arc::clone(&m), q, &v, &commanded, args.step);
        let plant = plant.map_err(|e| e.to_string())?;
        let mut tasks = Vec::new();
        let mut rows = Vec::new();
        for TaskWords(words) in &args.task {
            let task =
                resolve(words, &*m, &plant).map_err(|e| format!("task '{}': {e}", words.name))?;
            rows.push(row_names(words, &task, Some(&m)));
            tasks.push(task);
        }
        let limits = largest.iter().map(|l| (-l, *l)).collect();
        let mut controller =
            Controller::new(limits).minimise(args.minimise.into()).prioritise(args.priorities.0);
        if let Some(acceleration) = args.joint_limits {
            for (joint, position) in limited(&m) {
                let velocity = f64::INFINITY;
                let limits = CoordinateLimits { position: Some(position), velocity, acceleration };
                controller = controller.limit_joint(joint, limits);
            }
        }
        let tally = Tally::default();
        Ok(Self { mechanism: m, actuators, largest, tasks, rows, plant, controller, tally })
    }

    /// All steps, `after` each of which something is told the time; why they ended before the last
    /// one, if they did.
    pub(super) fn all_steps(
        &mut self,
        args: &ControlArgs,
        mut after: impl FnMut(&Self, f64),
    ) -> Result<Option<String>, String> {
        let mut progress = Progress::new();
        self.tally.largest_gap = self.plant.stepper().loop_gap();
        for k in 0..args.steps {
            let time = k as f64 * args.step;
            let begin = Instant::now();
            let solved = self.controller.solve(&mut self.plant, &self.tasks);
            self.tally.deciding += begin.elapsed();
            let solution = match solved {
                Ok(s) => s,
                // Before the first step nothing is worth a report.
                Err(e) if k == 0 => return Err(e.to_string()),
                Err(e) => return Ok(Some(format!("stopped after {time} s: {e}"))),
            };
            if !solution.commands.iter().all(|z| z.is_finite()) {
                return Ok(Some(format!("stopped after {time} s: the commands overflow")));
            }
            let stepped = self.plant.step(&solution.commands);
            let tally = &mut self.tally;
            tally.last.clone_from(solution);
            tally.relaxed_steps += usize::from(!solution.relaxed.is_empty());
            tally.largest_norm = tally.largest_norm.max(norm(&solution.commands));
            if let Err(e) = stepped {
                return Ok(Some(format!("stopped after {time} s: {e}")));
            }
            tally.steps += 1;
            tally.largest_gap = tally.largest_gap.max(self.plant.stepper().loop_gap());
            after(self, (k + 1) as f64 * args.step);
            let total = args.steps as f64 * args.step;
            progress.show(|| seconds((k + 1) as f64 * args.step, total));
        }
        Ok(None)
    }
}

pub(super) fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The coordinates with commands, in the mechanism's order, and the largest command of each.
fn commanded(args: &ControlArgs, m: &Mechanism) -> Result<(Vec<Actuator>, Vec<f64>), String> {
    let of_tree = |j: JointId| {
        let range = m.velocity_range(j);
        !range.is_empty() && range.end <= m.tree_velocity_count()
    };
    let mut joints = Vec::new();
    for name in &args.actuate {
        let joint = find_joint(m, name).map_err(|e| format!("--actuate {name}: {e}"))?;
        if !of_tree(joint) {
            return Err(format!("--actuate {name}: the joint is fixed or closes a loop"));
        }
        if joints.contains(&joint) {
            return Err(format!("--actuate {name} is given twice"));
        }
        joints.push(joint);
    }
    if args.actuate.is_empty() {
        let all = m.forest().edges().iter().map(|e| e.joint);
        joints.extend(all.filter(|j| of_tree(*j) && m.joint(*j).kind != JointKind::Free));
    }
    joints.sort_by_key(|j| m.velocity_range(*j).start);
    let mut limits = vec![args.largest.unwrap_or(f64::INFINITY); joints.len()];
    for (name, limit) in &args.limit {
        let joint = find_joint(m, name).map_err(|e| format!("--limit {name}={limit}: {e}"))?;
        let at = joints.iter().position(|j| *j == joint);
        let at = at.ok_or(format!("--limit {name}={limit}: the joint has no command"))?;
        limits[at] = *limit;
    }
    let all = actuators(m, &joints);
    let of = |a: &Actuator| joints.iter().position(|j| *j == a.joint).map_or(0.0, |k| limits[k]);
    let largest = all.iter().map(of).collect();
    Ok((all, largest))
}

/// Tree joints with one coordinate and limits.
fn limited(m: &Mechanism) -> impl Iterator<Item = (JointId, Limit)> + '_ {
    single_joints(m).filter_map(|j| Some((j, m.joint(j).limits.first().copied().flatten()?)))
}
