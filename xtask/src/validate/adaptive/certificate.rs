//! The certificate along a run: at states on the way the true error against the full solver is the
//! certified one.

use super::{Adaptive, Certificate, forces, missed, plan, start, step, target};
use crate::{linkages::Full, validate::record::Recorder};

/// Rounding of the two solvers over the largest acceleration: some 1e-14 on large trees (EQUATIONS
/// 1.7).
const ROUNDING: f64 = 1e-12;
/// Relative difference of the reported and the true linkage error.
const REPORTED: f64 = 1e-6;

pub(super) fn check(c: &Certificate, a: &Adaptive, out: &mut Recorder) -> Result<(), String> {
    let m = a.linkage.mechanism(c.size.links);
    let forces = forces(a, &m, 1);
    let plan = plan(a, &m, 0)?;
    let mut state = start(&forces, &plan)?;
    let mut full = Full::new(&m).map_err(|e| e.to_string())?;
    let target = target(c.exponent);
    let (mut certified, mut over, mut over_certified) = (0.0f64, 0.0f64, 0.0f64);
    let (mut reported, mut checked, mut joints) = (0.0f64, 0, 0);
    for k in 1..=c.size.steps {
        let compare = k % c.every == 0;
        let q = if compare { state.positions().to_vec() } else { vec![] };
        let r = step(&mut state, &target)?.result;
        certified = certified.max(r.certified_error / target.error);
        joints += r.counters.joints_computed;
        if compare {
            let true_error = missed(&mut full, &forces, &q, state.accelerations())?;
            let relative = true_error.relative_joint;
            over = over.max((relative - ROUNDING) / target.error);
            over_certified = over_certified.max(relative - r.certified_error);
            let linkage = r.linkage_error / r.linkage_norm;
            reported = reported.max((linkage / true_error.relative_linkage - 1.0).abs());
            checked += 1;
        }
    }
    let e = c.exponent;
    let name = |what: &str| format!("2^-{e}, {} links: {what}", c.size.links);
    let at = format!("at {checked} of {} states", c.size.steps);
    out.equal("states compared", checked, c.size.steps / c.every);
    out.at_most(&name("certified error over ε, all steps"), certified, 1.0);
    out.at_most(&name(&format!("true error over ε, {at}")), over, 1.0);
    out.at_most(&name(&format!("true over certified error, {at}")), over_certified, ROUNDING);
    out.at_most(&name("reported linkage error = true one"), reported, REPORTED);
    // Otherwise nothing was left out.
    let part = joints as f64 / (c.size.steps * m.joints().len()) as f64;
    out.at_most(&name("part of the joints computed"), part, 0.5);
    Ok(())
}
