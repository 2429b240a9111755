//! `forks control FILE`, of a reduced or blended model: commands of its servos, or wrenches on its
//! effectors, from tasks, or predicted over a horizon.

use std::{
    path::Path,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use forks_blend::{BlendedStepper, FloatingBlend, FloatingBlendStepper, Model};
use forks_control::{
    controller::{Controller, Origin, Solution},
    plant::{Kinematics as _, Plant as _, ReducedCommand, ReducedPlant},
    task::{Goal, Task},
};
use forks_direct::{Effectors, near::unknown, resolve, row_names};
use forks_io::{Align, TextTable};
use forks_mechanism::{
    lie::{Pose, glam::DVec3},
    linalg::Matrix,
};
use forks_mpc::{Commands, Goal as MpcGoal, Mpc, MpcSettings, MpcStatus};
use forks_rom::{
    BaseCoupling, FloatingModel, FloatingStepper, StepStatus, Stepper, System, data::ModelData,
};
use serde::Serialize;

use super::{args::ControlArgs, state::norm, words::TaskWords};
use crate::{
    error::CliError,
    output::{self, LinkPose, Text, short},
    progress::{Progress, seconds},
};

/// Guesses of the quadratic problem of a horizon at most.
const PIVOTS: usize = 500;

/// Runs the command on a model of any kind.
pub(super) fn run(args: &ControlArgs, model: Model) -> Result<ExitCode, CliError> {
    let path = &args.model.path;
    let said = |problem: String| CliError::Control { path: path.clone(), problem };
    refuse(args).map_err(said)?;
    let h = args.step;
    let prepared = |source| CliError::Step { path: path.clone(), source };
    match model {
        Model::Reduced(model) if model.data().base.is_some() => {
            let model = FloatingModel::new(Arc::new(model), BaseCoupling::default());
            let model = Arc::new(model.map_err(prepared)?);
            drive(args, FloatingStepper::new(model, h).map_err(prepared)?)
        }
        Model::Reduced(model) => drive(args, Stepper::new(Arc::new(model), h).map_err(prepared)?),
        Model::Blended(model) => {
            let model = Arc::new(model);
            if model.data().samples.iter().any(|s| s.model.data().base.is_some()) {
                let model = Arc::new(FloatingBlend::new(model).map_err(prepared)?);
                return drive(args, FloatingBlendStepper::new(model, h).map_err(prepared)?);
            }
            drive(args, BlendedStepper::new(model, h).map_err(prepared)?)
        }
    }
}

/// What reduced models have nothing of.
fn refuse(args: &ControlArgs) -> Result<(), String> {
    if args.joint_limits.is_some() {
        return Err("--joint-limits: a reduced model keeps no joints".into());
    }
    if args.servos {
        return Err("--servos: a reduced model's servos are commanded, or hold its rest".into());
    }
    if let Some(file) = args.output.first() {
        let file = file.display();
        return Err(format!("-o {file}: only motions of full mechanisms are written"));
    }
    Ok(())
}

/// A command with its name.
struct Commanded {
    name: String,
    command: ReducedCommand,
    unit: &'static str,
    largest: f64,
}

/// Servos, or wrenches on effectors where there are none; those that are named.
fn commanded(args: &ControlArgs, data: &ModelData) -> Result<Vec<Commanded>, String> {
    const COMPONENTS: [&str; 6] = ["fx", "fy", "fz", "tx", "ty", "tz"];
    let servo = |(i, name): (usize, &String)| Commanded {
        name: name.clone(),
        command: ReducedCommand::Servo(i),
        unit: "",
        largest: f64::INFINITY,
    };
    let servos = || data.servos.iter().enumerate().map(servo);
    let wrenches = |effector: usize| {
        (0..6).map(move |component| Commanded {
            name: format!("{}.{}", data.effectors[effector].name, COMPONENTS[component]),
            command: ReducedCommand::Wrench { effector, component },
            unit: if component < 3 { "N" } else { "N·m" },
            largest: f64::INFINITY,
        })
    };
    let mut out: Vec<Commanded> = match (args.actuate.is_empty(), data.servos.is_empty()) {
        (true, false) => servos().collect(),
        (true, true) => (0..data.effectors.len()).flat_map(wrenches).collect(),
        (false, _) => vec![],
    };
    for name in &args.actuate {
        let effector = data.effectors.iter().position(|e| e.name == *name);
        let before = out.len();
        match effector {
            Some(e) => out.extend(wrenches(e)),
            None => out.extend(servos().filter(|s| s.name == *name)),
        }
        if out.len() == before {
            let effectors = data.effectors.iter().map(|e| e.name.as_str());
            let known = data.servos.iter().map(String::as_str).chain(effectors);
            return Err(format!("--actuate {name}: {}", unknown("servo or effector", name, known)));
        }
    }
    for c in &mut out {
        c.largest = args.largest.unwrap_or(f64::INFINITY);
    }
    for (name, limit) in &args.limit {
        let at = out.iter_mut().find(|c| c.name == *name);
        at.ok_or(format!("--limit {name}={limit}: there is no such command"))?.largest = *limit;
    }
    Ok(out)
}

/// The answer; field names are part of the program's interface. Commands and rows are those of the
/// last step.
#[derive(Debug, Serialize)]
struct Report {
    /// `solved`, `relaxed`, `iteration-limit`, `cut` or `stopped`.
    status: &'static str,
    problem: Option<String>,
    steps: usize,
    step: f64,
    time: f64,
    coordinates: usize,
    /// Steps of the horizon; null where each step is decided by itself.
    horizon: Option<usize>,
    relaxed_steps: usize,
    /// Steps with predicted commands at their bounds, and those that the budget cut.
    steps_at_bounds: usize,
    cut_steps: usize,
    out_of_range_steps: usize,
    commands: Vec<CommandEntry>,
    norm: f64,
    largest_norm: f64,
    rows: Vec<RowEntry>,
    microseconds_per_decision: f64,
    effectors: Vec<LinkPose>,
}

#[derive(Debug, Serialize)]
struct CommandEntry {
    name: String,
    value: f64,
    unit: &'static str,
    limit: Option<f64>,
}

#[derive(Debug, Serialize)]
struct RowEntry {
    task: String,
    row: String,
    level: usize,
    /// What is missing after the last step, m or rad.
    error: f64,
    unit: &'static str,
    /// It was met at the end of the last step.
    met: bool,
}

/// What is counted.
#[derive(Default)]
struct Tally {
    steps: usize,
    relaxed: usize,
    bounds: usize,
    cut: usize,
    beyond: usize,
    largest: f64,
    deciding: Duration,
    last: Solution,
    problem: Option<String>,
}

fn drive<S: System>(args: &ControlArgs, system: S) -> Result<ExitCode, CliError> {
    let path = &args.model.path;
    let said = |problem: String| CliError::Control { path: path.clone(), problem };
    let data = system.data().clone();
    let gravity = data.base.as_ref().map_or(DVec3::ZERO, |b| b.gravity);
    let commands = commanded(args, &data).map_err(said)?;
    let drives: Vec<ReducedCommand> = commands.iter().map(|c| c.command).collect();
    let start = system.state();
    let mut plant = ReducedPlant::new(system.clone(), start, &drives, gravity)
        .map_err(|e| said(e.to_string()))?;
    let names = Effectors(data.effectors.iter().map(|e| e.name.clone()).collect());
    let mut tasks = Vec::new();
    let mut rows = Vec::new();
    for TaskWords(words) in &args.task {
        let task = resolve(words, &names, &plant)
            .map_err(|e| said(format!("task '{}': {e}", words.name)))?;
        rows.push(row_names(words, &task, None));
        tasks.push(task);
    }
    let tally = match args.horizon {
        None => decided(args, &mut plant, &commands, &tasks).map_err(said)?,
        Some(horizon) => {
            predicted(args, system, &mut plant, &commands, &tasks, horizon).map_err(said)?
        }
    };
    let report = report(args, &plant, &commands, (&tasks, &rows), tally);
    let code = output::print(&report, args.model.json, Report::text)?;
    match report.problem {
        None => Ok(code),
        Some(problem) => Err(CliError::Stopped { path: path.clone(), problem }),
    }
}

/// Every step by itself.
fn decided<S: System>(
    args: &ControlArgs,
    plant: &mut ReducedPlant<S>,
    commands: &[Commanded],
    tasks: &[Task],
) -> Result<Tally, String> {
    let limits = commands.iter().map(|c| (-c.largest, c.largest)).collect();
    let mut controller =
        Controller::new(limits).minimise(args.minimise.into()).prioritise(args.priorities.0);
    let mut tally = Tally::default();
    let mut progress = Progress::new();
    for k in 0..args.steps {
        let time = k as f64 * args.step;
        let begin = Instant::now();
        let solved = controller.solve(plant, tasks);
        tally.deciding += begin.elapsed();
        let solution = match solved {
            Ok(s) => s.clone(),
            Err(e) if k == 0 => return Err(e.to_string()),
            Err(e) => {
                tally.problem = Some(format!("stopped after {time} s: {e}"));
                break;
            }
        };
        tally.relaxed += usize::from(!solution.relaxed.is_empty());
        tally.last = solution;
        if !step(args, plant, &mut tally, time, &mut progress) {
            break;
        }
    }
    Ok(tally)
}

/// The step with the commands of the last solution; false if it is not made.
fn step<S: System>(
    args: &ControlArgs,
    plant: &mut ReducedPlant<S>,
    tally: &mut Tally,
    time: f64,
    progress: &mut Progress,
) -> bool {
    tally.largest = tally.largest.max(norm(&tally.last.commands));
    if let Err(e) = plant.step(&tally.last.commands) {
        tally.problem = Some(format!("stopped after {time} s: {e}"));
        return false;
    }
    tally.steps += 1;
    tally.beyond += usize::from(matches!(plant.status(), StepStatus::OutOfRange { .. }));
    progress.show(|| seconds(time, args.steps as f64 * args.step));
    true
}

/// Over a horizon.
fn predicted<S: System>(
    args: &ControlArgs,
    system: S,
    plant: &mut ReducedPlant<S>,
    commands: &[Commanded],
    tasks: &[Task],
    horizon: usize,
) -> Result<Tally, String> {
    let servos = system.data().servos.len();
    let all = commands.len() == servos
        && commands.iter().enumerate().all(|(i, c)| c.command == ReducedCommand::Servo(i));
    if !all {
        return Err("--horizon: predictions command all servos of a model that has some".into());
    }
    let mut goals = Vec::new();
    let mut targets = Vec::new();
    for t in tasks {
        let (frame, pose, position, orientation) = match &t.goal {
            Goal::Position(f, p) => (f, Pose::from_translation(*p), t.weight, 0.0),
            Goal::Orientation(f, r) => (f, Pose::from_rotation(*r), 0.0, t.weight),
            Goal::Pose(f, p) => (f, *p, t.weight, t.weight),
            _ => {
                let name = &t.name;
                return Err(format!(
                    "--horizon: effectors follow positions, orientations and poses, not {name}"
                ));
            }
        };
        goals.push(MpcGoal { effector: frame.link.index(), position, orientation });
        targets.push(pose);
    }
    let n = system.dof();
    let settings = MpcSettings {
        horizon,
        commands: Commands::Servos,
        bounds: commands.iter().map(|c| (-c.largest, c.largest)).collect(),
        goals,
        effort: 1e-6,
        change: 1e-5,
        pivots: PIVOTS,
        budget: args.budget.map(Duration::from_secs_f64),
    };
    let mut mpc = Mpc::new(system, settings).map_err(|e| format!("--horizon: {e}"))?;
    let mut tally = Tally::default();
    let mut progress = Progress::new();
    let (mut x, mut v) = (vec![0.0; n], vec![0.0; n]);
    for k in 0..args.steps {
        let time = k as f64 * args.step;
        plant.system().coordinates(plant.state(), &mut x);
        plant.system().velocity(plant.state(), &mut v);
        let begin = Instant::now();
        let solved = mpc.solve((&x, &v), &[], |_, g| targets[g]);
        tally.deciding += begin.elapsed();
        let found = solved.map_err(|e| format!("stopped after {time} s: {e}"))?;
        tally.bounds += usize::from(found.at_bounds > 0);
        tally.cut += usize::from(found.status != MpcStatus::Solved);
        tally.last.commands = mpc.commands().to_vec();
        tally.last.finished = found.status == MpcStatus::Solved;
        if !step(args, plant, &mut tally, time, &mut progress) {
            break;
        }
    }
    Ok(tally)
}

fn report<S: System>(
    args: &ControlArgs,
    plant: &ReducedPlant<S>,
    commands: &[Commanded],
    (tasks, names): (&[Task], &[Vec<String>]),
    tally: Tally,
) -> Report {
    let last = &tally.last;
    let n = plant.rates().len();
    let mut twists = Matrix::zeros(6, n);
    let data = plant.system().data();
    let poses: Vec<Pose> = (0..data.effectors.len())
        .map(|e| {
            let link = forks_mechanism::LinkId::new(e);
            plant.frame(&forks_control::task::Frame::of(link), &mut twists)
        })
        .collect();
    let status = match () {
        () if tally.problem.is_some() => "stopped",
        () if args.horizon.is_some() && tally.cut > 0 => "cut",
        () if !last.finished => "iteration-limit",
        () if !last.relaxed.is_empty() => "relaxed",
        () => "solved",
    };
    let mut rows = Vec::new();
    for (task, t) in tasks.iter().enumerate() {
        for (row, error) in errors(t, &poses) {
            let origin = Origin::Task { task, row };
            rows.push(RowEntry {
                task: t.name.clone(),
                row: names[task][row].clone(),
                level: t.level,
                error,
                unit: t.goal.unit(row),
                met: !last.relaxed.iter().any(|r| r.origin == origin),
            });
        }
    }
    let entry = |(c, z): (&Commanded, &f64)| CommandEntry {
        name: c.name.clone(),
        value: *z,
        unit: c.unit,
        limit: c.largest.is_finite().then_some(c.largest),
    };
    Report {
        status,
        steps: tally.steps,
        step: args.step,
        time: tally.steps as f64 * args.step,
        coordinates: n,
        horizon: args.horizon,
        relaxed_steps: tally.relaxed,
        steps_at_bounds: tally.bounds,
        cut_steps: tally.cut,
        out_of_range_steps: tally.beyond,
        commands: commands.iter().zip(&last.commands).map(entry).collect(),
        norm: norm(&last.commands),
        largest_norm: tally.largest,
        rows,
        microseconds_per_decision: tally.deciding.as_secs_f64() * 1e6 / tally.steps.max(1) as f64,
        effectors: data
            .effectors
            .iter()
            .zip(&poses)
            .map(|(e, p)| LinkPose::new(&e.name, p))
            .collect(),
        problem: tally.problem,
    }
}

/// What the rows of a task miss at poses of the effectors, in the effector's axes.
fn errors(t: &Task, poses: &[Pose]) -> Vec<(usize, f64)> {
    let (frame, goal) = match &t.goal {
        Goal::Position(f, p) => (f, Pose::from_translation(*p)),
        Goal::Orientation(f, r) => (f, Pose::from_rotation(*r)),
        Goal::Pose(f, p) => (f, *p),
        _ => return vec![],
    };
    let here = poses[frame.link.index()] * frame.link_from_frame;
    let twist = match &t.goal {
        Goal::Position(..) => {
            let to = Pose { rotation: here.rotation, ..goal };
            here.twist_to(&to).to_array()[..3].to_vec()
        }
        Goal::Orientation(..) => {
            let to = Pose { translation: here.translation, ..goal };
            here.twist_to(&to).to_array()[3..].to_vec()
        }
        _ => here.twist_to(&goal).to_array().to_vec(),
    };
    twist.into_iter().enumerate().filter(|(i, _)| t.mask[*i]).collect()
}

impl Report {
    fn text(&self) -> String {
        let mut out = Text::new(27);
        out.line("status", self.status);
        out.line("steps", format!("{} of {} s", self.steps, short(self.step)));
        match self.horizon {
            None => out.line("steps with relaxed rows", self.relaxed_steps),
            Some(horizon) => {
                out.line("horizon", format!("{horizon} steps"));
                out.line("steps at bounds", self.steps_at_bounds);
                out.line("steps cut by the budget", self.cut_steps);
            }
        }
        if self.out_of_range_steps > 0 {
            out.line("steps out of range", self.out_of_range_steps);
        }
        out.line("norm of the commands", short(self.norm));
        out.line("largest of all steps", short(self.largest_norm));
        out.line("decisions", format!("{} µs each", short(self.microseconds_per_decision)));
        let mut commands = TextTable::new()
            .column("command", Align::Left)
            .columns(["value", "unit", "limit"], Align::Right);
        for c in &self.commands {
            let limit = c.limit.map_or_else(|| "–".into(), short);
            commands.push([c.name.clone(), short(c.value), c.unit.into(), limit]);
        }
        let mut rows = TextTable::new()
            .column("task", Align::Left)
            .column("row", Align::Left)
            .columns(["level", "error", "unit"], Align::Right)
            .column("", Align::Left);
        for r in &self.rows {
            rows.push([
                r.task.clone(),
                r.row.clone(),
                r.level.to_string(),
                short(r.error),
                r.unit.into(),
                if r.met { "" } else { "relaxed" }.into(),
            ]);
        }
        out.tables([("commands of the last step", commands), ("rows of tasks", rows)]);
        out.finish()
    }
}

/// The model if a file has one; `None` for files of other kinds.
pub(super) fn load(path: &Path) -> Result<Option<Model>, CliError> {
    use forks_rom::file::FileError;
    use forks_soft::{LoadedModel, SoftModelError, condense::skins::SkinError};
    match LoadedModel::load(path) {
        Ok(loaded) => Ok(Some(loaded.model)),
        Err(SoftModelError::Skin(SkinError::File(
            FileError::NotAReducedModel { .. } | FileError::Read { .. },
        ))) => Ok(None),
        Err(e) => Err(crate::soft::unread(path, e)),
    }
}
