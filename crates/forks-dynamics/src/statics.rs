//! Static equilibrium: the one reached from a start pose by scaling gravity and spring preloads
//! from 0 to 1, then the wrenches.

use forks_mechanism::Mechanism;

pub use crate::equilibrium::{
    Algebra, Equilibrium, EquilibriumOptions, EquilibriumStatus, LoadPath, PathEvent, PathEventKind,
};
use crate::{
    loads::Loads,
    newton::Point,
    phases::Phases,
    search::{POLISHING_STEPS, Search},
    springs::StartRest,
    stage::Stage,
};

/// The equilibrium under `loads` reached from the pose `start` by scaling gravity and spring
/// preloads together from 0 to 1, then the wrenches. Where the mechanism has no equilibrium under
/// gravity and preloads alone, all loads are scaled together.
///
/// At scale s every spring is s parts of itself and 1 − s parts of the same spring at rest in the
/// start pose. Servos are ignored ([`forks_mechanism::Preparation`] turns them into springs). Loops
/// that are open at the start are closed first.
///
/// # Panics
/// If `start` does not have `position_count` entries or a wrench acts on a link that does not
/// exist.
pub fn solve_equilibrium(
    m: &Mechanism,
    start: &[f64],
    loads: &Loads,
    options: &EquilibriumOptions,
) -> Equilibrium {
    assert_eq!(start.len(), m.position_count(), "number of start positions");
    let rest = StartRest::new(m, start);
    let phases = Phases::new(m, loads, &rest);
    let found = Search::new(m, start, options).along(&phases);
    if found.status.is_equilibrium() || !phases.stopped_early(found.load_scale) {
        return found;
    }
    let together = Search::new(m, start, options).along(&phases.together());
    let tells = together.status.is_equilibrium() || together.status == EquilibriumStatus::Cancelled;
    if tells { together } else { found }
}

/// The equilibrium under `loads` reached from another equilibrium under slightly different loads,
/// without load steps: for changes of a wrench at full load.
///
/// Falls back to relaxation where Newton's method fails.
///
/// # Panics
/// As [`solve_equilibrium`].
pub fn continue_equilibrium(
    m: &Mechanism,
    from: &Equilibrium,
    loads: &Loads,
    options: &EquilibriumOptions,
) -> Equilibrium {
    assert_eq!(from.q.len(), m.position_count(), "number of start positions");
    let mut search = Search::new(m, &from.q, options);
    let stage = Stage::full(m, loads);
    let Some(point) = Point::new(&stage, &search.scaling, from.q.clone()) else {
        return search.unusable(&from.q);
    };
    search.load_steps = 1;
    if let Some(point) = search.solve(&stage, &point, options.tolerance, POLISHING_STEPS) {
        return search.finished(&stage, point);
    }
    match search.jump(&stage, &point, options.tolerance, POLISHING_STEPS) {
        Ok(point) => search.finished(&stage, point),
        Err(reached) => search.failed(&stage, reached.map_or(point, |p| *p), 0.0),
    }
}
