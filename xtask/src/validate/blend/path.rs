//! No jump: poses of all links while the effectors move through the samples and between them.

use forks_mechanism::lie::Pose;
use forks_reduce::relative_displacement;
use forks_rom::{BlendedModel, BlendedState, LinkBlend, PoseBuffer, Reconstruction};
use rayon::prelude::*;

use super::{Study, bounded_or_reported};
use crate::validate::record::Recorder;

/// Length of a step: relative displacement of an effector.
const STEP: f64 = 1e-4;
/// Places of unseen loads on the path, between samples.
const BETWEEN: usize = 4;
/// Largest change over the mean change.
const BOUND: f64 = 10.0;

/// Largest change of a link's pose per step: over all steps, their sum and their number.
#[derive(Clone, Copy, Default)]
struct Changes {
    largest: f64,
    sum: f64,
    count: usize,
}

pub(super) fn check(study: &Study<'_>, out: &mut Recorder) {
    let places = places(study);
    let modes = [
        ("twists", Reconstruction::Twist, LinkBlend::Average),
        ("twists, Eq. 28", Reconstruction::Twist, LinkBlend::Logarithm),
        ("joint space", Reconstruction::JointSpace, LinkBlend::Average),
    ];
    for (name, mode, blend) in modes {
        // Joint by joint is ten times as slow.
        let every = if matches!(mode, Reconstruction::JointSpace) { 4 } else { 1 };
        let segments: Vec<&[Vec<f64>]> = places.windows(2).step_by(every).collect();
        let found: Vec<Changes> = segments
            .par_iter()
            .map(|s| segment(study, [&s[0], &s[1]], mode, blend).unwrap_or_default())
            .collect();
        let largest = found.iter().map(|c| c.largest).fold(0.0, f64::max);
        let count: usize = found.iter().map(|c| c.count).sum();
        let sum: f64 = found.iter().map(|c| c.sum).sum();
        let check = format!("largest link motion per 1e-4 over the mean, {name}");
        match found.iter().all(|c| c.count > 0) {
            true => {
                let bound = study.settings.bound(BOUND);
                bounded_or_reported(&check, largest * count as f64 / sum, bound, out);
            }
            false => out.fail(&check, BOUND, "the blend has no state on the path"),
        }
    }
}

/// Samples, and places of unseen loads between them.
fn places(study: &Study<'_>) -> Vec<Vec<f64>> {
    let model = &study.placed.model;
    let between = study.unseen.iter().take(BETWEEN);
    let mut between = between.filter_map(|t| study.ruler.coordinates(model, t));
    let mut out = Vec::new();
    for i in 0..study.placed.loads.len() {
        out.push(model.place(i).to_vec());
        out.extend(between.next());
    }
    out.extend(between);
    out.push(model.place(0).to_vec());
    out
}

/// Changes along a straight line of coordinates.
fn segment(
    study: &Study<'_>,
    [from, to]: [&[f64]; 2],
    mode: Reconstruction,
    blend: LinkBlend,
) -> Option<Changes> {
    let model = &study.placed.model;
    let r = study.ruler.r;
    let effectors = |x: &[f64]| -> Vec<Pose> {
        (0..model.effector_count()).map(|e| model.effector_pose(e, x)).collect()
    };
    let steps = (study.ruler.distance(&effectors(from), &effectors(to)) / STEP).ceil() as usize;
    let steps = steps.max(1);
    let still = vec![0.0; model.dof()];
    let mut state = BlendedState::new(model, from).ok()?;
    let mut show = Show::new(study, mode, blend);
    let mut poses = Vec::new();
    show.poses(&mut state, &mut poses);
    let mut last = (effectors(from), poses.clone());
    let mut out = Changes::default();
    for k in 1..=steps {
        let t = k as f64 / steps as f64;
        let x: Vec<f64> = from.iter().zip(to).map(|(a, b)| a + t * (b - a)).collect();
        state.set(model, &x, &still).ok()?;
        show.poses(&mut state, &mut poses);
        let here = effectors(&x);
        let moved = study.ruler.distance(&last.0, &here);
        let pairs = last.1.iter().zip(&poses);
        let links = pairs.map(|(a, b)| relative_displacement(a, b, r)).fold(0.0, f64::max);
        // Not a number would be the largest.
        let change = if links.is_finite() { links * STEP / moved } else { f64::INFINITY };
        out.largest = out.largest.max(change);
        out.sum += change;
        out.count += 1;
        last.0 = here;
        last.1.clone_from(&poses);
    }
    Some(out)
}

/// Poses of the links at many places.
struct Show<'a> {
    model: &'a BlendedModel,
    mode: Reconstruction,
    blend: LinkBlend,
    buffer: PoseBuffer,
}

impl<'a> Show<'a> {
    fn new(study: &'a Study<'_>, mode: Reconstruction, blend: LinkBlend) -> Self {
        let model = &study.placed.model;
        Self { model, mode, blend, buffer: model.pose_buffer() }
    }

    fn poses(&mut self, state: &mut BlendedState, out: &mut Vec<Pose>) {
        match self.mode {
            Reconstruction::Twist => {
                self.model.poses(state, self.blend, &mut self.buffer);
                out.clear();
                out.extend(self.buffer.iter().map(|(_, pose)| pose));
            }
            Reconstruction::JointSpace => {
                let links = self.model.data().samples[0].model.data().links.len();
                out.resize(links, Pose::IDENTITY);
                self.model.link_poses_into(state, self.mode, self.blend, out);
            }
        }
    }
}
