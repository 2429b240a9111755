//! Errors of any form of blend against full equilibria, by code of its own: static solutions also
//! of forms without an energy, gaps from poses.

use forks_blend::{Blend, BlendedModel, BlendedState, BlendedWorkspace, LinkBlend};
use forks_mechanism::{
    kinematics::{Connection, connections, constraint_error},
    lie::{Pose, Wrench, glam::DVec3, se3::right_jacobian, so3::log_rotation},
    linalg::{Matrix, dense},
};
use forks_place::{Forces, Truth};
use forks_reduce::{Problem, relative_displacement};
use forks_rom::{EffectorLoad, LoadFrame, Reconstruction, StaticStatus};

use crate::validate::{record::larger, slope::slope};

/// Errors at one load; infinite where the form has no solution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Errors {
    /// Gaps at all joints and effectors over r, every link by its own twist.
    pub(super) twists: f64,
    /// The same with link poses from joint displacements.
    pub(super) joint_space: f64,
    /// Angles of the gaps, rad.
    pub(super) twist_angles: f64,
    pub(super) joint_space_angles: f64,
    /// Largest |p − p_full| / max(|p_full − p_rest|, 0.1 r) of an effector.
    pub(super) statics: f64,
}

impl Errors {
    const NONE: Self = Self {
        twists: f64::INFINITY,
        joint_space: f64::INFINITY,
        twist_angles: f64::INFINITY,
        joint_space_angles: f64::INFINITY,
        statics: f64::INFINITY,
    };

    pub(super) fn found(&self) -> bool {
        self.statics.is_finite()
    }
}

/// Displacements below this part of r do not make the static error larger.
const SMALL: f64 = 0.1;
const LOAD_STEPS: usize = 8;
const NEWTON_STEPS: usize = 40;
/// Newton's last change (lengths over r, rad).
const STILL: f64 = 1e-10;
/// Longest step.
const LONGEST: f64 = 0.2;

/// Measures blends of one problem.
pub(in crate::validate) struct Ruler<'a> {
    problem: &'a Problem,
    pub(super) connections: Vec<Connection>,
    pub(super) rest: Vec<Pose>,
    pub(super) r: f64,
}

impl<'a> Ruler<'a> {
    pub(in crate::validate) fn new(problem: &'a Problem, rest: Vec<Pose>, r: f64) -> Self {
        Self { connections: connections(problem.mechanism()), problem, rest, r }
    }

    /// Poses of the effectors for poses of the links.
    pub(super) fn effectors(&self, links: &[Pose]) -> Vec<Pose> {
        let pose = |e: &forks_reduce::Effector| links[e.link.index()] * e.link_from_effector;
        self.problem.effectors.iter().map(pose).collect()
    }

    /// Largest relative displacement between effectors.
    pub(super) fn distance(&self, a: &[Pose], b: &[Pose]) -> f64 {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| relative_displacement(a, b, self.r)).fold(0.0, larger)
    }

    /// Chart coordinates of the full equilibrium's effectors.
    pub(super) fn coordinates(&self, model: &BlendedModel, truth: &Truth) -> Option<Vec<f64>> {
        let poses = self.effectors(&truth.equilibrium.world_from_link);
        let still = vec![Default::default(); poses.len()];
        model.coordinates_of(&poses, &still).ok().map(|c| c.0)
    }

    /// Errors under the loads of a full equilibrium.
    pub(super) fn errors(&self, model: &BlendedModel, blend: LinkBlend, truth: &Truth) -> Errors {
        match self.equilibrium(model, truth) {
            Some(x) => self.errors_at(model, blend, truth, &x),
            None => Errors::NONE,
        }
    }

    fn errors_at(
        &self,
        model: &BlendedModel,
        blend: LinkBlend,
        truth: &Truth,
        x: &[f64],
    ) -> Errors {
        let full = self.effectors(&truth.equilibrium.world_from_link);
        let of = |e: usize| {
            let moved = full[e].translation.distance(self.rest[e].translation);
            let off = model.effector_pose(e, x).translation.distance(full[e].translation);
            off / moved.max(SMALL * self.r)
        };
        let statics = (0..full.len()).map(of).fold(0.0, larger);
        let (twists, twist_angles) = self.gaps(model, x, Reconstruction::Twist, blend);
        let (joint_space, joint_space_angles) =
            self.gaps(model, x, Reconstruction::JointSpace, blend);
        Errors { twists, joint_space, twist_angles, joint_space_angles, statics }
    }

    /// Poses of all links as a blend shows them.
    pub(super) fn link_poses(
        &self,
        model: &BlendedModel,
        x: &[f64],
        mode: Reconstruction,
        blend: LinkBlend,
    ) -> Option<Vec<Pose>> {
        let state = BlendedState::new(model, x).ok()?;
        let mut work = BlendedWorkspace::new(model);
        let mut poses = vec![Pose::IDENTITY; self.problem.mechanism().links().len()];
        model.link_poses_into(&state, &mut work, mode, blend, &mut poses);
        Some(poses)
    }

    /// Sums of all gaps at joints and effectors: position over r, and angle.
    pub(in crate::validate) fn gaps(
        &self,
        model: &BlendedModel,
        x: &[f64],
        mode: Reconstruction,
        blend: LinkBlend,
    ) -> (f64, f64) {
        let Some(poses) = self.link_poses(model, x, mode, blend) else {
            return (f64::INFINITY, f64::INFINITY);
        };
        let joints = constraint_error(self.problem.mechanism(), &self.connections, &poses);
        let (mut position, mut angle) = (joints.position_sum, joints.angle_sum);
        for (e, p) in self.effectors(&poses).iter().enumerate() {
            let gap = p.inverse() * model.effector_pose(e, x);
            position += gap.translation.length();
            angle += log_rotation(gap.rotation).length();
        }
        (position / self.r, angle)
    }

    /// Where a form rests under loads. Forms without an energy begin at the full equilibrium where
    /// they find no way from the reference pose.
    pub(super) fn equilibrium(&self, model: &BlendedModel, truth: &Truth) -> Option<Vec<f64>> {
        if model.blend() == Blend::Energy {
            return rest_under(model, &truth.forces);
        }
        let grown = balanced(model, vec![0.0; model.dof()], &truth.forces, LOAD_STEPS);
        grown.or_else(|| balanced(model, self.coordinates(model, truth)?, &truth.forces, 1))
    }
}

/// Where a blend of energies rests under forces.
pub(super) fn rest_under(model: &BlendedModel, forces: &Forces) -> Option<Vec<f64>> {
    let load = |&(effector, force): &(usize, DVec3)| EffectorLoad {
        effector,
        wrench: Wrench::new(force, DVec3::ZERO),
        frame: LoadFrame::World,
    };
    let loads: Vec<EffectorLoad> = forces.iter().map(load).collect();
    let found = model.solve_static(&loads, &[]).ok()?;
    (found.status == StaticStatus::Converged).then_some(found.coordinates)
}

/// Newton's method on the balance of forces, the load growing in equal steps.
fn balanced(
    model: &BlendedModel,
    mut x: Vec<f64>,
    forces: &Forces,
    steps: usize,
) -> Option<Vec<f64>> {
    for k in 1..=steps {
        let scale = k as f64 / steps as f64;
        let mut last = f64::INFINITY;
        for _ in 0..NEWTON_STEPS {
            let unbalanced = |x: &[f64]| -> Vec<f64> {
                let held = model.elastic_force(x);
                let load = generalised(model, x, forces);
                held.iter().zip(load).map(|(u, g)| u - scale * g).collect()
            };
            let residual = unbalanced(&x);
            let slope = slope(&x, &unbalanced);
            let dx = dense::lu_solve(&slope, &Matrix::from_fn(x.len(), 1, |i, _| residual[i]));
            last = dx.as_slice().iter().map(|d| d * d).sum::<f64>().sqrt();
            let part = if last > LONGEST { LONGEST / last } else { 1.0 };
            x.iter_mut().zip(dx.as_slice()).for_each(|(x, d)| *x -= part * d);
            if last.is_nan() || last <= STILL {
                break;
            }
        }
        let turned = (0..model.effector_count())
            .any(|e| model.effector_twist(e, &x).angular.length() >= core::f64::consts::PI);
        if last.is_nan() || last > STILL || turned {
            return None;
        }
    }
    Some(x)
}

/// Σ_e B_eᵀ J_r(ξ_e)ᵀ w_e of forces fixed in the world.
fn generalised(model: &BlendedModel, x: &[f64], forces: &Forces) -> Vec<f64> {
    let mut out = vec![0.0; x.len()];
    for &(e, force) in forces {
        let pose = model.effector_pose(e, x);
        let w = Wrench::new(pose.rotation.conjugate() * force, DVec3::ZERO);
        let pulled = right_jacobian(model.effector_twist(e, x)).transpose_mul_vec(&w.to_array());
        for (i, f) in pulled.iter().enumerate() {
            let row = model.data().basis.row(6 * e + i);
            out.iter_mut().zip(row).for_each(|(g, b)| *g += b * f);
        }
    }
    out
}
