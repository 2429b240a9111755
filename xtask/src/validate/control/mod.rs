//! Commands from tasks: maps of plants against their steps, least commands against dense systems,
//! levels against a cascade of quadratic programs, filters, limits, rows that give way.

mod infeasible;
mod levels;
mod limits;
mod objectives;
mod paths;
mod plants;

use super::{record::Recorder, scenario::Control};

pub(crate) fn check(c: &Control, out: &mut Recorder) -> Result<(), String> {
    plants::check(c.trees, out)?;
    objectives::check(c.states, out)?;
    levels::check(c.problems, out)?;
    paths::check(c.paths, out)?;
    infeasible::check(c.infeasible, out)?;
    limits::check(c.robots, c.limit_steps, out)
}
