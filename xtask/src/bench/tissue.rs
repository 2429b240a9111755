//! `tissue/finger`: a step of the soft finger reduced to its pad, its skin, and its reduction,
//! against our own implicit step of skeleton and all nodes.

use std::{hint::black_box, sync::Arc};

use forks_condense::{
    SkinKind, TissuePose, condense,
    deform::{Commands, SoftOptions, SoftSimulation, Stepper as SoftStepper},
    finger::SoftFinger,
    reduce::{Problem, ProblemOptions, ReduceOptions},
    skin,
    skins::SkinBuffer,
};
use forks_mechanism::lie::{Wrench, glam::DVec3};
use forks_rom::{EffectorLoad, LoadFrame, State, Stepper, System as _};

use super::{
    case::{Case, Context},
    measure::time,
};
use crate::words::said;

/// Step, s.
const STEP: f64 = 1e-3;

/// `tissue/finger`.
pub(super) fn finger(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let f = SoftFinger::default().build().map_err(said)?;
    let m = &f.mechanism;
    let q = m.start_positions();
    let at = TissuePose { q: &q, x: f.body.mesh().nodes(), patch_wrenches: &[] };
    let pad = std::slice::from_ref(&f.pad);
    let condensed = || condense("finger", &f.body, m, &at, pad, 0).map_err(said);
    let reduce = |problem: &Problem| {
        let found = problem.reduce(problem.at_rest(), &ReduceOptions::default());
        found.map(|r| r.model).map_err(said)
    };
    let problem_of = |c: &forks_condense::Condensed| {
        let elements = vec![c.element.clone()];
        let options = ProblemOptions::default();
        Problem::with_superelements(m, elements, &["pad"], &options).map_err(said)
    };
    let c = condensed()?;
    let problem = problem_of(&c)?;
    let reduction = problem.reduce(problem.at_rest(), &ReduceOptions::default()).map_err(said)?;
    let surface = skin(&reduction, 0, &f.body, &c, SkinKind::Twist).map_err(said)?;
    let model = Arc::new(reduction.model.clone());
    let stepper = Stepper::new(Arc::clone(&model), STEP).map_err(said)?;
    let (mut state, mut work) = (State::new(&model), stepper.workspace());
    let pull = Wrench::new(DVec3::new(0.0, 0.0, 0.05), DVec3::ZERO);
    let loads = [EffectorLoad { effector: 0, wrench: pull, frame: LoadFrame::World }];
    let mut places = SkinBuffer::new(&surface, &model);
    let step = time(context.batch, || stepper.step(&mut state, &mut work, &loads));
    let placed = time(context.batch, || surface.place(&model, &state, black_box(&mut places)));
    let build = time(context.batch, || condensed().and_then(|c| reduce(&problem_of(&c)?)));
    let options = SoftOptions { stepper: SoftStepper::LinearlyImplicit, ..SoftOptions::default() };
    let mut full = SoftSimulation::new(&f.skeleton, f.body.clone(), options).map_err(said)?;
    let whole = time(context.batch, || full.step(STEP, &Commands::default()).map(|r| r.newton));
    let settings =
        format!("energy-consistent implicit Euler, 6 coordinates, {}", model.isa().name());
    let mut case = Case::new(name, m.links().len() - 1, 1, step, &settings);
    case.dt = Some(STEP);
    case.rival("forks-deform-implicit", whole, "linearly implicit, 304 nodes, 972 elements");
    case.figure("nodes", f.body.mesh().nodes().len() as f64);
    case.figure("vertices of the skin", surface.len() as f64);
    case.figure("ns per vertex", placed.ns / surface.len() as f64);
    case.figure("ns, condensation and reduction", build.ns);
    Ok(vec![case])
}
