//! `forks simulate`: a model in motion.

use std::process::ExitCode;

use forks_dynamics::{
    AppliedWrench, MechanismEnergy,
    integrate::{
        Integrator, Simulation, SimulationOptions, SimulationState, SimulationStatistics,
        SimulationStatus,
    },
};
use forks_io::{Scalars, Trajectory};
use forks_mechanism::{
    Mechanism,
    lie::{Pose, Wrench},
};
use forks_sim::{JointForces, SimError};
use serde::Serialize;

use crate::{
    args::ModelOptions,
    dynamics::EnergyEntry,
    error::CliError,
    link_load::LinkLoad,
    model::Model,
    mujoco::FreeJoints,
    output::{self, LinkPose, Text, short},
    progress::{Progress, seconds},
    released::released_note,
    scene,
    simulate_args::{IntegratorChoice, SimulateArgs},
    simulate_bound::{self, Bound},
    simulate_reduced, soft, tissue,
};

/// A loop gap at the start above this is worth a warning.
const GAP_WARNING: f64 = 1e-6;

/// Runs the command.
pub(crate) fn run(args: &SimulateArgs) -> Result<ExitCode, CliError> {
    match (&args.reduced, args.model()) {
        (Some(file), _) => simulate_reduced::run(args, file),
        (None, Some(options)) if scene::is_scene(&options.path) => {
            if tissue::is_tissue(&options.path) {
                return match args.scene.pads && args.scene.mjcf.is_none() {
                    true => soft::scene(args, &options.path),
                    false => tissue::simulate(args, &options.path),
                };
            }
            scene::run(args, &options.path)
        }
        (None, Some(options)) => run_full(args, &options),
        (None, None) => unreachable!("the arguments ask for one of the two"),
    }
}

fn run_full(args: &SimulateArgs, options: &ModelOptions) -> Result<ExitCode, CliError> {
    let model = Model::load(options)?;
    let mut m = model.moving(options, args.servos, args.limits)?;
    if args.joint_forces() != JointForces::default() {
        m = simulate_bound::named(&m)
            .map_err(|source| CliError::Servos { path: options.path.clone(), source })?;
    }
    let applied = |l: &LinkLoad| l.applied(&m, args.frame.into());
    let loads: Result<Vec<_>, _> = args.force.iter().map(applied).collect();
    let loads = loads.map_err(|e| CliError::reduce(&options.path, e))?;
    let mut run = Run::new(&m, &model, args, loads)
        .map_err(|source| CliError::World { path: options.path.clone(), source })?;
    let status = run.all_steps(args)?;
    args.output.iter().try_for_each(|path| run.trajectory.save(path))?;
    let report = Report::new(&m, run, status, args);
    report.warnings.iter().for_each(|w| output::warn(w));
    let code = output::print(&report, args.json, Report::text)?;
    match report.problem {
        None => Ok(code),
        Some(problem) => Err(CliError::Stopped { path: options.path.clone(), problem }),
    }
}

/// How many steps, and how long: all of the same length where joints stop or rub, as worlds have
/// it; otherwise the last one is shorter if the time is no multiple of a step.
fn steps(args: &SimulateArgs) -> (usize, f64) {
    let (time, step) = args.pace();
    let steps = (time / step - 1e-9).ceil().max(0.0) as usize;
    match args.joint_forces() == JointForces::default() || steps == 0 {
        true => (steps, step),
        false => (steps, time / steps as f64),
    }
}

/// Why a run stopped at `time`, and what to do about it; `None` if it came to its end.
fn problem(
    m: &Mechanism,
    status: SimulationStatus,
    time: f64,
    args: &SimulateArgs,
) -> Option<String> {
    let why = match status {
        SimulationStatus::Completed => return None,
        SimulationStatus::NotFinite => {
            let advice = match args.integrator {
                IntegratorChoice::Implicit => "a shorter --step may help",
                _ => "a shorter --step or --integrator implicit may help",
            };
            format!("the numbers overflow; {advice}")
        }
        SimulationStatus::Massless(joint) => format!(
            "no mass resists joint {}; give the links that it moves an inertia or the joint an \
             armature, or remove it if other joints of the body already allow its motion",
            m.joint_label(joint)
        ),
        SimulationStatus::LoopsOpen => {
            "the loops cannot be closed any more: they are at the end of their reach, or the step \
             is too long; a shorter --step may help"
                .into()
        }
        SimulationStatus::StepTooSmall => {
            "the error control asks for steps that rounding does not allow; a larger --tolerance \
             or --integrator \
             implicit may help"
                .into()
        }
        SimulationStatus::Singular => {
            "the equations of the step are singular; springs or dampers of negative stiffness, or \
             a link without \
             inertia, do that"
                .into()
        }
        SimulationStatus::MotionsChanged { from, to } => format!(
            "the loops admit {to} motions instead of {from}: the mechanism is at a singular pose"
        ),
        other => other.name().into(),
    };
    Some(format!("stopped after {} s: {why}", short(time)))
}

/// What steps the mechanism.
enum Mover<'m> {
    Alone(Box<Simulation<'m>>),
    /// With forces in the joints that are not smooth.
    Bound(Box<Bound>),
}

impl Mover<'_> {
    fn step(&mut self, h: f64) -> SimulationStatus {
        match self {
            Self::Alone(s) => s.step(h),
            Self::Bound(b) => b.step(),
        }
    }

    fn state(&self) -> &SimulationState {
        match self {
            Self::Alone(s) => s.state(),
            Self::Bound(b) => b.state(),
        }
    }

    fn time(&self) -> f64 {
        match self {
            Self::Alone(s) => s.time(),
            Self::Bound(b) => b.time(),
        }
    }

    fn energy(&mut self) -> MechanismEnergy {
        match self {
            Self::Alone(s) => s.energy(),
            Self::Bound(b) => b.energy(),
        }
    }

    fn loop_gap(&mut self) -> f64 {
        match self {
            Self::Alone(s) => s.loop_gap(),
            Self::Bound(b) => b.loop_gap(),
        }
    }

    fn link_poses(&self) -> Vec<Pose> {
        match self {
            Self::Alone(s) => s.link_poses(),
            Self::Bound(b) => b.link_poses().to_vec(),
        }
    }
}

/// A simulation with what is watched on the way.
struct Run<'m> {
    simulation: Mover<'m>,
    loads: Vec<AppliedWrench>,
    /// No torque on any joint, and what the loads do to each link.
    still: Vec<f64>,
    wrenches: Vec<Wrench>,
    trajectory: Trajectory,
    links: Vec<usize>,
    start: MechanismEnergy,
    /// The last state with finite energy and poses, and its time.
    sound: (SimulationState, f64),
    last: MechanismEnergy,
    largest_growth: f64,
    start_gap: f64,
    largest_gap: f64,
}

impl<'m> Run<'m> {
    fn new(
        m: &'m Mechanism,
        model: &Model,
        args: &SimulateArgs,
        mut loads: Vec<AppliedWrench>,
    ) -> Result<Self, SimError> {
        let q = &model.positions[..m.tree_position_count()];
        let mut v = model.velocities.clone();
        FreeJoints::new(m, q).to_body(&mut v);
        let integrator = match args.integrator {
            IntegratorChoice::SemiImplicitEuler => Integrator::SemiImplicitEuler,
            IntegratorChoice::Rk4 => Integrator::RungeKutta4,
            IntegratorChoice::Implicit => Integrator::Implicit,
            IntegratorChoice::Adaptive => Integrator::Adaptive,
        };
        let options = SimulationOptions {
            integrator,
            tolerance: args.tolerance,
            ..SimulationOptions::default()
        };
        let forces = args.joint_forces();
        let mut start_gap = 0.0;
        let mut simulation = if forces == JointForces::default() {
            let simulation = Simulation::new(m, q, &v, options);
            start_gap = simulation.start_gap();
            Mover::Alone(Box::new(simulation))
        } else {
            let (_, step) = steps(args);
            // The world moves the loads along with their links.
            let loads = std::mem::take(&mut loads);
            Mover::Bound(Box::new(Bound::new(m, q, &v, &loads, forces, step)?))
        };
        let links = m.moving_links().filter(|(_, l)| !l.auxiliary);
        let (links, names): (Vec<usize>, Vec<&str>) =
            links.map(|(id, l)| (id.index(), l.name.as_str())).unzip();
        let start = simulation.energy();
        Ok(Self {
            start_gap,
            largest_gap: simulation.loop_gap(),
            sound: (simulation.state().clone(), 0.0),
            trajectory: Trajectory::new(names),
            still: vec![0.0; m.tree_velocity_count()],
            wrenches: vec![Wrench::ZERO; m.links().len()],
            loads,
            simulation,
            links,
            start,
            last: start,
            largest_growth: 0.0,
        })
    }

    fn all_steps(&mut self, args: &SimulateArgs) -> Result<SimulationStatus, CliError> {
        let time = args.pace().0;
        let (steps, step) = steps(args);
        let mut progress = Progress::new();
        self.record(args, self.largest_gap)?;
        for i in 0..steps {
            let left = time - i as f64 * step;
            self.load();
            let status = self.simulation.step(step.min(left));
            if status != SimulationStatus::Completed {
                return Ok(status);
            }
            let energy = self.simulation.energy();
            // Explicit schemes overflow in the energy first, then in the poses, then in the state.
            if !energy.total().is_finite() || !self.poses().iter().all(Pose::is_finite) {
                return Ok(SimulationStatus::NotFinite);
            }
            self.sound.0.clone_from(self.simulation.state());
            self.sound.1 = self.simulation.time();
            self.largest_growth = self.largest_growth.max(energy.total() - self.last.total());
            self.last = energy;
            let gap = self.simulation.loop_gap();
            self.largest_gap = self.largest_gap.max(gap);
            if (i + 1) % args.every == 0 || i + 1 == steps {
                self.record(args, gap)?;
            }
            progress.show(|| seconds(self.simulation.time(), time));
        }
        Ok(SimulationStatus::Completed)
    }

    /// Brings the loads to where the links are.
    fn load(&mut self) {
        if self.loads.is_empty() {
            return;
        }
        let poses = self.simulation.link_poses();
        self.wrenches.fill(Wrench::ZERO);
        for load in &self.loads {
            let link = load.link.index();
            self.wrenches[link] += load.in_link(&poses[link]);
        }
        if let Mover::Alone(simulation) = &mut self.simulation {
            simulation.set_loads(&self.still, &self.wrenches);
        }
    }

    fn record(&mut self, args: &SimulateArgs, loop_gap: f64) -> Result<(), CliError> {
        if args.output.is_empty() {
            return Ok(());
        }
        let MechanismEnergy { kinetic, gravitational, elastic } = self.last;
        let scalars = Scalars { kinetic, gravitational, elastic, loop_gap };
        let poses = self.poses();
        self.trajectory.push(self.simulation.time(), scalars, &poses)?;
        Ok(())
    }

    fn poses(&self) -> Vec<Pose> {
        let all = self.simulation.link_poses();
        self.links.iter().map(|&i| all[i]).collect()
    }

    /// Poses of the last sound state.
    fn sound_poses(&self, m: &Mechanism) -> Vec<Pose> {
        let mut q = m.start_positions();
        q[..self.sound.0.q.len()].copy_from_slice(&self.sound.0.q);
        let all = m.link_poses(&q);
        self.links.iter().map(|&i| all[i]).collect()
    }
}

/// The answer; field names are part of the program's interface.
#[derive(Debug, Serialize)]
struct Report {
    status: &'static str,
    /// Why the run stopped, and what to do about it.
    problem: Option<String>,
    integrator: &'static str,
    time: f64,
    step: f64,
    internal_steps: usize,
    rejected_steps: usize,
    damped_steps: usize,
    evaluations: usize,
    qpos: Vec<f64>,
    qvel: Vec<f64>,
    energy: EnergyEntry,
    start_energy: EnergyEntry,
    largest_energy_growth: f64,
    largest_loop_gap: f64,
    samples: usize,
    links: Vec<LinkPose>,
    warnings: Vec<String>,
}

impl Report {
    fn new(m: &Mechanism, run: Run<'_>, status: SimulationStatus, args: &SimulateArgs) -> Self {
        let (state, time) = &run.sound;
        let mut qvel = state.v.clone();
        FreeJoints::new(m, &state.q).to_world(&mut qvel);
        let mut warnings: Vec<String> = released_note(m).into_iter().collect();
        let statistics = match &run.simulation {
            Mover::Alone(s) => s.statistics(),
            Mover::Bound(b) => {
                if b.inexact > 0 {
                    let inexact = b.inexact;
                    warnings.push(format!(
                        "in {inexact} steps the forces in the joints were not found as exactly as \
                         asked"
                    ));
                }
                SimulationStatistics { steps: b.steps(), ..SimulationStatistics::default() }
            }
        };
        let SimulationStatistics { steps, rejected, evaluations, damped, .. } = statistics;
        let start_gap = run.start_gap;
        if start_gap > GAP_WARNING {
            let gap = short(start_gap);
            warnings.push(format!("the loops of the start state are open by {gap} of the size"));
        }
        let link = |(name, p): (&String, Pose)| LinkPose::new(name, &p);
        Self {
            status: status.name(),
            problem: problem(m, status, *time, args),
            integrator: args.integrator.name(),
            time: *time,
            step: self::steps(args).1,
            internal_steps: steps,
            rejected_steps: rejected,
            damped_steps: damped,
            evaluations,
            qpos: state.q.clone(),
            qvel,
            energy: run.last.into(),
            start_energy: run.start.into(),
            largest_energy_growth: run.largest_growth,
            largest_loop_gap: run.largest_gap,
            samples: run.trajectory.samples().len(),
            links: run.trajectory.links().iter().zip(run.sound_poses(m)).map(link).collect(),
            warnings,
        }
    }

    fn text(&self) -> String {
        let mut out = Text::new(27);
        out.line("status", self.status);
        out.line("time (s)", short(self.time));
        out.line(
            "steps",
            format!(
                "{} ({} rejected, {})",
                self.internal_steps, self.rejected_steps, self.integrator
            ),
        );
        out.line("energy at the start (J)", self.start_energy.text());
        out.line("energy at the end (J)", self.energy.text());
        out.line("largest growth (J)", short(self.largest_energy_growth));
        out.line("largest loop gap", short(self.largest_loop_gap));
        let table = LinkPose::table("link", &self.links);
        out.block(format_args!("positions at the end\n{table}"));
        out.finish()
    }
}
