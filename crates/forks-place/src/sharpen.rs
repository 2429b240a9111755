//! Weights between samples that leave nothing worse than the nearest sample alone.
//!
//! Where one sample is much nearer than all others, these can only disturb: of weights with growing
//! exponents the first is taken with which no training load says so. Training loads lie closer to
//! samples, which are some of them, than others do, so next to nothing is allowed there.

use forks_blend::{BlendData, BlendedModel, Weights};
use forks_mechanism::lie::Pose;
use forks_reduce::Problem;
use rayon::prelude::*;

use crate::{measure::Errors, search::Search, settings::Placement, truth::effector_poses};

/// Exponents to try.
const EXPONENTS: [u32; 4] = [10, 12, 16, 20];
/// Largest error over that of the nearest sample, or over the tolerance where that is larger.
const NO_WORSE: f64 = 1.01;
/// So much may the largest error over its tolerance grow where it is above 1 anyway.
const PRICE: f64 = 1.1;

/// The blend with weights of the smallest exponent that is large enough; the blend itself where
/// none is.
pub(crate) fn sharpened(
    problem: &Problem,
    search: &Search<'_>,
    model: BlendedModel,
) -> BlendedModel {
    let Search { training, placement, .. } = *search;
    let Some(exponent) = exponent(model.data().weights) else { return model };
    let Some(alone) = alone(model.data()) else { return model };
    let loads = 0..training.len();
    let nearest = |load: usize| {
        let poses = effector_poses(problem, &training[load].equilibrium.world_from_link);
        search.errors(&alone[nearest(model.data(), &poses)], load)
    };
    let nearest: Vec<Errors> = loads.clone().into_par_iter().map(nearest).collect();
    let measured = |m: &BlendedModel| {
        let errors = loads.clone().into_par_iter().map(|load| search.errors(m, load));
        let errors: Vec<Errors> = errors.collect();
        let ratio = |(e, n): (&Errors, &Errors)| over(placement, e, n);
        let ratio = errors.iter().zip(&nearest).map(ratio).fold(0.0, f64::max);
        (ratio, errors.iter().map(|e| placement.over(e)).fold(0.0, f64::max))
    };
    let (ratio, bad) = measured(&model);
    let allowed = if bad <= 1.0 { 1.0 } else { PRICE * bad };
    let mut best = (ratio, model);
    for e in EXPONENTS.into_iter().filter(|e| *e > exponent) {
        if best.0 <= NO_WORSE {
            break;
        }
        let weights = with_exponent(best.1.data().weights, e);
        let Ok(sharper) = BlendedModel::new(BlendData { weights, ..best.1.data().clone() }) else {
            break;
        };
        let (ratio, now) = measured(&sharper);
        if ratio < best.0 && now <= allowed {
            best = (ratio, sharper);
        }
    }
    best.1
}

/// Largest of a load's errors over those of the nearest sample.
fn over(p: &Placement, blend: &Errors, nearest: &Errors) -> f64 {
    let part = |blend: f64, nearest: f64, tolerance: f64| match nearest.is_finite() {
        true if tolerance.is_finite() => blend / nearest.max(tolerance),
        // The nearest sample has no equilibrium here: any finite error of the blend is no worse.
        _ if blend.is_finite() => 0.0,
        _ => 1.0,
    };
    part(blend.constraint, nearest.constraint, p.constraint_tolerance)
        .max(part(blend.joint_space, nearest.joint_space, p.joint_space_tolerance))
        .max(part(blend.statics, nearest.statics, p.static_tolerance))
}

/// A model of each sample.
fn alone(data: &BlendData) -> Option<Vec<BlendedModel>> {
    (0..data.samples.len()).map(|i| BlendedModel::new(data.alone(i)).ok()).collect()
}

/// The sample whose effectors are nearest, lengths over r.
fn nearest(data: &BlendData, poses: &[Pose]) -> usize {
    let far = |i: usize| -> f64 {
        let there = &data.samples[i].model.data().effectors;
        let twists = there.iter().zip(poses).map(|(e, p)| e.rest.twist_to(p));
        twists.map(|t| t.scale_linear(1.0 / data.radius).norm().powi(2)).sum()
    };
    (0..data.samples.len()).min_by(|&a, &b| far(a).total_cmp(&far(b))).unwrap_or(0)
}

fn exponent(weights: Weights) -> Option<u32> {
    match weights {
        Weights::Shepard { exponent } | Weights::Metric { exponent, .. } => Some(exponent),
        _ => None,
    }
}

fn with_exponent(weights: Weights, exponent: u32) -> Weights {
    match weights {
        Weights::Metric { energy, .. } => Weights::Metric { exponent, energy },
        _ => Weights::Shepard { exponent },
    }
}
