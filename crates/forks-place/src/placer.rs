//! Automatic placement: where the blend is worst a sample is added, until tolerances hold.

use std::{cmp::Ordering, ops::ControlFlow};

use forks_blend::{BlendedModel, Weights};
use forks_dynamics::{
    potential_energy,
    statics::{Equilibrium, EquilibriumStatus},
};
use forks_mechanism::lie::{SplitMix64, glam::DVec3};
use forks_reduce::Problem;
use rayon::prelude::*;

use crate::{
    candidates::{Candidates, in_joints},
    chart::JointMap,
    curvature::limited,
    error::BlendError,
    lift::Sized,
    loads::Loads,
    measure::{Errors, Gauge, SMALL_DISPLACEMENT},
    plan::Plan,
    ports::all_links,
    region::Drawing,
    sample::Sample,
    search::{Search, norm},
    settings::{Certificate, Chart, Placed, Placement, PlacementStatus, Progress, Round, Skipped},
    sharpen::sharpened,
    truth::{Forces, Solver, Truth, effector_poses, is_stable, why_not},
};

/// Builds a blend for regions of loads.
///
/// # Errors
/// Settings out of range, no equilibrium at rest, nothing to train on.
pub fn place(
    problem: &Problem,
    placement: &Placement,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Placed, BlendError> {
    placement.check(problem)?;
    Placer::new(problem, placement)?.run(progress)
}

/// Displacement from a singular rest pose from which on a sample may stand for it.
const OFF_REST: f64 = 0.02;
/// Part of the static error that a limited stiffness may make.
const SOFTENED: f64 = 0.1;
/// Loads below this part of the largest one do not lower the limit of stiffness.
const SMALL_FORCE: f64 = 0.03;

/// A force that moves its effector by less than this part of what one along another axis does is
/// taken to move it by rounding.
const UNMOVED: f64 = 1e-14;

fn force(forces: &Forces) -> f64 {
    forces.iter().map(|f| f.1.length()).sum()
}

pub(crate) struct Placer<'a> {
    pub(crate) solver: Solver<'a>,
    pub(crate) placement: &'a Placement,
    pub(crate) start: Truth,
    /// Independent motions of the effectors at the start.
    pub(crate) rank: usize,
    pub(crate) gauge: Gauge<'a>,
    first_force: Vec<[f64; 3]>,
}

impl<'a> Placer<'a> {
    fn new(problem: &'a Problem, placement: &'a Placement) -> Result<Self, BlendError> {
        let mut solver = Solver {
            problem,
            gravity: placement.gravity,
            options: &placement.equilibrium,
            rest: vec![],
            radius: 1.0,
        };
        let mut start = solver.solve(vec![]);
        if !start.equilibrium.status.is_equilibrium() {
            let (e, m) = (&start.equilibrium, problem.mechanism());
            let explanation = e.explanation(m).unwrap_or_default();
            return Err(BlendError::NoStart { status: e.status.name(), explanation });
        }
        let loads = solver.loads(&[]);
        let rest_sample = Sample::new(problem, &start.equilibrium, &loads)?;
        if placement.floating {
            // Before the search begins.
            problem.with_base(rest_sample.data.clone(), &[])?;
        }
        solver.rest = effector_poses(problem, &start.equilibrium.world_from_link);
        solver.radius = rest_sample.data.radius;
        start.displacement = 0.0;
        let gauge = Gauge::new(problem, solver.rest.clone(), solver.radius);
        let first_force = softness(&rest_sample);
        for r in &placement.regions {
            let along = softness_along(&first_force[r.effector], r.axis.normalize());
            let most = first_force[r.effector].iter().fold(0.0f64, |m, x| m.max(*x));
            if along.is_nan() || along <= UNMOVED * most {
                let effector = problem.effectors[r.effector].name.clone();
                return Err(BlendError::Unmoved { effector });
            }
        }
        Ok(Self { solver, placement, start, rank: rest_sample.rank(), gauge, first_force })
    }

    /// The best blend of a chart for the training loads: one whose errors there are `aim`
    /// tolerances at most, if there is one.
    pub(crate) fn attempt(
        &self,
        plan: &Plan,
        loads: &Loads,
        aim: f64,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Placed, BlendError> {
        let (Loads { training, cancelled, .. }, Plan { chart, most, .. }) = (loads, *plan);
        let mut skipped = loads.skipped.clone();
        let (map, candidates, forces) = self.candidates(plan, loads, &mut skipped)?;
        let gauge = self.gauge().in_chart(map.as_ref());
        let p = self.placement;
        let search = Search {
            gauge: &gauge,
            rest: &self.solver.rest,
            training,
            candidates: &candidates,
            placement: p,
        };
        let policies = self.policies(chart, training);
        let mut choice = search.weighted(&[0], &policies[..1]);
        let mut rounds: Vec<Round> = Vec::new();
        let mut best: Option<(BlendedModel, Vec<Forces>, Round)> = None;
        let mut confirmed = false;
        let status = loop {
            // The search looks at one place per load; the weights that count are those with which
            // loads lead there.
            let Some((model, mut round)) = self.solved(&search, &choice.set, &policies) else {
                return Err(BlendError::NoSample);
            };
            if p.over(&round.errors()) <= aim {
                round = self.grown(&search, round, &model);
            }
            let bad = p.over(&round.errors());
            let better = |b: &Round| match bad.total_cmp(&p.over(&b.errors())) {
                Ordering::Equal => round.cost < b.cost,
                order => order.is_lt(),
            };
            if best.as_ref().is_none_or(|b| better(&b.2)) {
                let loads = choice.set.iter().map(|&i| forces[i].clone()).collect();
                best = Some((model, loads, round.clone()));
            }
            let seen = Progress::Measured {
                samples: round.samples,
                constraint: round.constraint,
                statics: round.statics,
            };
            rounds.push(round);
            if *cancelled || progress(&seen).is_break() {
                break PlacementStatus::Cancelled;
            }
            let ends = |status| match best.as_ref().is_some_and(|b| p.over(&b.2.errors()) <= 1.0) {
                true => PlacementStatus::Reached,
                false => status,
            };
            if bad <= aim {
                confirmed = true;
                break PlacementStatus::Reached;
            }
            if choice.set.len() >= most {
                break ends(PlacementStatus::SampleLimit);
            }
            let Some(grown) = search.grown(&choice) else {
                break ends(PlacementStatus::Exhausted);
            };
            let grown = search.weighted(&grown.set, &policies);
            let (samples, cost) = (grown.set.len(), grown.cost);
            let mut go_on = || progress(&Progress::Searching { samples, cost });
            choice = match search.exchanged(grown, &policies, p.exchanges, &mut go_on) {
                ControlFlow::Continue(choice) => choice,
                ControlFlow::Break(_) => break PlacementStatus::Cancelled,
            };
        };
        let (mut model, samples, mut last) = best.ok_or(BlendError::NoSample)?;
        if status != PlacementStatus::Cancelled {
            model = sharpened(self.solver.problem, &search, model);
            if model.data().weights != last.weights {
                last = self.round(&model, &search, &|load| search.errors(&model, load));
                rounds.push(last.clone());
                confirmed = false;
            }
            if !confirmed {
                last = self.grown(&search, last, &model);
            }
        }
        let certificate = Certificate {
            constraint: last.constraint,
            joint_space: last.joint_space,
            statics: last.statics,
            above: last.above,
            covered: loads.covered,
            ..Certificate::default()
        };
        Ok(Placed {
            model,
            status,
            chart,
            certificate,
            attempts: vec![],
            loads: samples,
            rounds,
            skipped,
            training: training.clone(),
        })
    }

    fn gauge(&self) -> Gauge<'a> {
        Gauge::new(self.solver.problem, self.solver.rest.clone(), self.solver.radius)
    }

    /// Samples to choose from, the one at rest or near it first, with their forces.
    fn candidates(
        &self,
        &Plan { chart, most, all_motions }: &Plan,
        loads: &Loads,
        skipped: &mut Vec<Skipped>,
    ) -> Result<(Option<JointMap>, Candidates, Vec<Forces>), BlendError> {
        let training = &loads.training[..];
        if chart != Chart::Poses {
            let radius = self.solver.radius;
            let whole = all_motions.then(|| all_links(self.solver.problem));
            let problem = whole.as_ref().unwrap_or(self.solver.problem);
            let effectors = self.solver.problem.effectors.len();
            let (map, candidates, numbers, lost) = in_joints(
                problem,
                effectors,
                self.placement,
                &self.start,
                radius,
                loads,
                (chart, most),
            )?;
            skipped.extend(lost);
            let of = |i: usize| i.checked_sub(1).map_or(vec![], |i| training[i].forces.clone());
            return Ok((Some(map), candidates, numbers.into_iter().map(of).collect()));
        }
        let (mut first, first_forces) = self.first_sample(training)?;
        let radius = first.data.radius;
        let largest = training.iter().map(|t| force(&t.forces)).fold(0.0, f64::max);
        limited(&mut first, self.stiffest(0.0, 0.0, largest));
        let mut candidates = vec![Sized::new(&first, radius)?];
        let mut forces = vec![first_forces];
        // One sample alone is the first.
        let training = if most > 1 { training } else { &[] };
        for (truth, sample) in training.iter().zip(self.samples(training)) {
            let most = self.stiffest(force(&truth.forces), truth.displacement, largest);
            let sized = sample.and_then(|mut s| {
                limited(&mut s, most);
                Sized::new(&s, radius)
            });
            match sized {
                Ok(sample) => {
                    candidates.push(sample);
                    forces.push(truth.forces.clone());
                }
                Err(e) => {
                    skipped.push(Skipped { forces: truth.forces.clone(), reason: e.to_string() });
                }
            }
        }
        Ok((None, Candidates::Poses(candidates), forces))
    }

    /// The largest stiffness that a sample needs: its own load moves it by a small part of what may
    /// be wrong there.
    fn stiffest(&self, force: f64, displacement: f64, largest_force: f64) -> f64 {
        let force = force.max(SMALL_FORCE * largest_force);
        let allowed = self.placement.static_tolerance * displacement.max(SMALL_DISPLACEMENT);
        force * self.solver.radius / (SOFTENED * allowed)
    }

    fn sample(&self, at: &Equilibrium, forces: &Forces) -> Result<Sample, BlendError> {
        let (problem, loads) = (self.solver.problem, self.solver.loads(forces));
        let p = self.placement;
        let sample = Sample::with_mass(problem, at, &loads, p.mass)?;
        Ok(if p.bent { sample.bending(problem, at, &loads, &p.equilibrium) } else { sample })
    }

    /// A sample at each training load.
    fn samples(&self, training: &[Truth]) -> Vec<Result<Sample, BlendError>> {
        let sample = |t: &Truth| self.sample(&t.equilibrium, &t.forces);
        training.par_iter().map(sample).collect()
    }

    /// The set with the weights that are best where the blend itself comes to rest.
    fn solved(
        &self,
        search: &Search<'_>,
        set: &[usize],
        policies: &[Weights],
    ) -> Option<(BlendedModel, Round)> {
        let policies = if set.len() == 1 { &policies[..1] } else { policies };
        let all: Vec<_> = search
            .promising(set, policies)
            .into_iter()
            .filter_map(|weights| search.blend(set, weights))
            .map(|model| {
                let round = self.round(&model, search, &|load| search.errors(&model, load));
                (model, round)
            })
            .collect();
        all.into_iter().min_by(|a, b| a.1.cost.total_cmp(&b.1.cost))
    }

    /// Errors where forces that grow lead, of which a search in joint displacements knows the rests
    /// next to the equilibria.
    fn grown(&self, search: &Search<'_>, known: Round, model: &BlendedModel) -> Round {
        match search.candidates {
            Candidates::Poses(_) => known,
            Candidates::Joints(..) => {
                let errors = |load: usize| self.gauge.errors(model, &search.training[load]);
                self.round(model, search, &errors)
            }
        }
    }

    /// Errors of a blend at the training loads.
    fn round(
        &self,
        model: &BlendedModel,
        search: &Search<'_>,
        errors: &(dyn Fn(usize) -> Errors + Sync),
    ) -> Round {
        let training = search.training;
        let errors: Vec<Errors> = (0..training.len()).into_par_iter().map(errors).collect();
        let largest = Errors::largest(errors.iter());
        let bad = |i: usize| self.placement.over(&errors[i]);
        let worst = (0..errors.len()).max_by(|&a, &b| bad(a).total_cmp(&bad(b)));
        Round {
            samples: model.data().samples.len(),
            weights: model.data().weights,
            constraint: largest.constraint,
            joint_space: largest.joint_space,
            statics: largest.statics,
            above: (0..errors.len()).filter(|&i| bad(i) > 1.0).count(),
            cost: norm(errors.iter().map(|e| self.placement.over(e))),
            worst: worst.map(|w| training[w].forces.clone()).unwrap_or_default(),
        }
    }

    /// Training loads with their equilibria, and those without one.
    pub(crate) fn train(&self, progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Loads {
        let drawing = self.drawing();
        let mut rng = SplitMix64::new(self.placement.seed);
        let mut out = Loads::default();
        let (of, mut whole) = (self.placement.training_loads, 0);
        for k in 0..of {
            let (truth, broken, far) = drawing.draw(&mut rng, k, true);
            whole += usize::from(far);
            out.covered = whole as f64 / (k + 1) as f64;
            let still = truth.forces.iter().all(|f| f.1 == DVec3::ZERO);
            let (good, bad) = match is_stable(&truth.equilibrium) {
                true => ((!still).then_some(truth), broken),
                false => (None, Some(truth)),
            };
            out.training.extend(good);
            out.skipped.extend(bad.map(|t| {
                let reason = why_not(&t.equilibrium).to_owned();
                Skipped { forces: t.forces, reason }
            }));
            if progress(&Progress::Trained { done: k + 1, of }).is_break() {
                out.cancelled = true;
                break;
            }
        }
        out
    }

    pub(crate) fn drawing(&self) -> Drawing<'_> {
        let first = |e: usize, axis: DVec3| 0.02 / softness_along(&self.first_force[e], axis);
        let Placement { regions, together, .. } = self.placement;
        Drawing::new(&self.solver, regions, &self.start.equilibrium, *together, first)
    }

    /// The sample at rest, or slightly off it where the rest pose is singular.
    fn first_sample(&self, training: &[Truth]) -> Result<(Sample, Forces), BlendError> {
        let rest = self.sample(&self.start.equilibrium, &vec![])?;
        // Loads in the order in which they move the mechanism; most ranks show at once.
        let mut order: Vec<&Truth> = training.iter().collect();
        order.sort_by(|a, b| a.displacement.total_cmp(&b.displacement));
        let at = |t: &Truth| self.sample(&t.equilibrium, &t.forces);
        let highest = order.last().and_then(|t| at(t).ok()).map_or(0, |s| s.rank());
        if highest > rest.rank() {
            for t in order.iter().filter(|t| t.displacement > OFF_REST) {
                if let Ok(sample) = at(t)
                    && sample.rank() >= highest
                {
                    return Ok((sample, t.forces.clone()));
                }
            }
        }
        Ok((rest, vec![]))
    }

    /// Weights to choose from.
    fn policies(&self, chart: Chart, training: &[Truth]) -> Vec<Weights> {
        let stored = |t: &Truth| self.energy(&t.equilibrium) - self.energy(&self.start.equilibrium);
        let largest = training.iter().map(stored).fold(0.0, f64::max);
        let mut out = Vec::new();
        for &exponent in &self.placement.exponents {
            out.push(Weights::Shepard { exponent });
            if chart != Chart::Poses {
                continue;
            }
            let energies = self.placement.energies.iter().map(|part| part * largest);
            out.extend(
                energies.filter(|e| *e > 0.0).map(|energy| Weights::Metric { exponent, energy }),
            );
        }
        out
    }

    fn energy(&self, e: &Equilibrium) -> f64 {
        let own = self.solver.loads(&[]);
        potential_energy(self.solver.problem.mechanism(), &e.q, &e.world_from_link, &own)
    }
}

/// At most the displacement per unit force along an axis.
fn softness_along(a: &[f64; 3], axis: DVec3) -> f64 {
    a[0] * axis.x.abs() + a[1] * axis.y.abs() + a[2] * axis.z.abs()
}

/// Displacement of each effector per unit force along the world's axes, relative to the mechanism's
/// size.
fn softness(s: &Sample) -> Vec<[f64; 3]> {
    let d = &s.data;
    let inverse = forks_mechanism::linalg::dense::lu_solve(
        &d.hessian,
        &forks_mechanism::linalg::Matrix::identity(s.rank()),
    );
    let compliance = d.basis.mul(&inverse).mul(&d.basis.transpose());
    let of = |(e, f): (usize, &forks_rom::data::EffectorRest)| {
        std::array::from_fn(|k| {
            let axis = f.rest.rotation.conjugate() * DVec3::AXES[k];
            let w = axis.to_array();
            let moved = |i: usize| -> f64 {
                (0..3).map(|j| compliance[(6 * e + i, 6 * e + j)] * w[j]).sum()
            };
            let linear = (0..3).map(|i| (moved(i) / d.radius).powi(2)).sum::<f64>();
            let angular = (3..6).map(|i| (moved(i) / core::f64::consts::PI).powi(2)).sum::<f64>();
            (linear + angular).sqrt()
        })
    };
    d.effectors.iter().enumerate().map(of).collect()
}

/// Loads that a placement did not see, with their equilibria; those without a stable one are left
/// out.
///
/// # Errors
/// As [`place`].
pub fn unseen_loads(
    problem: &Problem,
    placement: &Placement,
    seed: u64,
    count: usize,
) -> Result<Vec<Truth>, BlendError> {
    placement.check(problem)?;
    let placer = Placer::new(problem, placement)?;
    let drawing = placer.drawing();
    let mut rng = SplitMix64::new(seed);
    let mut out = Vec::new();
    for k in 0..2 * count {
        let (truth, ..) = drawing.draw(&mut rng, k, false);
        if truth.equilibrium.status == EquilibriumStatus::Converged {
            out.push(truth);
        }
        if out.len() == count {
            break;
        }
    }
    Ok(out)
}
