//! The answer of `forks control`.

use forks_control::{controller::Origin, plant::Kinematics as _};
use forks_direct::{turns, unit};
use forks_io::{Align, TextTable};
use serde::Serialize;

use super::{
    args::ControlArgs,
    state::{Run, norm},
};
use crate::{
    mujoco::FreeJoints,
    output::{LinkPose, Text, short},
    released::released_note,
};

/// The answer; field names are part of the program's interface. Commands, tasks and what gives way
/// are those of the last step.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// `solved`, `relaxed`, `iteration-limit` or `stopped`.
    status: &'static str,
    /// Why the run stopped.
    pub(super) problem: Option<String>,
    minimise: &'static str,
    time: f64,
    step: f64,
    steps: usize,
    relaxed_steps: usize,
    commands: Vec<CommandEntry>,
    /// √ of the sum of their squares, and its largest of all steps.
    norm: f64,
    largest_norm: f64,
    tasks: Vec<TaskEntry>,
    relaxed: Vec<RelaxedEntry>,
    certificates: Vec<CertificateEntry>,
    largest_loop_gap: f64,
    microseconds_per_decision: f64,
    qpos: Vec<f64>,
    qvel: Vec<f64>,
    links: Vec<LinkPose>,
    pub(super) warnings: Vec<String>,
}

/// A command.
#[derive(Debug, Serialize)]
struct CommandEntry {
    joint: String,
    value: f64,
    unit: &'static str,
    /// Its largest value; null for none.
    limit: Option<f64>,
}

/// A task and its rows.
#[derive(Debug, Serialize)]
struct TaskEntry {
    name: String,
    level: usize,
    weight: f64,
    rows: Vec<RowEntry>,
}

/// A row of a task.
#[derive(Debug, Serialize)]
struct RowEntry {
    row: String,
    /// What was missing before the step, in `unit`.
    error: f64,
    /// Rate at the end of the step less the one asked for, `unit` per second.
    residual: f64,
    unit: &'static str,
    met: bool,
}

/// A row that gives way.
#[derive(Debug, Serialize)]
struct RelaxedEntry {
    /// Task, or the joint of a limit.
    name: String,
    /// Row of the task; `command` or `range` of a joint.
    row: String,
    /// Level of the task; null for limits.
    level: Option<usize>,
    by: f64,
    unit: String,
}

/// Proof of a level's optimum.
#[derive(Debug, Serialize)]
struct CertificateEntry {
    stationarity: f64,
    primal: f64,
    dual: f64,
    iterations: usize,
}

impl Report {
    pub(super) fn new(run: &Run, args: &ControlArgs, problem: Option<String>) -> Self {
        let (m, tally, last) = (&*run.mechanism, &run.tally, &run.tally.last);
        let stepper = run.plant.stepper();
        let tree = m.tree_position_count();
        let qpos = stepper.positions()[..tree].to_vec();
        let mut qvel = stepper.tree_velocities().to_vec();
        FreeJoints::new(m, &qpos).to_world(&mut qvel);
        let relaxed: Vec<RelaxedEntry> =
            last.relaxed.iter().map(|r| RelaxedEntry::new(run, r)).collect();
        let status = match &problem {
            Some(_) => "stopped",
            None if !last.finished => "iteration-limit",
            None if !relaxed.is_empty() => "relaxed",
            None => "solved",
        };
        let commands =
            run.actuators.iter().zip(&run.largest).zip(&last.commands).map(|((a, l), z)| {
                CommandEntry {
                    joint: a.name.clone(),
                    value: *z,
                    unit: a.unit,
                    limit: l.is_finite().then_some(*l),
                }
            });
        let certificates = last.certificates.iter().map(|c| CertificateEntry {
            stationarity: c.stationarity,
            primal: c.primal,
            dual: c.dual,
            iterations: c.iterations,
        });
        let mut warnings: Vec<String> = released_note(m).into_iter().collect();
        warnings.extend(sentences(&relaxed));
        warnings.extend(last.beyond.iter().map(|j| {
            format!("joint '{}' cannot brake within its limits any more", m.joint_label(*j))
        }));
        let poses = run.plant.stepper().link_poses();
        let links = m.moving_links().filter(|(_, l)| !l.auxiliary);
        let decisions = (tally.steps + usize::from(problem.is_some())).max(1);
        Self {
            status,
            problem,
            minimise: args.minimise.name(),
            time: tally.steps as f64 * run.plant.step_length(),
            step: run.plant.step_length(),
            steps: tally.steps,
            relaxed_steps: tally.relaxed_steps,
            norm: norm(&last.commands),
            largest_norm: tally.largest_norm,
            commands: commands.collect(),
            tasks: tasks(run),
            relaxed,
            certificates: certificates.collect(),
            largest_loop_gap: tally.largest_gap,
            microseconds_per_decision: tally.deciding.as_secs_f64() * 1e6 / decisions as f64,
            qpos,
            qvel,
            links: links.map(|(id, l)| LinkPose::new(&l.name, &poses[id.index()])).collect(),
            warnings,
        }
    }

    pub(super) fn text(&self) -> String {
        let mut out = Text::new(27);
        out.line("status", self.status);
        out.line("minimised", self.minimise);
        out.line("steps", format!("{} of {} s", self.steps, short(self.step)));
        out.line("steps with relaxed rows", self.relaxed_steps);
        out.line("norm of the commands", short(self.norm));
        out.line("largest of all steps", short(self.largest_norm));
        out.line("largest loop gap", short(self.largest_loop_gap));
        let mut commands = TextTable::new()
            .column("command", Align::Left)
            .columns(["value", "unit", "limit"], Align::Right);
        for c in &self.commands {
            let limit = c.limit.map_or_else(|| "–".into(), short);
            commands.push([c.joint.clone(), short(c.value), c.unit.into(), limit]);
        }
        let mut rows = TextTable::new()
            .column("task", Align::Left)
            .column("row", Align::Left)
            .columns(["level", "error", "unit", "residual (1/s)"], Align::Right)
            .column("", Align::Left);
        for t in &self.tasks {
            for r in &t.rows {
                rows.push([
                    t.name.clone(),
                    r.row.clone(),
                    t.level.to_string(),
                    short(r.error),
                    r.unit.into(),
                    short(r.residual),
                    if r.met { "" } else { "relaxed" }.into(),
                ]);
            }
        }
        out.tables([("commands of the last step", commands), ("rows of tasks", rows)]);
        out.finish()
    }
}

fn tasks(run: &Run) -> Vec<TaskEntry> {
    let last = &run.tally.last;
    let entry = |(task, t): (usize, &forks_control::task::Task)| TaskEntry {
        name: t.name.clone(),
        level: t.level,
        weight: t.weight,
        rows: last
            .residuals
            .iter()
            .filter(|r| r.task == task)
            .map(|r| {
                let origin = Origin::Task { task, row: r.row };
                RowEntry {
                    row: run.rows[task][r.row].clone(),
                    error: r.error,
                    residual: r.by,
                    unit: unit(Some(&run.mechanism), t, r.row),
                    met: !last.relaxed.iter().any(|x| x.origin == origin),
                }
            })
            .collect(),
    };
    run.tasks.iter().enumerate().map(entry).collect()
}

impl RelaxedEntry {
    fn new(run: &Run, r: &forks_control::controller::Relaxed) -> Self {
        let (name, row, level, unit) = match r.origin {
            Origin::Command(i) => {
                let a = &run.actuators[i];
                (a.name.clone(), "command".to_owned(), None, a.unit.to_owned())
            }
            Origin::Joint(j) => {
                let unit = if turns(&run.mechanism, j) { "rad/s" } else { "m/s" };
                (run.mechanism.joint_label(j), "range".to_owned(), None, unit.to_owned())
            }
            Origin::Task { task, row } => {
                let t = &run.tasks[task];
                let unit = format!("{}/s", unit(Some(&run.mechanism), t, row));
                (t.name.clone(), run.rows[task][row].clone(), Some(t.level), unit)
            }
            other => (format!("{other:?}"), String::new(), None, String::new()),
        };
        Self { name, row, level, by: r.by, unit }
    }
}

/// One sentence per task and kind of limit that gives way, with its worst row.
fn sentences(relaxed: &[RelaxedEntry]) -> Vec<String> {
    let mut out = Vec::new();
    let mut seen: Vec<(&str, Option<usize>)> = Vec::new();
    for r in relaxed {
        // Limits are told apart by their joints, tasks by their names and levels.
        let key = (r.name.as_str(), r.level);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let same = relaxed.iter().filter(|x| (x.name.as_str(), x.level) == key);
        let worst = same.clone().fold(r, |a, b| if b.by.abs() > a.by.abs() { b } else { a });
        let RelaxedEntry { name, row, by, unit, .. } = worst;
        let by = short(*by);
        out.push(match (r.level, same.count()) {
            (None, _) => format!("the {row} of joint '{name}' is beyond its limit by {by} {unit}"),
            (Some(level), 1) => format!(
                "task '{name}' (level {level}) gives way: row {row} ends {by} {unit} beyond what \
                 it asks for"
            ),
            (Some(level), n) => format!(
                "task '{name}' (level {level}) gives way in {n} rows, most in row {row}, which \
                 ends {by} {unit} beyond what it asks for"
            ),
        });
    }
    out
}
