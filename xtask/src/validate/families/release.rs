//! Let go from a displaced equilibrium: the blend beside the full implicit simulation of the same
//! step, along the way from the rest to where the release begins.
//!
//! The first peak is the largest excursion to the other side between the first passages through the
//! rest; the frequency is that of the first passages. A motion without a peak of 5 % creeps back:
//! then its whole path is compared.

use std::sync::Arc;

use forks_blend::{BlendedModel, BlendedState, BlendedStepper, BlendedWorkspace};
use forks_dynamics::integrate::SimulationStatus;
use forks_mechanism::lie::glam::DVec3;
use forks_place::{Forces, Truth};
use forks_rom::StepStatus;

use super::{
    full::Full,
    growth,
    sudden::{STEPS_PER_PERIOD, simulation, tips},
};
use crate::validate::record::{Recorder, larger};

/// Length, in periods of the blend's lowest frequency.
const PERIODS: usize = 6;
/// Excursions below this part of the first one are no passage through the rest.
const PASSED: f64 = 0.02;
/// A peak below this part of the first excursion is none.
const PEAK: f64 = 0.05;
/// Passages that make the frequency.
const PASSAGES: usize = 5;

/// The equilibrium under a force along the axis with about the displacement asked for; a smaller
/// one where the path ends before.
pub(super) fn start(full: &Full<'_>, axis: DVec3, displacement: f64) -> Result<Truth, String> {
    let effectors = full.problem.effectors.len();
    let unit: Forces = (0..effectors).map(|e| (e, axis.normalize())).collect();
    let mut ray = full.ray(&unit, full.first(&unit)?, displacement);
    let last = ray.points.pop().ok_or("no path")?;
    Ok(last.1)
}

pub(super) fn check(
    model: &BlendedModel,
    rest: &[f64],
    h: f64,
    full: &Full<'_>,
    start: &Truth,
    bound: f64,
    out: &mut Recorder,
) {
    out.info("release: displacement", start.displacement);
    let (exact, damped) = match full_path(h, full, start) {
        Ok(path) => path,
        Err(status) => return out.fail("release: full simulation", bound, status.name()),
    };
    if damped > 0 {
        out.info("release: full steps with energy taken off", damped as f64);
    }
    let found = match blended_path(model, rest, h, start) {
        Ok(path) => path,
        Err(problem) => return out.fail("release: first peak", bound, problem),
    };
    let along = exact[0] - full.tips[0].translation;
    let reach = along.length();
    let way = |path: &[DVec3]| -> Vec<f64> {
        let along = along / reach;
        path.iter().map(|p| (*p - full.tips[0].translation).dot(along) / reach).collect()
    };
    let (exact, found) = (way(&exact), way(&found));
    let apart = exact.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, larger);
    let (a, b) = (Swing::of(&exact), Swing::of(&found));
    if a.peak < PEAK {
        out.note("release: first peak", "the full mechanism creeps back without one");
        return out.at_most("release: path over the displacement", apart, bound);
    }
    out.info("release: path over the displacement", apart);
    out.at_most("release: first peak, relative", (b.peak / a.peak - 1.0).abs(), bound);
    match (a.frequency(&b), b.frequency(&a)) {
        (Some(a), Some(b)) => {
            out.at_most("release: frequency, relative", (b / a - 1.0).abs(), bound);
        }
        _ => out.fail("release: frequency, relative", bound, "it does not pass its rest twice"),
    }
}

/// Places of the first effector, and steps in which energy was taken off.
fn full_path(
    h: f64,
    full: &Full<'_>,
    start: &Truth,
) -> Result<(Vec<DVec3>, usize), SimulationStatus> {
    let mut simulation = simulation(full, &start.equilibrium.q);
    let mut path = vec![tips(&simulation, full)[0]];
    for _ in 0..PERIODS * STEPS_PER_PERIOD {
        match simulation.step(h) {
            SimulationStatus::Completed => path.push(tips(&simulation, full)[0]),
            status => return Err(status),
        }
    }
    Ok((path, simulation.statistics().damped))
}

fn blended_path(
    model: &BlendedModel,
    rest: &[f64],
    h: f64,
    start: &Truth,
) -> Result<Vec<DVec3>, String> {
    let said = |e: forks_rom::ModelError| e.to_string();
    let from = growth::grown(model, rest, &start.forces).ok_or("the blend has no start")?;
    let stepper = BlendedStepper::new(Arc::new(model.clone()), h).map_err(said)?;
    let mut state = BlendedState::new(model, &from).map_err(said)?;
    let mut work = BlendedWorkspace::new(model);
    let tip = |s: &BlendedState| model.effector_pose(0, s.coordinates()).translation;
    let mut path = vec![tip(&state)];
    for _ in 0..PERIODS * STEPS_PER_PERIOD {
        if stepper.step(&mut state, &mut work, &[]) == StepStatus::NotFinite {
            return Err("a step is not finite".to_owned());
        }
        path.push(tip(&state));
    }
    Ok(path)
}

/// A swing through the rest, from 1 at the start.
struct Swing {
    /// Excursion to the other side before the second passage.
    peak: f64,
    /// Steps at which it passes the rest.
    passages: Vec<f64>,
}

impl Swing {
    fn of(way: &[f64]) -> Self {
        let (mut passages, mut side, mut since, mut peak) = (vec![], 1.0f64, 0.0, 0.0f64);
        for (k, pair) in way.windows(2).enumerate() {
            if pair[0] * side > 0.0 && pair[1] * side <= 0.0 {
                since = k as f64 + pair[0] / (pair[0] - pair[1]);
            }
            if pair[1] * side < -PASSED {
                passages.push(since);
                side = -side;
            }
            if passages.len() == 1 {
                peak = peak.max(-pair[1]);
            }
        }
        Self { peak, passages }
    }

    /// Half swings per step over as many passages as both have.
    fn frequency(&self, other: &Self) -> Option<f64> {
        let n = self.passages.len().min(other.passages.len()).min(PASSAGES);
        let last = n.checked_sub(1).filter(|last| *last > 0)?;
        Some(last as f64 / (self.passages[last] - self.passages[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_and_frequency_of_a_damped_swing() {
        let (period, decay) = (200.0f64, 0.002f64);
        let at = |k: usize| {
            let t = k as f64;
            (core::f64::consts::TAU * t / period).cos() * (-decay * t).exp()
        };
        let way: Vec<f64> = (0..1200).map(at).collect();
        let swing = Swing::of(&way);
        assert!((swing.peak - (-decay * 98.0f64).exp()).abs() < 0.02, "{}", swing.peak);
        let frequency = swing.frequency(&swing).unwrap();
        assert!((frequency * period / 2.0 - 1.0).abs() < 1e-3, "{frequency}");
        assert!(Swing::of(&[1.0, 0.5, 0.2, 0.1]).frequency(&swing).is_none());
    }
}
