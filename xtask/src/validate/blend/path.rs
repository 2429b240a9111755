//! No jump: poses of all links while the effectors move through the samples and between them, on
//! straight lines of the chart, which may leave what the mechanism can do, and where loads lead.

use forks_blend::{BlendedModel, BlendedState, BlendedWorkspace, LinkBlend};
use forks_dynamics::{AppliedWrench, Loads, WrenchFrame, statics::EquilibriumOptions};
use forks_mechanism::lie::{Pose, Wrench, glam::DVec3};
use forks_place::Truth;
use forks_reduce::relative_displacement;
use forks_rom::{PoseBuffer, Reconstruction};
use rayon::prelude::*;

use super::Study;
use crate::validate::record::{Recorder, larger};

/// Length of a step: relative displacement of an effector.
const STEP: f64 = 1e-4;
/// Places of unseen loads on the path, between samples.
const BETWEEN: usize = 4;
/// Largest change over the mean change. A jump from one sample's poses to the next one's would be
/// thousands of them; where a mechanism straightens out links move three times as fast as
/// elsewhere.
const BOUND: f64 = 4.0;
/// Full equilibria from one sample's load to the next one's.
const EQUILIBRIA: usize = 16;

/// A curve through chart coordinates.
type Curve = Vec<Vec<f64>>;

/// Largest change of a link's pose per step: over all steps, their sum and their number.
#[derive(Clone, Copy, Default)]
struct Changes {
    largest: f64,
    sum: f64,
    count: usize,
}

pub(super) fn check(study: &Study<'_>, out: &mut Recorder) {
    let straight: Vec<Curve> = places(study).windows(2).map(<[_]>::to_vec).collect();
    along("", &straight, study, out);
    if study.placed.loads.len() > 1 {
        along(", where loads lead", &led_by_loads(study), study, out);
    }
}

fn along(way: &str, curves: &[Curve], study: &Study<'_>, out: &mut Recorder) {
    let modes = [
        ("twists", Reconstruction::Twist, LinkBlend::Average),
        ("twists, [A16] Eq. 28", Reconstruction::Twist, LinkBlend::Logarithm),
        ("joint space", Reconstruction::JointSpace, LinkBlend::Average),
    ];
    for (name, mode, blend) in modes {
        // Joint by joint is ten times as slow.
        let every = if matches!(mode, Reconstruction::JointSpace) { 4 } else { 1 };
        let some: Vec<&Curve> = curves.iter().step_by(every).collect();
        let found: Vec<Changes> =
            some.par_iter().map(|c| changes(study, c, mode, blend).unwrap_or_default()).collect();
        let largest = found.iter().map(|c| c.largest).fold(0.0, larger);
        let count: usize = found.iter().map(|c| c.count).sum();
        let sum: f64 = found.iter().map(|c| c.sum).sum();
        let check = format!("largest link motion per 1e-4 over the mean, {name}{way}");
        match found.iter().all(|c| c.count > 0) {
            true => {
                let asked = study.settings.bounds.filter(|b| b.paths);
                let bound = study.settings.bound(BOUND).or(asked.map(|_| BOUND));
                out.judge(&check, largest * count as f64 / sum, bound);
            }
            false => out.fail(&check, BOUND, "the blend has no state on the path"),
        }
    }
}

/// From each sample's load to the next one's, through full equilibria.
fn led_by_loads(study: &Study<'_>) -> Vec<Curve> {
    let loads = &study.placed.loads;
    let force = |i: usize, e: usize| {
        let own = loads[i].iter().filter(|f| f.0 == e);
        own.map(|f| f.1).sum::<DVec3>()
    };
    let effectors = &study.case.problem.effectors;
    let curve = |i: usize| -> Curve {
        let next = (i + 1) % loads.len();
        let point = |k: usize| {
            let t = k as f64 / EQUILIBRIA as f64;
            let wrench = |e: usize| AppliedWrench {
                link: effectors[e].link,
                link_from_point: effectors[e].link_from_effector,
                wrench: Wrench::new(force(i, e).lerp(force(next, e), t), DVec3::ZERO),
                frame: WrenchFrame::World,
            };
            let all = (0..effectors.len()).map(wrench).fold(Loads::none(), Loads::with);
            let options = EquilibriumOptions::default();
            let equilibrium = study.case.problem.equilibrium(&all, &options);
            let found = equilibrium.status.is_equilibrium();
            let truth = Truth { forces: vec![], equilibrium, displacement: 0.0 };
            found.then(|| study.ruler.coordinates(&study.placed.model, &truth)).flatten()
        };
        (0..=EQUILIBRIA).filter_map(point).collect()
    };
    let all: Vec<Curve> = (0..loads.len()).into_par_iter().map(curve).collect();
    all.into_iter().filter(|c| c.len() > 1).collect()
}

/// A place on a curve, t from 0 to 1: Hermite's cubics with slopes from the neighbours; a straight
/// line through two.
fn at(curve: &[Vec<f64>], t: f64) -> Vec<f64> {
    let last = curve.len() - 1;
    let k = ((t * last as f64) as usize).min(last - 1);
    let u = t * last as f64 - k as f64;
    let slope = |k: usize, j: usize| {
        let (a, b) = (k.saturating_sub(1), (k + 1).min(last));
        (curve[b][j] - curve[a][j]) / (b - a) as f64
    };
    let place = |j: usize| {
        let (from, to) = (curve[k][j], curve[k + 1][j]);
        let (start, end) = (slope(k, j), slope(k + 1, j));
        let v = 1.0 - u;
        from * v * v * (1.0 + 2.0 * u) + to * u * u * (1.0 + 2.0 * v) + start * u * v * v
            - end * u * u * v
    };
    (0..curve[k].len()).map(place).collect()
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

/// Changes along a curve.
fn changes(
    study: &Study<'_>,
    curve: &[Vec<f64>],
    mode: Reconstruction,
    blend: LinkBlend,
) -> Option<Changes> {
    let model = &study.placed.model;
    let r = study.ruler.r;
    let effectors = |x: &[f64]| -> Vec<Pose> {
        (0..model.effector_count()).map(|e| model.effector_pose(e, x)).collect()
    };
    let far = |w: &[Vec<f64>]| study.ruler.distance(&effectors(&w[0]), &effectors(&w[1]));
    let steps = (curve.windows(2).map(far).sum::<f64>() / STEP).ceil() as usize;
    let steps = steps.max(1);
    let from = &curve[0];
    let still = vec![0.0; model.dof()];
    let mut state = BlendedState::new(model, from).ok()?;
    let mut show = Show::new(study, mode, blend);
    let mut poses = Vec::new();
    show.poses(&state, &mut poses);
    let mut last = (effectors(from), poses.clone());
    let mut out = Changes::default();
    for k in 1..=steps {
        let t = k as f64 / steps as f64;
        let x = at(curve, t);
        state.set(&x, &still).ok()?;
        show.poses(&state, &mut poses);
        let here = effectors(&x);
        let moved = study.ruler.distance(&last.0, &here);
        let pairs = last.1.iter().zip(&poses);
        let links = pairs.map(|(a, b)| relative_displacement(a, b, r)).fold(0.0, larger);
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
    work: BlendedWorkspace,
}

impl<'a> Show<'a> {
    fn new(study: &'a Study<'_>, mode: Reconstruction, blend: LinkBlend) -> Self {
        let model = &study.placed.model;
        Self { model, mode, blend, buffer: model.pose_buffer(), work: BlendedWorkspace::new(model) }
    }

    fn poses(&mut self, state: &BlendedState, out: &mut Vec<Pose>) {
        match self.mode {
            Reconstruction::Twist => {
                self.model.poses(state, &mut self.work, self.blend, &mut self.buffer);
                out.clear();
                out.extend(self.buffer.iter().map(|(_, pose)| pose));
            }
            Reconstruction::JointSpace => {
                let links = self.model.data().samples[0].model.data().links.len();
                out.resize(links, Pose::IDENTITY);
                self.model.link_poses_into(state, &mut self.work, self.mode, self.blend, out);
            }
        }
    }
}
