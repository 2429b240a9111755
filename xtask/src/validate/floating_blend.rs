//! Blends whose base floats: an arm bent far on a base that turns, beside the full simulation and
//! one model; then free, with momentum and energy watched.

use std::{ops::ControlFlow, sync::Arc};

use forks_blend::{BlendedModel, FloatingBlend, FloatingBlendStepper, Weights};
use forks_dynamics::{
    Loads, WrenchFrame,
    integrate::{Simulation, SimulationOptions, SimulationStatus},
    statics::EquilibriumOptions,
};
use forks_mechanism::{
    MechanismBuilder,
    lie::{Pose, Wrench, glam::DVec3},
};
use forks_place::{Chart, LoadRegion, Placement, Sample, blend_data, place, with_base};
use forks_reduce::ReduceOptions;
use forks_rom::{
    BaseCoupling, EffectorLoad, FloatingModel, FloatingStepper, LoadFrame, StepStatus, System,
};

use super::{
    case::Case,
    record::{Recorder, larger},
    scenario::FloatingBlends,
};

/// Momentum without loads stays to this part of the largest that there was.
const MOMENTUM_BOUND: f64 = 1e-10;
/// Energy without loads grows by no more than this part of it: rounding.
const ENERGY_BOUND: f64 = 1e-12;

/// Poses of base and effector, one pair per step.
type Path = Vec<[Pose; 2]>;

impl FloatingBlends {
    fn steps(&self) -> usize {
        (self.duration / self.step_size).round() as usize
    }

    fn force(&self, step: usize) -> DVec3 {
        let t = (step as f64 + 0.5) / self.steps() as f64;
        DVec3::from_array(self.force) * (t * t * (3.0 - 2.0 * t))
    }
}

pub(crate) fn check(f: &FloatingBlends, case: &Case, out: &mut Recorder) -> Result<(), String> {
    let full = match full_path(f, case)? {
        Ok(path) => path,
        Err(status) => {
            out.fail("full simulation", f.bounds.base, status.name());
            return Ok(());
        }
    };
    let said = |e: forks_rom::ModelError| e.to_string();
    let options = ReduceOptions { floating: true, ..ReduceOptions::default() };
    let reduction = case.problem.reduce(case.problem.at_rest(), &options);
    let model = Arc::new(reduction.map_err(|e| e.to_string())?.model);
    let one = FloatingModel::new(model, BaseCoupling::default()).map_err(said)?;
    let one = Arc::new(one.with_gravity(DVec3::ZERO));
    let one = FloatingStepper::new(one, f.step_size).map_err(said)?;
    let run = reduced_run(f, &one);
    let [effector, base] = deviation(&full, &run.path);
    out.info("effector over its way, one model", effector);
    out.info("base's angle, one model", base);
    for (name, model, bound) in [
        ("poses", in_poses(f, case)?, f.bounds.poses),
        ("joint displacements", in_joints(f, case)?, f.bounds.joints),
    ] {
        let model = FloatingBlend::new(Arc::new(model)).map_err(said)?;
        let model = Arc::new(model.with_gravity(DVec3::ZERO));
        let system = FloatingBlendStepper::new(model, f.step_size).map_err(said)?;
        let run = reduced_run(f, &system);
        let row = |what: &str| format!("{what}, blend in {name}");
        let [effector, base] = deviation(&full, &run.path);
        out.at_most(&row("effector over its way"), effector, bound);
        out.at_most(&row("base's angle"), base, f.bounds.base);
        out.equal(&row("steps not completed"), run.exceptions, 0);
        out.at_most(&row("momentum without loads"), run.momentum, MOMENTUM_BOUND);
        out.at_most(&row("energy without loads grows"), run.growth, ENERGY_BOUND);
    }
    Ok(())
}

/// Largest deviation of the effector as the base sees it, over the way of its tip, and of the
/// base's angle over the angle that it turned.
fn deviation(full: &Path, path: &Path) -> [f64; 2] {
    let seen = |p: &[Pose; 2]| p[0].inverse() * p[1];
    let start = full[0];
    let gap = |a: Pose, b: Pose| a.translation.distance(b.translation);
    let turned = |a: Pose, b: Pose| (a.inverse() * b).log().angular.length();
    let pairs = || full.iter().zip(path);
    let far = full.iter().map(|p| gap(seen(&start), seen(p))).fold(0.0, larger);
    let way = full.iter().map(|p| turned(start[0], p[0])).fold(0.0, larger);
    [
        pairs().map(|(a, b)| gap(seen(a), seen(b))).fold(0.0, larger) / far,
        pairs().map(|(a, b)| turned(a[0], b[0])).fold(0.0, larger) / way,
    ]
}

/// The full mechanism by the implicit scheme.
fn full_path(f: &FloatingBlends, case: &Case) -> Result<Result<Path, SimulationStatus>, String> {
    let mut builder = MechanismBuilder::from_mechanism(&case.original);
    builder.set_gravity(DVec3::ZERO);
    let m = builder.build().map_err(|e| e.to_string())?;
    let held = case.problem.prepared.held.ok_or("the base is not free")?;
    let base = m.joint(held).child.index();
    let q = case.problem.prepared.original_positions(&m, &case.problem.start);
    let still = vec![0.0; m.tree_velocity_count()];
    let options = SimulationOptions::default();
    let mut simulation = Simulation::new(&m, &q[..m.tree_position_count()], &still, options);
    let tip = &case.problem.effectors[0];
    let mut path = vec![];
    for k in 0..f.steps() {
        for _ in 0..f.full_steps {
            let mut external = vec![Wrench::ZERO; m.links().len()];
            let pose = simulation.link_poses()[tip.link.index()] * tip.link_from_effector;
            let body = Wrench::new(pose.rotation.conjugate() * f.force(k), DVec3::ZERO);
            external[tip.link.index()] = tip.link_from_effector.adjoint().apply_to_wrench(body);
            simulation.set_loads(&still, &external);
            match simulation.step(f.step_size / f.full_steps as f64) {
                SimulationStatus::Completed => {}
                status => return Ok(Err(status)),
            }
        }
        let poses = simulation.link_poses();
        path.push([poses[base], poses[tip.link.index()] * tip.link_from_effector]);
    }
    Ok(Ok(path))
}

/// Samples at stated forces, plain weights.
fn in_poses(f: &FloatingBlends, case: &Case) -> Result<BlendedModel, String> {
    let said = |e: forks_place::BlendError| e.to_string();
    let (p, options) = (&case.problem, EquilibriumOptions::default());
    let sample = |force: &[f64; 3]| {
        let wrench = Wrench::new(DVec3::from_array(*force), DVec3::ZERO);
        let loads = Loads::none().with(p.effectors[0].applied(wrench, WrenchFrame::World));
        Sample::new(p, &p.equilibrium(&loads, &options), &loads).map_err(said)
    };
    let samples = f.samples.iter().map(sample).collect::<Result<Vec<_>, _>>()?;
    let weights = Weights::Shepard { exponent: 6 };
    let data = blend_data(&samples[0].effector_poses(), &samples, weights).map_err(said)?;
    let model = BlendedModel::new(data).map_err(|e| e.to_string())?;
    with_base(p, &model).map_err(said)
}

/// Samples where placement wants them.
fn in_joints(f: &FloatingBlends, case: &Case) -> Result<BlendedModel, String> {
    let axis = DVec3::from_array(f.force).normalize();
    let region = LoadRegion {
        displacement: f.until,
        ..LoadRegion::cone(0, axis, f.half_angle_deg.to_radians())
    };
    let placement = Placement {
        regions: vec![region],
        training_loads: 12,
        unseen_loads: 4,
        floating: true,
        chart: Chart::Joints,
        ..Placement::default()
    };
    let placed = place(&case.problem, &placement, &mut |_| ControlFlow::Continue(()));
    Ok(placed.map_err(|e| e.to_string())?.model)
}

struct Run {
    /// While the force grows.
    path: Path,
    exceptions: usize,
    /// Largest change of momentum without loads over the largest part of it.
    momentum: f64,
    /// Largest growth of the energy in a step without loads, over the energy.
    growth: f64,
}

fn reduced_run<S: System>(f: &FloatingBlends, system: &S) -> Run {
    let (mut state, mut work) = (system.state(), system.workspace());
    let mut numbers = vec![0.0; system.coordinate_count()];
    let mut run = Run { path: vec![], exceptions: 0, momentum: 0.0, growth: 0.0 };
    for k in 0..f.steps() {
        let wrench = Wrench::new(f.force(k), DVec3::ZERO);
        let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::World };
        let status = system.step(&mut state, &mut work, &[load]);
        run.exceptions += usize::from(status != StepStatus::Completed);
        system.coordinates(&state, &mut numbers);
        let base = Pose::from_array(core::array::from_fn(|i| numbers[i]));
        run.path.push([base, system.effector_pose(0, &state)]);
    }
    let momentum = |state: &S::State| {
        let p = system.momentum(state).unwrap_or_default();
        [p.linear, p.angular]
    };
    let energy = |state: &S::State, work: &S::Workspace| {
        system.kinetic_energy(state, work) + system.elastic_energy(state, work)
    };
    let (first, mut last) = (momentum(&state), energy(&state, &work));
    let size = first.map(DVec3::length);
    for _ in 0..(f.free / f.step_size).round() as usize {
        let status = system.step(&mut state, &mut work, &[]);
        run.exceptions += usize::from(status != StepStatus::Completed);
        for ((now, first), size) in momentum(&state).into_iter().zip(first).zip(size) {
            run.momentum = larger(run.momentum, now.distance(first) / size);
        }
        let now = energy(&state, &work);
        run.growth = larger(run.growth, (now - last) / last.abs());
        last = now;
    }
    run
}
