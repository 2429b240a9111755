//! Which chart a blend gets, and whether it keeps to the tolerances at loads that it was not made
//! for.

use std::{cmp::Ordering, ops::ControlFlow, time::Instant};

use forks_mechanism::lie::SplitMix64;
use forks_reduce::Problem;

use crate::{
    certificate::{path_errors, sudden},
    error::BlendError,
    floating::with_base,
    loads::Loads,
    measure::Errors,
    placer::Placer,
    plan::Plan,
    ports::{MOST, MOST_OF_MANY, all_links, lowest_frequency},
    sample::Sample,
    settings::{Attempt, Certificate, Chart, Placed, PlacementStatus, Progress},
    swing::swing_error,
    truth::{Truth, is_stable, loads_of},
};

/// How often loads at which a blend fails are trained on.
const REPEATS: usize = 3;
/// Each time the errors at training loads shall be smaller by this factor.
const CLOSER: f64 = 0.7;
/// Seeds of loads to measure with are so far from that of the training loads.
const UNSEEN: u64 = 0x9E37_79B9;

/// Largest difference of released effectors at which static shapes stand for all motions: what may
/// be wrong with a first peak.
const SWING: f64 = 0.05;
/// Mechanisms of more velocities are not looked at as a whole.
const LARGE: usize = 200;

/// All motions of a mechanism about its start.
struct AllMotions {
    /// How many are independent.
    count: usize,
    /// By which part the lowest frequency differs from that of the static shapes.
    frequency: f64,
    /// How far effectors part that are released, of both.
    swing: Option<f64>,
}

impl AllMotions {
    /// True if static shapes do not move as the mechanism does, or nobody knows.
    fn swings_otherwise(&self) -> bool {
        self.swing.is_none_or(|s| s > SWING)
    }
}

impl Placer<'_> {
    /// A blend in the chart asked for, or in the first that keeps to the tolerances.
    pub(crate) fn run(
        self,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Placed, BlendError> {
        let deadline = self.placement.time_limit.map(|t| Instant::now() + t);
        let late = || deadline.is_some_and(|d| Instant::now() >= d);
        let mut stopped = false;
        let mut progress = |p: &Progress| match progress(p) {
            ControlFlow::Continue(()) if !late() => ControlFlow::Continue(()),
            ControlFlow::Continue(()) => ControlFlow::Break(()),
            stop => {
                stopped = true;
                stop
            }
        };
        let progress: &mut dyn FnMut(&Progress) -> ControlFlow<()> = &mut progress;
        let mut loads = self.train(progress);
        loads.deadline = deadline;
        if loads.training.is_empty() && !loads.cancelled {
            return Err(BlendError::NoTrainingLoad { count: self.placement.training_loads });
        }
        let most = self.placement.max_samples;
        let one = Plan { chart: Chart::Manifold, most: 1, all_motions: false };
        let (rank, all, floating) = (self.rank, self.all_motions(), self.placement.floating);
        // More than static shapes have, and not too many.
        let more = all.as_ref().filter(|a| (rank + 1..=MOST).contains(&a.count));
        let plans = match self.placement.chart {
            Chart::Auto => {
                let poses = |most| Plan { chart: Chart::Poses, most, all_motions: false };
                let mut plans = vec![poses(1), one, poses(most)];
                plans.insert(2, Plan { chart: Chart::Joints, ..poses(most) });
                if let Some(all) = more {
                    let whole = Plan { all_motions: true, ..one };
                    // Where static shapes swing otherwise they are tried last.
                    if all.swings_otherwise() {
                        plans.insert(0, whole);
                        if all.count <= MOST_OF_MANY {
                            plans.insert(1, Plan { chart: Chart::Joints, most, ..whole });
                        }
                    } else {
                        plans.insert(2, whole);
                    }
                }
                // Those of a base that floats are not known for links that follow the joints.
                plans.retain(|p| !(floating && p.chart == Chart::Manifold));
                plans
            }
            Chart::Manifold => {
                let all_motions = more.is_some_and(AllMotions::swings_otherwise);
                vec![Plan { all_motions, ..one }]
            }
            chart => vec![Plan { chart, most, all_motions: false }],
        };
        let (mut attempts, mut found) = (vec![], Vec::<Placed>::new());
        let mut failed = BlendError::NoSample;
        for (k, plan) in plans.iter().enumerate() {
            if k > 0 && late() {
                break;
            }
            // Many samples in poses are asked only where joint displacements lead nowhere.
            let mostly =
                |p: &Placed| 2 * p.certificate.above < p.certificate.unseen + p.training.len();
            let last = k > 0 && k + 1 == plans.len();
            if last && self.least(&found).is_some_and(|i| mostly(&found[i])) {
                break;
            }
            let next = self.certified(plan, &mut loads, progress);
            attempts.push(Attempt {
                chart: plan.chart,
                status: next.as_ref().ok().map(|p| p.status),
                samples: next.as_ref().map_or(0, |p| p.model.data().samples.len()),
                worst: next.as_ref().map(|p| self.worst(p)).map_err(ToString::to_string),
            });
            match next {
                Ok(placed) => {
                    let status = placed.status;
                    found.push(placed);
                    if matches!(status, PlacementStatus::Reached | PlacementStatus::Cancelled) {
                        break;
                    }
                }
                Err(e) => failed = e,
            }
        }
        let ended = found.last().map(|p| p.status);
        let kept = match ended {
            Some(PlacementStatus::Reached) => found.pop(),
            // Of a search that was cancelled too the best is what there is.
            Some(PlacementStatus::Cancelled) => self
                .least(&found)
                .map(|i| Placed { status: PlacementStatus::Cancelled, ..found.swap_remove(i) }),
            _ => self.best_judged(found, &loads),
        };
        let mut placed = kept.map(|b| Placed { attempts, ..b }).ok_or(failed)?;
        if placed.status == PlacementStatus::Cancelled && !stopped {
            placed.status = PlacementStatus::TimeLimit;
        }
        placed.certificate.frequency = match placed.model.dof() > rank {
            true => Some(0.0),
            false => all.map(|a| a.frequency),
        };
        if self.placement.floating {
            placed.model = with_base(self.solver.problem, &placed.model)?;
        }
        Ok(placed)
    }

    /// The mechanism's motions at the start beside the static shapes. Not known of large ones.
    fn all_motions(&self) -> Option<AllMotions> {
        let problem = self.solver.problem;
        if problem.mechanism().velocity_count() > LARGE {
            return None;
        }
        let p = self.placement;
        let at = &self.start.equilibrium;
        let sample = |problem: &Problem| {
            let loads = loads_of(problem, p.gravity, &[]);
            Sample::with_mass(problem, at, &loads, p.mass).ok()
        };
        let (whole, shapes) = (sample(&all_links(problem))?, sample(problem)?);
        let (f, g) = (lowest_frequency(&whole.data)?, lowest_frequency(&shapes.data)?);
        Some(AllMotions {
            count: whole.rank(),
            frequency: (g / f - 1.0).abs(),
            swing: swing_error(&whole.data, &shapes.data, &p.regions),
        })
    }

    /// The one with the least errors that are known.
    fn least(&self, found: &[Placed]) -> Option<usize> {
        (0..found.len()).min_by(|&i, &j| self.order(&found[i], &found[j]))
    }

    fn order(&self, a: &Placed, b: &Placed) -> Ordering {
        let order = self.worst(a).total_cmp(&self.worst(b));
        order.then(a.certificate.above.cmp(&b.certificate.above))
    }

    /// The best of blends that do not keep to the tolerances. Errors at loads that were not trained
    /// on come on top of those that are known: blends are judged until none can be better.
    fn best_judged(&self, mut found: Vec<Placed>, loads: &Loads) -> Option<Placed> {
        found.sort_by(|a, b| self.order(a, b));
        let mut best = None::<Placed>;
        for mut placed in found {
            if best.as_ref().is_some_and(|b| self.order(b, &placed).is_le()) {
                break;
            }
            if placed.certificate.unseen == 0 {
                self.judge(&mut placed, loads, 0);
                self.judge_sudden(&mut placed, loads, 0);
            }
            if best.as_ref().is_none_or(|b| self.order(&placed, b).is_lt()) {
                best = Some(placed);
            }
        }
        best
    }

    /// Largest error of a placed blend over its tolerance.
    fn worst(&self, p: &Placed) -> f64 {
        self.placement.over(&p.certificate.errors())
    }

    /// A blend in one chart, measured at loads that it was not made for; those at which it fails
    /// are trained on, and it is measured at others.
    fn certified(
        &self,
        plan: &Plan,
        loads: &mut Loads,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Placed, BlendError> {
        for round in 0.. {
            if !loads.cancelled {
                self.draw_unseen(round, loads);
            }
            let mut placed = self.attempt(plan, loads, CLOSER.powi(round as i32), progress)?;
            if placed.status == PlacementStatus::Cancelled {
                return Ok(placed);
            }
            if placed.status != PlacementStatus::Reached {
                // Judged if it is what is kept.
                return Ok(placed);
            }
            let fails = self.judge(&mut placed, loads, round);
            if plan.most > 1 && !fails.is_empty() && round < REPEATS {
                loads.training.extend(fails);
                continue;
            }
            self.judge_sudden(&mut placed, loads, round);
            let c = &placed.certificate;
            if c.above > 0 || c.sudden_elsewhere > 0 {
                placed.status = PlacementStatus::Unreliable;
            }
            return Ok(placed);
        }
        Err(BlendError::NoSample)
    }

    /// The certificate of a placed blend: errors at unseen loads, at those that it was made for,
    /// and where a search leads from the worst of both. What was not seen before and is over the
    /// tolerances is given back.
    fn judge(&self, placed: &mut Placed, loads: &Loads, round: usize) -> Vec<Truth> {
        let unseen = loads.unseen.get(round).map_or(&[][..], |u| u);
        let errors = path_errors(&self.gauge, &placed.model, unseen);
        let trained = path_errors(&self.gauge, &placed.model, &loads.training);
        let known = (unseen.iter().zip(&errors)).chain(loads.training.iter().zip(&trained));
        let (sought, worse) = self.worse_loads(&placed.model, known);
        let all = || errors.iter().chain(&trained).chain(&worse);
        let bad = |e: &&Errors| self.placement.over(e) > 1.0;
        let largest = Errors::largest(all());
        placed.certificate = Certificate {
            unseen: unseen.len(),
            constraint: largest.constraint,
            joint_space: largest.joint_space,
            statics: largest.statics,
            above: all().filter(bad).count(),
            covered: loads.covered,
            ..Certificate::default()
        };
        let new = unseen.iter().zip(&errors).chain(sought.iter().zip(&worse));
        new.filter(|(_, e)| bad(e)).map(|(t, _)| t.clone()).collect()
    }

    /// The certificate's part about loads that act at once.
    fn judge_sudden(&self, placed: &mut Placed, loads: &Loads, round: usize) {
        let unseen = loads.unseen.get(round).map_or(&[][..], |u| u);
        sudden(&self.gauge, &placed.model, unseen, self.placement, &mut placed.certificate);
    }

    /// Loads to measure with, others for each round.
    fn draw_unseen(&self, round: usize, loads: &mut Loads) {
        while loads.unseen.len() <= round {
            let seed = self.placement.seed.wrapping_add(UNSEEN + loads.unseen.len() as u64);
            let (drawing, mut rng) = (self.drawing(), SplitMix64::new(seed));
            // Draws are serial, equilibria follow each load on their own.
            let drawn = (0..self.placement.unseen_loads).map(|k| drawing.draw(&mut rng, k, true).0);
            let good = drawn.filter(|t| is_stable(&t.equilibrium)).collect();
            loads.unseen.push(good);
        }
    }
}
