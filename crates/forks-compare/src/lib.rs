//! The full solver beside everything that a mechanism can be reduced to, and which to take.
//!
//! ```text
//! compare        equilibrium, loads, one row per model, recommendation
//! models.rs      the models, each built, measured and timed in the same way
//! timing.rs      median times of steps
//! recommend.rs   which model to take, and why
//! ```
#![doc = include_str!("../README.md")]

mod error;
mod models;
mod recommend;
mod row;
mod settings;
mod timing;

use std::ops::ControlFlow;

pub use error::CompareError;
pub use forks_place::Progress;
pub use row::Row;
pub use settings::Settings;

use forks_dynamics::{Loads, statics::EquilibriumOptions};
use forks_place::{LoadRegion, Placement, Ruler, unseen_loads};
use forks_reduce::{Linearisation, MassModel, Problem, ReduceOptions};

use models::Bench;

/// A table of models, and which of them to take.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Number of loads at which errors were measured: those that have a stable equilibrium.
    pub loads: usize,
    /// The full solver, a reduced model of each mass, a blend, a batch.
    pub rows: Vec<Row>,
    /// Name of the row to take.
    pub recommended: String,
    /// Why.
    pub reason: String,
}

/// Builds, measures and times every model of a problem about the equilibrium without forces.
///
/// `progress` is called while the blend is placed, and may end that early: the blend is then the
/// best that was found.
///
/// # Errors
/// Settings out of range, no equilibrium to begin at, no load with one, a mechanism that cannot be
/// reduced at all. A single model that cannot be built is a row with a note.
pub fn compare(
    problem: &Problem,
    settings: &Settings,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Comparison, CompareError> {
    settings.check()?;
    let loads = if settings.gravity { Loads::gravity() } else { Loads::default() };
    let start = problem.equilibrium(&loads, &EquilibriumOptions::default());
    if !start.status.is_equilibrium() {
        let explanation = start.explanation(problem.mechanism()).unwrap_or_default();
        let status = start.status.name();
        return Err(CompareError::NoEquilibrium { status, explanation });
    }
    let at = Linearisation::equilibrium(&start, &loads);
    let reduction = problem.reduce(at, &ReduceOptions::default())?;
    let placement = Placement {
        regions: LoadRegion::in_all_directions(problem, &reduction, settings.range)?,
        gravity: settings.gravity,
        max_samples: settings.samples,
        static_tolerance: settings.static_tolerance,
        constraint_tolerance: settings.constraint_tolerance,
        time_limit: settings.time_limit,
        ..Placement::default()
    };
    let truths = unseen_loads(problem, &placement, settings.seed, settings.loads)?;
    let Some(first) = truths.first() else {
        return Err(CompareError::NoLoad { range: settings.range });
    };
    let radius = reduction.linear.response.radius;
    let bench = Bench {
        settings,
        problem,
        start: &start,
        loads: &loads,
        ruler: Ruler::new(problem, &start.world_from_link, radius, &truths),
        pushed: &first.forces,
    };
    let full = bench.full(reduction.linear.full_frequencies());
    let (condensed, single) = bench.single("condensed", MassModel::Condensed);
    let (accelerability, _) = bench.single("accelerability", MassModel::Accelerability);
    let modes = MassModel::CraigBampton { modes: settings.modes };
    let (bampton, _) = bench.single(&format!("craig-bampton:{}", settings.modes), modes);
    let blended = bench.blended(&placement, progress);
    let batch = single.map(|model| bench.batch(&condensed, &model));
    let mut rows = vec![full, condensed, accelerability, bampton, blended];
    rows.extend(batch);
    let (recommended, reason) = recommend::recommendation(&rows, settings);
    Ok(Comparison { loads: truths.len(), rows, recommended, reason })
}
