//! Samples that a blend may have, in one of the charts.

use forks_blend::{BlendData, ChartSample, Guard, SampleData, Weights};
use forks_mechanism::{lie::Pose, linalg::Matrix};
use forks_reduce::Problem;
use forks_rom::data::ModelData;
use rayon::prelude::*;

use crate::{
    chart::JointMap,
    error::BlendError,
    lift::{Sized, assemble},
    sample::Sample,
    settings::{Chart, Placement, Skipped},
    truth::{Truth, loads_of},
};

/// Samples to choose from.
pub(crate) enum Candidates {
    /// Of any ranks.
    Poses(Vec<Sized>),
    /// All of the chart's rank, and where the chart is trusted.
    Joints(Vec<(SampleData, ChartSample)>, Option<Guard>),
}

impl Candidates {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Poses(all) => all.len(),
            Self::Joints(all, _) => all.len(),
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
            Self::Joints(all, guard) => {
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
                    guard: guard.clone(),
                })
            }
        }
    }
}

/// Places at which samples are tried, at most: those that lie farthest from each other.
const MOST: usize = 48;

/// The first place, then again and again the one that is farthest from those chosen.
fn spread(places: &[Vec<f64>]) -> Vec<bool> {
    let mut chosen = vec![false; places.len()];
    let mut nearest = vec![f64::INFINITY; places.len()];
    let mut next = 0;
    for _ in 0..MOST.min(places.len()) {
        chosen[next] = true;
        for (d, p) in nearest.iter_mut().zip(places) {
            *d = d.min(p.iter().zip(&places[next]).map(|(a, b)| (a - b) * (a - b)).sum());
        }
        let far = (0..places.len()).filter(|&i| !chosen[i]);
        match far.max_by(|&a, &b| nearest[a].total_cmp(&nearest[b])) {
            Some(i) => next = i,
            None => break,
        }
    }
    chosen
}

/// Candidates in a chart of joint displacements whose guard is around further loads too, the start
/// first where the chart holds there, with
/// their numbers in `training`; what was left out.
pub(crate) fn in_joints(
    problem: &Problem,
    placement: &Placement,
    start: &Truth,
    radius: f64,
    training: &[Truth],
    further: &[Vec<Truth>],
) -> Result<(JointMap, Candidates, Vec<usize>, Vec<Skipped>), BlendError> {
    let all: Vec<&Truth> = core::iter::once(start).chain(training).collect();
    let loads = |t: &Truth| loads_of(problem, placement.gravity, &t.forces);
    let sized = |t: &&Truth| -> Result<(ModelData, SampleData), BlendError> {
        let sample = Sample::with_mass(problem, &t.equilibrium, &loads(t), placement.mass)?;
        let sized = Sized::new(&sample, radius)?;
        Ok((sized.data().clone(), sized.alone()))
    };
    let reduced: Vec<Result<(ModelData, SampleData), BlendError>> =
        all.par_iter().map(sized).collect();
    let pairs = all.iter().zip(&reduced);
    let good = pairs.filter_map(|(t, s)| Some((&t.equilibrium, &s.as_ref().ok()?.0)));
    let map = JointMap::new(problem, &start.equilibrium, radius, good, further)?;
    let chosen =
        spread(&all.iter().map(|t| map.place(problem, &t.equilibrium)).collect::<Vec<_>>());
    let curved = |i: usize| {
        let (t, d) = (all[i], &reduced[i].as_ref().ok().filter(|_| chosen[i])?.0);
        map.sample(problem, &t.equilibrium, &loads(t), d, &placement.equilibrium)
    };
    let charts: Vec<Option<ChartSample>> = (0..all.len()).into_par_iter().map(curved).collect();
    let (mut candidates, mut numbers, mut skipped) = (vec![], vec![], vec![]);
    for (i, (sample, chart)) in reduced.into_iter().zip(charts).enumerate() {
        let reason = match (sample, chart) {
            (Ok((_, mut sample)), Some(chart)) => {
                sample.curvature = Matrix::zeros(0, 0);
                candidates.push((sample, chart));
                numbers.push(i);
                continue;
            }
            (Err(e), _) => e.to_string(),
            (Ok(_), None) if !chosen[i] => continue,
            (Ok(_), None) => "the chart of joint displacements does not hold there".to_owned(),
        };
        if i > 0 {
            skipped.push(Skipped { forces: all[i].forces.clone(), reason });
        }
    }
    match candidates.is_empty() {
        true => Err(BlendError::NoSample),
        false => {
            // Who asks for this chart gets its polynomials everywhere.
            let guard = (placement.chart == Chart::Auto).then(|| map.guard.clone());
            Ok((map, Candidates::Joints(candidates, guard), numbers, skipped))
        }
    }
}
