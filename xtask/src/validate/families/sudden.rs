//! Forces applied at once to a blend at rest: it ends where the forces hold it when they grow
//! slowly, or says that it left its range.
//!
//! Steps damp a motion of the lowest frequency by a factor of 50 over the first 40 periods; what is
//! left of it is averaged over the last periods. Where the mean is not at the rest yet the motion
//! goes on, up to four times as long. Another place at the end is right only if the full
//! mechanism, under the same forces at once, is there too.

use std::sync::Arc;

use forks_blend::{BlendedModel, BlendedState, BlendedStepper, BlendedWorkspace};
use forks_dynamics::integrate::{Simulation, SimulationOptions, SimulationStatus};
use forks_mechanism::lie::{Wrench, glam::DVec3};
use forks_place::Forces;
use forks_rom::StepStatus;
use rayon::prelude::*;

use super::{full::Full, growth};
use crate::validate::record::larger;

/// Steps per period of the lowest frequency.
pub(super) const STEPS_PER_PERIOD: usize = 200;
/// Periods of a motion, and how many times as long at most.
const PERIODS: usize = 40;
const TIMES: usize = 4;
/// Periods over which places are averaged.
const AVERAGED: usize = 10;
/// Places are the same up to this part of the displacement (of 0.1 r at least).
const SAME: f64 = 0.01;
/// Places of the full mechanism and the blend are the same up to this part.
const SAME_AS_FULL: f64 = 0.1;
/// So many ends at other places are compared with the full mechanism's.
const COMPARED: usize = 3;

/// How a motion ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At the static rest.
    Rest,
    /// Elsewhere, and the last step said that the model is out of its range.
    OutOfRange,
    /// Elsewhere, where the full mechanism ends too.
    AsFull,
    /// Elsewhere, and the steps say nothing.
    Elsewhere,
    /// There is no static rest to compare with, and the steps say nothing.
    NoRest,
    /// Numbers were lost.
    NotFinite,
}

impl End {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rest => "rest",
            Self::OutOfRange => "out of range",
            Self::AsFull => "elsewhere as the full mechanism",
            Self::Elsewhere => "elsewhere",
            Self::NoRest => "no rest",
            Self::NotFinite => "not finite",
        }
    }

    pub(super) fn is_right(self) -> bool {
        matches!(self, Self::Rest | Self::OutOfRange | Self::AsFull)
    }
}

/// A motion under forces that act at once.
#[derive(Clone, Debug)]
pub(super) struct Motion {
    pub(super) end: End,
    /// Steps that said `OutOfRange`.
    pub(super) outside: usize,
    /// Longer than the first 40 periods.
    pub(super) longer: bool,
    /// Mean places of the effectors over the last periods.
    tips: Vec<DVec3>,
}

/// Forces, and where the blend rests if they grow slowly.
pub(super) struct Case<'a> {
    pub(super) forces: &'a Forces,
    pub(super) rest: Option<&'a [f64]>,
}

/// Moves the blend from its rest under each of the forces.
pub(super) fn motions(
    model: &BlendedModel,
    rest: &[f64],
    h: f64,
    full: &Full<'_>,
    cases: &[Case<'_>],
) -> Result<Vec<Motion>, String> {
    let stepper = BlendedStepper::new(Arc::new(model.clone()), h).map_err(|e| e.to_string())?;
    let one = |c: &Case<'_>| motion(&stepper, rest, c, full);
    let mut out: Vec<Motion> = cases.par_iter().map(one).collect::<Result<_, _>>()?;
    // At the first one that moves otherwise than the full mechanism nothing more is to be found.
    let elsewhere = |m: &&mut (&mut Motion, &Case<'_>)| m.0.end == End::Elsewhere;
    let mut pairs: Vec<_> = out.iter_mut().zip(cases).collect();
    for (motion, case) in pairs.iter_mut().filter(elsewhere).take(COMPARED) {
        if !as_full(motion, h, full, case.forces) {
            break;
        }
        motion.end = End::AsFull;
    }
    Ok(out)
}

/// Largest distance of effectors over displacements from the full rest.
fn apart(a: &[DVec3], b: &[DVec3], full: &Full<'_>) -> f64 {
    let each = a.iter().zip(b).zip(&full.tips).map(|((a, b), rest)| {
        let moved = b.distance(rest.translation);
        a.distance(*b) / moved.max(0.1 * full.r)
    });
    each.fold(0.0, larger)
}

fn motion(
    stepper: &BlendedStepper,
    rest: &[f64],
    case: &Case<'_>,
    full: &Full<'_>,
) -> Result<Motion, String> {
    let model = stepper.model();
    let tips = |x: &[f64]| -> Vec<DVec3> {
        (0..model.effector_count()).map(|e| model.effector_pose(e, x).translation).collect()
    };
    let target = case.rest.map(tips);
    let loads = growth::loads(case.forces, 1.0);
    let mut state = BlendedState::new(model, rest).map_err(|e| e.to_string())?;
    let mut work = BlendedWorkspace::new(model);
    let mut out = Motion { end: End::NoRest, outside: 0, longer: false, tips: vec![] };
    let (all, averaged) = (PERIODS * STEPS_PER_PERIOD, AVERAGED * STEPS_PER_PERIOD);
    for time in 0..TIMES {
        out.longer = time > 0;
        let mut says_outside = false;
        let mut sum = vec![DVec3::ZERO; model.effector_count()];
        for k in 0..all {
            match stepper.step(&mut state, &mut work, &loads) {
                StepStatus::NotFinite => return Ok(Motion { end: End::NotFinite, ..out }),
                StepStatus::OutOfRange { .. } => says_outside = true,
                _ => says_outside = false,
            }
            out.outside += usize::from(says_outside);
            if k + averaged >= all {
                let here = tips(state.coordinates());
                sum.iter_mut().zip(here).for_each(|(s, p)| *s += p / averaged as f64);
            }
        }
        if !sum.iter().all(|s| s.is_finite()) {
            return Ok(Motion { end: End::NotFinite, ..out });
        }
        out.tips = sum;
        let near = target.as_ref().is_some_and(|t| apart(&out.tips, t, full) <= SAME);
        out.end = match (near, says_outside) {
            (true, _) => End::Rest,
            (false, true) => End::OutOfRange,
            (false, false) if target.is_some() => End::Elsewhere,
            (false, false) => End::NoRest,
        };
        if near {
            break;
        }
    }
    Ok(out)
}

/// True if the full mechanism ends where the blend does.
fn as_full(motion: &Motion, h: f64, full: &Full<'_>, forces: &Forces) -> bool {
    let mut simulation = simulation(full, &full.rest.q);
    let (all, averaged) = (PERIODS * STEPS_PER_PERIOD, AVERAGED * STEPS_PER_PERIOD);
    let mut sum = vec![DVec3::ZERO; full.tips.len()];
    for k in 0..all {
        push(&mut simulation, full, forces);
        if simulation.step(h) != SimulationStatus::Completed {
            return false;
        }
        if k + averaged >= all {
            let here = tips(&simulation, full);
            sum.iter_mut().zip(here).for_each(|(s, p)| *s += p / averaged as f64);
        }
    }
    apart(&motion.tips, &sum, full) <= SAME_AS_FULL
}

/// The full mechanism at rest at joint positions.
pub(super) fn simulation<'m>(full: &Full<'m>, q: &[f64]) -> Simulation<'m> {
    let m = full.problem.mechanism();
    let options = SimulationOptions { gravity: full.gravity, ..SimulationOptions::default() };
    let still = vec![0.0; m.tree_velocity_count()];
    Simulation::new(m, &q[..m.tree_position_count()], &still, options)
}

/// Places of the effectors.
pub(super) fn tips(simulation: &Simulation<'_>, full: &Full<'_>) -> Vec<DVec3> {
    let poses = simulation.link_poses();
    let of =
        |e: &forks_reduce::Effector| (poses[e.link.index()] * e.link_from_effector).translation;
    full.problem.effectors.iter().map(of).collect()
}

/// Forces that stay as they are in the world, in the links' frames of this moment.
fn push(simulation: &mut Simulation<'_>, full: &Full<'_>, forces: &Forces) {
    let m = full.problem.mechanism();
    let poses = simulation.link_poses();
    let mut wrenches = vec![Wrench::ZERO; m.links().len()];
    for &(e, force) in forces {
        let effector = &full.problem.effectors[e];
        let link = effector.link.index();
        let force = poses[link].rotation.conjugate() * force;
        let arm = effector.link_from_effector.translation;
        wrenches[link] += Wrench::new(force, arm.cross(force));
    }
    simulation.set_loads(&vec![0.0; m.tree_velocity_count()], &wrenches);
}
