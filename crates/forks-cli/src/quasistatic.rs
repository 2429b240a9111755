//! `forks quasistatic`: the way to an equilibrium in load steps, with only those joints computed
//! that matter for an error that is certified.

use std::process::ExitCode;

use forks_dynamics::{
    WrenchFrame,
    adaptive::{
        AdaptiveError, AdaptiveOptions, AdaptivePlan, AdaptiveState, AdaptiveStatus, ErrorMeasure,
        Springs, Target,
    },
};
use forks_io::{Cell, CsvTable};
use forks_mechanism::{
    LinkId, Mechanism,
    lie::{Pose, Wrench, so3::wxyz_from_quaternion},
};
use forks_reduce::{Problem, ProblemOptions};
use serde::Serialize;

use crate::{
    args::FrameChoice,
    at_rest,
    error::CliError,
    model::Model,
    output::{self, LinkPose, Text, short},
    progress::Progress,
    quasistatic_args::QuasistaticArgs,
    quasistatic_tally::Tally,
    released::released_note,
};

/// A step that moves all joints by this many times what the shortest step before it did swings away
/// from the equilibrium.
const SWINGS_AWAY: f64 = 4.0;
/// A joint that one step moves by more than this (rad or m) went too far.
const FAR: f64 = 0.5;
/// The step towards an equilibrium is not halved below this part of the one asked for.
const SHORTEST: f64 = 1e-6;

/// Runs the command.
pub(crate) fn run(args: &QuasistaticArgs) -> Result<ExitCode, CliError> {
    let model = Model::load(&args.model)?;
    let problem = problem(&model, args)?;
    let refused = |e: AdaptiveError| CliError::NotSupported {
        path: args.model.path.clone(),
        command: "quasistatic",
        problem: refusal(&problem, e),
    };
    let mut path = Path::new(&problem, args);
    let end = path.follow().map_err(refused)?;
    if let Some(file) = &args.output {
        path.table.save(file)?;
    }
    let report = Report::new(&model, args, &path, &end);
    report.notes.iter().for_each(|n| output::warn(n));
    let code = output::print(&report, args.model.json, Report::text)?;
    match report.message {
        None => Ok(code),
        Some(problem) => Err(CliError::Stopped { path: args.model.path.clone(), problem }),
    }
}

/// The mechanism with servos in the joints' springs, and the loaded frames as effectors.
fn problem(model: &Model, args: &QuasistaticArgs) -> Result<Problem, CliError> {
    let path = &args.model.path;
    let mut m = model.mechanism.clone();
    if !args.no_servos {
        let (with, others) = m
            .with_servos_in_joints(&model.positions)
            .map_err(|source| CliError::Servos { path: path.clone(), source })?;
        if let Some(servo) = others.first() {
            return Err(CliError::NotSupported {
                path: path.clone(),
                command: "quasistatic",
                problem: format!(
                    "servo '{}' moves several coordinates, which updates joint by joint cannot \
                     follow; --no-servos leaves servos out",
                    m.servos()[servo.index()].name
                ),
            });
        }
        m = with;
    }
    let names: Vec<&str> = args.loads.iter().map(|l| l.link.as_str()).collect();
    let start = model.positions[..m.tree_position_count()].to_vec();
    let options = ProblemOptions {
        default_stiffness: args.default_stiffness,
        servos: false,
        start: Some(start),
    };
    Problem::new(&m, &names, &options).map_err(|e| CliError::reduce(path, e))
}

/// Why the mechanism or a load is not for this algorithm, with names instead of numbers.
fn refusal(problem: &Problem, e: AdaptiveError) -> String {
    match e {
        AdaptiveError::DeadLoadOffOrigin { link } => {
            let name = &problem.mechanism().links()[link].name;
            format!(
                "the force on link '{name}' does not act at the link's origin, where a force that \
                 keeps its world axes has to act; load the link itself, or use --frame body"
            )
        }
        e => e.to_string(),
    }
}

/// How a load step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Converged,
    NotSettled,
    SwingsAway,
    NotFinite,
    DependentDirections,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::NotSettled => "not-settled",
            Self::SwingsAway => "swings-away",
            Self::NotFinite => "not-finite",
            Self::DependentDirections => "dependent-directions",
        }
    }
}

/// The way so far.
struct Path<'a> {
    problem: &'a Problem,
    args: &'a QuasistaticArgs,
    /// Positions of the last equilibrium.
    q: Vec<f64>,
    /// Length of a step, s.
    step: f64,
    /// Part of the loads at the last equilibrium; none before that under gravity and preload.
    load: Option<f64>,
    all: Tally,
    table: CsvTable,
    /// Links of the table.
    links: Vec<LinkId>,
}

/// How the path ended.
struct End {
    status: Status,
    /// The joint that moves most, where it did not come to rest.
    joint: Option<String>,
}

impl<'a> Path<'a> {
    fn new(problem: &'a Problem, args: &'a QuasistaticArgs) -> Self {
        let m = problem.mechanism();
        let mut links: Vec<LinkId> = match args.all_links {
            true => m.moving_links().filter(|(_, l)| !l.auxiliary).map(|(id, _)| id).collect(),
            false => problem.effectors.iter().map(|e| e.link).collect(),
        };
        links.sort();
        links.dedup();
        let numbers = [
            "load_step",
            "load",
            "steps",
            "step_s",
            "certified_error",
            "joints_computed",
            "joints_moved",
            "last_move",
        ];
        let of_link = |id: &LinkId| {
            let name = m.link(*id).name.clone();
            ["x", "y", "z", "qw", "qx", "qy", "qz"].map(|c| format!("{name}.{c}"))
        };
        let columns = numbers.map(str::to_owned).into_iter();
        Self {
            table: CsvTable::new(columns.chain(links.iter().flat_map(of_link))),
            problem,
            args,
            q: problem.start.clone(),
            step: args.step,
            load: None,
            all: Tally::default(),
            links,
        }
    }

    /// Gravity and preload first, then the loads step by step.
    fn follow(&mut self) -> Result<End, AdaptiveError> {
        let steps = self.args.load_steps;
        let mut progress = Progress::new();
        for k in 0..=steps {
            let load = k as f64 / steps as f64;
            self.step = (2.0 * self.step).min(self.args.step);
            let end = self.load_step(k, load, &mut progress)?;
            if end.status != Status::Converged {
                return Ok(end);
            }
            self.load = Some(load);
        }
        Ok(End { status: Status::Converged, joint: None })
    }

    /// To the equilibrium under this part of the loads, with shorter steps where they lead away.
    fn load_step(
        &mut self,
        k: usize,
        load: f64,
        progress: &mut Progress,
    ) -> Result<End, AdaptiveError> {
        loop {
            let options = AdaptiveOptions {
                time_step: self.step,
                gravity: !self.args.no_gravity,
                springs: Springs::Implicit,
                ..AdaptiveOptions::default()
            };
            let plan = AdaptivePlan::new(self.problem.mechanism(), &options)?;
            let mut state = AdaptiveState::new(&plan);
            state.set_positions(&self.q)?;
            self.apply(&mut state, load)?;
            let mut tally = Tally::default();
            let status = self.settle(&mut state, &mut tally, |steps| {
                progress.show(|| format!("load step {k} of {}: {steps}", self.args.load_steps));
            });
            self.all.add(&tally);
            match status {
                Status::SwingsAway | Status::NotFinite if self.step > SHORTEST * self.args.step => {
                    self.step *= 0.5;
                }
                Status::Converged => {
                    self.q.copy_from_slice(state.positions());
                    self.record(&state, k, load, &tally)?;
                    return Ok(End { status, joint: None });
                }
                _ => {
                    return Ok(End { status, joint: moves_most(self.problem.mechanism(), &state) });
                }
            }
        }
    }

    /// Steps at constant loads until nothing moves any more.
    fn settle(
        &self,
        state: &mut AdaptiveState<'_>,
        tally: &mut Tally,
        mut show: impl FnMut(usize),
    ) -> Status {
        let target = Target::new(ErrorMeasure::RelativeJoint, self.args.tolerance);
        let (mut least, mut last) = (f64::INFINITY, f64::INFINITY);
        for i in 0..self.args.iterations {
            let step = state.step(&target);
            let moved = self.step * self.step * step.result.linkage_norm;
            match step.result.status {
                AdaptiveStatus::NotFinite => return Status::NotFinite,
                AdaptiveStatus::DependentDirections => return Status::DependentDirections,
                _ => {}
            }
            tally.add_step(&step, moved);
            // Moves shrink by a factor ρ: those to come add up to ρ/(1 − ρ) of this one.
            let rest = moved / (last / moved - 1.0).clamp(0.0, 1.0);
            if moved == 0.0 || (i > 0 && rest <= self.args.settled) {
                return Status::Converged;
            }
            last = moved;
            let largest = self.step * self.step * step.result.largest_computed;
            if !moved.is_finite() || moved > SWINGS_AWAY * least || largest > FAR {
                return Status::SwingsAway;
            }
            least = least.min(moved);
            show(i);
        }
        Status::NotSettled
    }

    /// The loads, scaled; those on one link are added up.
    fn apply(&self, state: &mut AdaptiveState<'_>, load: f64) -> Result<(), AdaptiveError> {
        let frame = match self.args.frame {
            FrameChoice::World => WrenchFrame::World,
            FrameChoice::Body => WrenchFrame::Body,
        };
        let effectors = &self.problem.effectors;
        for (i, e) in effectors.iter().enumerate() {
            let same = |k: &usize| {
                (effectors[*k].link, effectors[*k].link_from_effector)
                    == (e.link, e.link_from_effector)
            };
            if (0..i).any(|k| same(&k)) {
                continue;
            }
            let all = (i..effectors.len()).filter(same);
            let sum = all.fold(Wrench::ZERO, |sum, k| {
                sum + Wrench::from_array(self.args.loads[k].wrench) * load
            });
            state.set_applied(&e.applied(sum, frame))?;
        }
        Ok(())
    }

    fn record(
        &mut self,
        state: &AdaptiveState<'_>,
        k: usize,
        load: f64,
        tally: &Tally,
    ) -> Result<(), AdaptiveError> {
        let mut row: Vec<Cell> = vec![
            k.into(),
            load.into(),
            tally.steps.into(),
            self.step.into(),
            tally.certified_error.into(),
            tally.joints_computed.into(),
            tally.joints_moved.into(),
            tally.last_move.into(),
        ];
        for &id in &self.links {
            let pose = state.link_pose(id)?;
            row.extend(pose.translation.to_array().map(Cell::from));
            row.extend(wxyz_from_quaternion(pose.rotation).map(Cell::from));
        }
        self.table.push(row).expect("a converged state is finite");
        Ok(())
    }

    /// Poses of the user's links at the last equilibrium.
    fn poses(&self) -> Vec<LinkPose> {
        let m = self.problem.mechanism();
        let mut q = self.q.clone();
        m.fit_closures(&mut q);
        let poses: Vec<Pose> = m.link_poses(&q);
        let links = m.moving_links().filter(|(_, l)| !l.auxiliary);
        links.map(|(id, l)| LinkPose::new(&l.name, &poses[id.index()])).collect()
    }
}

/// The joint with the largest acceleration.
fn moves_most(m: &Mechanism, state: &AdaptiveState<'_>) -> Option<String> {
    let size = |a: &f64| if a.is_nan() { f64::INFINITY } else { a.abs() };
    let all = state.accelerations().iter().enumerate();
    let (v, _) = all.max_by(|a, b| size(a.1).total_cmp(&size(b.1)))?;
    Some(m.joint_label(m.velocity_owner(v).joint))
}

/// The answer; field names are part of the program's interface.
#[derive(Debug, Serialize)]
struct Report {
    status: &'static str,
    /// Part of the loads that is balanced; 0 also where only gravity and preload are, null before.
    load_scale: Option<f64>,
    load_steps: usize,
    tolerance: f64,
    /// Largest certified error of a step.
    certified_error: f64,
    /// Steps towards equilibria, and length of the last, s.
    steps: usize,
    step: f64,
    /// By how much the last step moved all joints together, rad and m.
    last_move: f64,
    /// Joints with coordinates.
    joints: usize,
    /// Joints whose acceleration was computed, summed over all steps.
    joints_computed: usize,
    /// The same in the step that computed most.
    most_joints_computed: usize,
    /// Joints that moved, summed over all steps.
    joints_moved: usize,
    nodes_visited: usize,
    nodes_updated: usize,
    qpos: Vec<f64>,
    links: Vec<LinkPose>,
    /// Free joints that are held because nothing else holds their tree.
    held: Vec<String>,
    /// Links of free bodies without a load; they stay where they are.
    left_out: Vec<String>,
    /// What the status means and what helps; null where it is `converged`.
    message: Option<String>,
    notes: Vec<String>,
}

impl Report {
    fn new(model: &Model, args: &QuasistaticArgs, path: &Path<'_>, end: &End) -> Self {
        let (problem, all) = (path.problem, &path.all);
        let m = problem.mechanism();
        let left_out = at_rest::left_out(problem);
        let mut notes: Vec<String> = at_rest::held_note(problem).into_iter().collect();
        notes.extend(at_rest::left_out_note(&left_out));
        notes.extend(released_note(m));
        Self {
            status: end.status.name(),
            load_scale: path.load,
            load_steps: args.load_steps,
            tolerance: args.tolerance,
            certified_error: all.certified_error,
            steps: all.steps,
            step: path.step,
            last_move: all.last_move,
            joints: m.joints().iter().filter(|j| j.dof() > 0).count(),
            joints_computed: all.joints_computed,
            most_joints_computed: all.most_computed,
            joints_moved: all.joints_moved,
            nodes_visited: all.nodes_visited,
            nodes_updated: all.nodes_updated,
            qpos: problem.prepared.original_positions(&model.mechanism, &path.q),
            links: path.poses(),
            held: at_rest::held(problem),
            left_out,
            message: message(path, end),
            notes,
        }
    }

    fn text(&self) -> String {
        let mut out = Text::new(27);
        let computed = self.joints_computed as f64 / self.steps.max(1) as f64;
        out.line("status", self.status);
        out.line("part of the loads", self.load_scale.map_or_else(|| "–".into(), short));
        out.line("steps", format!("{} in {} load steps", self.steps, self.load_steps));
        out.line(
            "certified error",
            format!("{} of {}", short(self.certified_error), self.tolerance),
        );
        out.line(
            "joints computed",
            format!(
                "{} of {} per step, {} at most",
                short(computed),
                self.joints,
                self.most_joints_computed
            ),
        );
        out.line("last move (rad, m)", short(self.last_move));
        self.message.iter().for_each(|m| out.line("meaning", m));
        let table = LinkPose::table("link", &self.links);
        out.block(format_args!("positions\n{table}"));
        out.finish()
    }
}

/// What a status means and what helps.
fn message(path: &Path<'_>, end: &End) -> Option<String> {
    let joint = end.joint.as_deref().unwrap_or("?");
    let why = match end.status {
        Status::Converged => return None,
        Status::NotSettled => format!(
            "after {} steps joint {joint} still moves; perhaps nothing resists it \
             (--default-stiffness), otherwise more --iterations or a longer --step may help",
            path.args.iterations
        ),
        Status::SwingsAway => format!(
            "steps of any length lead away from an equilibrium, most at joint {joint}; more \
             --load-steps may help"
        ),
        Status::NotFinite => "the numbers overflow".to_owned(),
        Status::DependentDirections => {
            "the joints of a row with massless links between them have dependent directions".into()
        }
    };
    let reached = match path.load {
        None => "gravity and spring preload are not balanced".to_owned(),
        Some(load) => format!("{} of the loads is balanced", short(load)),
    };
    Some(format!("{reached}: {why}"))
}
