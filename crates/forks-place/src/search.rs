//! Which of many candidates make the best blend: each is tried against all training loads.

use std::ops::ControlFlow;

use forks_blend::{BlendedModel, Weights};
use forks_mechanism::{lie::Pose, linalg::Matrix};
use rayon::prelude::*;

use crate::{
    candidates::Candidates,
    measure::{Errors, Gauge},
    settings::Placement,
    truth::Truth,
};

/// The worst loads count most, the others a little: what holds at all of them is likelier to hold
/// elsewhere. With a higher power, or a higher limit of what one load counts, a few hopeless loads
/// hide all others.
const NORM: i32 = 4;
/// Errors beyond this multiple of the tolerance count as this.
const WORST: f64 = 12.0;
/// Static error of a blend that does not rest next to an equilibrium, in tolerances, at least.
const RESTLESS: f64 = 2.0;
/// So many of the weights are tried where the blend itself comes to rest.
const PROMISING: usize = 4;
/// A swap has to lower the cost by this part.
const WORTHWHILE: f64 = 1e-3;

/// Chooses samples out of candidates.
pub(crate) struct Search<'a> {
    pub(crate) gauge: &'a Gauge<'a>,
    pub(crate) rest: &'a [Pose],
    pub(crate) training: &'a [Truth],
    pub(crate) candidates: &'a Candidates,
    pub(crate) placement: &'a Placement,
}

/// A set of candidates with weights.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) set: Vec<usize>,
    pub(crate) weights: Weights,
    pub(crate) cost: f64,
}

impl Search<'_> {
    pub(crate) fn blend(&self, set: &[usize], weights: Weights) -> Option<BlendedModel> {
        BlendedModel::new(self.candidates.blend(self.rest, set, weights)?).ok()
    }

    /// (error/tolerance)⁴ at one load.
    fn share(&self, blend: &BlendedModel, load: usize) -> f64 {
        let joints = self.placement.joint_space_tolerance.is_finite();
        let truth = &self.training[load];
        let e = match self.known(load) {
            Some(known) => self.gauge.errors_by(blend, truth, known, joints),
            None => self.gauge.errors_nearby(blend, truth, joints),
        };
        share(self.placement.over(&e))
    }

    /// A load's place and the mechanism's compliance there, in a chart of joint displacements.
    fn known(&self, load: usize) -> Option<(Vec<f64>, &Matrix)> {
        let compliance = self.candidates.compliance(load)?;
        Some((self.gauge.place(&self.training[load])?, compliance))
    }

    /// Errors at a load where the blend rests next to its equilibrium; above the tolerance where it
    /// does not. Where that is not known, at the end of forces that grow.
    pub(crate) fn errors(&self, blend: &BlendedModel, load: usize) -> Errors {
        let (truth, p) = (&self.training[load], self.placement);
        let Some(known) = self.known(load) else { return self.gauge.errors(blend, truth) };
        self.gauge.errors_at_rest_by(blend, truth, known).unwrap_or_else(|| {
            let joints = p.joint_space_tolerance.is_finite();
            let near = self.gauge.errors_nearby(blend, truth, joints);
            Errors { statics: near.statics.max(RESTLESS * p.static_tolerance), ..near }
        })
    }

    fn norm(&self, sum: f64) -> f64 {
        (sum / self.training.len() as f64).powf(1.0 / f64::from(NORM))
    }

    /// (mean (error/tolerance)⁴)^¼ over the training loads in this order; given up beyond `limit`.
    fn cost(&self, set: &[usize], weights: Weights, order: &[usize], limit: f64) -> f64 {
        let Some(blend) = self.blend(set, weights) else { return WORST };
        let most = limit.powi(NORM) * self.training.len() as f64;
        let mut sum = 0.0;
        for &load in order {
            sum += self.share(&blend, load);
            if sum > most {
                return f64::INFINITY;
            }
        }
        self.norm(sum)
    }

    /// Loads by their error for a set, the worst first.
    fn order(&self, from: &Choice) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.training.len()).collect();
        let Some(blend) = self.blend(&from.set, from.weights) else { return order };
        let shares: Vec<f64> = order.par_iter().map(|&load| self.share(&blend, load)).collect();
        order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
        order
    }

    /// The set with each of the weights, the best first.
    fn ranked(&self, set: &[usize], policies: &[Weights]) -> Vec<Choice> {
        let order: Vec<usize> = (0..self.training.len()).collect();
        let all = policies.par_iter().map(|&weights| Choice {
            set: set.to_vec(),
            weights,
            cost: self.cost(set, weights, &order, WORST),
        });
        let mut all: Vec<Choice> = all.collect();
        all.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        all
    }

    /// The set with the best of the weights.
    pub(crate) fn weighted(&self, set: &[usize], policies: &[Weights]) -> Choice {
        self.ranked(set, policies).into_iter().next().unwrap_or_else(|| Choice {
            set: set.to_vec(),
            weights: Weights::default(),
            cost: WORST,
        })
    }

    /// Weights that are worth solving with.
    pub(crate) fn promising(&self, set: &[usize], policies: &[Weights]) -> Vec<Weights> {
        self.ranked(set, policies).iter().take(PROMISING).map(|c| c.weights).collect()
    }

    /// The set with the candidate in place `at` (or behind all) that lowers the cost most.
    /// What costs more than `limit` is not looked at.
    fn best_at(&self, from: &Choice, at: usize, limit: f64) -> Option<Choice> {
        let order = self.order(from);
        let free: Vec<usize> =
            (0..self.candidates.len()).filter(|i| !from.set.contains(i)).collect();
        let all = free.par_iter().map(|&i| {
            let mut set = from.set.clone();
            match set.get_mut(at) {
                Some(place) => *place = i,
                None => set.push(i),
            }
            let cost = self.cost(&set, from.weights, &order, limit);
            Choice { cost, set, weights: from.weights }
        });
        best(all.collect())
    }

    /// One more sample.
    pub(crate) fn grown(&self, from: &Choice) -> Option<Choice> {
        let at = from.set.len();
        let better = self.best_at(from, at, from.cost).filter(|c| c.cost.is_finite());
        better.or_else(|| self.best_at(from, at, WORST))
    }

    /// Exchanges samples, all but the first, for better candidates until none is better.
    pub(crate) fn exchanged(
        &self,
        mut from: Choice,
        policies: &[Weights],
        passes: usize,
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> ControlFlow<Choice, Choice> {
        for _ in 0..passes {
            let before = from.cost;
            for at in 1..from.set.len() {
                if go_on().is_break() {
                    return ControlFlow::Break(from);
                }
                if let Some(better) = self.best_at(&from, at, from.cost)
                    && better.cost < from.cost
                {
                    from = better;
                }
            }
            let weighted = self.weighted(&from.set, policies);
            if weighted.cost < from.cost {
                from = weighted;
            }
            if from.cost > before * (1.0 - WORTHWHILE) {
                break;
            }
        }
        ControlFlow::Continue(from)
    }
}

/// A load's share of the cost; NaN counts as the worst.
fn share(bad: f64) -> f64 {
    if bad < WORST { bad.powi(NORM) } else { WORST.powi(NORM) }
}

/// (mean bad⁴)^¼, nothing counting more than the worst.
pub(crate) fn norm(bad: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = bad.len().max(1) as f64;
    (bad.map(share).sum::<f64>() / count).powf(1.0 / f64::from(NORM))
}

/// The first of the cheapest.
fn best(all: Vec<Choice>) -> Option<Choice> {
    all.into_iter().reduce(|a, b| if b.cost < a.cost { b } else { a })
}
