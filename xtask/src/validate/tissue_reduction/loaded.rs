//! Compliance of the pad at loaded poses against differences of full equilibria, with and without
//! the geometric terms of the tissue.

use forks_condense::{
    TissuePose, condense,
    deform::{Commands, SoftOptions, SoftSimulation, SoftState, StaticsOptions},
    finger::{BuiltFinger, SoftFinger},
    reduce::Linearisation,
};
use forks_dynamics::Loads;
use forks_mechanism::{lie::glam::DVec3, linalg::Matrix};

use super::direct::{condensed, patch_rows, problem};
use crate::{validate::record::Recorder, words::said};

const LOADS: [[f64; 6]; 2] =
    [[0.0, 0.02, 0.05, 1e-4, 0.0, 5e-5], [0.01, -0.03, -0.04, 0.0, 1e-4, 0.0]];

pub(super) fn check(count: usize, out: &mut Recorder) -> Result<(), String> {
    let spec = SoftFinger { cells: [9, 2, 2], poisson: 0.3, ..SoftFinger::default() };
    let f = spec.build().map_err(said)?;
    for (i, load) in LOADS.iter().take(count).enumerate() {
        for gravity in [false, true] {
            let (with, without) = compare(&f, gravity, load)?;
            let name = if gravity { "with gravity" } else { "without gravity" };
            out.at_most(&format!("loaded pose {}, {name}", i + 1), with, 1e-5);
            out.info(&format!("loaded pose {}, {name}, without \u{39b}", i + 1), without);
        }
    }
    Ok(())
}

fn equilibrium(
    f: &BuiltFinger,
    gravity: bool,
    forces: &[DVec3],
    from: Option<&SoftState>,
) -> Result<SoftState, String> {
    let options = SoftOptions { gravity, ..SoftOptions::default() };
    let mut s = SoftSimulation::new(&f.skeleton, f.body.clone(), options).map_err(said)?;
    if let Some(state) = from {
        s.set_state(state.clone()).map_err(said)?;
    }
    let commands = Commands { node_forces: forces, ..Commands::default() };
    let options = StaticsOptions { tolerance: 1e-13, ..StaticsOptions::default() };
    let report = s.rest(&commands, &options).map_err(said)?;
    // Below 1e-10 N rounding may stall the search.
    if report.residual > 1e-10 {
        return Err(format!("no equilibrium: {report:?}"));
    }
    Ok(s.state().clone())
}

fn forces(rows: &Matrix, wrench: &[f64]) -> Vec<DVec3> {
    let flat = rows.transpose_mul_vec(wrench);
    flat.chunks_exact(3).map(|f| DVec3::new(f[0], f[1], f[2])).collect()
}

/// Largest difference of C over its largest entry, lengths over 3 cm, with Λ and without.
fn compare(f: &BuiltFinger, gravity: bool, load: &[f64; 6]) -> Result<(f64, f64), String> {
    let rest = f.body.mesh().nodes();
    let dead = forces(&patch_rows(&f.pad, rest), load);
    let state = equilibrium(f, gravity, &dead, None)?;
    let rows = patch_rows(&f.pad, &state.x);
    let at = TissuePose { q: &state.q, x: &state.x, patch_wrenches: &[] };
    let pad = std::slice::from_ref(&f.pad);
    let c = condense("finger", &f.body, &f.mechanism, &at, pad, 0).map_err(said)?;
    let base = problem(f, &condensed(f, 0)?, &["pad"])?;
    let q = base.positions_of(&state.q, std::slice::from_ref(&c.element));
    let loads = if gravity { Loads::gravity() } else { Loads::none() };
    let at = Linearisation::Loaded { q: &q, loads: &loads, multipliers: &[] };
    let problem = base.with_elements(vec![c.element.clone()], &q).map_err(said)?;
    let with = problem.response(at).map_err(said)?.compliance;
    // Stiffness without its geometric part, rigid motions unchecked.
    let mut bare = problem.clone();
    let frames = c.element.frames.len();
    bare.attached[0].element.stiffness = without_prestress(f, &state, frames)?;
    let without = bare.response(at).map_err(said)?.compliance;
    let pose = c.poses[frames];
    let turned = |t: [f64; 6], back: bool| -> [f64; 6] {
        let r = if back { pose.rotation.conjugate() } else { pose.rotation };
        let (v, w) = (r * DVec3::new(t[0], t[1], t[2]), r * DVec3::new(t[3], t[4], t[5]));
        [v.x, v.y, v.z, w.x, w.y, w.z]
    };
    let mut numeric = Matrix::zeros(6, 6);
    for j in 0..6 {
        let h = if j < 3 { 1e-3 } else { 1e-5 };
        let mut unit = [0.0; 6];
        unit[j] = 1.0;
        let more = forces(&rows, &turned(unit, false));
        let at = |s: f64| -> Result<[f64; 6], String> {
            let sum: Vec<DVec3> = dead.iter().zip(&more).map(|(a, b)| *a + *b * (s * h)).collect();
            let x = equilibrium(f, gravity, &sum, Some(&state))?.x;
            let moved: Vec<f64> =
                x.iter().zip(&state.x).flat_map(|(a, b)| (*a - *b).to_array()).collect();
            let t = rows.mul_vec(&moved);
            Ok(turned(std::array::from_fn(|i| t[i]), true))
        };
        let [a, b, c, d] = [at(-2.0)?, at(-1.0)?, at(1.0)?, at(2.0)?];
        for i in 0..6 {
            numeric[(i, j)] = (a[i] - d[i] + 8.0 * (c[i] - b[i])) / (12.0 * h);
        }
    }
    let unit = |i: usize| if i % 6 < 3 { 1.0 / 0.03 } else { 1.0 };
    let scaled = |m: &Matrix| Matrix::from_fn(6, 6, |i, j| unit(i) * m[(i, j)] * unit(j));
    let numeric = scaled(&numeric);
    let off = |m: &Matrix| scaled(m).sub(&numeric).max_abs() / numeric.max_abs();
    Ok((off(&with), off(&without)))
}

/// Sᵀ K S alone: K_c less Λ, by the forces on nodes in bones.
fn without_prestress(f: &BuiltFinger, state: &SoftState, frames: usize) -> Result<Matrix, String> {
    let at = TissuePose { q: &state.q, x: &state.x, patch_wrenches: &[] };
    let c = condense("finger", &f.body, &f.mechanism, &at, &[], 0).map_err(said)?;
    let mut k = f.body.elastic().matrix();
    let exact = forks_condense::deform::Curvature::Exact;
    f.body.elastic().stiffness(&c.positions, exact, &mut k);
    let products: Vec<Vec<DVec3>> = c.shapes[..6 * frames]
        .iter()
        .map(|s| {
            let mut out = vec![DVec3::ZERO; s.len()];
            k.multiply(s, &mut out);
            out
        })
        .collect();
    let n = 6 * frames;
    Ok(Matrix::from_fn(n, n, |i, j| {
        c.shapes[i].iter().zip(&products[j]).map(|(a, b)| a.dot(*b)).sum()
    })
    .symmetric_part())
}
