//! The models, each built, measured and timed in the same way.

use std::{ops::ControlFlow, sync::Arc};

use forks_blend::{BlendedModel, BlendedState, BlendedStepper, LinkBlend};
use forks_dynamics::{
    Loads,
    integrate::{Simulation, SimulationOptions, SimulationStatus},
    statics::Equilibrium,
};
use forks_mechanism::lie::{Pose, Wrench, glam::DVec3};
use forks_place::{Forces, Placement, Progress, Ruler, Shown, place};
use forks_reduce::{Linearisation, MassModel, Problem, ReduceOptions, natural_frequencies};
use forks_rom::{
    EffectorLoad, LoadFrame, PoseBuffer, ReducedModel, State, StaticStatus, Stepper,
    batch::{Batch, BatchPoses},
};

use crate::{
    Row, Settings,
    timing::{median_time, step_time},
};

/// Forces on effectors, fixed in the world.
fn effector_loads(forces: &Forces) -> Vec<EffectorLoad> {
    let load = |&(effector, force): &(usize, DVec3)| EffectorLoad {
        effector,
        wrench: Wrench::new(force, DVec3::ZERO),
        frame: LoadFrame::World,
    };
    forces.iter().map(load).collect()
}

/// What rows have in common.
pub(crate) struct Bench<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) problem: &'a Problem,
    /// The equilibrium without forces.
    pub(crate) start: &'a Equilibrium,
    pub(crate) loads: &'a Loads,
    pub(crate) ruler: Ruler<'a>,
    /// The load under which steps are timed.
    pub(crate) pushed: &'a Forces,
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
        row.frequencies(frequencies);
        let links = &self.start.world_from_link;
        // Its own gaps, of loops that are closed to rounding.
        let own = self.ruler.own();
        (row.static_error, row.constraint_error) = (Some(0.0), Some(own));
        let q = &self.start.q[..m.tree_position_count()];
        let options =
            SimulationOptions { gravity: self.settings.gravity, ..SimulationOptions::default() };
        let mut simulation = Simulation::new(m, q, &vec![0.0; row.coordinates], options);
        let mut external = vec![Wrench::ZERO; links.len()];
        for (k, force) in self.pushed {
            let e = &self.problem.effectors[*k];
            let force = links[e.link.index()].rotation.conjugate() * *force;
            let arm = e.link_from_effector.translation;
            external[e.link.index()] += Wrench::new(force, arm.cross(force));
        }
        simulation.set_loads(&vec![0.0; row.coordinates], &external);
        let time = median_time(|| {
            let done = simulation.step(self.settings.step) == SimulationStatus::Completed;
            std::hint::black_box(simulation.link_poses());
            done
        });
        row.timed(time, self.settings.step);
        row
    }

    /// A single reduced model, about the equilibrium without forces.
    pub(crate) fn single(&self, name: &str, mass: MassModel) -> (Row, Option<ReducedModel>) {
        let at = Linearisation::equilibrium(self.start, self.loads);
        let options =
            ReduceOptions { mass, range: self.settings.range, ..ReduceOptions::default() };
        let reduction = match self.problem.reduce(at, &options) {
            Ok(reduction) => reduction,
            Err(e) => return (Row::failed(name, &e), None),
        };
        let mut row = Row::new(name);
        row.frequencies(reduction.frequencies());
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
        let stepper = Stepper::new(Arc::new(model.clone()), self.settings.step);
        let time = stepper.ok().and_then(|s| step_time(&s, &effector_loads(self.pushed)));
        row.timed(time, self.settings.step);
        (row, Some(model))
    }

    /// A blend, placed for forces in the region.
    pub(crate) fn blended(
        &self,
        placement: &Placement,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Row {
        let name = "blended";
        let placed = place(self.problem, placement, progress);
        let placed = match placed {
            Ok(placed) => placed,
            Err(e) => return Row::failed(name, &e),
        };
        let model = Arc::new(placed.model);
        let mut row = Row::new(name);
        row.coordinates = model.dof();
        row.samples = Some(model.data().samples.len());
        let first = model.data().samples[0].model.data();
        row.frequencies(natural_frequencies(first));
        row.errors(self.ruler.worst(|loads| shown_by_blend(&model, loads, self.links())));
        let stepper = BlendedStepper::new(model, self.settings.step).ok();
        let time = stepper.and_then(|s| step_time(&s, &effector_loads(self.pushed)));
        row.timed(time, self.settings.step);
        row
    }

    /// Many instances of a single model at once, which are what the single one is.
    pub(crate) fn batch(&self, single: &Row, model: &ReducedModel) -> Row {
        let count = self.settings.instances;
        let mut row = Row::new(format!("batch of {count}"));
        row.coordinates = single.coordinates;
        (row.static_error, row.constraint_error) = (single.static_error, single.constraint_error);
        row.frequencies_rad_s.clone_from(&single.frequencies_rad_s);
        let Ok(stepper) = Stepper::new(Arc::new(model.clone()), self.settings.step) else {
            return row;
        };
        let mut poses = BatchPoses::new(model, count);
        let mut batch = Batch::new(stepper, count);
        let loads = vec![effector_loads(self.pushed); count];
        let time = median_time(|| {
            let status = batch.step(&loads);
            batch.poses(&mut poses);
            status.not_finite == 0
        });
        row.timed(time.map(|t| t / count as f64), self.settings.step);
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
