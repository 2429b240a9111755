//! `forks simulate --reduced`: a reduced or blended model in motion.

use std::{path::Path, process::ExitCode, sync::Arc};

use forks_blend::{Blend, BlendedStepper, FloatingBlend, FloatingBlendStepper, Model};
use forks_dynamics::MechanismEnergy;
use forks_io::{Scalars, Trajectory};
use forks_mechanism::lie::{Pose, Wrench, glam::DVec3};
use forks_rom::{
    BaseCoupling, EffectorLoad, FloatingModel, FloatingStepper, ModelError, Openings, PoseBuffer,
    Reconstruction, ReducedModel, StepStatus, Stepper, System, data::ModelData,
};
use forks_soft::{LoadedModel, Skins};
use serde::Serialize;

use crate::{
    dynamics::EnergyEntry,
    error::CliError,
    output::{self, LinkPose, Text, short},
    progress::{Progress, seconds},
    simulate_args::{ElasticityChoice, SchemeChoice, SimulateArgs},
    soft::{self, Filmed},
};

/// Runs the command. A base that floats does, and falls under the model's gravity.
pub(crate) fn run(args: &SimulateArgs, file: &Path) -> Result<ExitCode, CliError> {
    let prepared = |source| CliError::Step { path: file.into(), source };
    let LoadedModel { model, skins } = soft::load(file)?;
    match model {
        Model::Reduced(model) if model.data().base.is_some() => {
            refuse_options(args, file, "a model whose base floats")?;
            let model = FloatingModel::new(Arc::new(model), BaseCoupling::default());
            let model = Arc::new(model.map_err(prepared)?);
            run_system(args, file, ["implicit", "energy"], (None, Skins::None), |h| {
                FloatingStepper::new(Arc::clone(&model), h)
            })
        }
        Model::Reduced(model) => {
            let model = Arc::new(model);
            let (scheme, elasticity) = (args.run_time.scheme, args.run_time.elasticity);
            let names = [scheme.name(), elasticity.name()];
            run_system(args, file, names, (Some(&*model), skins), |h| {
                Stepper::with(Arc::clone(&model), h, scheme.into(), elasticity.into())
            })
        }
        Model::Blended(model) => {
            refuse_options(args, file, "a blended model")?;
            let model = Arc::new(model);
            if model.data().samples.iter().any(|s| s.model.data().base.is_some()) {
                let model = Arc::new(FloatingBlend::new(model).map_err(prepared)?);
                return run_system(args, file, ["implicit", "energy"], (None, Skins::None), |h| {
                    FloatingBlendStepper::new(Arc::clone(&model), h)
                });
            }
            let elasticity = match model.blend() {
                Blend::Energy => "energy",
                Blend::Eigenvectors => "eigenvectors",
                _ => "spd-manifold",
            };
            run_system(args, file, ["implicit", elasticity], (None, skins), |h| {
                BlendedStepper::new(Arc::clone(&model), h)
            })
        }
    }
}

/// What some kinds of models have no choice of.
fn refuse_options(args: &SimulateArgs, file: &Path, kind: &'static str) -> Result<(), CliError> {
    let refused =
        |option, instead| Err(CliError::NotForModel { path: file.into(), kind, option, instead });
    if args.run_time.scheme == SchemeChoice::Exponential {
        return refused("--scheme exponential", "there is --scheme implicit");
    }
    if args.run_time.elasticity == ElasticityChoice::Linear {
        return refused("--elasticity linear", "there is --elasticity energy");
    }
    Ok(())
}

/// `names`: of the scheme and of the elastic force; the model of one
/// linearisation, and its skins or those of a blend.
fn run_system<S: System>(
    args: &SimulateArgs,
    file: &Path,
    names: [&'static str; 2],
    (model, skins): (Option<&ReducedModel>, Skins),
    stepper: impl Fn(f64) -> Result<S, ModelError>,
) -> Result<ExitCode, CliError> {
    let stepper = |h| stepper(h).map_err(|source| CliError::Step { path: file.into(), source });
    let (time, step) = args.pace();
    let system = stepper(step)?;
    let targets = servo_targets(args, file, system.data())?;
    let loads = loads(args, file, system.data())?;
    let mut run = Run::new(system, &targets, loads)
        .map_err(|source| CliError::Step { path: file.into(), source })?;
    if args.output.iter().any(|path| soft::is_picture(path)) {
        run.film = Some(Filmed::new(file, run.system.data(), run.poses.links(), model, skins)?);
    }
    let finite = run.all_steps(args, time, step, stepper)?;
    args.output.iter().try_for_each(|path| match &run.film {
        Some(film) if soft::is_picture(path) => film.save(path),
        _ => run.trajectory.save(path),
    })?;
    let report = Report::new(run, finite, args, names);
    let code = output::print(&report, args.json, Report::text)?;
    match report.problem {
        None => Ok(code),
        Some(problem) => Err(CliError::Stopped { path: file.into(), problem }),
    }
}

/// Names for an error message.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|n| format!("'{n}'")).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn loads(
    args: &SimulateArgs,
    file: &Path,
    data: &ModelData,
) -> Result<Vec<EffectorLoad>, CliError> {
    let options = &args.run_time;
    let names = || data.effectors.iter().map(|e| e.name.as_str());
    let find = |name: &str| {
        names().position(|n| n == name).ok_or_else(|| unknown(file, "effector", name, names()))
    };
    let load = |effector: usize, wrench: [f64; 6]| EffectorLoad {
        effector,
        wrench: Wrench::from_array(wrench),
        frame: args.frame.into(),
    };
    let mut out = vec![];
    if let Some(wrench) = options.wrench {
        let effector = match &options.effector {
            Some(name) => find(name)?,
            None if data.effectors.len() == 1 => 0,
            None => {
                return Err(CliError::WhichEffector { path: file.into(), known: listed(names()) });
            }
        };
        out.push(load(effector, wrench));
    }
    for f in &args.force {
        out.push(load(find(&f.link)?, f.wrench));
    }
    Ok(out)
}

fn unknown<'a>(
    file: &Path,
    what: &'static str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> CliError {
    CliError::UnknownName { path: file.into(), what, name: name.into(), known: listed(known) }
}

/// The servos' targets.
fn servo_targets(args: &SimulateArgs, file: &Path, data: &ModelData) -> Result<Vec<f64>, CliError> {
    let servos = &data.servos;
    let mut targets = vec![0.0; servos.len()];
    for (name, value) in &args.run_time.servo {
        let i = servos.iter().position(|s| s == name);
        let known = || servos.iter().map(String::as_str);
        targets[i.ok_or_else(|| unknown(file, "servo", name, known()))?] = *value;
    }
    Ok(targets)
}

/// A run with what is watched on the way.
struct Run<S: System> {
    system: S,
    state: S::State,
    work: S::Workspace,
    /// Room for the links that are recorded.
    poses: PoseBuffer,
    /// The state as it was last recorded, with finite energy and poses, and that time.
    sound: (S::State, f64),
    loads: Vec<EffectorLoad>,
    trajectory: Trajectory,
    /// Where a page or glTF is asked for.
    film: Option<Filmed>,
    start: MechanismEnergy,
    last: MechanismEnergy,
    largest_growth: f64,
    time: f64,
    steps: usize,
    out_of_range: usize,
    first_out_of_range: Option<OutOfRange>,
    /// Steps that turned too far, or beyond what first orders of a base's inertia allow.
    unsettled: usize,
}

/// When an effector first left the range.
#[derive(Debug, Serialize)]
struct OutOfRange {
    effector: String,
    time: f64,
}

impl<S: System> Run<S> {
    /// The linearisation pose at rest, with the servos' targets.
    fn new(system: S, targets: &[f64], loads: Vec<EffectorLoad>) -> Result<Self, ModelError> {
        let (mut state, work, poses) = (system.state(), system.workspace(), system.pose_buffer());
        system.set_servo_targets(&mut state, targets)?;
        let name = |&l: &usize| system.data().links[l].name.clone();
        let names: Vec<String> = poses.links().iter().map(name).collect();
        let mut out = Self {
            loads,
            trajectory: Trajectory::new(names),
            film: None,
            start: MechanismEnergy::default(),
            last: MechanismEnergy::default(),
            largest_growth: 0.0,
            time: 0.0,
            steps: 0,
            sound: (state.clone(), 0.0),
            out_of_range: 0,
            first_out_of_range: None,
            unsettled: 0,
            poses,
            system,
            state,
            work,
        };
        out.start = out.energy();
        out.last = out.start;
        Ok(out)
    }

    /// Where the base is held gravity is part of the linearisation poses; its energy is not told
    /// apart.
    fn energy(&self) -> MechanismEnergy {
        let gravity = self.system.data().base.as_ref().map_or(DVec3::ZERO, |b| b.gravity);
        MechanismEnergy {
            kinetic: self.system.kinetic_energy(&self.state, &self.work),
            gravitational: self.system.gravitational_energy(&self.state, gravity),
            elastic: self.system.elastic_energy(&self.state, &self.work),
        }
    }

    /// Poses of the links that are recorded.
    fn link_poses(&mut self) -> Vec<Pose> {
        self.system.poses(&self.state, &mut self.work, &mut self.poses);
        self.poses.iter().map(|(_, p)| p).collect()
    }

    fn constraint_error(&mut self) -> forks_rom::ConstraintError {
        self.system.constraint_error(&self.state, &mut self.work, Reconstruction::Twist)
    }

    /// All steps, the last one shorter if the time is no multiple of a step; false if one was not
    /// finite.
    fn all_steps(
        &mut self,
        args: &SimulateArgs,
        time: f64,
        step: f64,
        stepper: impl Fn(f64) -> Result<S, CliError>,
    ) -> Result<bool, CliError> {
        let steps = (time / step - 1e-9).ceil().max(0.0) as usize;
        let left = time - steps.saturating_sub(1) as f64 * step;
        // What rounding leaves of a whole step is no shorter one.
        let is_shorter = left < step * (1.0 - 1e-9);
        let last = stepper(left)?;
        let mut progress = Progress::new();
        self.record(args)?;
        for i in 0..steps {
            let is_last = i + 1 == steps;
            if is_last && is_shorter {
                self.system = last.clone();
            }
            let end = if is_last { time } else { (i + 1) as f64 * step };
            if !self.step() || !self.is_finite() {
                (self.state, self.time) = self.sound.clone();
                self.last = self.energy();
                return Ok(false);
            }
            self.time = end;
            if (i + 1) % args.every == 0 || is_last {
                self.record(args)?;
                self.sound = (self.state.clone(), end);
            }
            progress.show(|| seconds(self.time, time));
        }
        Ok(true)
    }

    fn step(&mut self) -> bool {
        match self.system.step(&mut self.state, &mut self.work, &self.loads) {
            StepStatus::OutOfRange { effector } => {
                self.out_of_range += 1;
                let name = || self.system.data().effectors[effector].name.clone();
                let time = self.time;
                self.first_out_of_range
                    .get_or_insert_with(|| OutOfRange { effector: name(), time });
            }
            StepStatus::NotFinite => return false,
            StepStatus::InertiaHeldBack | StepStatus::NotSettled => self.unsettled += 1,
            StepStatus::Completed => {}
        }
        self.steps += 1;
        let energy = self.energy();
        self.largest_growth = self.largest_growth.max(energy.total() - self.last.total());
        self.last = energy;
        true
    }

    /// Far beyond its range a model overflows in the energy first, then in the poses, then in the
    /// state.
    fn is_finite(&mut self) -> bool {
        self.last.total().is_finite() && self.link_poses().iter().all(Pose::is_finite)
    }

    fn record(&mut self, args: &SimulateArgs) -> Result<(), CliError> {
        if args.output.is_empty() {
            return Ok(());
        }
        let error = self.constraint_error();
        let gap = error.joints.iter().fold(0.0, |m: f64, j| m.max(j.gap.position));
        let MechanismEnergy { kinetic, gravitational, elastic } = self.last;
        let loop_gap = gap / self.system.data().radius;
        let scalars = Scalars { kinetic, gravitational, elastic, loop_gap };
        let poses = self.link_poses();
        self.trajectory.push(self.time, scalars, &poses)?;
        if let Some(film) = &mut self.film {
            let energies = [kinetic, gravitational, elastic];
            let at = (self.time, energies, &poses[..]);
            film.record(&self.system, &self.state, &self.loads, at)?;
        }
        Ok(())
    }
}

/// The answer; field names are part of the program's interface.
#[derive(Debug, Serialize)]
struct Report {
    status: &'static str,
    /// What cannot be vouched for, and what to do about it.
    problem: Option<String>,
    scheme: &'static str,
    elasticity: &'static str,
    time: f64,
    step: f64,
    steps: usize,
    out_of_range_steps: usize,
    first_out_of_range: Option<OutOfRange>,
    eta: Vec<f64>,
    velocity: Vec<f64>,
    servo_targets: Vec<f64>,
    /// Of a blend's samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<f64>>,
    energy: EnergyEntry,
    start_energy: EnergyEntry,
    /// Of kinetic and elastic energy in one step; what the wrench adds is part of it.
    largest_energy_growth: f64,
    constraint_error: ConstraintError,
    samples: usize,
    effectors: Vec<LinkPose>,
    links: Vec<LinkPose>,
    warnings: Vec<String>,
}

/// Sums over joints and effectors: gaps over the mechanism's size, angles in rad.
#[derive(Debug, Serialize)]
struct ConstraintError {
    position: f64,
    angle: f64,
}

impl Report {
    fn new(
        mut run: Run<impl System>,
        finite: bool,
        args: &SimulateArgs,
        [scheme, elasticity]: [&'static str; 2],
    ) -> Self {
        let (poses, error) = (run.link_poses(), run.constraint_error());
        let [now, targets] = run.system.openings(&run.state, &mut run.work);
        let (system, state, range) = (&run.system, &run.state, run.system.range());
        let effector = |(e, rest): (usize, &forks_rom::data::EffectorRest)| {
            LinkPose::new(&rest.name, &system.effector_pose(e, state))
        };
        let mut numbers = [vec![0.0; system.coordinate_count()], vec![0.0; system.dof()]];
        system.coordinates(state, &mut numbers[0]);
        system.velocity(state, &mut numbers[1]);
        let [eta, velocity] = numbers;
        let mut weights = Vec::new();
        system.weights(state, &run.work, &mut weights);
        let mut warnings = Vec::new();
        if let Some(OutOfRange { effector, time }) = &run.first_out_of_range {
            warnings.push(format!(
                "effector '{effector}' left the range of the model (relative displacement {}) in \
                 {} of {} steps, \
                 first at {} s",
                short(range),
                run.out_of_range,
                run.steps,
                short(*time)
            ));
        }
        if run.unsettled > 0 {
            warnings.push(format!(
                "in {} of {} steps the base turned too far, or its inertia changed by more than \
                 the model allows",
                run.unsettled, run.steps
            ));
        }
        let far = targets.exceed(&Openings::OF_TARGETS);
        let percent = |o: Openings| short(100.0 * o.loops.max(o.effectors));
        if far {
            warnings.push(format!(
                "the servo targets are out of the range of the model: loops or effectors would be \
                 off by {} % of the size; reduce at a pose nearer to them (--state)",
                percent(targets)
            ));
        }
        let open = finite && now.exceed(&Openings::OF_MOTION);
        if open {
            warnings.push(format!(
                "loops opened, or effectors left their joints, by {} % of the size at the end: the \
                motion is too large for the model",
                percent(now)
            ));
        }
        let problem = match (warnings.is_empty(), finite) {
            (true, true) => None,
            (false, true) => Some(format!(
                "{}; a model linearised nearer to where it goes, a blend (forks blend) or the full \
                 model (forks simulate MODEL) covers more",
                warnings.join("; ")
            )),
            (true, false) => Some(format!(
                "stopped after {} s: the numbers overflow; a shorter --step may help",
                short(run.time)
            )),
            (false, false) => Some(format!(
                "stopped after {} s: the numbers overflow; {}",
                short(run.time),
                warnings.join("; ")
            )),
        };
        Self {
            status: match (finite, run.out_of_range + run.unsettled > 0 || far) {
                (false, _) => "not-finite",
                (true, true) => "out-of-range",
                (true, false) if open => "loops-open",
                (true, false) => "completed",
            },
            problem,
            scheme,
            elasticity,
            time: run.time,
            step: args.pace().1,
            steps: run.steps,
            out_of_range_steps: run.out_of_range,
            eta,
            velocity,
            servo_targets: system.servo_targets(state).to_vec(),
            weights: (!weights.is_empty()).then_some(weights),
            energy: run.last.into(),
            start_energy: run.start.into(),
            largest_energy_growth: run.largest_growth,
            constraint_error: ConstraintError { position: error.position, angle: error.angle },
            samples: run.trajectory.samples().len(),
            effectors: system.data().effectors.iter().enumerate().map(effector).collect(),
            links: run
                .trajectory
                .links()
                .iter()
                .zip(&poses)
                .map(|(n, p)| LinkPose::new(n, p))
                .collect(),
            first_out_of_range: run.first_out_of_range,
            warnings,
        }
    }

    fn text(&self) -> String {
        let mut out = Text::new(27);
        out.line("status", self.status);
        out.line("time (s)", short(self.time));
        out.line("steps", format!("{} ({}, {})", self.steps, self.scheme, self.elasticity));
        out.line("steps out of range", self.out_of_range_steps);
        out.line("energy at the end (J)", self.energy.text());
        out.line("largest growth (J)", short(self.largest_energy_growth));
        let ConstraintError { position, angle } = self.constraint_error;
        out.line(
            "constraint error",
            format!("{} of the size, {} rad", short(position), short(angle)),
        );
        let effectors = LinkPose::table("effector", &self.effectors);
        let links = LinkPose::table("link", &self.links);
        out.block(format_args!("positions at the end\n{effectors}\n{links}"));
        out.finish()
    }
}
