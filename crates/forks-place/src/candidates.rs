//! Samples that a blend may have, in one of the charts.

use std::{collections::BTreeMap, sync::Arc};

use forks_blend::{BlendData, ChartSample, Guard, Kinematics, LinkForce, SampleData, Weights};
use forks_mechanism::{lie::Pose, linalg::Matrix};
use forks_reduce::Problem;
use forks_rom::{ReducedModel, data::ModelData};
use rayon::prelude::*;

use crate::{
    chart::JointMap,
    error::BlendError,
    lift::{Sized, assemble},
    loads::Loads,
    ports::of_first_effectors,
    sample::Sample,
    settings::{Chart, Placement, Skipped},
    truth::{Truth, loads_of},
};

/// Samples to choose from.
pub(crate) enum Candidates {
    /// Of any ranks.
    Poses(Vec<Sized>),
    /// All of the chart's rank.
    Joints(Vec<(SampleData, ChartSample)>, Common),
}

/// What samples in a chart of joint displacements have in common.
pub(crate) struct Common {
    /// Where the chart is trusted.
    guard: Option<Guard>,
    /// How links follow.
    kinematics: Kinematics,
    link_forces: Vec<LinkForce>,
    /// The mechanism's compliance at each training load, see [`JointMap::compliance`].
    compliances: Vec<Option<Matrix>>,
}

impl Candidates {
    /// The mechanism's compliance at a training load, where the chart knows it.
    pub(crate) fn compliance(&self, load: usize) -> Option<&Matrix> {
        match self {
            Self::Poses(_) => None,
            Self::Joints(_, common) => common.compliances.get(load)?.as_ref(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Poses(all) => all.len(),
            Self::Joints(all, ..) => all.len(),
        }
    }

    /// The numbers of a blend of some of them.
    pub(crate) fn blend(
        &self,
        rest: &[Pose],
        set: &[usize],
        weights: Weights,
    ) -> Option<BlendData> {
        match self {
            Self::Poses(all) => {
                let samples: Vec<&Sized> = set.iter().map(|&i| &all[i]).collect();
                assemble(rest, None, &samples, weights).ok()
            }
            Self::Joints(all, common) => {
                let first = all[*set.first()?].0.model.data();
                let range = set.iter().map(|&i| all[i].0.model.data().range).fold(0.0, f64::max);
                Some(BlendData {
                    reference: rest.to_vec(),
                    basis: first.basis.clone(),
                    radius: first.radius,
                    range,
                    weights,
                    samples: set.iter().map(|&i| all[i].0.clone()).collect(),
                    chart: set.iter().map(|&i| all[i].1.clone()).collect(),
                    guard: common.guard.clone(),
                    kinematics: common.kinematics,
                    link_forces: common.link_forces.clone(),
                })
            }
        }
    }
}

/// Places at which samples are tried, at most: those that lie farthest from each other.
const MOST: usize = 48;
/// Fewer of many coordinates: equilibria that are solved for all of them, and candidates at least.
const EQUILIBRIA: usize = 48 * 144;
const LEAST: usize = 8;

/// Indices: of the first place, then again and again of the one that is farthest from those chosen.
fn spread(places: &[Vec<f64>], most: usize) -> Vec<usize> {
    let mut nearest = vec![f64::INFINITY; places.len()];
    let mut chosen = vec![0];
    while chosen.len() < most.min(places.len()) {
        let last = &places[chosen[chosen.len() - 1]];
        for (d, p) in nearest.iter_mut().zip(places) {
            *d = d.min(p.iter().zip(last).map(|(a, b)| (a - b) * (a - b)).sum());
        }
        let far = (0..places.len()).filter(|i| !chosen.contains(i));
        match far.max_by(|&a, &b| nearest[a].total_cmp(&nearest[b])) {
            Some(i) => chosen.push(i),
            None => break,
        }
    }
    chosen
}

/// A candidate with the first effectors only.
fn seen_by(
    effectors: usize,
    mut sample: SampleData,
    chart: ChartSample,
) -> Result<(SampleData, ChartSample), BlendError> {
    if effectors < sample.model.effector_count() {
        let mut data = sample.model.data().clone();
        of_first_effectors(&mut data, effectors);
        sample.model = Arc::new(ReducedModel::held_by_loads(data)?);
    }
    Ok((sample, chart))
}

/// Candidates in a chart of joint displacements whose guard is around unseen loads too, the start
/// first where the chart holds there, with their numbers in the training loads; what was left out.
/// Of the problem's effectors the first few stay. One sample alone is the start, or the first where
/// the chart holds.
pub(crate) fn in_joints(
    problem: &Problem,
    effectors: usize,
    placement: &Placement,
    start: &Truth,
    radius: f64,
    drawn: &Loads,
    (chart, most): (Chart, usize),
) -> Result<(JointMap, Candidates, Vec<usize>, Vec<Skipped>), BlendError> {
    let all: Vec<&Truth> = core::iter::once(start).chain(&drawn.training).collect();
    let loads = |t: &Truth| loads_of(problem, placement.gravity, &t.forces);
    let kinematics = match chart {
        Chart::Manifold => Kinematics::Joints,
        _ => Kinematics::Polynomials,
    };
    let late = || drawn.is_late();
    let sized = |t: &&Truth| -> Result<(ModelData, SampleData), BlendError> {
        let sample = Sample::with_mass(problem, &t.equilibrium, &loads(t), placement.mass)?;
        let sized = Sized::new(&sample, radius)?;
        Ok((sized.data().clone(), sized.alone()))
    };
    let reduced: Vec<Result<(ModelData, SampleData), BlendError>> =
        all.par_iter().map(sized).collect();
    let pairs = all.iter().zip(&reduced);
    let good = pairs.filter_map(|(t, s)| Some((&t.equilibrium, &s.as_ref().ok()?.0)));
    let how = (kinematics, placement.gravity);
    let map = JointMap::new(problem, &start.equilibrium, radius, good, &drawn.unseen, how)?;
    let compliance = |(t, s): (&&Truth, &Result<(ModelData, SampleData), BlendError>)| {
        map.compliance(problem, &t.equilibrium, &s.as_ref().ok()?.0)
    };
    let compliances = all.iter().zip(&reduced).skip(1).map(compliance).collect();
    let places: Vec<Vec<f64>> = all.iter().map(|t| map.place(problem, &t.equilibrium)).collect();
    let curved = |&i: &usize| -> Option<(usize, Option<ChartSample>)> {
        let (t, d) = (all[i], &reduced[i].as_ref().ok()?.0);
        // The start is always tried.
        if i > 0 && late() {
            return None;
        }
        let (at, options) = (&t.equilibrium, &placement.equilibrium);
        Some((i, map.sample(problem, at, &loads(t), d, effectors, options)))
    };
    // Each takes N² equilibria.
    let n = places.first().map_or(1, |p| p.len().max(1));
    let chosen = spread(&places, (EQUILIBRIA / (n * n)).clamp(LEAST, MOST));
    let mut charts: BTreeMap<usize, Option<ChartSample>> = match most {
        1 => {
            let holds = |c: &(usize, Option<ChartSample>)| c.1.is_some();
            chosen.iter().filter_map(curved).find(holds).into_iter().collect()
        }
        _ => chosen.par_iter().filter_map(curved).collect(),
    };
    let (mut candidates, mut numbers, mut skipped) = (vec![], vec![], vec![]);
    for (i, sample) in reduced.into_iter().enumerate() {
        let reason = match (sample, charts.remove(&i)) {
            (Ok((_, mut sample)), Some(Some(chart))) => {
                sample.curvature = Matrix::zeros(0, 0);
                candidates.push(seen_by(effectors, sample, chart)?);
                numbers.push(i);
                continue;
            }
            (Err(e), _) => e.to_string(),
            (Ok(_), None) => continue,
            (Ok(_), Some(None)) => {
                "the chart of joint displacements does not hold there".to_owned()
            }
        };
        if i > 0 {
            skipped.push(Skipped { forces: all[i].forces.clone(), reason });
        }
    }
    match candidates.is_empty() {
        true => Err(BlendError::NoSample),
        false => {
            // Who asks for joint displacements by name gets their polynomials everywhere.
            let guarded = placement.chart != Chart::Joints;
            let guard = guarded.then(|| map.guard.clone());
            let link_forces = map.link_forces.clone();
            let common = Common { guard, kinematics, link_forces, compliances };
            Ok((map, Candidates::Joints(candidates, common), numbers, skipped))
        }
    }
}
