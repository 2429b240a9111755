//! `tissue/equal-error`: a step of the soft finger reduced to its pad against MuJoCo's `discrete`
//! step of tissue and bones, on meshes of which some are off at rest by as much as ours.
//!
//! All of it is one body: 90 × 16 × 16 mm, plain St. Venant–Kirchhoff, which is MuJoCo's law, three
//! bones of 10 × 5.3 × 5.3 mm with ball joints, forces on sixteen points of its lower side. The
//! reference is our full equilibrium on a fine mesh of ten-node elements.

use std::{path::Path, sync::Arc};

use forks_condense::{
    Condensed, Patch, TissuePose, condense,
    deform::{
        Attachment, Commands, Material, Model, SoftBody, SoftOptions, SoftSimulation,
        StaticsOptions, StaticsStatus, TetMesh, Window,
    },
    finger::SoftFinger,
    reduce::{Problem, ProblemOptions, ReduceOptions},
};
use forks_mechanism::{LinkId, Mechanism, lie::glam::DVec3};
use forks_rom::{ReducedModel, State, Stepper, System as _};
use serde::{Deserialize, Serialize};

use super::{
    case::{Case, Context},
    measure::{Timing, time},
    peers::Peers,
};
use crate::{finger::pull, words::said};

/// Step, s.
const STEP: f64 = 1e-3;
/// Up, N.
const FORCES: [f64; 3] = [0.05, 0.2, 0.4];
/// Cells of MuJoCo's meshes, fast ones first. All have nodes in the bones.
const MESHES: [[usize; 3]; 6] =
    [[9, 2, 2], [9, 3, 3], [18, 2, 2], [18, 3, 3], [18, 6, 6], [36, 6, 6]];
/// Those of ours, in their mesh and its order, and the one that is the truth.
const OURS: [([usize; 3], bool); 2] = [([18, 3, 3], false), ([18, 3, 3], true)];
const FINE: ([usize; 3], bool) = ([18, 6, 6], true);
/// Its neighbour, to say how far it is off.
const LESS_FINE: ([usize; 3], bool) = ([18, 3, 3], true);

/// The finger on a mesh.
struct Finger {
    mechanism: Mechanism,
    skeleton: Mechanism,
    body: SoftBody,
    /// Nodes and weights of every point of the pad.
    pad: Vec<Vec<(usize, f64)>>,
}

fn finger((cells, quadratic): ([usize; 3], bool)) -> Result<Finger, String> {
    let spec = SoftFinger::default();
    let [length, thick] = spec.size;
    let half = 0.5 * thick;
    let mesh = TetMesh::kuhn(cells, DVec3::new(length, thick, thick))
        .and_then(|m| m.mapped(|x| x - DVec3::new(0.0, half, half)))
        .map_err(said)?;
    let mesh = if quadratic { mesh.quadratic() } else { mesh };
    let law = Model::StVenantKirchhoff(Window::None);
    let material = Material::new(law, spec.young, spec.poisson, 1000.0).map_err(said)?;
    let skeleton = spec.build().map_err(said)?.skeleton;
    let part = length / spec.bones as f64;
    let core = thick / 6.0 + 1e-9;
    let mut lists: Vec<(LinkId, Vec<usize>)> =
        (0..=spec.bones).map(|l| (LinkId::new(l), vec![])).collect();
    for (n, x) in mesh.nodes().iter().enumerate() {
        let within = (x.x / part).fract() - 0.5;
        if x.x < 1e-9 {
            lists[0].1.push(n);
        } else if within.abs() < 1.0 / 6.0 + 1e-9 && x.y.abs().max(x.z.abs()) < core {
            lists[1 + (x.x / part) as usize].1.push(n);
        }
    }
    let pad = points(&mesh, cells, length, half);
    let body = SoftBody::new(mesh, material)
        .and_then(|b| b.attached(&skeleton, &Attachment::Nodes(lists)))
        .map_err(said)?;
    let whole = SoftSimulation::new(&skeleton, body.clone(), SoftOptions::default());
    let mechanism = whole.map_err(said)?.mechanism().clone();
    Ok(Finger { mechanism, skeleton, body, pad })
}

/// Sixteen points of the lower side towards the tip, between the corners of the cells they are in.
fn points(mesh: &TetMesh, cells: [usize; 3], length: f64, half: f64) -> Vec<Vec<(usize, f64)>> {
    let (nx, ny) = (cells[0] as f64, cells[1] as f64);
    let node = |i: f64, j: f64| {
        let at = DVec3::new(i / nx * length, (2.0 * j / ny - 1.0) * half, -half);
        mesh.nodes().iter().position(|x| x.distance(at) < 1e-9)
    };
    let mut out = vec![];
    for x in [0.075, 0.08, 0.085, 0.09] {
        for y in [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0] {
            let (u, v) = (x / length * nx + 1e-9, y * ny + 1e-9);
            let parts = |u: f64| [(u.floor(), 1.0 - u.fract()), (u.floor() + 1.0, u.fract())];
            let mut point = vec![];
            for (i, a) in parts(u) {
                for (j, b) in parts(v) {
                    if a * b > 1e-6 {
                        point.extend(node(i, j).map(|n| (n, a * b)));
                    }
                }
            }
            out.push(point);
        }
    }
    out
}

impl Finger {
    fn pad(&self, x: &[DVec3]) -> DVec3 {
        let at = |p: &Vec<(usize, f64)>| p.iter().map(|(n, w)| x[*n] * *w).sum::<DVec3>();
        self.pad.iter().map(at).sum::<DVec3>() / self.pad.len() as f64
    }

    /// How the pad moves under a force, all nodes free.
    fn at_rest(&self, force: DVec3) -> Result<DVec3, String> {
        let start = self.body.mesh().nodes();
        let mut forces = vec![DVec3::ZERO; start.len()];
        let part = force / self.pad.len() as f64;
        self.pad.iter().flatten().for_each(|(n, w)| forces[*n] += part * *w);
        let options = SoftOptions { gravity: false, ..SoftOptions::default() };
        let whole = SoftSimulation::new(&self.skeleton, self.body.clone(), options);
        let mut whole = whole.map_err(said)?;
        let commands = Commands { node_forces: &forces, ..Commands::default() };
        let options =
            StaticsOptions { load_steps: 4, tolerance: 1e-7, ..StaticsOptions::default() };
        let report = whole.rest(&commands, &options).map_err(said)?;
        if report.status != StaticsStatus::Converged {
            return Err(format!("no equilibrium: {report:?}"));
        }
        Ok(self.pad(&whole.state().x) - self.pad(start))
    }

    fn condensed(&self) -> Result<Condensed, String> {
        let nodes = self.pad.iter().map(|p| p[0].0).collect();
        let pad = [Patch::new("pad", nodes)];
        let q = self.mechanism.start_positions();
        let at = TissuePose { q: &q, x: self.body.mesh().nodes(), patch_wrenches: &[] };
        condense("finger", &self.body, &self.mechanism, &at, &pad, 0).map_err(said)
    }

    fn reduced(&self) -> Result<ReducedModel, String> {
        let elements = vec![self.condensed()?.element];
        let options = ProblemOptions::default();
        let problem = Problem::with_superelements(&self.mechanism, elements, &["pad"], &options);
        let problem = problem.map_err(said)?;
        let found = problem.reduce(problem.at_rest(), &ReduceOptions::default());
        Ok(found.map_err(said)?.model)
    }
}

/// What `mujoco_tissue.py` gets.
#[derive(Serialize)]
struct Task<'a> {
    model: String,
    flex: &'a str,
    pad: &'a [Vec<(usize, f64)>],
    forces: Vec<[f64; 3]>,
    dt: f64,
    batch: f64,
}

/// What it answers.
#[derive(Deserialize)]
struct Answer {
    timing: Timing,
    settings: String,
    rests: Vec<Rest>,
}

#[derive(Deserialize)]
struct Rest {
    pad: [f64; 3],
    residual: f64,
    still: bool,
}

fn ask(peers: &Peers, f: &Finger, name: &str, batch: f64) -> Result<Answer, String> {
    let text = forks_flex::write(&f.mechanism, &f.body, "tissue").map_err(said)?;
    let file = peers.exchange().join(format!("{name}.xml"));
    save(&file, &text)?;
    let task = Task {
        model: file.display().to_string(),
        flex: "tissue",
        pad: &f.pad,
        forces: FORCES.iter().map(|n| [0.0, 0.0, *n]).collect(),
        dt: STEP,
        batch,
    };
    peers.ask("mujoco_tissue.py", name, &task)
}

fn save(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}

/// A mesh of MuJoCo's: its time and its errors.
struct Rival {
    name: String,
    timing: Timing,
    settings: String,
    errors: [Option<f64>; 3],
}

/// `tissue/equal-error`: a case per mesh of ours.
pub(super) fn finger_meshes(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let forces = FORCES.map(|n| DVec3::Z * n);
    let fine = finger(FINE)?;
    let mut truth = [DVec3::ZERO; 3];
    for (t, f) in truth.iter_mut().zip(forces) {
        *t = fine.at_rest(f)?;
    }
    let off = |k: usize, moved: DVec3| moved.distance(truth[k]) / truth[k].length();
    let less = finger(LESS_FINE)?;
    let uncertain = off(1, less.at_rest(forces[1])?);
    let mut notes = vec![];
    let rivals = rivals(context, &off, &mut notes);
    let mut cases = vec![];
    for (cells, quadratic) in OURS {
        let f = finger((cells, quadratic))?;
        let model = Arc::new(f.reduced()?);
        let stepper = Stepper::new(Arc::clone(&model), STEP).map_err(said)?;
        let (mut state, mut work) = (State::new(&model), stepper.workspace());
        let loads = [pull(forces[0])];
        let ours = time(context.batch, || stepper.step(&mut state, &mut work, &loads));
        let kind = if quadratic { "ten-node" } else { "four-node" };
        let settings = format!(
            "energy-consistent implicit Euler, 6 coordinates of {} {kind} elements, {}",
            f.body.mesh().element_count(),
            model.isa().name()
        );
        let mut case = Case::new(&format!("{name}/{kind}"), 3, 1, ours, &settings);
        case.dt = Some(STEP);
        case.notes.clone_from(&notes);
        case.figure("reference, off the next coarser one at 0.2 N", uncertain);
        for (k, force) in forces.iter().enumerate() {
            let newton = FORCES[k];
            let start = model.effector_pose(0, &vec![0.0; model.dof()]).translation;
            let eta = model.solve_static(&[pull(*force)], &[]).map_err(said)?.coordinates;
            let error = off(k, model.effector_pose(0, &eta).translation - start);
            let whole = off(k, f.at_rest(*force)?);
            case.figure(&format!("{newton} N: the pad moves, mm"), 1e3 * truth[k].length());
            case.figure(&format!("{newton} N: ours off the reference"), error);
            case.figure(&format!("{newton} N: all nodes of our mesh off the reference"), whole);
            matched(&mut case, &rivals, k, error);
        }
        for r in &rivals {
            case.rival(&r.name, r.timing, &r.settings);
            for (k, e) in r.errors.iter().enumerate() {
                if let Some(e) = e {
                    case.figure(&format!("{} N: {} off the reference", FORCES[k], r.name), *e);
                }
            }
        }
        cases.push(case);
    }
    Ok(cases)
}

fn rivals(
    context: &Context<'_>,
    off: &dyn Fn(usize, DVec3) -> f64,
    notes: &mut Vec<String>,
) -> Vec<Rival> {
    let peers = match &context.peers {
        None => return vec![],
        Some(Err(e)) => {
            notes.push(format!("mujoco-discrete left out: {e}"));
            return vec![];
        }
        Some(Ok(peers)) => peers,
    };
    let mut out = vec![];
    for cells in MESHES {
        let mesh = cells.map(|c| c.to_string()).join("x");
        let name = format!("mujoco-{mesh}");
        let file = format!("tissue-equal-error-{mesh}");
        match finger((cells, false)).and_then(|f| ask(peers, &f, &file, context.batch)) {
            Ok(a) => {
                let mut errors = [None; 3];
                for (k, r) in a.rests.iter().enumerate() {
                    match r.still {
                        true => errors[k] = Some(off(k, DVec3::from_array(r.pad))),
                        false => notes.push(format!(
                            "{name} comes to no rest at {} N: {:.1e} of the load is left",
                            FORCES[k], r.residual
                        )),
                    }
                }
                out.push(Rival { name, timing: a.timing, settings: a.settings, errors });
            }
            Err(e) => notes.push(format!("{name} left out: {e}")),
        }
    }
    out
}

/// A rival's computing time where the system tells it: other work does not count.
fn computing(t: &Timing) -> f64 {
    t.cpu_ns.unwrap_or(t.ns)
}

/// The fastest mesh that is not worse than ours, and the fastest of all.
fn matched(case: &mut Case, rivals: &[Rival], k: usize, ours: f64) {
    let newton = FORCES[k];
    let fastest = |fits: &dyn Fn(f64) -> bool| {
        let fit = rivals.iter().filter(|r| r.errors[k].is_some_and(fits));
        fit.min_by(|a, b| computing(&a.timing).total_cmp(&computing(&b.timing)))
    };
    let step = case.cpu_ns.get("ours").copied().unwrap_or(case.ours_ns);
    for (what, found) in [
        ("the fastest that is off by no more", fastest(&|e| e <= ours)),
        ("the fastest of all", fastest(&|_| true)),
    ] {
        match found {
            Some(r) => {
                let name = format!("{newton} N: {what} ({}), computing time over ours", r.name);
                case.figure(&name, computing(&r.timing) / step);
            }
            None if rivals.is_empty() => {}
            None => case.notes.push(format!("{newton} N: no mesh of MuJoCo's is off by no more")),
        }
    }
}
