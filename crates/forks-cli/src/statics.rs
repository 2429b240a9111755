//! `forks statics`: the full equilibrium under wrenches, beside the reduced model's.

use std::process::ExitCode;

use forks_dynamics::{
    Loads,
    statics::{Equilibrium, EquilibriumOptions, EquilibriumStatus},
};
use forks_io::{Align, TextTable};
use forks_mechanism::{
    Mechanism,
    kinematics::{connections, loops},
    lie::{Pose, Wrench},
};
use forks_reduce::{Linearisation, Problem, ReduceOptions, relative_constraint_error};
use forks_rom::{EffectorLoad, Reconstruction, StaticStatus};
use serde::Serialize;

use crate::{
    args::{PathChoice, StaticsArgs},
    at_rest::{self, OwnLoads},
    error::CliError,
    model::Model,
    output::{self, LinkPose, Text, short},
    path_notes::path_notes,
    released::released_note,
};

/// Loops that are open by more than this part of the mechanism's size are closed before it is
/// reduced.
const OPEN: f64 = 1e-9;
/// Poses that differ by less than this part of the mechanism's size are the same.
const SAME_POSE: f64 = 1e-6;

/// Runs the command.
pub(crate) fn run(args: &StaticsArgs) -> Result<ExitCode, CliError> {
    let model = Model::load(&args.model)?;
    let loaded = loaded(args, &model)?;
    let effectors: Vec<String> = loaded.iter().map(|l| l.0.clone()).collect();
    let problem = model.problem(&args.model, &args.springs, &effectors)?;
    let pairs = problem.effectors.iter().zip(&loaded);
    let wrenches = pairs.map(|(e, l)| e.applied(l.1, args.frame.into())).collect();
    let loads = Loads { gravity: !args.no_gravity, wrenches };
    let (full, other_branch) = equilibrium(args.load_path, &problem, &loads);
    let reduced = reduced_poses(args, &problem, &full, &loaded);
    let mut report = Report::new(&model, args, &problem, &full, reduced);
    report.notes.extend(path_notes(problem.mechanism(), &full));
    if other_branch {
        report.notes.push(
            "equal load steps jumped to another equilibrium; this one is where the continuous path \
            ends".into(),
        );
    }
    let code = output::print(&report, args.model.json, Report::text)?;
    match report.message.take() {
        Some(why) if !full.status.is_equilibrium() => {
            let problem = format!("{}, {why}", full.status.name());
            Err(CliError::NotBalanced { path: args.model.path.clone(), problem })
        }
        _ => Ok(code),
    }
}

/// The loaded links, each with the sum of its wrenches.
fn loaded(args: &StaticsArgs, model: &Model) -> Result<Vec<(String, Wrench)>, CliError> {
    let mut out: Vec<(String, Wrench)> = vec![];
    if let Some(wrench) = args.wrench {
        out.push((model.effector(args.effector.as_deref())?, Wrench::from_array(wrench)));
    }
    for load in &args.force {
        let wrench = Wrench::from_array(load.wrench);
        match out.iter_mut().find(|l| l.0 == load.link) {
            Some(same) => same.1 += wrench,
            None => out.push((load.link.clone(), wrench)),
        }
    }
    Ok(out)
}

/// How the search ended, in a sentence with what helps; `None` for a stable equilibrium.
fn message(args: &StaticsArgs, problem: &Problem, full: &Equilibrium) -> Option<String> {
    let why = at_rest::with_option(&full.explanation(problem.mechanism())?);
    let more = match full.status {
        EquilibriumStatus::Unstable if args.load_path == PathChoice::EqualSteps => {
            "; equal load steps ended at a saddle, --path continuous follows the stable branch"
        }
        EquilibriumStatus::Unstable => "; start elsewhere (--state) or make springs stiffer",
        _ => "",
    };
    Some(why + more)
}

/// The equilibrium along the chosen path, and true if equal steps found another one than the
/// continuous path.
///
/// Equal steps that end at a saddle keep it. A stable end counts only if it lies on the continuous
/// path, on which `reduce` and `blend` look for theirs.
fn equilibrium(path: PathChoice, problem: &Problem, loads: &Loads) -> (Equilibrium, bool) {
    let plain = (path == PathChoice::EqualSteps)
        .then(|| problem.equilibrium(loads, &EquilibriumOptions::equal_steps()));
    if let Some(found) = &plain
        && (found.status == EquilibriumStatus::Unstable
            || (found.status.is_equilibrium() && found.on_path))
    {
        return (found.clone(), false);
    }
    let continuous = problem.equilibrium(loads, &EquilibriumOptions::default());
    match plain.filter(|p| p.status.is_equilibrium()) {
        Some(plain) if continuous.status != EquilibriumStatus::Converged => (plain, false),
        Some(plain) => {
            let r = problem.mechanism().bounding_radius(&plain.world_from_link);
            let pairs = plain.world_from_link.iter().zip(&continuous.world_from_link);
            let apart =
                pairs.map(|(a, b)| a.translation.distance(b.translation)).fold(0.0, f64::max);
            (continuous, apart > SAME_POSE * r)
        }
        None => (continuous, false),
    }
}

/// Link poses of the reduced model and its constraint error.
struct ReducedPoses {
    /// The pose about which the model was linearised.
    at: String,
    links: Vec<Pose>,
    constraint_error: f64,
}

/// What the model about the equilibrium without the wrench makes of the wrench, or why there is
/// none.
fn reduced_poses(
    args: &StaticsArgs,
    problem: &Problem,
    full: &Equilibrium,
    loaded: &[(String, Wrench)],
) -> Result<ReducedPoses, String> {
    let bias = Loads { gravity: !args.no_gravity, wrenches: vec![] };
    let own = OwnLoads::of(problem);
    let own = OwnLoads { gravity: own.gravity && bias.gravity, ..own };
    let start = Model::pose_name(&args.model);
    let (name, e) = if own.any() || is_open(problem) {
        let name = format!("the equilibrium under {} from {start}", own.name());
        let e = match &full.own_loads {
            _ if loaded.iter().all(|l| l.1 == Wrench::ZERO) => full.clone(),
            Some(own) => (**own).clone(),
            None => equilibrium(args.load_path, problem, &bias).0,
        };
        if let Some(why) = e.explanation(problem.mechanism()) {
            return Err(format!("{name}: {}: {}", e.status.name(), at_rest::with_option(&why)));
        }
        (name, Some(e))
    } else {
        (start, None)
    };
    let at = match &e {
        Some(e) => Linearisation::equilibrium(e, &bias),
        None => problem.at_rest(),
    };
    let failed = |e| match CliError::reduction(&args.model.path, problem, e) {
        CliError::Unresisted { problem, .. } | CliError::Immobile { problem, .. } => problem,
        CliError::Reduce { source, .. } => source.to_string(),
        e => e.to_string(),
    };
    let reduction = problem.reduce(at, &ReduceOptions::default()).map_err(failed)?;
    let load = |(effector, l): (usize, &(String, Wrench))| EffectorLoad {
        effector,
        wrench: l.1,
        frame: args.frame.into(),
    };
    let loads: Vec<EffectorLoad> = loaded.iter().enumerate().map(load).collect();
    let model = &reduction.model;
    // Servos stay at rest.
    let drives = vec![0.0; problem.servos.len()];
    let solution = model.solve_static(&loads, &drives).map_err(|e| e.to_string())?;
    match solution.status {
        StaticStatus::Converged => {}
        StaticStatus::Stalled => return Err("the reduced model found no equilibrium".into()),
        StaticStatus::OutOfRange => return Err("the reduced model left its range".into()),
    }
    let eta = &solution.coordinates;
    let poses = model.link_poses(eta, &drives, Reconstruction::Twist);
    let m = problem.mechanism();
    let error =
        relative_constraint_error(m, &connections(m), model, eta, &drives, Reconstruction::Twist);
    Ok(ReducedPoses { at: name, links: poses, constraint_error: error.position })
}

/// True if loops or couplings are open at the start pose.
fn is_open(problem: &Problem) -> bool {
    let (m, q) = (problem.mechanism(), &problem.start);
    let poses = m.link_poses(q);
    let gaps = loops::constraint_residual(m, q, &poses);
    gaps.iter().any(|g| g.abs() > OPEN * m.bounding_radius(&poses))
}

/// The answer; field names are part of the program's interface.
#[derive(Debug, Serialize)]
struct Report {
    status: &'static str,
    iterations: usize,
    residual: f64,
    qpos: Vec<f64>,
    links: Vec<LinkPose>,
    reduced: Option<Reduced>,
    max_position_error: Option<f64>,
    relative_constraint_error: Option<f64>,
    load_steps: usize,
    /// Part of the loads that is balanced; 1 at an equilibrium.
    load_scale: f64,
    /// The pose about which the reduced model is linearised.
    reduced_at: Option<String>,
    /// Free joints that are held because nothing else holds their tree.
    held: Vec<String>,
    /// Links of free bodies without an effector; they stay where they are.
    left_out: Vec<String>,
    /// What the status means and what helps; null where it is `converged`.
    message: Option<String>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Reduced {
    links: Vec<LinkPose>,
}

impl Report {
    fn new(
        model: &Model,
        args: &StaticsArgs,
        problem: &Problem,
        full: &Equilibrium,
        reduced: Result<ReducedPoses, String>,
    ) -> Self {
        let m = problem.mechanism();
        let left_out = at_rest::left_out(problem);
        let mut notes: Vec<String> = at_rest::held_note(problem).into_iter().collect();
        notes.extend(at_rest::left_out_note(&left_out));
        notes.extend(released_note(m));
        let message = message(args, problem, full);
        let reduced = match reduced {
            Ok(found) => Some(found),
            Err(why) => {
                let same = message.as_ref().is_some_and(|m| why.ends_with(m.as_str()));
                let why = if same { "for the same reason" } else { &why };
                notes.push(format!("no reduced model: {why}"));
                None
            }
        };
        // Where the loads are not balanced there is nothing to compare with.
        let compared = reduced.as_ref().filter(|_| full.status.is_equilibrium());
        let error = compared.map(|r| {
            user_links(m)
                .map(|(i, _)| r.links[i].translation.distance(full.world_from_link[i].translation))
                .fold(0.0, f64::max)
        });
        Self {
            status: full.status.name(),
            iterations: full.iterations,
            residual: full.residual,
            qpos: problem.prepared.original_positions(&model.mechanism, &full.q),
            links: link_poses(m, &full.world_from_link),
            max_position_error: error,
            relative_constraint_error: reduced.as_ref().map(|r| r.constraint_error),
            reduced_at: reduced.as_ref().map(|r| r.at.clone()),
            reduced: reduced.map(|r| Reduced { links: link_poses(m, &r.links) }),
            load_steps: full.load_steps,
            load_scale: full.load_scale,
            held: at_rest::held(problem),
            left_out,
            message,
            notes,
        }
    }

    fn text(&self) -> String {
        let mut out = Text::new(27);
        let optional = |x: Option<f64>| x.map_or_else(|| "–".into(), short);
        out.line("status", self.status);
        out.line("iterations", format!("{} in {} load steps", self.iterations, self.load_steps));
        out.line("residual", short(self.residual));
        out.line("reduced model about", self.reduced_at.clone().unwrap_or_else(|| "–".into()));
        out.line("max position error (m)", optional(self.max_position_error));
        out.line("relative constraint error", optional(self.relative_constraint_error));
        self.message.iter().for_each(|m| out.line("meaning", m));
        self.notes.iter().for_each(|n| out.line("note", n));
        let mut table = TextTable::new().column("link", Align::Left).columns(
            ["x (m)", "y (m)", "z (m)", "reduced x", "reduced y", "reduced z"],
            Align::Right,
        );
        for (i, l) in self.links.iter().enumerate() {
            let mut cells = vec![l.name.clone()];
            cells.extend(l.position.iter().map(|x| short(*x)));
            match &self.reduced {
                Some(r) => cells.extend(r.links[i].position.iter().map(|x| short(*x))),
                None => cells.extend(std::iter::repeat_n("–".to_owned(), 3)),
            }
            table.push(cells);
        }
        out.block(format_args!("positions\n{table}"));
        out.finish()
    }
}

/// Links in the user's sense, with their index.
fn user_links(m: &Mechanism) -> impl Iterator<Item = (usize, &str)> {
    m.moving_links().filter(|(_, l)| !l.auxiliary).map(|(id, l)| (id.index(), l.name.as_str()))
}

fn link_poses(m: &Mechanism, poses: &[Pose]) -> Vec<LinkPose> {
    user_links(m).map(|(i, name)| LinkPose::new(name, &poses[i])).collect()
}
