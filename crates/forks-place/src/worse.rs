//! Loads at which a blend is worse than at all that were drawn, sought next to the worst of these.
//!
//! Errors change smoothly with the load, and their maxima lie between the loads that chance draws.
//! A pattern search climbs from the worst ones: forces a little larger, smaller or turned, the best
//! of these if it is worse for the blend, else smaller changes.

use forks_blend::BlendedModel;
use forks_mechanism::lie::glam::DVec3;
use rayon::prelude::*;

use crate::{
    certificate::path_errors,
    measure::Errors,
    placer::Placer,
    truth::{Forces, Truth, is_stable},
};

/// Starts per kind of error.
const STARTS: usize = 2;
/// Rounds of each search.
const ROUNDS: usize = 6;
/// The first change: part of a force, and of its cone's half angle.
const CHANGE: f64 = 0.25;

/// What a search makes large.
type Kind = fn(&Errors) -> f64;

/// One search.
struct Climb {
    kind: Kind,
    at: Truth,
    errors: Errors,
    change: f64,
}

impl Placer<'_> {
    /// Loads of the regions with larger errors than the known ones, with their errors.
    pub(crate) fn worse_loads<'t>(
        &self,
        model: &BlendedModel,
        known: impl Iterator<Item = (&'t Truth, &'t Errors)>,
    ) -> (Vec<Truth>, Vec<Errors>) {
        let known: Vec<_> = known.collect();
        let kinds: [Kind; 2] = [|e| e.statics, |e| e.constraint];
        let mut climbs: Vec<Climb> = Vec::new();
        for kind in kinds {
            let finite = known.iter().filter(|(_, e)| kind(e).is_finite() && kind(e) > 0.0);
            let mut order: Vec<_> = finite.collect();
            order.sort_by(|a, b| kind(b.1).total_cmp(&kind(a.1)));
            climbs.extend(order.iter().take(STARTS).map(|(truth, errors)| Climb {
                kind,
                at: (*truth).clone(),
                errors: **errors,
                change: CHANGE,
            }));
        }
        let found: Vec<Option<(Truth, Errors)>> =
            climbs.into_par_iter().map(|c| self.climb(model, c)).collect();
        found.into_iter().flatten().unzip()
    }

    /// The worst load that a search finds, if it is worse than its start.
    fn climb(&self, model: &BlendedModel, mut c: Climb) -> Option<(Truth, Errors)> {
        let mut higher = false;
        for _ in 0..ROUNDS {
            let next = self.changed(&c.at.forces, c.change).into_iter().filter_map(|forces| {
                let truth = self.solver.next_to(&c.at.equilibrium, forces);
                self.is_inside(&truth).then_some(truth)
            });
            let next: Vec<Truth> = next.collect();
            let errors = path_errors(&self.gauge, model, &next);
            let all = next.into_iter().zip(errors);
            // Where the blend finds no rest its error is infinite, and nothing is worse.
            let best = all.max_by(|a, b| (c.kind)(&a.1).total_cmp(&(c.kind)(&b.1)));
            match best {
                Some((truth, errors)) if (c.kind)(&errors) > (c.kind)(&c.errors) => {
                    (c.at, c.errors, higher) = (truth, errors, true);
                    if !(c.kind)(&c.errors).is_finite() {
                        break;
                    }
                }
                _ => c.change *= 0.5,
            }
        }
        higher.then_some((c.at, c.errors))
    }

    /// Forces next to others: each a little larger, smaller, or turned.
    fn changed(&self, forces: &Forces, change: f64) -> Vec<Forces> {
        let mut out = Vec::new();
        for (i, &(effector, force)) in forces.iter().enumerate() {
            let size = force.length();
            let mut push = |force: DVec3| {
                let mut next = forces.clone();
                next[i].1 = force;
                out.push(next);
            };
            if size == 0.0 {
                continue;
            }
            push(force * (1.0 + change));
            push(force * (1.0 - change));
            let mut regions = self.placement.regions.iter();
            let Some(region) = regions.find(|r| r.contains(effector, force)) else { continue };
            for to in 0..region.sides() {
                let angle = change * region.half_angle;
                push(region.turned(force / size, angle, to) * size);
            }
        }
        out
    }

    /// True of stable equilibria within the displacement of the regions.
    fn is_inside(&self, truth: &Truth) -> bool {
        let regions = self.placement.regions.iter();
        let most = regions.fold(f64::INFINITY, |m, r| m.min(r.displacement));
        is_stable(&truth.equilibrium) && truth.displacement <= most
    }
}
