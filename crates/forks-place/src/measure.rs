//! Errors of a blend against full equilibria (\[A16\] §8.2).

use forks_blend::{BlendedModel, BlendedState, BlendedWorkspace, LinkBlend};
use forks_mechanism::{
    JointKind, Mechanism,
    kinematics::{Connection, connections, constraint_error},
    lie::{Pose, Twist, Wrench, glam::DVec3, se3::right_jacobian, so3::log_rotation},
    linalg::{
        Matrix,
        dense::{cholesky_solve, lu_solve},
    },
};
use forks_reduce::Problem;
use forks_rom::{EffectorLoad, LoadFrame, Reconstruction, StaticStatus};

use crate::{
    chart::JointMap,
    truth::{Truth, effector_poses},
};

/// Errors at one load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Gaps at all joints and effectors, over r; poses blended link by link.
    pub constraint: f64,
    /// The angles of the same gaps, rad.
    pub angle: f64,
    /// The same with link poses from blended joint displacements, over r.
    pub joint_space: f64,
    /// Largest |p − p_full| / max(|p_full − p_rest|, 0.1 r) of an effector; infinite where the
    /// blend finds no equilibrium.
    pub statics: f64,
}

impl Errors {
    pub(crate) const NONE: Self = Self {
        constraint: f64::INFINITY,
        angle: f64::INFINITY,
        joint_space: f64::INFINITY,
        statics: f64::INFINITY,
    };

    /// The largest of each.
    pub(crate) fn largest<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let none = Self { constraint: 0.0, angle: 0.0, joint_space: 0.0, statics: 0.0 };
        all.fold(none, |m, e| Self {
            constraint: m.constraint.max(e.constraint),
            angle: m.angle.max(e.angle),
            joint_space: m.joint_space.max(e.joint_space),
            statics: m.statics.max(e.statics),
        })
    }

    /// What is no number counts as infinite.
    pub(crate) fn numbers(self) -> Self {
        let number = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
        Self {
            constraint: number(self.constraint),
            angle: number(self.angle),
            joint_space: number(self.joint_space),
            statics: number(self.statics),
        }
    }
}

/// Measures blends of one problem.
#[derive(Debug)]
pub struct Gauge<'a> {
    problem: &'a Problem,
    connections: Vec<Connection>,
    /// The connections whose position gap is that of two points, and the others.
    anchors: Vec<Anchors>,
    others: Vec<Connection>,
    rest: Vec<Pose>,
    radius: f64,
    /// Coordinates of equilibria in a chart of joint displacements.
    map: Option<&'a JointMap>,
}

/// Two points that joints which only turn hold together.
#[derive(Clone, Copy, Debug)]
struct Anchors {
    from: (usize, DVec3),
    to: (usize, DVec3),
}

impl Anchors {
    /// Of a connection of joints that turn about one point.
    fn of(m: &Mechanism, c: &Connection) -> Option<Self> {
        let mut last: Option<DVec3> = None;
        for &(id, backwards) in &c.joints {
            let j = m.joint(id);
            if !matches!(
                j.kind,
                JointKind::Revolute { .. } | JointKind::Universal { .. } | JointKind::Spherical
            ) {
                return None;
            }
            let ends = (j.parent_from_joint.translation, j.child_from_joint.translation);
            let (near, far) = if backwards { (ends.1, ends.0) } else { ends };
            if last.is_some_and(|p| p != near) {
                return None;
            }
            last = Some(far);
        }
        let end = |i: usize, at_start: bool| {
            let (id, backwards) = c.joints[i];
            let j = m.joint(id);
            let parent = at_start != backwards;
            if parent { j.parent_from_joint.translation } else { j.child_from_joint.translation }
        };
        Some(Self {
            from: (c.from.index(), end(0, true)),
            to: (c.to.index(), end(c.joints.len() - 1, false)),
        })
    }

    fn gap(&self, poses: &[Pose]) -> f64 {
        let at =
            |(link, point): (usize, DVec3)| poses[link].rotation * point + poses[link].translation;
        at(self.from).distance(at(self.to))
    }
}

/// Displacements below this part of r do not make the static error larger.
pub(crate) const SMALL_DISPLACEMENT: f64 = 0.1;
/// Error of a blend that is not in stable equilibrium near the full one.
pub(crate) const UNSTABLE: f64 = 0.02;

impl<'a> Gauge<'a> {
    /// `rest`: poses of the effectors without loads; `radius`: the mechanism's size r.
    pub fn new(problem: &'a Problem, rest: Vec<Pose>, radius: f64) -> Self {
        let m = problem.mechanism();
        let connections = connections(m);
        let (mut anchors, mut others) = (vec![], vec![]);
        for c in &connections {
            match Anchors::of(m, c) {
                Some(a) => anchors.push(a),
                None => others.push(c.clone()),
            }
        }
        Self { connections, anchors, others, problem, rest, radius, map: None }
    }

    /// For blends in a chart of joint displacements: spares the search for coordinates.
    pub(crate) fn in_chart(mut self, map: Option<&'a JointMap>) -> Self {
        self.map = map;
        self
    }

    /// Errors of a blend under the loads of a full equilibrium, at the blend's own equilibrium.
    pub fn errors(&self, blend: &BlendedModel, truth: &Truth) -> Errors {
        let Ok(found) = blend.solve_static(&effector_loads(truth), &[]) else {
            return Errors::NONE;
        };
        if found.status != StaticStatus::Converged {
            return Errors::NONE;
        }
        self.errors_at(blend, truth, &found.coordinates)
    }

    /// The same where the blend's equilibrium is known.
    pub(crate) fn errors_at(&self, blend: &BlendedModel, truth: &Truth, x: &[f64]) -> Errors {
        let statics = self.static_error(blend, truth, x);
        let (constraint, angle) = self.gaps(blend, x, Reconstruction::Twist);
        let (joint_space, _) = self.gaps(blend, x, Reconstruction::JointSpace);
        Errors { constraint, angle, joint_space, statics }.numbers()
    }

    /// How far effectors at a place of a blend are from the full equilibrium's, over their
    /// displacement.
    pub(crate) fn static_error(&self, blend: &BlendedModel, truth: &Truth, x: &[f64]) -> f64 {
        let full = effector_poses(self.problem, &truth.equilibrium.world_from_link);
        let off = |e: usize| {
            blend.effector_pose(e, x).translation.distance(full[e].translation)
                / self.displacement(e, &full)
        };
        (0..full.len()).map(off).fold(0.0, |m, x| if x > m || x.is_nan() { x } else { m })
    }

    /// The coordinates of a full equilibrium in a chart of joint displacements.
    pub(crate) fn place(&self, truth: &Truth) -> Option<Vec<f64>> {
        self.map.map(|map| map.place(self.problem, &truth.equilibrium))
    }

    /// How far apart effectors are at two places of a blend, over their displacement under a load.
    pub(crate) fn apart(&self, blend: &BlendedModel, truth: &Truth, a: &[f64], b: &[f64]) -> f64 {
        let full = effector_poses(self.problem, &truth.equilibrium.world_from_link);
        let at = |e: usize, x: &[f64]| blend.effector_pose(e, x).translation;
        let each = |e: usize| at(e, a).distance(at(e, b)) / self.displacement(e, &full);
        (0..full.len()).map(each).fold(0.0, |m, x| if x > m || x.is_nan() { x } else { m })
    }

    /// The same at the full equilibrium's effector poses, the static error from the next step of
    /// Newton's method there: much cheaper than [`Gauge::errors`], and smooth where the blend has
    /// several equilibria. Angles are not measured, and joint space only where asked for: both are
    /// 0 otherwise.
    pub fn errors_nearby(&self, blend: &BlendedModel, truth: &Truth, joint_space: bool) -> Errors {
        let full = effector_poses(self.problem, &truth.equilibrium.world_from_link);
        let still = vec![Twist::ZERO; full.len()];
        let x = match self.place(truth) {
            Some(x) => x,
            None => match blend.coordinates_of(&full, &still) {
                Ok((x, _, _)) => x,
                Err(_) => return Errors::NONE,
            },
        };
        let gap = |mode| self.position_gap(blend, &x, mode);
        Errors {
            constraint: gap(Reconstruction::Twist),
            angle: 0.0,
            joint_space: if joint_space { gap(Reconstruction::JointSpace) } else { 0.0 },
            statics: self.next_step(blend, truth, &full, &x),
        }
    }

    fn next_step(&self, blend: &BlendedModel, truth: &Truth, full: &[Pose], x: &[f64]) -> f64 {
        const STEP: f64 = 1e-5;
        let n = blend.dof();
        let loads = effector_loads(truth);
        let unbalanced = |x: &[f64]| -> Vec<f64> {
            let held = blend.elastic_force(x);
            held.iter().zip(blend.generalised_force(x, &loads)).map(|(u, g)| u - g).collect()
        };
        let force = unbalanced(x);
        let mut slope = Matrix::zeros(n, n);
        let mut y = x.to_vec();
        for j in 0..n {
            y[j] = x[j] + STEP;
            let plus = unbalanced(&y);
            y[j] = x[j] - STEP;
            let minus = unbalanced(&y);
            y[j] = x[j];
            for i in 0..n {
                slope[(i, j)] = (plus[i] - minus[i]) / (2.0 * STEP);
            }
        }
        let slope = slope.symmetric_part();
        let right = Matrix::from_fn(n, 1, |i, _| force[i]);
        let (step, unstable) = match cholesky_solve(&slope, &right) {
            Some(step) => (step, 0.0),
            None => (lu_solve(&slope, &right), UNSTABLE),
        };
        let there = |e: usize| {
            if blend.is_curved() {
                let x: Vec<f64> = (0..n).map(|j| x[j] - step[(j, 0)]).collect();
                return blend.effector_pose(e, &x).translation;
            }
            let rate = Twist::from_array(std::array::from_fn(|i| {
                (0..n).map(|j| blend.data().basis[(6 * e + i, j)] * step[(j, 0)]).sum()
            }));
            let jacobian = right_jacobian(blend.effector_twist(e, x));
            let pose = blend.effector_pose(e, x);
            let twist = Twist::from_array(jacobian.mul_vec(&rate.to_array()));
            pose.translation - pose.rotation * twist.linear
        };
        let moved = |e: usize| there(e).distance(full[e].translation) / self.displacement(e, full);
        let error = (0..full.len()).map(moved).fold(0.0, f64::max) + unstable;
        if error.is_finite() { error } else { f64::INFINITY }
    }

    fn displacement(&self, e: usize, full: &[Pose]) -> f64 {
        let moved = full[e].translation.distance(self.rest[e].translation);
        moved.max(SMALL_DISPLACEMENT * self.radius)
    }

    /// Sums of all gaps at joints and effectors: position over r, and angle, for link poses shown
    /// at `x`.
    fn gaps(&self, blend: &BlendedModel, x: &[f64], mode: Reconstruction) -> (f64, f64) {
        let Some(poses) = link_poses(blend, x, mode) else { return (f64::INFINITY, f64::INFINITY) };
        let joints = constraint_error(self.problem.mechanism(), &self.connections, &poses);
        let (mut position, mut angle) = (joints.position_sum, joints.angle_sum);
        for (e, p) in effector_poses(self.problem, &poses).iter().enumerate() {
            let gap = p.inverse() * blend.effector_pose(e, x);
            position += gap.translation.length();
            angle += log_rotation(gap.rotation).length();
        }
        (position / self.radius, angle)
    }

    /// The position part of [`Gauge::gaps`].
    pub(crate) fn position_gap(
        &self,
        blend: &BlendedModel,
        x: &[f64],
        mode: Reconstruction,
    ) -> f64 {
        let Some(poses) = link_poses(blend, x, mode) else { return f64::INFINITY };
        let mut gap: f64 = self.anchors.iter().map(|a| a.gap(&poses)).sum();
        if !self.others.is_empty() {
            let m = self.problem.mechanism();
            gap += constraint_error(m, &self.others, &poses).position_sum;
        }
        for (e, p) in effector_poses(self.problem, &poses).iter().enumerate() {
            gap += p.translation.distance(blend.effector_pose(e, x).translation);
        }
        gap / self.radius
    }
}

/// Poses of all links as the blend shows them at `x`.
fn link_poses(blend: &BlendedModel, x: &[f64], mode: Reconstruction) -> Option<Vec<Pose>> {
    let links = blend.data().samples[0].model.data().links.len();
    let mut poses = vec![Pose::IDENTITY; links];
    let state = BlendedState::new(blend, x).ok()?;
    let mut work = BlendedWorkspace::new(blend);
    match mode {
        Reconstruction::Twist => {
            let mut buffer = blend.pose_buffer();
            blend.poses(&state, &mut work, LinkBlend::Average, &mut buffer);
            buffer.iter().for_each(|(l, p)| poses[l] = p);
        }
        Reconstruction::JointSpace => {
            blend.link_poses_into(&state, &mut work, mode, LinkBlend::Average, &mut poses);
        }
    }
    Some(poses)
}

/// The forces of an equilibrium, fixed in the world.
pub(crate) fn effector_loads(truth: &Truth) -> Vec<EffectorLoad> {
    let load = |&(effector, force)| EffectorLoad {
        effector,
        wrench: Wrench::new(force, Default::default()),
        frame: LoadFrame::World,
    };
    truth.forces.iter().map(load).collect()
}
