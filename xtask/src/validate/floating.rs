//! A base that floats: the reduced model beside the full simulation, and its momentum beside the
//! impulses.

use std::sync::Arc;

use forks_dynamics::integrate::{Integrator, Simulation, SimulationOptions, SimulationStatus};
use forks_io::{Cell, CsvTable};
use forks_mechanism::{
    MechanismBuilder,
    lie::{Pose, Twist, Wrench, glam::DVec3},
};
use forks_reduce::ReduceOptions;
use forks_rom::{
    BaseCoupling, EffectorLoad, FloatingModel, FloatingState, FloatingStepper, LoadFrame,
    ReducedModel, StepStatus as ReducedStatus, System,
};

use super::{
    case::Case,
    record::{Recorder, larger},
    scenario::{Floating, FloatingMotion},
};
use crate::svg::{Axis, LinePlot, Series, Stroke};

/// Total momentum follows the impulses to this part of the largest momentum or impulse.
const MOMENTUM_BOUND: f64 = 1e-9;

/// Poses of the base link, one per step, the start first.
type Path = Vec<Pose>;

pub(crate) fn check(f: &Floating, case: &Case, out: &mut Recorder) -> Result<(), String> {
    let options = ReduceOptions { floating: true, ..ReduceOptions::default() };
    let reduction = case.problem.reduce(case.problem.at_rest(), &options);
    let reduction = reduction.map_err(|e| e.to_string())?;
    let model = Arc::new(reduction.model);
    let base = model.data().base.as_ref().ok_or("the base does not float")?.link;
    for motion in &f.motions {
        let name = |what: &str| format!("floating, {}: {what}", motion.name);
        let full = match full_path(f, motion, case, base)? {
            Ok(path) => path,
            Err(status) => {
                out.fail(&name("full simulation"), f.base, status.name());
                continue;
            }
        };
        let mut paths = vec![("full", full)];
        for (label, coupling, bound) in [
            ("one Lagrangian", BaseCoupling::Full, Some(f.base)),
            ("pose's inertia", BaseCoupling::Inertial, None),
            ("[A16]", BaseCoupling::External, None),
        ] {
            let run = reduced_path(f, motion, &model, coupling)?;
            out.equal(&name(&format!("steps not completed, {label}")), run.exceptions, 0);
            let [moved, turned] = deviation(&paths[0].1, &run.path);
            out.judge(&name(&format!("base's position, {label}")), moved, bound);
            out.judge(&name(&format!("base's angle, {label}")), turned, bound);
            if coupling == BaseCoupling::Full {
                out.at_most(&name("momentum − impulse, linear"), run.momentum[0], MOMENTUM_BOUND);
                out.at_most(&name("momentum − impulse, angular"), run.momentum[1], MOMENTUM_BOUND);
            }
            paths.push((label, run.path));
        }
        report(f, motion, &paths, out)?;
    }
    Ok(())
}

/// Largest distance over the full base's largest displacement, and largest angle over the angle it
/// turned in all; 0 where it does neither.
fn deviation(full: &Path, reduced: &Path) -> [f64; 2] {
    let angle = |a: &Pose, b: &Pose| (a.inverse() * *b).log().angular.length();
    let pairs = || full.iter().zip(reduced);
    let moved = pairs().map(|(a, b)| a.translation.distance(b.translation)).fold(0.0, larger);
    let turned = pairs().map(|(a, b)| angle(a, b)).fold(0.0, larger);
    let far = full.iter().map(|p| p.translation.distance(full[0].translation)).fold(0.0, larger);
    let way: f64 = full.windows(2).map(|w| angle(&w[0], &w[1])).sum();
    let over = |x: f64, size: f64| if x <= 1e-9 { 0.0 } else { x / size };
    [over(moved, far), over(turned, way)]
}

fn pushes(f: &Floating, motion: &FloatingMotion, step: usize) -> bool {
    (step as f64 + 0.5) * f.step_size < motion.force_until
}

/// The full mechanism with its free joint, by the scheme of order 4.
fn full_path(
    f: &Floating,
    motion: &FloatingMotion,
    case: &Case,
    base: usize,
) -> Result<Result<Path, SimulationStatus>, String> {
    let mut builder = MechanismBuilder::from_mechanism(&case.original);
    builder.set_gravity(DVec3::from_array(motion.gravity));
    let m = builder.build().map_err(|e| e.to_string())?;
    let held = case.problem.prepared.held.ok_or("the base is not free")?;
    let q = case.problem.prepared.original_positions(&m, &case.problem.start);
    let mut v = vec![0.0; m.tree_velocity_count()];
    // The free joint's rates are the body twist in the joint's frame in the child.
    let twist = base_twist(motion);
    let in_joint = m.joint(held).child_from_joint.adjoint().apply_inverse(twist);
    v[m.velocity_range(held)].copy_from_slice(&in_joint.to_array());
    let options =
        SimulationOptions { integrator: Integrator::RungeKutta4, ..SimulationOptions::default() };
    let mut simulation = Simulation::new(&m, &q[..m.tree_position_count()], &v, options);
    let effector = &case.problem.effectors[0];
    let tau = vec![0.0; m.tree_velocity_count()];
    let force = DVec3::from_array(motion.force);
    let mut path = vec![simulation.link_poses()[base]];
    for k in 0..f.steps() {
        for _ in 0..f.full_steps {
            let mut external = vec![Wrench::ZERO; m.links().len()];
            if pushes(f, motion, k) {
                let pose = simulation.link_poses()[effector.link.index()];
                let pose = pose * effector.link_from_effector;
                let body = Wrench::new(pose.rotation.conjugate() * force, DVec3::ZERO);
                external[effector.link.index()] =
                    effector.link_from_effector.adjoint().apply_to_wrench(body);
            }
            simulation.set_loads(&tau, &external);
            match simulation.step(f.step_size / f.full_steps as f64) {
                SimulationStatus::Completed => {}
                status => return Ok(Err(status)),
            }
        }
        path.push(simulation.link_poses()[base]);
    }
    Ok(Ok(path))
}

fn base_twist(motion: &FloatingMotion) -> Twist {
    Twist::new(DVec3::from_array(motion.velocity), DVec3::from_array(motion.spin))
}

struct Run {
    path: Path,
    exceptions: usize,
    /// Largest difference of momentum and impulses, over the largest of them: linear, angular about
    /// the origin.
    momentum: [f64; 2],
}

fn reduced_path(
    f: &Floating,
    motion: &FloatingMotion,
    model: &Arc<ReducedModel>,
    coupling: BaseCoupling,
) -> Result<Run, String> {
    let said = |e: forks_rom::ModelError| e.to_string();
    let gravity = DVec3::from_array(motion.gravity);
    let floating = FloatingModel::new(model.clone(), coupling).map_err(said)?.with_gravity(gravity);
    let floating = Arc::new(floating);
    let stepper = FloatingStepper::new(floating.clone(), f.step_size).map_err(said)?;
    let mut state = FloatingState::new(&floating);
    let mut work = stepper.workspace();
    let (still, start) = (vec![0.0; model.dof()], state.world_from_base());
    state.set(&floating, &still, &still, start, base_twist(motion)).map_err(said)?;
    let force = DVec3::from_array(motion.force);
    let wrench = Wrench::new(force, DVec3::ZERO);
    let push = [EffectorLoad { effector: 0, wrench, frame: LoadFrame::World }];
    let begin = floating.momentum(&state);
    let (mut linear, mut angular) = (begin.linear, begin.angular);
    let (mut size, mut error) = ([linear.length(), angular.length()], [0.0f64; 2]);
    let mut run = Run { path: vec![start], exceptions: 0, momentum: [0.0; 2] };
    for k in 0..f.steps() {
        let loads = if pushes(f, motion, k) { &push[..] } else { &[] };
        // Over a step forces act at the points of its start, carried along by the centre of mass.
        let weight = (gravity * floating.mass(), floating.center_of_mass(&state));
        let pushed = loads.iter().map(|_| (force, floating.effector_pose(0, &state).translation));
        let forces: Vec<(DVec3, DVec3)> = [weight].into_iter().chain(pushed).collect();
        let before = floating.momentum(&state).linear / floating.mass();
        if stepper.step(&mut state, &mut work, loads) != ReducedStatus::Completed {
            run.exceptions += 1;
        }
        let drift = before * (0.5 * f.step_size);
        for (force, point) in forces {
            linear += force * f.step_size;
            angular += (point + drift).cross(force) * f.step_size;
        }
        let p = floating.momentum(&state);
        size = [size[0].max(linear.length()), size[1].max(angular.length())];
        let now = [p.linear.distance(linear), p.angular.distance(angular)];
        error = [larger(error[0], now[0]), larger(error[1], now[1])];
        run.path.push(state.world_from_base());
    }
    // Nothing there: rounding over the momentum of r·ω or v = 1.
    let floor = floating.mass() * f64::EPSILON;
    run.momentum = core::array::from_fn(|i| error[i] / size[i].max(floor));
    Ok(run)
}

/// Base positions (CSV), and the distance from the start (SVG).
fn report(
    f: &Floating,
    motion: &FloatingMotion,
    paths: &[(&'static str, Path)],
    out: &Recorder,
) -> Result<(), String> {
    let file = |ending: &str| out.report_path(&format!("floating-{}.{ending}", motion.name));
    let Some(table_file) = file("csv") else { return Ok(()) };
    let columns = ["model", "time_s", "x", "y", "z", "qw", "qx", "qy", "qz"];
    let mut table = CsvTable::new(columns);
    let y = Axis::linear("distance of the base from its start", "m");
    let mut plot = LinePlot::new("Base that floats", Axis::linear("time", "s"), y);
    for (name, path) in paths {
        let time = |k: usize| k as f64 * f.step_size;
        for (k, pose) in path.iter().enumerate() {
            let (p, q) = (pose.translation, pose.rotation);
            let numbers = [time(k), p.x, p.y, p.z, q.w, q.x, q.y, q.z];
            let row: Vec<Cell> =
                [(*name).into()].into_iter().chain(numbers.into_iter().map(Cell::from)).collect();
            table.push(row).map_err(|e| e.to_string())?;
        }
        let start = path[0].translation;
        let far = path.iter().enumerate();
        let far = far.map(|(k, p)| [time(k), p.translation.distance(start)]);
        let stroke = if *name == "full" { Stroke::Solid } else { Stroke::Dashed };
        plot = plot.series(Series::new(*name, far).stroke(stroke));
    }
    table.save(table_file).map_err(|e| e.to_string())?;
    match file("svg") {
        Some(file) => plot.save(file).map_err(|e| e.to_string()),
        None => Ok(()),
    }
}
