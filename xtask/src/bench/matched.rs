//! `matched/…`: models that are equally right. For each mechanism and displacement the cheapest
//! reduced model whose static and constraint errors at that load are below 2 %, against full
//! simulations under the same force.

use std::{ops::ControlFlow, sync::Arc};

use forks_blend::{BlendedModel, Weights};
use forks_dynamics::{AppliedWrench, Loads, WrenchFrame, statics::EquilibriumOptions};
use forks_mechanism::lie::{Wrench, glam::DVec3};
use forks_models::{HelixJoints, Parametric};
use forks_place::{Chart, Gauge, LoadRegion, Placement, Sample, Truth, blend_data, place};
use forks_reduce::{Effector, Problem, relative_displacement};

use super::{
    blended::Run,
    case::{Case, Context},
    others::Others,
    reduced::{Reduced, STEPS, compare},
    rivals::{Measured, Pushed},
};

/// Largest relative displacements of the effectors at rest under the force.
const LEVELS: [f64; 3] = [0.1, 0.3, 1.0];
/// Largest static and constraint error.
const ERROR: f64 = 0.02;
/// Half angle of the cone that models are made for, rad: about the force.
const CONE: f64 = 0.1;
/// Models are made for so much more than the displacement.
const ROOM: f64 = 1.05;
/// Loads to place and to certify with.
const PLACED: (usize, usize) = (24, 12);
/// Growth of the force towards a displacement, and halvings in the end.
const GROWTH: f64 = 1.25;
const HALVINGS: usize = 20;
/// Larger forces are not tried, N.
const STRONGEST: f64 = 1e6;

/// `matched/arm-20`.
pub(super) fn arm_20(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    levels(name, context, &forks_models::arm20(), DVec3::Z)
}

/// `matched/helix-20`.
pub(super) fn helix_20(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    levels(name, context, &forks_models::helix(20, HelixJoints::Hinge3), DVec3::X)
}

/// `matched/helix-100`.
pub(super) fn helix_100(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    levels(name, context, &forks_models::helix(100, HelixJoints::Alternating), DVec3::X)
}

/// `matched/ladder-36`.
pub(super) fn ladder_36(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    levels(name, context, &forks_models::ladder_of_links(36), DVec3::X)
}

/// `matched/y`.
pub(super) fn y(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    levels(name, context, &forks_models::y_mechanism(), DVec3::X)
}

fn levels(
    name: &str,
    context: &Context<'_>,
    p: &Parametric,
    axis: DVec3,
) -> Result<Vec<Case>, String> {
    let effectors = p.effectors.iter().map(|&l| Effector::of_link(&p.mechanism, l)).collect();
    let problem = Problem::unprepared(p.mechanism.clone(), effectors);
    let (mut cases, mut locked) = (vec![], vec![]);
    for level in LEVELS {
        let full = format!("{name}/{level}");
        match pulled(&problem, axis, level) {
            Some(truth) => cases.push(matched(&full, context, p, &problem, &truth)?),
            // Said where there is a case to say it at.
            None => {
                locked.push(format!("no rest at displacement {level}: it locks, or is not stable"))
            }
        }
    }
    match cases.last_mut() {
        Some(last) => last.notes.extend(locked),
        None => return Err(locked.join("; ")),
    }
    Ok(cases)
}

/// The equilibrium at which a force along the axis on the first effector has moved an effector so
/// far.
fn pulled(problem: &Problem, axis: DVec3, level: f64) -> Option<Truth> {
    let e = &problem.effectors[0];
    let start = problem.equilibrium(&Loads::none(), &options());
    let rest = Sample::new(problem, &start, &Loads::none()).ok()?;
    let at = |force: f64| {
        let wrench = Wrench::new(axis * force, DVec3::ZERO);
        let (link, link_from_point) = (e.link, e.link_from_effector);
        let applied = AppliedWrench { link, link_from_point, wrench, frame: WrenchFrame::World };
        let found = problem.equilibrium(&Loads::none().with(applied), &options());
        let pose = |e: &Effector| found.world_from_link[e.link.index()] * e.link_from_effector;
        let pairs = rest.data.effectors.iter().zip(&problem.effectors);
        let far = pairs.map(|(r, e)| relative_displacement(&r.rest, &pose(e), rest.data.radius));
        let displacement = far.fold(0.0, f64::max);
        let good = found.status.is_equilibrium();
        good.then_some(Truth { forces: vec![(0, axis * force)], equilibrium: found, displacement })
    };
    let (mut low, mut high) = (0.0, 1e-3);
    while at(high)?.displacement < level {
        (low, high) = (high, GROWTH * high);
        if high > STRONGEST {
            return None;
        }
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if at(middle)?.displacement < level { low = middle } else { high = middle }
    }
    at(low)
}

fn options() -> EquilibriumOptions {
    EquilibriumOptions::default()
}

/// The case of one load.
fn matched(
    name: &str,
    context: &Context<'_>,
    p: &Parametric,
    problem: &Problem,
    truth: &Truth,
) -> Result<Case, String> {
    let say = |e: &dyn std::fmt::Display| e.to_string();
    let start = problem.equilibrium(&Loads::none(), &options());
    let sample = Sample::new(problem, &start, &Loads::none()).map_err(|e| say(&e))?;
    let rest = sample.effector_poses();
    let gauge = Gauge::new(problem, rest.clone(), sample.data.radius);
    let force = truth.forces[0].1;
    let pushed = Pushed { p, force, batch: context.batch };
    let dt = STEPS[0];
    let errors = |m: &BlendedModel| gauge.errors(m, truth);
    let good = |m: &BlendedModel| {
        let e = errors(m);
        e.statics <= ERROR && e.constraint <= ERROR
    };
    let single = blend_data(&rest, &[sample], Weights::default()).map_err(|e| say(&e))?;
    let single = BlendedModel::new(single).map_err(|e| say(&e))?;
    let alone = errors(&single);
    let (model, ours) = if good(&single) {
        let (measured, _) = Reduced::new(&p.mechanism, p)?.measure(&pushed, dt)?;
        (single, measured)
    } else {
        let region = |e: usize| LoadRegion {
            displacement: ROOM * truth.displacement,
            ..LoadRegion::cone(e, force.normalize(), if e == 0 { CONE } else { 0.0 })
        };
        let placement = Placement {
            regions: vec![region(0)],
            training_loads: PLACED.0,
            unseen_loads: PLACED.1,
            constraint_tolerance: ERROR,
            static_tolerance: ERROR,
            ..Placement::default()
        };
        let placed = place(problem, &placement, &mut |_| ControlFlow::Continue(()));
        let placed = placed.map_err(|e| say(&e))?;
        let samples = placed.model.data().samples.len();
        let kind = match placed.chart {
            Chart::Manifold => "links by the joints",
            Chart::Joints => "joint displacements",
            _ => "poses",
        };
        let settings = format!(
            "{samples} samples, {kind}, {} coordinates, step and poses of all links",
            placed.model.dof()
        );
        let mut run = Run::new(Arc::new(placed.model.clone()), dt, 0, force)?;
        let (timing, displacement) = run.measure(context.batch)?;
        (placed.model, Measured { timing, displacement: Some(displacement), settings })
    };
    let found = errors(&model);
    let others = Others::ask(name, context, &pushed, &STEPS);
    let mut case = Case::new(name, p.mechanism.links().len() - 1, 1, ours.timing, &ours.settings);
    case.dt = Some(dt);
    case.figure("force, N", force.length());
    case.figure("coordinates", model.dof() as f64);
    case.figure("static error", found.statics);
    case.figure("constraint error", found.constraint);
    case.figure("static error of the single model", alone.statics);
    if !good(&model) {
        case.notes.push(format!("no model with errors below {ERROR}"));
    }
    compare(&mut case, 0, &ours, &pushed, others.as_ref())?;
    Ok(case)
}
