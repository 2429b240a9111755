//! `forks statics`: the full equilibrium under a wrench, beside the reduced model's.

use std::{fmt::Write as _, process::ExitCode};

use forks_dynamics::{Equilibrium, EquilibriumOptions, EquilibriumStatus, Loads, WrenchFrame};
use forks_io::{Align, TextTable};
use forks_mechanism::{
    Mechanism, connections,
    lie::{Pose, Wrench, wxyz_from_quaternion},
};
use forks_reduce::{Problem, effector_load, relative_constraint_error};
use forks_rom::{EffectorLoad, LoadFrame, Reconstruction, StaticStatus};
use serde::Serialize;

use crate::{
    args::{FrameChoice, PathChoice, StaticsArgs},
    error::CliError,
    model::Model,
    output::{self, short},
};

/// Runs the command.
pub(crate) fn run(args: &StaticsArgs) -> Result<ExitCode, CliError> {
    let model = Model::load(&args.model)?;
    let effectors = [model.effector(args.effector.as_deref())?];
    let problem = model.problem(&args.model, &args.springs, &effectors)?;
    let frame = match args.frame {
        FrameChoice::World => WrenchFrame::World,
        FrameChoice::Body => WrenchFrame::Body,
    };
    let wrench = Wrench::from_array(args.wrench);
    let loads = effector_load(&problem.effectors[0], wrench, frame, !args.no_gravity);
    let full = equilibrium(args.load_path, &problem, &loads);
    let reduced = reduced_poses(args, &problem);
    let mut report = Report::new(&model.mechanism, &problem, &full, reduced);
    if full.status == EquilibriumStatus::Unstable && args.load_path == PathChoice::EqualSteps {
        report.notes.push(
            "equal load steps ended at a saddle; --path continuous follows the stable branch"
                .into(),
        );
    }
    let code = output::print(&report, args.model.json, Report::text)?;
    if full.status.is_equilibrium() {
        return Ok(code);
    }
    let problem =
        format!("{}, {} of the loads balanced", full.status.name(), short(full.load_scale));
    Err(CliError::NotBalanced { path: args.model.path.clone(), problem })
}

/// The equilibrium along the chosen path; where equal steps fail, along the continuous one.
fn equilibrium(path: PathChoice, problem: &Problem, loads: &Loads) -> Equilibrium {
    if path == PathChoice::EqualSteps {
        let found = problem.equilibrium(loads, &EquilibriumOptions::equal_steps());
        if found.status.is_equilibrium() {
            return found;
        }
    }
    problem.equilibrium(loads, &EquilibriumOptions::default())
}

/// Link poses of the reduced model and its constraint error, or why there are none.
fn reduced_poses(args: &StaticsArgs, problem: &Problem) -> Result<(Vec<Pose>, f64), String> {
    let bias = Loads { gravity: !args.no_gravity, wrenches: vec![] };
    let reduction = problem.reduce_with_loads(&bias).map_err(|e| e.to_string())?;
    let load = EffectorLoad {
        effector: 0,
        wrench: Wrench::from_array(args.wrench),
        frame: match args.frame {
            FrameChoice::World => LoadFrame::World,
            FrameChoice::Body => LoadFrame::Body,
        },
    };
    let model = &reduction.model;
    // Servos stay at rest; the last drive is gravity and the springs' preloads.
    let mut drives = vec![0.0; problem.servos.len() + 1];
    drives[problem.servos.len()] = 1.0;
    let solution = model.solve_static(&[load], &drives).map_err(|e| e.to_string())?;
    match solution.status {
        StaticStatus::Converged => {}
        StaticStatus::Stalled => return Err("the reduced model found no equilibrium".into()),
        StaticStatus::OutOfRange => return Err("the reduced model left its range".into()),
    }
    let eta = &solution.eta;
    let poses = model.link_poses(eta, &drives, Reconstruction::Twist);
    let m = problem.mechanism();
    let error =
        relative_constraint_error(m, &connections(m), model, eta, &drives, Reconstruction::Twist);
    Ok((poses, error.position))
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
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Reduced {
    links: Vec<LinkPose>,
}

#[derive(Debug, Serialize)]
struct LinkPose {
    name: String,
    position: [f64; 3],
    quaternion_wxyz: [f64; 4],
}

impl Report {
    fn new(
        original: &Mechanism,
        problem: &Problem,
        full: &Equilibrium,
        reduced: Result<(Vec<Pose>, f64), String>,
    ) -> Self {
        let mut notes = Vec::new();
        if !full.free_motion.is_empty() {
            let joints: Vec<String> =
                full.free_motion.iter().map(|&j| problem.mechanism().joint_label(j)).collect();
            notes.push(format!("motion without stiffness at joint(s) {}", joints.join(", ")));
        }
        let reduced = match reduced {
            Ok(found) => Some(found),
            Err(why) => {
                notes.push(format!("no reduced model: {why}"));
                None
            }
        };
        let error = reduced.as_ref().map(|(poses, _)| {
            user_links(problem.mechanism())
                .map(|(i, _)| poses[i].translation.distance(full.world_from_link[i].translation))
                .fold(0.0, f64::max)
        });
        Self {
            status: full.status.name(),
            iterations: full.iterations,
            residual: full.residual,
            qpos: problem.prepared.original_positions(original, &full.q),
            links: link_poses(problem.mechanism(), &full.world_from_link),
            max_position_error: error,
            relative_constraint_error: reduced.as_ref().map(|r| r.1),
            reduced: reduced
                .map(|(poses, _)| Reduced { links: link_poses(problem.mechanism(), &poses) }),
            load_steps: full.load_steps,
            load_scale: full.load_scale,
            notes,
        }
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let mut line = |key: &str, value: String| {
            writeln!(out, "{key:<27}{value}").expect("writing to a string");
        };
        let optional = |x: Option<f64>| x.map_or_else(|| "–".into(), short);
        line("status", self.status.into());
        line("iterations", format!("{} in {} load steps", self.iterations, self.load_steps));
        line("residual", short(self.residual));
        line("max position error (m)", optional(self.max_position_error));
        line("relative constraint error", optional(self.relative_constraint_error));
        self.notes.iter().for_each(|n| line("note", n.clone()));
        let mut table = TextTable::new().column("link", Align::Left);
        for name in ["x (m)", "y (m)", "z (m)", "reduced x", "reduced y", "reduced z"] {
            table = table.column(name, Align::Right);
        }
        for (i, l) in self.links.iter().enumerate() {
            let mut cells = vec![l.name.clone()];
            cells.extend(l.position.iter().map(|x| short(*x)));
            match &self.reduced {
                Some(r) => cells.extend(r.links[i].position.iter().map(|x| short(*x))),
                None => cells.extend(std::iter::repeat_n("–".to_owned(), 3)),
            }
            table.push(cells);
        }
        write!(out, "\npositions\n{table}").expect("writing to a string");
        out
    }
}

/// Links in the user's sense, with their index.
fn user_links(m: &Mechanism) -> impl Iterator<Item = (usize, &str)> {
    m.moving_links().filter(|(_, l)| !l.auxiliary).map(|(id, l)| (id.index(), l.name.as_str()))
}

fn link_poses(m: &Mechanism, poses: &[Pose]) -> Vec<LinkPose> {
    user_links(m)
        .map(|(i, name)| LinkPose {
            name: name.to_owned(),
            position: poses[i].translation.to_array(),
            quaternion_wxyz: wxyz_from_quaternion(poses[i].rotation),
        })
        .collect()
}
