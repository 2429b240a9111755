//! Released from a displaced equilibrium: the reduced model beside the full implicit simulation of
//! the same step.

use std::sync::Arc;

use forks_dynamics::{
    integrate::{Simulation, SimulationOptions, SimulationStatus as FullStatus},
    statics::{Equilibrium, EquilibriumStatus},
};
use forks_io::{Cell, CsvTable};
use forks_mechanism::lie::{Pose, Wrench, glam::DVec3};
use forks_reduce::{MassModel, ReduceOptions, relative_displacement};
use forks_rom::{
    EffectorLoad, LoadFrame, ReducedModel, State, StaticStatus, StepStatus, Stepper, System,
};

use super::{
    case::Case,
    record::{Recorder, larger},
    scenario::Release,
};
use crate::svg::{Axis, LinePlot, Series};

/// Poses of the first effector, one per step, the start first.
type Path = Vec<Pose>;

/// Distance of two poses for a mechanism of size r.
type Measure = fn(&Pose, &Pose, f64) -> f64;

pub(crate) fn check(r: &Release, case: &Case, out: &mut Recorder) -> Result<(), String> {
    let name = |what: &str| format!("release {} {}: {what}", r.name, r.displacement);
    let Some((force, start)) = displaced(r, case) else {
        out.fail(&name("start"), 0.0, "no equilibrium at the displacement asked for");
        return Ok(());
    };
    let full = match full_path(r, case, &start) {
        Ok((path, damped)) => {
            // Otherwise the full simulation would have left its scheme.
            out.equal(&name("full steps with energy taken off"), damped, 0);
            path
        }
        Err(status) => {
            out.fail(&name("full simulation"), 0.0, status.name());
            return Ok(());
        }
    };
    let rest = &case.reduction.model.data().effectors[0].rest;
    let mut paths = Vec::new();
    for (label, model, bound) in models(r, case)? {
        let Some(path) = reduced_path(r, model, force)? else {
            out.fail(&name(label), bound, "the reduced model did not start or step");
            continue;
        };
        let measures: [(&str, Measure); 2] = [
            ("path", |a, b, _| a.translation.distance(b.translation)),
            ("poses", relative_displacement),
        ];
        for (what, measure) in measures {
            let of = |a: &Pose, b: &Pose| measure(a, b, case.r());
            let peak = full.iter().map(|p| of(rest, p)).fold(0.0, larger);
            let worst = path.iter().zip(&full).map(|(a, b)| of(a, b)).fold(0.0, larger);
            out.judge(&name(&format!("{what}, {label}")), worst / peak, bound);
        }
        paths.push((label, path));
    }
    let along = (full[0].translation - rest.translation).normalize();
    report(r, &full, &paths, along, out)
}

/// A reduced model by the name of its mass model, and the bound of its error.
type Bounded = (&'static str, ReducedModel, Option<f64>);

/// The reduced models to compare, and their bounds.
fn models(r: &Release, case: &Case) -> Result<Vec<Bounded>, String> {
    let with = |mass| {
        let options = ReduceOptions { mass, ..ReduceOptions::default() };
        let found = case.problem.reduce(case.problem.at_rest(), &options);
        found.map(|r| r.model).map_err(|e| e.to_string())
    };
    Ok(vec![
        ("Craig–Bampton", with(MassModel::CraigBampton { modes: r.modes })?, r.craig_bampton),
        ("condensed", with(MassModel::Condensed)?, r.condensed),
        ("accelerability", with(MassModel::Accelerability)?, r.accelerability),
    ])
}

/// The force along the given direction at which the full equilibrium has the relative displacement
/// asked for.
fn displaced(r: &Release, case: &Case) -> Option<(DVec3, Equilibrium)> {
    let direction = DVec3::from_array(r.direction).normalize();
    let effector = &case.problem.effectors[0];
    let rest = case.reduction.model.data().effectors[0].rest;
    let at = |size: f64| {
        let e = case.equilibrium(&case.load_on_first(Wrench::new(direction * size, DVec3::ZERO)));
        let pose = e.world_from_link[effector.link.index()] * effector.link_from_effector;
        let moved = relative_displacement(&rest, &pose, case.r());
        (e.status == EquilibriumStatus::Converged).then_some((e, moved))
    };
    let (mut low, mut high) = (0.0, 1.0);
    while at(high)?.1 < r.displacement {
        (low, high) = (high, 2.0 * high);
    }
    // To 2⁻¹⁶ of the force.
    for _ in 0..16 {
        let middle = 0.5 * (low + high);
        if at(middle)?.1 < r.displacement { low = middle } else { high = middle }
    }
    Some((direction * high, at(high)?.0))
}

/// The full simulation's path, and how often it took off energy.
fn full_path(r: &Release, case: &Case, start: &Equilibrium) -> Result<(Path, usize), FullStatus> {
    let m = case.unstressed.mechanism();
    let q = &start.q[..m.tree_position_count()];
    let options =
        SimulationOptions { gravity: false, energy_halvings: 0, ..SimulationOptions::default() };
    let mut simulation = Simulation::new(m, q, &vec![0.0; m.tree_velocity_count()], options);
    let effector = &case.problem.effectors[0];
    let at =
        |s: &Simulation<'_>| s.link_poses()[effector.link.index()] * effector.link_from_effector;
    let mut path = vec![at(&simulation)];
    for _ in 0..r.steps() {
        match simulation.step(r.step_size) {
            FullStatus::Completed => path.push(at(&simulation)),
            status => return Err(status),
        }
    }
    Ok((path, simulation.statistics().damped))
}

/// The reduced path from the static solution under the force; none if that or a step fails.
fn reduced_path(r: &Release, model: ReducedModel, force: DVec3) -> Result<Option<Path>, String> {
    let wrench = Wrench::new(force, DVec3::ZERO);
    let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::World };
    let start = model.solve_static(&[load], &[]).map_err(|e| e.to_string())?;
    if start.status != StaticStatus::Converged {
        return Ok(None);
    }
    let model = Arc::new(model);
    let stepper = Stepper::new(model.clone(), r.step_size).map_err(|e| e.to_string())?;
    let mut state = State::new(&model);
    let mut work = stepper.workspace();
    state.set(&start.coordinates, &vec![0.0; model.dof()]).map_err(|e| e.to_string())?;
    let mut path = vec![model.effector_pose(0, state.coordinates())];
    for _ in 0..r.steps() {
        if stepper.step(&mut state, &mut work, &[]) != StepStatus::Completed {
            return Ok(None);
        }
        path.push(model.effector_pose(0, state.coordinates()));
    }
    Ok(Some(path))
}

/// Positions (CSV), and those along the first displacement (SVG).
fn report(
    r: &Release,
    full: &Path,
    paths: &[(&'static str, Path)],
    along: DVec3,
    out: &Recorder,
) -> Result<(), String> {
    let file =
        |ending: &str| out.report_path(&format!("release{}-{}.{ending}", r.name, r.displacement));
    let Some(table_file) = file("csv") else { return Ok(()) };
    let all: Vec<(&str, &Path)> =
        [("full", full)].into_iter().chain(paths.iter().map(|(n, p)| (*n, p))).collect();
    let mut table = CsvTable::new(["model", "time_s", "x", "y", "z"]);
    let x = Axis::linear("time", "s");
    let y = Axis::linear("position along the released displacement", "m");
    let mut plot = LinePlot::new("Released from a displaced equilibrium", x, y);
    for (name, path) in all {
        for (k, p) in path.iter().map(|p| p.translation).enumerate() {
            let t = k as f64 * r.step_size;
            let row: [Cell; 5] = [name.into(), t.into(), p.x.into(), p.y.into(), p.z.into()];
            table.push(row).map_err(|e| e.to_string())?;
        }
        let points = path.iter().enumerate();
        let points = points.map(|(k, p)| [k as f64 * r.step_size, p.translation.dot(along)]);
        plot = plot.series(Series::new(name, points));
    }
    table.save(table_file).map_err(|e| e.to_string())?;
    match file("svg") {
        Some(file) => plot.save(file).map_err(|e| e.to_string()),
        None => Ok(()),
    }
}
