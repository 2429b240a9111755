//! Frequencies of reduced models against the whole: joints, bones and all free nodes.

use forks_condense::{
    finger::SoftFinger,
    reduce::{MassModel, ReduceOptions},
};
use forks_dynamics::mass_matrix;
use forks_mechanism::linalg::dense;

use super::direct::{Direct, condensed, problem};
use crate::{validate::record::Recorder, words::said};

/// Internal modes of the superelement, of which twelve of the whole are made.
const INTERNAL: usize = 24;

pub(super) fn check(out: &mut Recorder) -> Result<(), String> {
    let spec = SoftFinger::default();
    let f = spec.build().map_err(said)?;
    let direct = Direct::new(&f, spec.joints);
    let m = mass_matrix(&f.mechanism, &f.mechanism.start_positions());
    let mut mass =
        forks_mechanism::linalg::Matrix::zeros(direct.stiffness.rows(), direct.stiffness.rows());
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
    let (nu, _) = dense::generalized_symmetric_eigen(&mass, &direct.stiffness)
        .ok_or("the whole is not stable")?;
    let full: Vec<f64> = nu.iter().rev().take(3).map(|nu| (1.0 / nu).sqrt()).collect();
    let c = condensed(&f, INTERNAL)?;
    let problem = problem(&f, &c, &["pad"])?;
    for (name, mass, bounds) in [
        ("condensed", MassModel::Condensed, [Some(0.01), Some(0.01), None]),
        ("12 modes", MassModel::CraigBampton { modes: 12 }, [Some(1e-3); 3]),
    ] {
        let options = ReduceOptions { mass, ..ReduceOptions::default() };
        let reduction = problem.reduce(problem.at_rest(), &options).map_err(said)?;
        for (k, (found, full)) in reduction.frequencies().iter().zip(&full).enumerate() {
            let check = format!("frequency {}, {name}", k + 1);
            out.judge(&check, (found / full - 1.0).abs(), bounds[k]);
        }
    }
    Ok(())
}
