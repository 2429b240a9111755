//! `tissue/finger`: a step of the soft finger reduced to its pad, its skin, and its reduction,
//! against our own implicit step of skeleton and all nodes, and MuJoCo's of the nodes alone.
//! `tissue/condense`: a finger of 98,784 tetrahedra condensed onto its bones and its pad.

use std::{hint::black_box, sync::Arc};

use forks_condense::{
    SkinKind, TissuePose, condense,
    deform::{Commands, SoftOptions, SoftSimulation, Stepper as SoftStepper},
    finger::{BuiltFinger, SoftFinger},
    reduce::{Problem, ProblemOptions, ReduceOptions},
    skin,
    skins::SkinBuffer,
};
use forks_mechanism::lie::{Wrench, glam::DVec3};
use forks_rom::{EffectorLoad, LoadFrame, State, Stepper, System as _};
use serde::{Deserialize, Serialize};

use super::{
    case::{Case, Context},
    measure::{Timing, time},
    peers::Peers,
};
use crate::words::said;

/// Step, s.
const STEP: f64 = 1e-3;

/// The finger's tissue without its bones, as `mujoco_flex.py` takes it.
#[derive(Serialize)]
struct Task {
    nodes: Vec<[f64; 3]>,
    tetrahedra: Vec<Vec<usize>>,
    pinned: Vec<usize>,
    young: f64,
    poisson: f64,
    mass: f64,
    dt: f64,
    batch: f64,
}

/// What it answers.
#[derive(Deserialize)]
struct Answer {
    timing: Timing,
    settings: String,
}

fn ask(
    name: &str,
    peers: &Peers,
    f: &BuiltFinger,
    context: &Context<'_>,
) -> Result<Answer, String> {
    let (mesh, spec) = (f.body.mesh(), SoftFinger::default());
    let nodes = mesh.nodes();
    let task = Task {
        nodes: nodes.iter().map(|x| x.to_array()).collect(),
        tetrahedra: (0..mesh.element_count()).map(|e| mesh.element(e).to_vec()).collect(),
        pinned: (0..nodes.len()).filter(|n| nodes[*n].x < 1e-9).collect(),
        young: spec.young,
        poisson: spec.poisson,
        mass: f.body.masses().iter().sum(),
        dt: STEP,
        batch: context.batch,
    };
    peers.ask("mujoco_flex.py", &format!("{name}-mujoco"), &task)
}

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
    if let Some(peers) = &context.peers {
        let answer = peers.as_ref().map_err(Clone::clone).and_then(|p| ask(name, p, &f, context));
        match answer {
            Ok(a) => {
                case.rival("mujoco-discrete", a.timing, &a.settings);
                let with_skin = step.ns + placed.ns;
                case.figure("mujoco-discrete / step with all vertices", a.timing.ns / with_skin);
            }
            Err(e) => case.notes.push(format!("mujoco-discrete left out: {e}")),
        }
    }
    case.figure("nodes", f.body.mesh().nodes().len() as f64);
    case.figure("vertices of the skin", surface.len() as f64);
    case.figure("ns per vertex", placed.ns / surface.len() as f64);
    case.figure("ns, condensation and reduction", build.ns);
    Ok(vec![case])
}

/// `tissue/condense`, in one thread.
pub(super) fn condensation(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let cells = if context.quick { [42, 7, 7] } else { [84, 14, 14] };
    let f = SoftFinger { cells, ..SoftFinger::default() }.build().map_err(said)?;
    let (m, mesh) = (&f.mechanism, f.body.mesh());
    let q = m.start_positions();
    let at = TissuePose { q: &q, x: mesh.nodes(), patch_wrenches: &[] };
    let pad = std::slice::from_ref(&f.pad);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(said)?;
    let batch = context.batch;
    let taken = one.install(|| {
        let condensed = || condense("finger", &f.body, m, &at, pad, 0);
        condensed().map_err(said)?;
        Ok::<_, String>(time(batch, condensed))
    })?;
    let settings = "onto bones and pad: stiffness, mass, compliance of the pad";
    let mut case = Case::new(name, m.links().len() - 1, 1, taken, settings);
    case.figure("tetrahedra", mesh.element_count() as f64);
    case.figure("nodes", mesh.nodes().len() as f64);
    Ok(vec![case])
}
