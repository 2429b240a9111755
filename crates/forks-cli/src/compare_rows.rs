//! The models that `forks compare` looks at, each measured in the same way.

use std::{
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

use forks_blend::{BlendedModel, BlendedState, BlendedStepper, LinkBlend};
use forks_dynamics::{
    Loads,
    integrate::{Simulation, SimulationOptions, SimulationStatus},
    statics::Equilibrium,
};
use forks_mechanism::lie::{Pose, Wrench, glam::DVec3};
use forks_place::{Forces, Placement, Ruler, Shown, Worst, place};
use forks_reduce::{Linearisation, MassModel, Problem, ReduceOptions, natural_frequencies};
use forks_rom::{
    EffectorLoad, LoadFrame, PoseBuffer, ReducedModel, State, StaticStatus, Stepper, System,
    batch::{Batch, BatchPoses},
};
use serde::Serialize;

use crate::{blend::show_progress, compare_args::CompareArgs};

/// Time over which steps are timed, and how often.
const TIMED: f64 = 0.04;
const TIMES: usize = 5;

/// Frequencies that are listed.
const LISTED: usize = 3;

/// Forces on effectors, fixed in the world.
fn effector_loads(forces: &Forces) -> Vec<EffectorLoad> {
    let load = |&(effector, force): &(usize, DVec3)| EffectorLoad {
        effector,
        wrench: Wrench::new(force, DVec3::ZERO),
        frame: LoadFrame::World,
    };
    forces.iter().map(load).collect()
}

/// One model; numbers are null where there are none.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) model: String,
    pub(crate) coordinates: usize,
    pub(crate) samples: Option<usize>,
    /// Median time of a step with the poses of all links; of a batch per instance.
    pub(crate) microseconds_per_step: Option<f64>,
    pub(crate) static_error: Option<f64>,
    pub(crate) constraint_error: Option<f64>,
    /// The lowest ones, rad/s.
    pub(crate) frequencies_rad_s: Vec<f64>,
    /// Why there is no such model, or what is to be known about it.
    pub(crate) note: Option<String>,
}

impl Row {
    fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            coordinates: 0,
            samples: None,
            microseconds_per_step: None,
            static_error: None,
            constraint_error: None,
            frequencies_rad_s: Vec::new(),
            note: None,
        }
    }

    fn failed(model: impl Into<String>, why: &dyn std::fmt::Display) -> Self {
        Self { note: Some(why.to_string()), ..Self::new(model) }
    }

    fn errors(&mut self, worst: Worst) {
        let finite = |x: f64| x.is_finite().then_some(x);
        self.static_error = finite(worst.statics);
        self.constraint_error = finite(worst.constraint);
        if self.static_error.is_none() {
            self.note = Some("no equilibrium at some load".into());
        }
    }
}

/// What rows have in common.
pub(crate) struct Bench<'a> {
    pub(crate) args: &'a CompareArgs,
    pub(crate) problem: &'a Problem,
    /// The equilibrium without forces.
    pub(crate) start: &'a Equilibrium,
    pub(crate) loads: &'a Loads,
    pub(crate) ruler: Ruler<'a>,
    /// The load under which steps are timed.
    pub(crate) pushed: &'a Forces,
}

/// Median time of a step, µs. Steps are made for a while, until one fails.
fn median_time(mut step: impl FnMut() -> bool) -> Option<f64> {
    if !step() {
        return None;
    }
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let (begin, mut count) = (Instant::now(), 0u32);
        while begin.elapsed().as_secs_f64() < TIMED || count < 3 {
            if !step() {
                return None;
            }
            count += 1;
        }
        times.push(1e6 * begin.elapsed().as_secs_f64() / f64::from(count));
    }
    times.sort_by(f64::total_cmp);
    Some(times[TIMES / 2])
}

/// Median time of a step of a model with the poses of all its links.
fn step_time<S: System>(system: &S, loads: &[EffectorLoad]) -> Option<f64> {
    let (mut state, mut work) = (system.state(), system.workspace());
    let mut poses = system.pose_buffer();
    median_time(|| {
        let _ = system.step(&mut state, &mut work, loads);
        system.poses(&state, &mut work, &mut poses);
        true
    })
}

fn in_order(links: usize, buffer: &PoseBuffer) -> Vec<Pose> {
    let mut poses = vec![Pose::IDENTITY; links];
    buffer.iter().for_each(|(l, p)| poses[l] = p);
    poses
}

impl Bench<'_> {
    fn links(&self) -> usize {
        self.problem.mechanism().links().len()
    }

    /// The full solver, which is what the others are measured against.
    pub(crate) fn full(&self, frequencies: Vec<f64>) -> Row {
        let m = self.problem.mechanism();
        let mut row = Row::new("full");
        row.coordinates = m.tree_velocity_count();
        row.frequencies_rad_s = frequencies.into_iter().take(LISTED).collect();
        let links = &self.start.world_from_link;
        // Its own gaps, of loops that are closed to rounding.
        let own = self.ruler.own();
        (row.static_error, row.constraint_error) = (Some(0.0), Some(own));
        let q = &self.start.q[..m.tree_position_count()];
        let options =
            SimulationOptions { gravity: self.args.gravity, ..SimulationOptions::default() };
        let mut simulation = Simulation::new(m, q, &vec![0.0; row.coordinates], options);
        let mut external = vec![Wrench::ZERO; links.len()];
        for (k, force) in self.pushed {
            let e = &self.problem.effectors[*k];
            let force = links[e.link.index()].rotation.conjugate() * *force;
            let arm = e.link_from_effector.translation;
            external[e.link.index()] += Wrench::new(force, arm.cross(force));
        }
        simulation.set_loads(&vec![0.0; row.coordinates], &external);
        row.microseconds_per_step = median_time(|| {
            let done = simulation.step(self.args.step) == SimulationStatus::Completed;
            std::hint::black_box(simulation.link_poses());
            done
        });
        if row.microseconds_per_step.is_none() {
            row.note = Some(format!("it cannot make steps of {} s", self.args.step));
        }
        row
    }

    /// A single reduced model, about the equilibrium without forces.
    pub(crate) fn single(&self, name: &str, mass: MassModel) -> (Row, Option<ReducedModel>) {
        let at = Linearisation::equilibrium(self.start, self.loads);
        let options = ReduceOptions { mass, range: self.args.range, ..ReduceOptions::default() };
        let reduction = match self.problem.reduce(at, &options) {
            Ok(reduction) => reduction,
            Err(e) => return (Row::failed(name, &e), None),
        };
        let mut row = Row::new(name);
        row.frequencies_rad_s = reduction.frequencies().into_iter().take(LISTED).collect();
        let model = reduction.model;
        row.coordinates = model.dof();
        let mut state = State::new(&model);
        let mut buffer = PoseBuffer::new(&model);
        row.errors(self.ruler.worst(|loads| {
            let found = model.solve_static(loads, &[]).ok()?;
            if found.status != StaticStatus::Converged {
                return None;
            }
            let x = &found.coordinates;
            state.set(x, &vec![0.0; model.dof()]).ok()?;
            model.poses(&state, &mut buffer);
            let effectors = (0..model.effector_count()).map(|e| model.effector_pose(e, x));
            let (effectors, links) = (effectors.collect(), in_order(self.links(), &buffer));
            Some(Shown { effectors, links })
        }));
        let stepper = Stepper::new(Arc::new(model.clone()), self.args.step);
        row.microseconds_per_step =
            stepper.ok().and_then(|s| step_time(&s, &effector_loads(self.pushed)));
        (row, Some(model))
    }

    /// A blend, placed for forces in the region.
    pub(crate) fn blended(&self, placement: &Placement, show: bool) -> Row {
        let name = "blended";
        let placement = Placement {
            max_samples: self.args.samples,
            static_tolerance: self.args.static_tolerance,
            constraint_tolerance: self.args.tolerance,
            time_limit: Duration::try_from_secs_f64(self.args.time_limit).ok(),
            ..placement.clone()
        };
        let placed = place(self.problem, &placement, &mut |p| {
            if show {
                show_progress(p);
            }
            ControlFlow::Continue(())
        });
        let placed = match placed {
            Ok(placed) => placed,
            Err(e) => return Row::failed(name, &e),
        };
        let model = Arc::new(placed.model);
        let mut row = Row::new(name);
        row.coordinates = model.dof();
        row.samples = Some(model.data().samples.len());
        let first = model.data().samples[0].model.data();
        row.frequencies_rad_s = natural_frequencies(first).into_iter().take(LISTED).collect();
        row.errors(self.ruler.worst(|loads| shown_by_blend(&model, loads, self.links())));
        let stepper = BlendedStepper::new(model, self.args.step).ok();
        row.microseconds_per_step =
            stepper.and_then(|s| step_time(&s, &effector_loads(self.pushed)));
        row
    }

    /// Many instances of a single model at once, which are what the single one is.
    pub(crate) fn batch(&self, single: &Row, model: &ReducedModel) -> Row {
        let count = self.args.instances;
        let mut row = Row::new(format!("batch of {count}"));
        row.coordinates = single.coordinates;
        (row.static_error, row.constraint_error) = (single.static_error, single.constraint_error);
        row.frequencies_rad_s.clone_from(&single.frequencies_rad_s);
        let Ok(stepper) = Stepper::new(Arc::new(model.clone()), self.args.step) else { return row };
        let mut poses = BatchPoses::new(model, count);
        let mut batch = Batch::new(stepper, count);
        let loads = vec![effector_loads(self.pushed); count];
        let time = median_time(|| {
            let _ = batch.step(&loads);
            batch.poses(&mut poses);
            true
        });
        row.microseconds_per_step = time.map(|t| t / count as f64);
        row
    }
}

fn shown_by_blend(model: &BlendedModel, loads: &[EffectorLoad], links: usize) -> Option<Shown> {
    let found = model.solve_static(loads, &[]).ok()?;
    if found.status != StaticStatus::Converged {
        return None;
    }
    let x = &found.coordinates;
    let state = BlendedState::new(model, x).ok()?;
    let mut work = forks_blend::BlendedWorkspace::new(model);
    let mut buffer = model.pose_buffer();
    model.poses(&state, &mut work, LinkBlend::Average, &mut buffer);
    let effectors = (0..model.effector_count()).map(|e| model.effector_pose(e, x)).collect();
    Some(Shown { effectors, links: in_order(links, &buffer) })
}
