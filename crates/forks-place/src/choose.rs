//! Which chart a blend gets, and whether it keeps to the tolerances at loads that it was not made
//! for.

use std::ops::ControlFlow;

use forks_mechanism::lie::SplitMix64;

use crate::{
    certificate::{path_errors, sudden},
    error::BlendError,
    floating::with_base,
    loads::Loads,
    measure::Errors,
    placer::Placer,
    settings::{Attempt, Certificate, Chart, Placed, PlacementStatus, Progress},
    truth::{Truth, is_stable},
};

/// How often loads at which a blend fails are trained on.
const REPEATS: usize = 2;
/// Seeds of loads to measure with are so far from that of the training loads.
const UNSEEN: u64 = 0x9E37_79B9;

impl Placer<'_> {
    /// A blend in the chart asked for, or in the first that keeps to the tolerances.
    pub(crate) fn run(
        self,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Placed, BlendError> {
        let mut loads = self.train(progress);
        if loads.training.is_empty() && !loads.cancelled {
            return Err(BlendError::NoTrainingLoad { count: self.placement.training_loads });
        }
        let most = self.placement.max_samples;
        let charts = match self.placement.chart {
            Chart::Auto => &[
                (Chart::Poses, 1),
                (Chart::Manifold, 1),
                (Chart::Joints, most),
                (Chart::Poses, most),
            ][..],
            Chart::Manifold => &[(Chart::Manifold, 1)],
            chart => &[(chart, most)],
        };
        let (mut attempts, mut best) = (vec![], None::<Placed>);
        let mut failed = BlendError::NoSample;
        for (k, &(chart, most)) in charts.iter().enumerate() {
            // Many samples in poses are asked only where joint displacements lead nowhere.
            let mostly = |p: &Placed| 2 * p.certificate.above < p.certificate.unseen;
            if k == 3 && best.as_ref().is_some_and(mostly) {
                break;
            }
            let found = self.certified(chart, most, &mut loads, progress);
            attempts.push(Attempt {
                chart,
                status: found.as_ref().ok().map(|p| p.status),
                samples: found.as_ref().map_or(0, |p| p.model.data().samples.len()),
                worst: found.as_ref().map(|p| self.worst(p)).map_err(ToString::to_string),
            });
            match found {
                Ok(placed) => {
                    let done = matches!(
                        placed.status,
                        PlacementStatus::Reached | PlacementStatus::Cancelled
                    );
                    let better = |b: &Placed| {
                        let order = placed.certificate.above.cmp(&b.certificate.above);
                        order.then(self.worst(&placed).total_cmp(&self.worst(b))).is_lt()
                    };
                    if best.as_ref().is_none_or(|b| done || better(b)) {
                        best = Some(placed);
                    }
                    if done {
                        break;
                    }
                }
                Err(e) => failed = e,
            }
        }
        let mut best = best.ok_or(failed)?;
        if self.placement.floating {
            best.model = with_base(self.solver.problem, &best.model)?;
        }
        Ok(Placed { attempts, ..best })
    }

    /// Largest error of a placed blend over its tolerance.
    fn worst(&self, p: &Placed) -> f64 {
        self.placement.over(&p.certificate.errors())
    }

    /// A blend in one chart, measured at loads that it was not made for; those at which it fails
    /// are trained on, and it is measured at others.
    fn certified(
        &self,
        chart: Chart,
        most: usize,
        loads: &mut Loads,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Placed, BlendError> {
        for round in 0.. {
            if !loads.cancelled {
                self.draw_unseen(round, loads);
            }
            let mut placed = self.attempt(chart, most, loads, progress)?;
            if placed.status == PlacementStatus::Cancelled {
                return Ok(placed);
            }
            let unseen = &loads.unseen[round];
            let errors = path_errors(&self.gauge, &placed.model, unseen);
            let bad = |e: &Errors| self.placement.over(e) > 1.0;
            let fails = unseen.iter().zip(&errors).filter(|(_, e)| bad(e)).map(|(t, _)| t);
            let fails: Vec<Truth> = fails.cloned().collect();
            // More samples may help where the training loads asked for no more.
            let reached = placed.status == PlacementStatus::Reached;
            if reached && most > 1 && !fails.is_empty() && round < REPEATS {
                loads.training.extend(fails);
                continue;
            }
            let trained = path_errors(&self.gauge, &placed.model, &loads.training);
            let all = || errors.iter().chain(&trained);
            let largest = Errors::largest(all());
            placed.certificate = Certificate {
                unseen: unseen.len(),
                constraint: largest.constraint,
                joint_space: largest.joint_space,
                statics: largest.statics,
                above: all().filter(|e| bad(e)).count(),
                covered: loads.covered,
                ..Certificate::default()
            };
            sudden(&self.gauge, &placed.model, unseen, self.placement, &mut placed.certificate);
            let failed = all().any(bad) || placed.certificate.sudden_elsewhere > 0;
            if reached && failed {
                placed.status = PlacementStatus::Unreliable;
            }
            return Ok(placed);
        }
        Err(BlendError::NoSample)
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
