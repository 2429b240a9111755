//! One linearisation under growing loads on the pad: the worst vertex against full equilibria, of
//! the largest displacement. The numbers to compare with are K08's measurements.

use forks_condense::{
    SkinKind,
    deform::{Commands, SoftOptions, SoftSimulation, StaticsOptions, StaticsStatus},
    finger::{BuiltFinger, SoftFinger},
    reduce::ReduceOptions,
    skin,
    skins::{
        SkinBuffer,
        rom::{EffectorLoad, LoadFrame, State},
    },
};
use forks_mechanism::lie::{Wrench, glam::DVec3};

use super::direct::{Direct, condensed, patch_rows, problem};
use crate::{validate::record::Recorder, words::said};

/// Direction, N, then the largest errors measured: linear, by bone, vertex as link.
const TABLE: [(&str, [f64; 3], f64, [f64; 3]); 5] = [
    ("0.1 N up", [0.0, 0.0, 1.0], 0.1, [0.075, 0.019, 0.021]),
    ("0.2 N up", [0.0, 0.0, 1.0], 0.2, [0.147, 0.034, 0.038]),
    ("0.4 N up", [0.0, 0.0, 1.0], 0.4, [0.268, 0.060, 0.059]),
    ("0.4 N aside", [0.0, 1.0, 0.0], 0.4, [0.273, 0.061, 0.058]),
    ("0.2 N pressed", [-1.0, 0.0, 0.3], 0.2, [0.169, 0.162, 0.163]),
];

pub(super) fn check(out: &mut Recorder) -> Result<(), String> {
    let spec = SoftFinger::default();
    let f = spec.build().map_err(said)?;
    let x = f.body.mesh().nodes();
    let c = condensed(&f, 0)?;
    let problem = problem(&f, &c, &["pad"])?;
    let reduction = problem.reduce(problem.at_rest(), &ReduceOptions::default()).map_err(said)?;
    let model = &reduction.model;
    let rows = patch_rows(&f.pad, x);
    let direct = Direct::new(&f, spec.joints);
    let response = direct.response(&rows)?;
    let skins = [SkinKind::Bone, SkinKind::Twist]
        .map(|kind| skin(&reduction, 0, &f.body, &c, kind).map_err(said));
    let [by_bone, as_link] = skins;
    let (by_bone, as_link) = (by_bone?, as_link?);
    for (name, direction, force, expected) in TABLE {
        let w = DVec3::from_array(direction) * force;
        let wrench = [w.x, w.y, w.z, 0.0, 0.0, 0.0];
        let full = equilibrium(&f, &rows, &wrench)?;
        let moved = full.iter().zip(x).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        let load = EffectorLoad {
            effector: 0,
            wrench: Wrench::from_array(wrench),
            frame: LoadFrame::World,
        };
        let eta = model.solve_static(&[load], &[]).map_err(said)?.coordinates;
        let per_eta = response.mul(&reduction.linear.basis.dual.mul(&reduction.linear.hessian));
        let u = direct.0.motions.mul(&per_eta).mul_vec(&eta);
        let worst_of = |places: &[(usize, DVec3)]| {
            places.iter().map(|(n, p)| p.distance(full[*n])).fold(0.0, f64::max) / moved
        };
        let mut state = State::new(model);
        state.set(&eta, &[0.0; 6]).map_err(said)?;
        let placed = |s: &forks_condense::skins::Skin| -> Vec<(usize, DVec3)> {
            let mut places = SkinBuffer::new(s, model);
            s.place(model, &state, &mut places);
            let of = |p: &DVec3| x.iter().position(|x| x == p).unwrap_or(0);
            s.rest().iter().map(of).zip(places.iter()).collect()
        };
        let linear: Vec<(usize, DVec3)> = (0..x.len())
            .map(|n| (n, x[n] + DVec3::new(u[3 * n], u[3 * n + 1], u[3 * n + 2])))
            .collect();
        out.info(&format!("{name}: largest displacement, of the length"), moved / spec.size[0]);
        let weight = 1.0 / f.pad.nodes.len() as f64;
        let pad = |x: &[DVec3]| f.pad.nodes.iter().map(|n| x[*n] * weight).sum::<DVec3>();
        let whole: Vec<DVec3> = linear.iter().map(|(_, p)| *p).collect();
        let truth = pad(&full);
        let reduced = model.effector_pose(0, &eta).translation.distance(truth) / moved;
        // Static modes of Craig and Bampton give the linear solution.
        let linear_pad = pad(&whole).distance(truth) / moved;
        out.info(&format!("{name}: place of the pad, linear Craig-Bampton"), linear_pad);
        out.at_most(&format!("{name}: place of the pad, reduced"), reduced, linear_pad);
        for (kind, found, expected) in [
            ("linear", worst_of(&linear), expected[0]),
            ("by bone", worst_of(&placed(&by_bone)), expected[1]),
            ("vertex as link", worst_of(&placed(&as_link)), expected[2]),
        ] {
            out.at_most(&format!("{name}: worst vertex, {kind}"), found, 1.1 * expected);
        }
    }
    Ok(())
}

/// Full equilibrium under dead forces Eᵀ w, in four steps.
pub(super) fn equilibrium(
    f: &BuiltFinger,
    rows: &forks_mechanism::linalg::Matrix,
    wrench: &[f64; 6],
) -> Result<Vec<DVec3>, String> {
    let forces = rows.transpose_mul_vec(wrench);
    let forces: Vec<DVec3> = forces.chunks_exact(3).map(|f| DVec3::new(f[0], f[1], f[2])).collect();
    let options = SoftOptions { gravity: false, ..SoftOptions::default() };
    let mut s = SoftSimulation::new(&f.skeleton, f.body.clone(), options).map_err(said)?;
    let commands = Commands { node_forces: &forces, ..Commands::default() };
    let options = StaticsOptions { load_steps: 4, ..StaticsOptions::default() };
    let report = s.rest(&commands, &options).map_err(said)?;
    match report.status {
        StaticsStatus::Converged => Ok(s.state().x.clone()),
        _ => Err(format!("no equilibrium: {report:?}")),
    }
}
