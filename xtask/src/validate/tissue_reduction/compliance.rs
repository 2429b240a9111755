//! Compliance: sweep = direct solution; limits of soft and of hard tissue; slopes of the skin.

use forks_condense::{
    SkinKind,
    finger::SoftFinger,
    reduce::{Problem, ProblemOptions, ReduceOptions},
    skin,
    skins::{SkinBuffer, rom::State},
};
use forks_mechanism::linalg::Matrix;

use super::direct::{Direct, condensed, difference, patch_rows, problem};
use crate::{
    validate::record::{Recorder, larger},
    words::said,
};

pub(super) fn check(out: &mut Recorder) -> Result<(), String> {
    let spec = SoftFinger::default();
    for (name, spec) in [
        ("304 nodes", spec.clone()),
        ("stiff joints", SoftFinger { joints: 1e3, ..spec.clone() }),
        ("ten-node elements", SoftFinger { cells: [6, 2, 2], quadratic: true, ..spec.clone() }),
    ] {
        let f = spec.build().map_err(said)?;
        let c = condensed(&f, 0)?;
        let problem = problem(&f, &c, &["pad"])?;
        let found = problem.response(problem.at_rest()).map_err(said)?.compliance;
        let rows = patch_rows(&f.pad, f.body.mesh().nodes());
        let direct = Direct::new(&f, spec.joints).compliance(&rows)?;
        out.at_most(&format!("C, sweep = direct, {name}"), difference(&found, &direct), 1e-10);
    }
    limits(out)?;
    slopes(out)
}

fn tip(young: f64) -> Result<Matrix, String> {
    let spec = SoftFinger { young, cells: [9, 3, 3], ..SoftFinger::default() };
    let f = spec.build().map_err(said)?;
    let problem = problem(&f, &condensed(&f, 0)?, &["bone2"])?;
    Ok(problem.response(problem.at_rest()).map_err(said)?.compliance)
}

fn limits(out: &mut Recorder) -> Result<(), String> {
    let f = SoftFinger { cells: [9, 3, 3], ..SoftFinger::default() }.build().map_err(said)?;
    let options = ProblemOptions::default();
    let bare = Problem::new(&f.mechanism, &["bone2"], &options).map_err(said)?;
    let bare = bare.response(bare.at_rest()).map_err(said)?.compliance;
    out.at_most("E = 1e-6 Pa against the bare skeleton", difference(&tip(1e-6)?, &bare), 1e-9);
    let slope = (tip(1e10)?.max_abs() / tip(1e9)?.max_abs()).log10();
    out.at_most("E to infinity: slope of C off -1", (slope + 1.0).abs(), 1e-3);
    Ok(())
}

/// Every vertex's map against differences of its place.
fn slopes(out: &mut Recorder) -> Result<(), String> {
    let f = SoftFinger::default().build().map_err(said)?;
    let c = condensed(&f, 0)?;
    let problem = problem(&f, &c, &["pad"])?;
    let reduction = problem.reduce(problem.at_rest(), &ReduceOptions::default()).map_err(said)?;
    let model = &reduction.model;
    for (name, kind) in [("vertex as link", SkinKind::Twist), ("by bone", SkinKind::Bone)] {
        let skin = skin(&reduction, 0, &f.body, &c, kind).map_err(said)?;
        let mut places = SkinBuffer::new(&skin, model);
        let mut at = |eta: &[f64]| -> Result<Vec<_>, String> {
            let mut state = State::new(model);
            state.set(eta, &[0.0; 6]).map_err(said)?;
            skin.place(model, &state, &mut places);
            Ok(places.iter().collect())
        };
        // The first order of a place is the whole's displacement per coordinate: from the model's
        // own response over all nodes.
        let linear = linear_places(&f, &reduction, skin.rest())?;
        let (mut worst, scale) = (0.0, linear.max_abs());
        for j in 0..6 {
            let h = 1e-4;
            let mut eta = [0.0; 6];
            eta[j] = h;
            let ahead = at(&eta)?;
            eta[j] = -h;
            let behind = at(&eta)?;
            for v in 0..skin.len() {
                let slope = (ahead[v] - behind[v]) / (2.0 * h);
                for k in 0..3 {
                    worst = larger(worst, (slope[k] - linear[(3 * v + k, j)]).abs() / scale);
                }
            }
        }
        out.at_most(&format!("slopes of the skin, {name}"), worst, 1e-6);
    }
    Ok(())
}

/// Displacement of every vertex per reduced coordinate, by the direct solution.
fn linear_places(
    f: &forks_condense::finger::BuiltFinger,
    reduction: &forks_condense::reduce::Reduction<'_>,
    rest: &[forks_mechanism::lie::glam::DVec3],
) -> Result<Matrix, String> {
    let x = f.body.mesh().nodes();
    let direct = Direct::new(f, SoftFinger::default().joints);
    let response = direct.response(&patch_rows(&f.pad, x))?;
    // Wrenches on the pad per coordinate: (S U) 𝓗.
    let linear = &reduction.linear;
    let per_eta = response.mul(&linear.basis.dual.mul(&linear.hessian));
    let u = direct.motions.mul(&per_eta);
    let nodes: Vec<usize> = rest
        .iter()
        .map(|p| x.iter().position(|x| x == p).ok_or("a vertex that is no node"))
        .collect::<Result<_, _>>()?;
    Ok(Matrix::from_fn(3 * rest.len(), 6, |i, j| u[(3 * nodes[i / 3] + i % 3, j)]))
}
