//! Displacements after a run under one force against those of the full solver (\[R06\] §6.4).

use super::{Adaptive, CATCH_UP, Displacement, forces, plan, start, step, target};
use crate::{
    linkages::{Full, centers, largest_distance},
    validate::record::Recorder,
};

/// Exponent of the threshold whose displacements count as exact elsewhere.
pub(super) const EXACT: i32 = 50;
/// What those may differ from the full solver's: a tenth of the errors that are measured with them.
const EXACT_BOUND: f64 = 1e-7;

pub(super) fn check(d: &Displacement, a: &Adaptive, out: &mut Recorder) -> Result<(), String> {
    let m = a.linkage.mechanism(d.size.links);
    let forces = forces(a, &m, 1);
    let mut full = Full::new(&m).map_err(|e| e.to_string())?;
    let exact = centers(&m, &full.run(&forces, d.size.steps, a.time_step)?);
    let largest = largest_distance(&centers(&m, &m.start_positions()), &exact);
    let runs = [
        (CATCH_UP, d.exponent, d.bound, "every 8th step catching up"),
        (0, d.exponent, d.plain_bound, "no step catching up"),
        (0, EXACT, EXACT_BOUND, "no step catching up"),
    ];
    for (catch_up, exponent, bound, kind) in runs {
        let plan = plan(a, &m, catch_up)?;
        let mut state = start(&forces, &plan)?;
        for _ in 0..d.size.steps {
            step(&mut state, &target(exponent))?;
        }
        let found = centers(&m, state.positions());
        let name = format!("displacement error, 2^-{exponent}, {} steps, {kind}", d.size.steps);
        out.at_most(&name, largest_distance(&found, &exact) / largest, bound);
    }
    Ok(())
}
