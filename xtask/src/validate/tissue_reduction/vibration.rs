//! Frequencies of reduced models against the whole: joints, bones and all free nodes.

use forks_condense::{
    finger::SoftFinger,
    reduce::{MassModel, ReduceOptions},
};
use forks_mechanism::linalg::dense;

use super::{
    craig_bampton::{CraigBampton, MODES},
    direct::{Direct, condensed, patch_rows, problem},
};
use crate::{finger::whole_mass, validate::record::Recorder, words::said};

/// Internal modes of the superelement, of which twelve of the whole are made.
const INTERNAL: usize = 24;

pub(super) fn check(out: &mut Recorder) -> Result<(), String> {
    let spec = SoftFinger::default();
    let f = spec.build().map_err(said)?;
    let direct = Direct::new(&f, spec.joints);
    let mass = whole_mass(&f, direct.0.stiffness.rows());
    let (nu, _) = dense::generalized_symmetric_eigen(&mass, &direct.0.stiffness)
        .ok_or("the whole is not stable")?;
    let full: Vec<f64> = nu.iter().rev().take(3).map(|nu| (1.0 / nu).sqrt()).collect();
    let rows = patch_rows(&f.pad, f.body.mesh().nodes());
    let anchor = CraigBampton::new(&direct.0, &mass, &rows)?.frequencies()?;
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
