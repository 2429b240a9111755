//! Errors of a blend against full equilibria (\[A16\] §8.2).

use forks_mechanism::{
    Connection, Mechanism, connections, constraint_error,
    lie::{Pose, Wrench, log_rotation},
};
use forks_reduce::Problem;
use forks_rom::{
    BlendedModel, BlendedState, EffectorLoad, LinkBlend, LoadFrame, PoseBuffer, Reconstruction,
    StaticStatus,
};

use crate::truth::{Truth, effector_poses};

/// Errors at one load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Gaps at all joints and effectors, over r; poses blended link by link.
    pub constraint: f64,
    /// The angles of the same gaps, rad.
    pub angle: f64,
    /// The same with link poses from blended joint displacements, over r.
    pub joint_space: f64,
    /// Largest |p − p_full| / max(|p_full − p_rest|, 0.1 r) of an effector; infinite where the blend finds no
    /// equilibrium.
    pub statics: f64,
}

impl Errors {
    const NONE: Self = Self {
        constraint: f64::INFINITY,
        angle: f64::INFINITY,
        joint_space: f64::INFINITY,
        statics: f64::INFINITY,
    };
}

/// Measures blends of one problem.
#[derive(Debug)]
pub struct Gauge<'a> {
    problem: &'a Problem,
    connections: Vec<Connection>,
    rest: Vec<Pose>,
    radius: f64,
}

/// Displacements below this part of r do not make the static error larger.
const SMALL_DISPLACEMENT: f64 = 0.1;

impl<'a> Gauge<'a> {
    /// `rest`: poses of the effectors without loads; `radius`: the mechanism's size r.
    pub fn new(problem: &'a Problem, rest: Vec<Pose>, radius: f64) -> Self {
        Self { connections: connections(problem.mechanism()), problem, rest, radius }
    }

    /// Errors of a blend under the loads of a full equilibrium.
    pub fn errors(&self, blend: &BlendedModel, truth: &Truth) -> Errors {
        let loads: Vec<EffectorLoad> = truth
            .forces
            .iter()
            .map(|&(effector, force)| EffectorLoad {
                effector,
                wrench: Wrench::new(force, Default::default()),
                frame: LoadFrame::World,
            })
            .collect();
        let Ok(found) = blend.solve_static(&loads) else { return Errors::NONE };
        if found.status != StaticStatus::Converged {
            return Errors::NONE;
        }
        let x = &found.eta;
        let full = effector_poses(self.problem, &truth.equilibrium.world_from_link);
        let statics = (0..full.len()).map(|e| {
            let p = blend.effector_pose(e, x).translation;
            let moved = full[e].translation.distance(self.rest[e].translation);
            p.distance(full[e].translation) / moved.max(SMALL_DISPLACEMENT * self.radius)
        });
        let statics = statics.fold(0.0, f64::max);
        let (constraint, angle) = self.gaps(blend, x, &blended_poses(blend, x));
        let (joint_space, _) = self.gaps(blend, x, &joint_space_poses(blend, x));
        Errors { constraint, angle, joint_space, statics }
    }

    /// Sums of all gaps at joints and effectors: position over r, and angle, for link poses shown at `x`.
    fn gaps(&self, blend: &BlendedModel, x: &[f64], poses: &[Pose]) -> (f64, f64) {
        let m: &Mechanism = self.problem.mechanism();
        let joints = constraint_error(m, &self.connections, poses);
        let shown = effector_poses(self.problem, poses);
        let gaps = shown.iter().enumerate().map(|(e, p)| p.inverse() * blend.effector_pose(e, x));
        let (mut position, mut angle) = (joints.position_sum, joints.angle_sum);
        for gap in gaps {
            position += gap.translation.length();
            angle += log_rotation(gap.rotation).length();
        }
        (position / self.radius, angle)
    }
}

/// Poses of all links at chart coordinates `x`, blended link by link; the identity for massless frames inside joints.
fn blended_poses(blend: &BlendedModel, x: &[f64]) -> Vec<Pose> {
    let links = blend.data().samples[0].model.data().links.len();
    let mut out = vec![Pose::IDENTITY; links];
    let Ok(mut state) = BlendedState::new(blend, x) else { return out };
    let mut buffer: PoseBuffer = blend.pose_buffer();
    blend.poses(&mut state, LinkBlend::Average, &mut buffer);
    buffer.iter().for_each(|(l, p)| out[l] = p);
    out
}

/// Poses of all links from blended joint displacements: at each joint of the tree the samples' relative poses
/// R_i are averaged as R₀ exp(Σ α_i log(R₀⁻¹ R_i)), which a joint that moves in a group cannot leave.
fn joint_space_poses(blend: &BlendedModel, x: &[f64]) -> Vec<Pose> {
    let weights = blend.weights(x);
    let samples = &blend.data().samples;
    let poses: Vec<Vec<Pose>> = samples
        .iter()
        .map(|s| {
            let d = s.model.data();
            let mut eta = vec![0.0; d.basis.columns()];
            for (e, f) in d.effectors.iter().enumerate() {
                let xi = f.rest.twist_to(&blend.effector_pose(e, x)).to_array();
                for (i, xi) in xi.iter().enumerate() {
                    let scale = if i < 3 { 1.0 / (d.radius * d.radius) } else { 1.0 };
                    let row = d.basis.row(6 * e + i);
                    eta.iter_mut().zip(row).for_each(|(y, b)| *y += scale * b * xi);
                }
            }
            s.model.link_poses(&eta, &[], Reconstruction::JointSpace)
        })
        .collect();
    let first = samples[0].model.data();
    let mut out: Vec<Pose> = first.links.iter().map(|l| l.rest).collect();
    for j in first.joints.iter().filter(|j| !j.closes_loop) {
        let relative = |p: &[Pose]| p[j.inner].inverse() * p[j.outer];
        let base = relative(&poses[0]);
        let mut mean = forks_mechanism::lie::Twist::ZERO;
        for (p, alpha) in poses.iter().zip(&weights).skip(1) {
            mean += base.twist_to(&relative(p)) * *alpha;
        }
        out[j.outer] = (out[j.inner] * base.displaced(mean)).normalized();
    }
    out
}
