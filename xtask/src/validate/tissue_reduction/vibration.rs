//! Frequencies of reduced models against the whole: joints, bones and all free nodes.

use forks_condense::{
    finger::SoftFinger,
    reduce::{MassModel, ReduceOptions},
};
use forks_dynamics::mass_matrix;
use forks_mechanism::linalg::{Matrix, dense};
use forks_testkit::soft_chain::SoftChain;

use super::direct::{Direct, condensed, patch_rows, problem};
use crate::{validate::record::Recorder, words::said};

/// Internal modes of the superelement, of which twelve of the whole are made.
const INTERNAL: usize = 24;
const MODES: usize = 12;

pub(super) fn check(out: &mut Recorder) -> Result<(), String> {
    let spec = SoftFinger::default();
    let f = spec.build().map_err(said)?;
    let direct = Direct::new(&f, spec.joints);
    let m = mass_matrix(&f.mechanism, &f.mechanism.start_positions());
    let mut mass = Matrix::zeros(direct.0.stiffness.rows(), direct.0.stiffness.rows());
    for i in 0..m.rows() {
        mass.row_mut(i)[..m.rows()].copy_from_slice(m.row(i));
    }
    let free = (0..f.body.masses().len()).filter(|n| f.body.holder(*n).is_none());
    for (i, n) in free.enumerate() {
        (0..3).for_each(|a| {
            let at = m.rows() + 3 * i + a;
            mass[(at, at)] = f.body.masses()[n];
        });
    }
    let (nu, _) = dense::generalized_symmetric_eigen(&mass, &direct.0.stiffness)
        .ok_or("the whole is not stable")?;
    let full: Vec<f64> = nu.iter().rev().take(3).map(|nu| (1.0 / nu).sqrt()).collect();
    // [Craig, Bampton 1968] on the whole: static shapes of the pad, modes with the pad held.
    let rows = patch_rows(&f.pad, f.body.mesh().nodes());
    let anchor = craig_bampton(&direct.0, &mass, &rows)?;
    let c = condensed(&f, INTERNAL)?;
    let problem = problem(&f, &c, &["pad"])?;
    for (name, mass, bounds) in [
        ("condensed", MassModel::Condensed, [Some(0.01), Some(0.01), None]),
        ("12 modes", MassModel::CraigBampton { modes: MODES }, [Some(1e-3); 3]),
    ] {
        let options = ReduceOptions { mass, ..ReduceOptions::default() };
        let reduction = problem.reduce(problem.at_rest(), &options).map_err(said)?;
        for (k, (found, full)) in reduction.frequencies().iter().zip(&full).enumerate() {
            let check = format!("frequency {}, {name}", k + 1);
            out.judge(&check, (found / full - 1.0).abs(), bounds[k]);
            if matches!(mass, MassModel::CraigBampton { .. }) {
                let check = format!("frequency {}, against dense Craig-Bampton", k + 1);
                out.at_most(&check, (found / anchor[k] - 1.0).abs(), 1e-3);
            }
        }
    }
    Ok(())
}

/// Lowest frequencies of the whole in its static shapes and `MODES` modes with the pad held, rad/s,
/// ascending.
fn craig_bampton(chain: &SoftChain, mass: &Matrix, rows: &Matrix) -> Result<Vec<f64>, String> {
    let e = rows.mul(&chain.motions);
    let response = chain.response(rows).ok_or("the whole is not stable")?;
    let (_, held) = dense::nullspace(&e, 1e-10).ok_or("no motions with the pad held")?;
    let inner = |x: &Matrix, n: &Matrix| n.transpose_mul(&x.mul(n)).symmetric_part();
    let (_, modes) =
        dense::generalized_symmetric_eigen(&inner(mass, &held), &inner(&chain.stiffness, &held))
            .ok_or("the whole with the pad held is not stable")?;
    let last = modes.columns();
    let kept = Matrix::from_fn(modes.rows(), MODES, |i, j| modes[(i, last - 1 - j)]);
    let modes = held.mul(&kept);
    let shapes = Matrix::from_fn(modes.rows(), 6 + MODES, |i, j| match j < 6 {
        true => response[(i, j)],
        false => modes[(i, j - 6)],
    });
    // Shapes of very different sizes.
    let size = |j: usize| (0..shapes.rows()).map(|i| shapes[(i, j)].abs()).fold(0.0, f64::max);
    let sizes: Vec<f64> = (0..shapes.columns()).map(size).collect();
    let shapes = Matrix::from_fn(shapes.rows(), shapes.columns(), |i, j| shapes[(i, j)] / sizes[j]);
    let (nu, _) = dense::generalized_symmetric_eigen(
        &inner(mass, &shapes),
        &inner(&chain.stiffness, &shapes),
    )
    .ok_or("the shapes are not independent")?;
    Ok(nu.iter().rev().map(|nu| (1.0 / nu).sqrt()).collect())
}
