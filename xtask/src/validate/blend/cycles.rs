//! ∮ w·φ around random closed cycles of effector poses, from public wrenches and poses alone.
//!
//! A cycle runs smoothly through some of the unseen loads' equilibria. The sum of ½(w_k +
//! w_{k+1})·log(H_k⁻¹H_{k+1}) is off by second order in the step, so that a form with an energy
//! shows a quarter of it with half the step; a form without one shows what its work is. In charts
//! of joint displacements, where wrenches grow without bound next to poses that lock, the sum is
//! that of ½(f_k + f_{k+1})·(x_{k+1} − x_k), f the generalised forces.

use core::f64::consts::TAU;

use forks_blend::{Blend, BlendedModel, BlendedState};
use forks_io::{Cell, CsvTable};
use forks_mechanism::lie::{Pose, Wrench};
use forks_testkit::Rng;
use rayon::prelude::*;

use super::{
    Study,
    rivals::{PAPER, Rival},
};
use crate::validate::record::{Recorder, larger};

const CYCLES: usize = 100;
const SEED: u64 = 5;
/// Poses that a cycle runs through, an odd number: harmonics up to half of it join them.
const POSES: usize = 5;
/// Points on the finest polygon; the others have half and a quarter of them.
const POINTS: usize = 1024;
/// The order is 2 up to the next term, of fourth order: with 256 points of a cycle with features of
/// a tenth of its length that is below some percent of the first one, an order of 1.9.
const ORDER: f64 = 0.1;
/// What the fourth-order term leaves after one Richardson step, of ∮|w·φ|: (2π k h)⁴/720 with h =
/// 1/512 and features as short as the harmonic k = 5.
const REMAINDER: f64 = 2e-8;

/// Work of one cycle over ∮|w·φ| with a quarter of the points, half of them, and all.
type Work = [f64; 3];

/// What is left after one Richardson step.
fn extrapolated(w: &Work) -> f64 {
    ((4.0 * w[2] - w[1]) / 3.0).abs()
}

pub(super) fn check(study: &Study<'_>, rivals: &[Rival], out: &mut Recorder) -> Result<(), String> {
    let model = &study.placed.model;
    let all: Vec<Vec<f64>> =
        study.unseen.iter().filter_map(|t| study.ruler.coordinates(model, t)).collect();
    if all.len() < POSES {
        out.fail("∮w·φ", REMAINDER, "too few unseen loads for a cycle");
        return Ok(());
    }
    let mut rng = Rng::new(SEED);
    let cycles: Vec<Vec<&[f64]>> = (0..CYCLES)
        .map(|_| (0..POSES).map(|_| &all[(rng.unit() * all.len() as f64) as usize][..]).collect())
        .collect();
    let work = |model: &BlendedModel| -> Option<Vec<Work>> {
        cycles.par_iter().map(|c| around(model, c)).collect()
    };
    let Some(energy) = work(model) else {
        out.fail("∮w·φ", REMAINDER, "a pose of a cycle is not finite");
        return Ok(());
    };
    let bound = |b| study.settings.bound(b);
    let largest = |all: &[Work], of: &dyn Fn(&Work) -> f64| all.iter().map(of).fold(0.0, larger);
    let errors: [f64; 3] = core::array::from_fn(|k| largest(&energy, &|w| w[k].abs()));
    out.info("∮w·φ over ∮|w·φ|, energy, 256 points", errors[0]);
    out.info("∮w·φ over ∮|w·φ|, energy, 512 points", errors[1]);
    out.info("∮w·φ over ∮|w·φ|, energy, 1024 points", errors[2]);
    for (k, steps) in ["256 to 512", "512 to 1024"].iter().enumerate() {
        let order = (errors[k] / errors[k + 1]).log2();
        out.judge(&format!("∮w·φ, energy: order below 2, {steps}"), 2.0 - order, bound(ORDER));
    }
    let name = format!("∮w·φ over ∮|w·φ|, energy, {CYCLES} cycles, extrapolated");
    out.judge(&name, largest(&energy, &extrapolated), bound(REMAINDER));
    let mut table = CsvTable::new(["form", "cycle", "256 points", "512 points", "1024 points"]);
    rows("energy", &energy, &mut table)?;
    let paper = rivals.iter().find(|r| r.name == PAPER).map(|r| r.model.clone());
    let others = [
        ("Eigenvectors", Some(model.clone().with_blend(Blend::Eigenvectors))),
        ("SpdManifold", Some(model.clone().with_blend(Blend::SpdManifold))),
        (PAPER, paper),
    ];
    for (name, form) in others {
        let Some(form) = form else { continue };
        let Some(found) = work(&form) else { continue };
        let mean = found.iter().map(extrapolated).sum::<f64>() / found.len() as f64;
        out.info(&format!("∮w·φ over ∮|w·φ|, {name}, max"), largest(&found, &extrapolated));
        out.info(&format!("∮w·φ over ∮|w·φ|, {name}, mean"), mean);
        rows(name, &found, &mut table)?;
    }
    match out.report_path("cycles.csv") {
        Some(path) => table.save(path).map_err(|e| e.to_string()),
        None => Ok(()),
    }
}

fn rows(name: &str, all: &[Work], table: &mut CsvTable) -> Result<(), String> {
    for (k, w) in all.iter().enumerate() {
        let row: [Cell; 5] =
            [name.into(), (k as f64).into(), w[0].into(), w[1].into(), w[2].into()];
        table.push(row).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// The trigonometric polynomial of lowest degree through points at equal distances, at `t` of a
/// period of 1.
fn through(points: &[&[f64]], t: f64) -> Vec<f64> {
    let n = points.len() as f64;
    let mut out = vec![0.0; points[0].len()];
    for (k, p) in points.iter().enumerate() {
        let s = t - k as f64 / n;
        let harmonics = (1..=points.len() / 2).map(|h| (TAU * h as f64 * s).cos());
        let kernel = (1.0 + 2.0 * harmonics.sum::<f64>()) / n;
        out.iter_mut().zip(*p).for_each(|(o, p)| *o += kernel * p);
    }
    out
}

/// The same of generalised forces along the coordinates.
fn around_coordinates(model: &BlendedModel, cycle: &[&[f64]]) -> Work {
    let place = |k: usize| through(cycle, k as f64 / POINTS as f64);
    let points: Vec<(Vec<f64>, Vec<f64>)> =
        (0..POINTS).map(place).map(|x| (model.elastic_force(&x), x)).collect();
    let work = |stride: usize| {
        let (mut sum, mut size) = (0.0, 0.0f64);
        for k in (0..POINTS).step_by(stride) {
            let (a, b) = (&points[k], &points[(k + stride) % POINTS]);
            let each = (0..a.0.len()).map(|i| 0.5 * (a.0[i] + b.0[i]) * (b.1[i] - a.1[i]));
            let segment: f64 = each.sum();
            sum += segment;
            size += segment.abs();
        }
        sum / size
    };
    [work(4), work(2), work(1)]
}

fn around(model: &BlendedModel, cycle: &[&[f64]]) -> Option<Work> {
    if model.is_curved() {
        return Some(around_coordinates(model, cycle));
    }
    let effectors = model.effector_count();
    let mut state = BlendedState::new(model, cycle[0]).ok()?;
    let still = vec![0.0; model.dof()];
    let mut points: Vec<(Vec<Wrench>, Vec<Pose>)> = Vec::with_capacity(POINTS);
    for k in 0..POINTS {
        let x = through(cycle, k as f64 / POINTS as f64);
        state.set(&x, &still).ok()?;
        let poses = (0..effectors).map(|e| model.effector_pose(e, &x)).collect();
        points.push((model.evaluated_at(&state).effector_wrenches(model), poses));
    }
    let work = |stride: usize| {
        let (mut sum, mut size) = (0.0, 0.0f64);
        for k in (0..POINTS).step_by(stride) {
            let (a, b) = (&points[k], &points[(k + stride) % POINTS]);
            let each = (0..effectors).map(|e| {
                let mean = (a.0[e] + b.0[e]) * 0.5;
                mean.dot(a.1[e].twist_to(&b.1[e]))
            });
            let segment: f64 = each.sum();
            sum += segment;
            size += segment.abs();
        }
        sum / size
    };
    Some([work(4), work(2), work(1)])
}
