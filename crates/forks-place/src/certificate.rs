//! What a placed blend is worth: its errors at loads that it was not made for, on the paths by
//! which these grow, and where it ends when they act at once.

use std::sync::Arc;

use forks_blend::{BlendedModel, BlendedState, BlendedStepper};
use forks_rom::{StaticStatus, StepStatus};
use rayon::prelude::*;

use crate::{
    measure::{Errors, Gauge, effector_loads},
    ports::lowest_frequency,
    settings::{Certificate, Placement},
    truth::Truth,
};

/// A load grows in so many equal parts.
const PARTS: u32 = 16;
/// Two ways to one rest agree to this part of the static error, or of this one if that is smaller.
const SAME: f64 = 0.25;
const ROUGH: f64 = 0.02;
/// Loads that act at once, at most: those that move most.
const SUDDEN: usize = 12;
/// Steps per period of the slowest vibration, and periods, of their motion.
const STEPS: f64 = 200.0;
const PERIODS: f64 = 40.0;

/// Errors of a blend on the path of each load: where the blend jumps on it, or finds another rest
/// when the load grows in other parts, the static error is infinite.
pub(crate) fn path_errors(
    gauge: &Gauge<'_>,
    model: &BlendedModel,
    truths: &[Truth],
) -> Vec<Errors> {
    let along = |t: &Truth| {
        let loads = effector_loads(t);
        let (Ok(slow), Ok(fast)) =
            (model.follow_static(&loads, PARTS), model.solve_static(&loads, &[]))
        else {
            return Errors::NONE;
        };
        if fast.status != StaticStatus::Converged {
            return Errors::NONE;
        }
        let errors = gauge.errors_at(model, t, &fast.coordinates);
        let converged = slow.status == StaticStatus::Converged;
        let apart = gauge.apart(model, t, &slow.coordinates, &fast.coordinates);
        // Written so that NaN is no agreement.
        if !(converged && apart <= SAME * errors.statics.max(ROUGH)) {
            return Errors { statics: f64::INFINITY, ..errors };
        }
        errors
    };
    truths.par_iter().map(along).collect()
}

/// How the motion ends when a load acts at once on the mechanism at rest.
enum End {
    Same,
    OutOfRange,
    Elsewhere,
}

/// Counts how sudden loads end, of those that move the mechanism most.
pub(crate) fn sudden(
    gauge: &Gauge<'_>,
    model: &BlendedModel,
    truths: &[Truth],
    placement: &Placement,
    out: &mut Certificate,
) {
    let first = model.data().samples[0].model.data();
    let Some(h) = lowest_frequency(first).map(|w| core::f64::consts::TAU / w / STEPS) else {
        return;
    };
    let mut order: Vec<&Truth> = truths.iter().collect();
    order.sort_by(|a, b| b.displacement.total_cmp(&a.displacement));
    order.truncate(SUDDEN);
    let Ok(stepper) = BlendedStepper::new(Arc::new(model.clone()), h) else { return };
    let ends: Vec<End> =
        order.par_iter().map(|t| applied_at_once(gauge, &stepper, t, placement)).collect();
    out.sudden = ends.len();
    out.sudden_out_of_range = ends.iter().filter(|e| matches!(e, End::OutOfRange)).count();
    out.sudden_elsewhere = ends.iter().filter(|e| matches!(e, End::Elsewhere)).count();
}

fn applied_at_once(
    gauge: &Gauge<'_>,
    stepper: &BlendedStepper,
    truth: &Truth,
    placement: &Placement,
) -> End {
    let model = stepper.model();
    let loads = effector_loads(truth);
    let Ok(rest) = model.solve_static(&loads, &[]) else { return End::Elsewhere };
    let mut state = BlendedState::reference(model);
    let mut work = forks_blend::BlendedWorkspace::new(model);
    let (n, steps, last) = (model.dof(), (STEPS * PERIODS) as usize, (2.0 * STEPS) as usize);
    let (mut mean, mut outside) = (vec![0.0; n], false);
    for k in 0..steps {
        match stepper.step(&mut state, &mut work, &loads) {
            StepStatus::Completed => {}
            StepStatus::OutOfRange { .. } => outside = true,
            _ => return End::Elsewhere,
        }
        if k + last >= steps {
            mean.iter_mut().zip(state.coordinates()).for_each(|(m, x)| *m += x / last as f64);
        }
    }
    let apart = gauge.apart(model, truth, &mean, &rest.coordinates);
    // What has not died out yet is no other rest.
    if apart <= 2.0 * placement.static_tolerance {
        return End::Same;
    }
    if outside { End::OutOfRange } else { End::Elsewhere }
}
