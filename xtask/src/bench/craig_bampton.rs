//! `tissue/craig-bampton`: the soft finger under forces on its pad as our reduced model and as
//! EXUDYN's Craig–Bampton have it (one floating frame, bones within its matrices or joined to it),
//! against full equilibria; the time of a static solution.

use forks_condense::{
    SkinKind,
    deform::Curvature,
    finger::{BuiltFinger, SoftFinger},
    reduce::{MassModel, ReduceOptions},
    skin,
};
use forks_mechanism::{LinkId, lie::glam::DVec3, linalg::dense};
use forks_testkit::soft_chain::{SoftChain, patch_rows};
use serde::{Deserialize, Serialize};

use super::{
    case::{Case, Context},
    measure::{Timing, time},
    peers::Peers,
};
use crate::{
    finger::{bend, condensed, equilibrium, pad, placed, problem, pull, worst},
    words::said,
};

const EXUDYN: [&str; 3] = ["exudyn==1.13.6", "numpy", "scipy"];
const PROBE: &str = "import exudyn, scipy; assert exudyn.__version__ == '1.13.6'";
/// Up, N: the last bone turns by about 5, 20 and 36 degrees.
const FORCES: [f64; 3] = [0.05, 0.2, 0.4];
/// The force whose static solution is timed.
const TIMED: usize = 1;
/// Modes with bones and pad held, and of the tissue alone.
const MODES: usize = 12;
const INTERNAL: usize = 24;

/// A bone without tissue; lengths from its joint.
#[derive(Serialize)]
struct Bone {
    mass: f64,
    centre: [f64; 3],
    moments: [f64; 3],
    joint: [f64; 3],
}

/// What `exudyn_craig_bampton.py` gets.
#[derive(Serialize)]
struct Task {
    nodes: Vec<[f64; 3]>,
    stiffness: (Vec<usize>, Vec<usize>, Vec<f64>),
    masses: Vec<f64>,
    groups: Vec<Vec<usize>>,
    bones: Vec<Bone>,
    joints: f64,
    pad: Vec<usize>,
    forces: Vec<[f64; 3]>,
    modes: usize,
}

/// What it answers: bones within the matrices, and joined as bodies.
#[derive(Deserialize)]
struct Answer {
    within: Rival,
    joined: Rival,
}

#[derive(Deserialize)]
struct Rival {
    settings: String,
    frequencies: Vec<f64>,
    /// Nothing where a solution takes too long.
    statics: Vec<Option<Statics>>,
}

#[derive(Deserialize)]
struct Statics {
    pad: [f64; 3],
    nodes: Vec<[f64; 3]>,
    timing: Timing,
}

fn task(f: &BuiltFinger, joints: f64) -> Task {
    let x = f.body.mesh().nodes();
    let mut k = f.body.elastic().matrix();
    f.body.elastic().stiffness(x, Curvature::Exact, &mut k);
    let k = k.to_dense();
    let mut stiffness = (vec![], vec![], vec![]);
    for i in 0..k.rows() {
        for j in (0..k.rows()).filter(|j| k[(i, *j)] != 0.0) {
            stiffness.0.push(i);
            stiffness.1.push(j);
            stiffness.2.push(k[(i, j)]);
        }
    }
    let links = f.skeleton.links().len();
    let held = |l: usize| (0..x.len()).filter(move |n| f.body.holder(*n) == Some(LinkId::new(l)));
    let poses = f.skeleton.link_poses(&f.skeleton.start_positions());
    let bone = |l: usize| {
        let inertia = f.skeleton.link(LinkId::new(l)).inertia;
        let moments = [0, 1, 2].map(|k| inertia.inertia.col(k)[k]);
        let joint = poses[l].translation.to_array();
        Bone { mass: inertia.mass, centre: inertia.center_of_mass.to_array(), moments, joint }
    };
    Task {
        nodes: x.iter().map(|x| x.to_array()).collect(),
        stiffness,
        masses: f.body.masses().to_vec(),
        groups: (0..links).map(|l| held(l).collect()).collect(),
        bones: (1..links).map(bone).collect(),
        joints,
        pad: f.pad.nodes.clone(),
        forces: FORCES.iter().map(|n| [0.0, 0.0, *n]).collect(),
        modes: MODES,
    }
}

/// Lowest three frequencies of the whole, rad/s.
fn whole_frequencies(f: &BuiltFinger, joints: f64) -> Result<Vec<f64>, String> {
    let x = f.body.mesh().nodes();
    let mut k = f.body.elastic().matrix();
    f.body.elastic().stiffness(x, Curvature::Exact, &mut k);
    let chain = SoftChain::new(&f.mechanism, x, |n| f.body.holder(n), &k.to_dense(), joints);
    let mass = crate::finger::whole_mass(f, chain.stiffness.rows());
    let (nu, _) = dense::generalized_symmetric_eigen(&mass, &chain.stiffness)
        .ok_or("the whole is not stable")?;
    Ok(nu.iter().rev().take(3).map(|nu| (1.0 / nu).sqrt()).collect())
}

/// `tissue/craig-bampton`.
pub(super) fn finger(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let spec = SoftFinger::default();
    let f = spec.build().map_err(said)?;
    let x = f.body.mesh().nodes();
    let c = condensed(&f, INTERNAL)?;
    let problem = problem(&f, &c, &["pad"])?;
    let mass = MassModel::CraigBampton { modes: MODES };
    let options = ReduceOptions { mass, ..ReduceOptions::default() };
    let reduction = problem.reduce(problem.at_rest(), &options).map_err(said)?;
    let model = &reduction.model;
    let skin = skin(&reduction, 0, &f.body, &c, SkinKind::Twist).map_err(said)?;
    let rows = patch_rows(&f.pad.nodes, x);
    let load = [pull(DVec3::Z * FORCES[TIMED])];
    let ours = time(context.batch, || model.solve_static(&load, &[]));
    let settings = format!("{} coordinates, static solution at {} N", model.dof(), FORCES[TIMED]);
    let mut case = Case::new(name, f.mechanism.links().len() - 1, 1, ours, &settings);
    let rival = context.peers.as_ref().map(|_| {
        Peers::with(context.root, "peers-exudyn", &EXUDYN, PROBE).and_then(|p| {
            let file = format!("{name}-exudyn");
            p.ask::<Answer>("exudyn_craig_bampton.py", &file, &task(&f, spec.joints))
        })
    });
    let rivals = match rival {
        Some(Ok(a)) => vec![("EXUDYN, bones within", a.within), ("EXUDYN, bones joined", a.joined)],
        Some(Err(e)) => {
            case.notes.push(format!("EXUDYN left out: {e}"));
            vec![]
        }
        None => vec![],
    };
    for (who, r) in &rivals {
        for (k, s) in r.statics.iter().enumerate() {
            match s {
                Some(s) if k == TIMED => case.rival(who, s.timing, &r.settings),
                Some(_) => {}
                None => case.notes.push(format!("{who}: no rest at {} N within 60 s", FORCES[k])),
            }
        }
    }
    for (k, whole) in whole_frequencies(&f, spec.joints)?.iter().enumerate() {
        let off = |w: f64| w / whole - 1.0;
        let name = format!("frequency {}", k + 1);
        case.figure(&format!("{name}, whole, rad/s"), *whole);
        case.figure(&format!("{name}, ours over the whole - 1"), off(reduction.frequencies()[k]));
        for (who, r) in &rivals {
            case.figure(&format!("{name}, {who}, over the whole - 1"), off(r.frequencies[k]));
        }
    }
    for (k, newton) in FORCES.iter().enumerate() {
        let force = DVec3::Z * *newton;
        let full = equilibrium(&f, &rows, &[0.0, 0.0, *newton, 0.0, 0.0, 0.0])?;
        let moved = full.x.iter().zip(x).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        let truth = pad(&f, &full.x);
        case.figure(&format!("{newton} N, turn of the last bone, degrees"), bend(&f, &full));
        case.figure(&format!("{newton} N, pad moves, mm"), 1e3 * truth.distance(pad(&f, x)));
        let eta = model.solve_static(&[pull(force)], &[]).map_err(said)?.coordinates;
        let vertices = placed(&f, model, &skin, &eta)?;
        let mut figures = |who: &str, pad: DVec3, vertices: &[(usize, DVec3)]| {
            case.figure(&format!("{newton} N, pad, {who}"), pad.distance(truth) / moved);
            case.figure(
                &format!("{newton} N, worst vertex, {who}"),
                worst(vertices, &full.x) / moved,
            );
        };
        figures("ours", model.effector_pose(0, &eta).translation, &vertices);
        for (who, r) in &rivals {
            let Some(s) = &r.statics[k] else { continue };
            let theirs: Vec<(usize, DVec3)> =
                vertices.iter().map(|(n, _)| (*n, DVec3::from_array(s.nodes[*n]))).collect();
            figures(who, pad(&f, x) + DVec3::from_array(s.pad), &theirs);
        }
    }
    Ok(vec![case])
}
