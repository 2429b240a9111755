//! Commands from tasks: maps of plants against their steps, least commands against dense systems,
//! levels against a cascade of quadratic programs, filters, ways to keep priorities, limits, units,
//! feet, rows that give way, prediction.

mod choices;
mod following;
mod infeasible;
mod kinds;
mod levels;
mod limits;
mod machines;
mod objectives;
mod paths;
mod plants;
mod prediction;
mod torques;
mod touching;
mod units;

use std::path::Path;

use super::{record::Recorder, scenario::Control};

pub(crate) fn check(c: &Control, fixtures: &Path, out: &mut Recorder) -> Result<(), String> {
    plants::check(c.trees, out)?;
    kinds::check(out)?;
    objectives::check(c.states, out)?;
    levels::check(c.problems, out)?;
    paths::check(c.paths, out)?;
    choices::check(c.paths, out)?;
    infeasible::check(c.infeasible, out)?;
    limits::check(c.robots, c.limit_steps, out)?;
    torques::check(c.robots, c.torque_steps, out)?;
    units::check(c.trees, out)?;
    touching::check(c.machines, out)?;
    prediction::check(fixtures, out)?;
    following::check(fixtures, out)
}
