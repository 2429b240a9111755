//! `reduced/chain-1000000`: how far links that nobody touches can be counted up.

use std::sync::Arc;

use forks_mechanism::{
    Preparation,
    lie::{Wrench, glam::DVec3},
};
use forks_reduce::{Effector, Problem, ReduceOptions};
use forks_rom::{EffectorLoad, LoadFrame, State, Stepper};

use super::{
    case::{Case, Context},
    measure::time,
    reduced::step_and_poses,
};

const LINKS: usize = 1_000_000;
/// Time step, s.
const DT: f64 = 1e-3;

/// One chain of a million rods with its last one as effector: the reduction, and a step with the
/// poses of all links on one thread.
pub(super) fn chain(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let p = forks_models::molecules::chain(LINKS, 1);
    let preparation = Preparation { default_stiffness: Some(1000.0), ..Default::default() };
    let mechanism = preparation.apply(&p.mechanism).map_err(|e| e.to_string())?.mechanism;
    let effector = Effector::of_link(&mechanism, p.effectors[0]);
    let problem = Problem::unprepared(mechanism, vec![effector]);
    let options = ReduceOptions::default();
    let reduced = || problem.reduce(problem.at_rest(), &options);
    let built = time(context.batch, reduced);
    let model = Arc::new(reduced().map_err(|e| e.to_string())?.model);
    let stepper = Stepper::new(model, DT).map_err(|e| e.to_string())?;
    let mut state = State::new(stepper.model());
    let wrench = Wrench::new(DVec3::X * 1e-3, DVec3::ZERO);
    let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::World };
    let ours = step_and_poses(&stepper, &mut state, &[load], context.batch)?;
    let settings = format!(
        "1000 N·m/rad in every hinge, seed 1, step and poses of all links, {}",
        stepper.model().isa().name()
    );
    let mut case = Case::new(name, LINKS, 1, ours, &settings);
    case.dt = Some(DT);
    case.figure("reduced coordinates", stepper.model().dof() as f64);
    case.figure("ns per link", ours.ns / LINKS as f64);
    case.figure("ns to reduce", built.ns);
    Ok(vec![case])
}
