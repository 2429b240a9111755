//! Errors of goals and their rows over a plant's rates.

use forks_dynamics::mechanism::{
    JointId,
    lie::{
        Twist,
        glam::{DQuat, DVec3},
        so3::log_rotation,
    },
    linalg::Matrix,
};

use super::{
    definition::Task,
    goal::{Axes, Goal},
};
use crate::plant::Kinematics;

/// Entries of rows below this share of the largest one beside them are rounding: a direction in
/// which a frame does not move at all is no direction.
const ROUNDING: f64 = 1e-13;

/// Memory for the rows of a goal.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// Row after row.
    pub(crate) rows: Vec<f64>,
    /// Between which rates the numbers of each row are that are not zero.
    pub(crate) spans: Vec<(usize, usize)>,
    /// What is missing, in the axes of the rows: m or rad.
    pub(crate) errors: Vec<f64>,
    /// Size of the numbers that the errors are differences of.
    pub(crate) sizes: Vec<f64>,
    /// Which row of the goal each one is.
    pub(crate) numbers: Vec<usize>,
    /// Velocity and acceleration of the target along each row.
    pub(crate) moving: Vec<[f64; 2]>,
    /// The target's in the frame's own axes.
    own: [Twist; 2],
    twists: Matrix,
    others: Matrix,
    points: Matrix,
    one: Vec<f64>,
}

impl Default for Rows {
    fn default() -> Self {
        let [twists, others, points] = [(); 3].map(|()| Matrix::zeros(0, 0));
        let [rows, errors, sizes, one] = [(); 4].map(|()| vec![]);
        let own = [Twist::ZERO; 2];
        let (numbers, moving, spans) = (vec![], vec![], vec![]);
        Self { rows, spans, errors, sizes, numbers, moving, own, twists, others, points, one }
    }
}

impl Rows {
    fn clear(&mut self, n: usize) {
        self.rows.clear();
        self.spans.clear();
        self.errors.clear();
        self.sizes.clear();
        self.numbers.clear();
        self.moving.clear();
        self.own = [Twist::ZERO; 2];
        self.one.resize(n, 0.0);
        if self.twists.columns() != n || self.twists.rows() != 6 {
            (self.twists, self.others) = (Matrix::zeros(6, n), Matrix::zeros(6, n));
            self.points = Matrix::zeros(3, n);
        }
    }

    fn push(&mut self, error: f64, size: f64, number: usize, moving: [f64; 2]) {
        self.moving.push(moving);
        self.sizes.push(size);
        let first = self.one.iter().position(|x| *x != 0.0).unwrap_or(0);
        let end = self.one.iter().rposition(|x| *x != 0.0).map_or(first, |last| last + 1);
        self.spans.push((first, end));
        self.rows.extend_from_slice(&self.one);
        self.errors.push(error);
        self.numbers.push(number);
    }

    /// Rows `from`… of the twists, three for a vector, in turned axes; `first` is their number in
    /// the goal.
    fn turned(
        &mut self,
        [from, first]: [usize; 2],
        turn: DQuat,
        e: DVec3,
        size: f64,
        mask: &[bool; 6],
    ) {
        let e = (turn * e).to_array();
        let part = |t: Twist| if from == 0 { t.linear } else { t.angular };
        let [v, a] = self.own.map(|t| (turn * part(t)).to_array());
        let floor = self.floor(from);
        for i in (0..3).filter(|i| mask[first + i]) {
            let axis = turn.inverse() * DVec3::AXES[i];
            combine(&self.twists, from, axis, floor, &mut self.one);
            self.push(e[i], size, first + i, [v[i], a[i]]);
        }
    }

    /// What counts as rounding in three rows of the twists.
    fn floor(&self, from: usize) -> f64 {
        let entries = (from..from + 3).flat_map(|i| self.twists.row(i));
        ROUNDING * entries.fold(0.0, |m: f64, x| m.max(x.abs()))
    }

    /// The rates of a task's target in the axes of a frame of this orientation.
    fn seen_from(&mut self, task: &Task, rotation: DQuat) {
        let back = rotation.inverse();
        self.own = [&task.moving.velocity, &task.moving.acceleration].map(|t| {
            let t = Twist::from_array(*t);
            Twist::new(back * t.linear, back * t.angular)
        });
    }

    /// The rows of a task's goal at a plant's pose: V = row · u.
    pub(crate) fn fill<K: Kinematics>(&mut self, plant: &K, task: &Task) {
        let Task { goal, axes, mask, .. } = task;
        self.clear(plant.rates().len());
        // Own axes to those of the rows.
        let turn = |own: DQuat| match *axes {
            Axes::Own => DQuat::IDENTITY,
            Axes::World => own,
            Axes::Of(r) => r.normalize().inverse() * own,
        };
        match goal {
            Goal::Position(f, p) => {
                let pose = plant.frame(f, &mut self.twists);
                let e = pose.inverse().transform_point(*p);
                let size = p.length() + pose.translation.length();
                self.seen_from(task, pose.rotation);
                self.turned([0, 0], turn(pose.rotation), e, size, mask);
            }
            Goal::Orientation(f, r) => {
                let pose = plant.frame(f, &mut self.twists);
                let e = log_rotation(pose.rotation.inverse() * r.normalize());
                self.seen_from(task, pose.rotation);
                self.turned([3, 0], turn(pose.rotation), e, 1.0, mask);
            }
            Goal::Pose(f, p) => {
                let pose = plant.frame(f, &mut self.twists);
                let size = p.translation.length() + pose.translation.length();
                self.seen_from(task, pose.rotation);
                self.twist(pose.twist_to(&p.normalized()), turn(pose.rotation), size, mask);
            }
            Goal::Still(f) => {
                let pose = plant.frame(f, &mut self.twists);
                self.twist(Twist::ZERO, turn(pose.rotation), pose.translation.length(), mask);
            }
            Goal::Direction(f, axis, toward) => {
                let pose = plant.frame(f, &mut self.twists);
                let (a, b) = (axis.normalize(), pose.rotation.inverse() * toward.normalize());
                let (s, t) = a.any_orthonormal_pair();
                let (e, floor) = (turn_between(a, b, s), self.floor(3));
                for (i, across) in [s, t].into_iter().enumerate().filter(|(i, _)| mask[*i]) {
                    combine(&self.twists, 3, across, floor, &mut self.one);
                    self.push(across.dot(e), 1.0, i, [0.0; 2]);
                }
            }
            Goal::Relative(f, of, p) => {
                let (pose, other) =
                    (plant.frame(f, &mut self.twists), plant.frame(of, &mut self.others));
                let ad = (pose.inverse() * other).adjoint();
                for k in 0..self.one.len() {
                    let column = core::array::from_fn(|i| self.others[(i, k)]);
                    let carried = ad.apply(Twist::from_array(column)).to_array();
                    (0..6).for_each(|i| self.twists[(i, k)] -= carried[i]);
                }
                let e = (other.inverse() * pose).twist_to(&p.normalized());
                let size = other.translation.length() + pose.translation.length();
                self.twist(e, turn(pose.rotation), size, mask);
            }
            Goal::CentreOfMass(p) => {
                if let Some(centre) = plant.centre_of_mass(&mut self.points) {
                    let n = 3 * self.one.len();
                    self.twists.as_mut_slice()[..n].copy_from_slice(self.points.as_slice());
                    let size = p.length() + centre.length();
                    self.seen_from(task, DQuat::IDENTITY);
                    self.turned([0, 0], turn(DQuat::IDENTITY), *p - centre, size, mask);
                }
            }
            Goal::Joint(j, q) => {
                let rates = [task.moving.velocity[0], task.moving.acceleration[0]];
                self.joint(plant, (*j, *q), 0, rates);
            }
            Goal::Posture(all) => {
                all.iter().enumerate().for_each(|(i, at)| self.joint(plant, *at, i, [0.0; 2]));
            }
        }
    }

    fn twist(&mut self, e: Twist, turn: DQuat, size: f64, mask: &[bool; 6]) {
        self.turned([0, 0], turn, e.linear, size, mask);
        self.turned([3, 3], turn, e.angular, 1.0, mask);
    }

    fn joint<K: Kinematics>(
        &mut self,
        plant: &K,
        (joint, q): (JointId, f64),
        number: usize,
        rates: [f64; 2],
    ) {
        let here = plant.joint(joint, &mut self.one);
        self.push(q - here, q.abs() + here.abs(), number, rates);
    }
}

/// A combination of three rows; what is below the floor is none.
fn combine(rows: &Matrix, from: usize, weights: DVec3, floor: f64, out: &mut [f64]) {
    for (k, x) in out.iter_mut().enumerate() {
        let v = weights.dot(DVec3::new(rows[(from, k)], rows[(from + 1, k)], rows[(from + 2, k)]));
        *x = if v.abs() <= floor { 0.0 } else { v };
    }
}

/// The shortest turn of the unit vector a to the unit vector b; about `across` if they are
/// opposite.
fn turn_between(a: DVec3, b: DVec3, across: DVec3) -> DVec3 {
    let normal = a.cross(b);
    let sine = normal.length();
    let angle = sine.atan2(a.dot(b));
    match sine > 0.0 {
        true => normal * (angle / sine),
        false => across * angle,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use forks_dynamics::mechanism::{
        LinkId, Mechanism,
        lie::{Pose, SplitMix64},
    };

    use super::*;
    use crate::{
        plant::{ImplicitPlant, TreePlant},
        task::Frame,
    };

    /// Rows against differences of the errors, at targets that are reached.
    fn check<K: Kinematics>(m: &Mechanism, at: impl Fn(&[f64]) -> K, q: &[f64], u: &[f64]) {
        let plant = at(q);
        let mut rows = Matrix::zeros(6, u.len());
        let tip = Frame {
            link: LinkId::new(m.links().len() - 1),
            link_from_frame: Pose::from_array([0.1, -0.2, 0.05, 0.8, 0.0, 0.6, 0.0]),
        };
        let other = Frame::of(LinkId::new(m.links().len() / 2));
        let here = plant.frame(&tip, &mut rows);
        let there = plant.frame(&other, &mut rows);
        let mut points = Matrix::zeros(3, u.len());
        let centre = plant.centre_of_mass(&mut points).unwrap();
        let mut row = vec![0.0; u.len()];
        let single = |j: &JointId| {
            m.velocity_range(*j).len() == 1
                && m.position_range(*j).len() == 1
                && m.velocity_range(*j).end <= m.tree_velocity_count()
        };
        let joints: Vec<JointId> = (0..m.joints().len()).map(JointId::new).filter(single).collect();
        let posture = joints.iter().map(|j| (*j, plant.joint(*j, &mut row))).collect();
        let axis = DVec3::new(0.3, 0.5, -0.8);
        let goals = [
            Goal::Position(tip, here.translation),
            Goal::Orientation(tip, here.rotation),
            Goal::Pose(tip, here),
            Goal::Direction(tip, axis, here.rotation * axis),
            Goal::Relative(tip, other, there.inverse() * here),
            Goal::CentreOfMass(centre),
            Goal::Posture(posture),
        ];
        let turned = DQuat::from_xyzw(0.1, 0.2, 0.3, 0.9);
        let h = 1e-5;
        let moved = |s: f64| {
            let mut q = q.to_vec();
            let plant = at(&q);
            let mut tree = vec![0.0; m.velocity_count()];
            for (c, v) in tree.iter_mut().enumerate().take(plant.coordinate_count()) {
                let mut row = vec![0.0; u.len()];
                plant.coordinate(c, &mut row);
                *v = s * row.iter().zip(u).map(|(a, b)| a * b).sum::<f64>();
            }
            let mut all = m.start_positions();
            all[..q.len()].copy_from_slice(&q);
            m.integrate(&mut all, &tree);
            q.copy_from_slice(&all[..m.tree_position_count()]);
            at(&q)
        };
        let (before, after) = (moved(-h), moved(h));
        for goal in &goals {
            for axes in [Axes::Own, Axes::World, Axes::Of(turned)] {
                let mask = [true, false, true, true, true, false];
                let [mut now, mut lower, mut upper] = [(); 3].map(|()| Rows::default());
                let task = Task::new("", goal.clone()).in_axes(axes).masked(mask);
                now.fill(&plant, &task);
                lower.fill(&before, &task);
                upper.fill(&after, &task);
                let masked = (0..goal.row_count()).filter(|i| mask[*i]).count();
                match goal {
                    Goal::Posture(all) => assert_eq!(now.errors.len(), all.len()),
                    _ => assert_eq!(now.errors.len(), masked),
                }
                for (k, row) in now.rows.chunks_exact(u.len()).enumerate() {
                    let rate: f64 = row.iter().zip(u).map(|(a, b)| a * b).sum();
                    let difference = (lower.errors[k] - upper.errors[k]) / (2.0 * h);
                    assert!(now.errors[k].abs() < 1e-12);
                    let apart = (rate - difference).abs();
                    assert!(apart < 2e-8, "{goal:?} {axes:?} {k}: {rate} {difference}");
                }
            }
        }
    }

    fn random(n: usize, seed: u64) -> Vec<f64> {
        let mut r = SplitMix64::new(seed);
        (0..n).map(|_| r.range(-1.0, 1.0)).collect()
    }

    #[test]
    fn rows_are_derivatives_of_errors_on_trees_and_loops() {
        for seed in 0..30 {
            let options = forks_testkit::RandomMechanismOptions {
                extra_loops: (seed % 2) as usize,
                ..Default::default()
            };
            let m = Arc::new(forks_testkit::random_mechanism(seed, &options));
            let q = m.start_positions()[..m.tree_position_count()].to_vec();
            let still = vec![0.0; m.tree_velocity_count()];
            let implicit =
                |q: &[f64]| ImplicitPlant::new(Arc::clone(&m), q, &still, &[], 1e-3).unwrap();
            let n = implicit(&q).rates().len();
            check(&m, implicit, &q, &random(n, seed));
            if m.forest().closures().is_empty() && m.couplings().is_empty() {
                let tree =
                    |q: &[f64]| TreePlant::new(Arc::clone(&m), q, &still, &[], 1e-3).unwrap();
                check(&m, tree, &q, &random(n, seed));
            }
        }
    }

    #[test]
    fn opposite_directions_are_half_a_turn_apart() {
        let a = DVec3::X;
        let turn = turn_between(a, -a, DVec3::Z);
        assert!((turn.length() - core::f64::consts::PI).abs() < 1e-15);
        assert!(turn.dot(a).abs() < 1e-15);
        assert_eq!(turn_between(a, a, DVec3::Z), DVec3::ZERO);
        let quarter = turn_between(a, DVec3::Y, DVec3::Z);
        assert!((quarter - DVec3::Z * core::f64::consts::FRAC_PI_2).length() < 1e-15);
    }
}
