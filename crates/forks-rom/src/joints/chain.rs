//! Joints in a row through massless frames: one connection between two links.

use alloc::{vec, vec::Vec};

use forks_lie::{Pose, Twist, so3::log_rotation};
use forks_linalg::{Matrix, OrthogonalRows};

use super::motion::{Motion, Place};
use crate::data::ModelData;

/// One or more joints in a row between two links that are not massless frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Connection {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The joints from first to last, each with true if it leads from its child to its parent here.
    pub(super) joints: Vec<(usize, bool)>,
}

/// All connections, those that close loops included, by their first joint.
///
/// A massless frame with one joint, or with more than two, ends a connection like a link.
pub(super) fn connections(d: &ModelData) -> Vec<Connection> {
    let ends = |j: usize| {
        let j = &d.joints[j];
        if j.reversed { (j.outer, j.inner) } else { (j.inner, j.outer) }
    };
    let mut joints_of: Vec<Vec<usize>> = vec![Vec::new(); d.links.len()];
    for j in 0..d.joints.len() {
        let (parent, child) = ends(j);
        joints_of[parent].push(j);
        joints_of[child].push(j);
    }
    let mut seen = vec![false; d.joints.len()];
    // Follows massless frames from a joint on; the joints passed and the link at the end.
    let follow = |mut at: usize, mut last: usize, seen: &mut Vec<bool>| {
        let mut passed = Vec::new();
        while d.links[at].auxiliary && joints_of[at].len() == 2 {
            let [a, b] = [joints_of[at][0], joints_of[at][1]];
            let next = if a == last { b } else { a };
            if seen[next] {
                break;
            }
            seen[next] = true;
            let (parent, child) = ends(next);
            let backwards = child == at;
            at = if backwards { parent } else { child };
            passed.push((next, backwards));
            last = next;
        }
        (passed, at)
    };
    let mut out = Vec::new();
    for j in 0..d.joints.len() {
        if seen[j] {
            continue;
        }
        seen[j] = true;
        let (parent, child) = ends(j);
        let (before, from) = follow(parent, j, &mut seen);
        let (after, to) = follow(child, j, &mut seen);
        let mut joints: Vec<_> = before.iter().rev().map(|&(j, back)| (j, !back)).collect();
        joints.push((j, false));
        joints.extend(after);
        out.push(Connection { from, to, joints });
    }
    out
}

/// The joints of a connection, coordinates one after the other.
pub(super) struct Chain {
    joints: Vec<(Motion, bool)>,
    /// The last joint's frame in the last link.
    to_from_joint: Pose,
    /// A length of the connection, m.
    size: f64,
}

impl Chain {
    const ITERATIONS: usize = 60;
    /// Position gaps that differ by less than this, relative to the size, are equal.
    const ROUNDING: f64 = 1e-12;
    /// Largest change of an angle per step, rad.
    const MAX_STEP: f64 = 0.7;
    const RANK_TOLERANCE: f64 = 1e-9;

    pub(super) fn new(d: &ModelData, c: &Connection) -> Self {
        let rests = || c.joints.iter().map(|&(j, back)| (&d.joints[j], back));
        let frame = |(j, back): (&crate::data::JointRest, bool)| {
            if back { j.parent_from_joint } else { j.child_from_joint }
        };
        let length = |p: &Pose| p.translation.length();
        let size = rests().fold(0.0, |m: f64, (j, _)| {
            m.max(length(&j.parent_from_joint)).max(length(&j.child_from_joint))
        });
        Self {
            joints: rests().map(|(j, back)| (Motion::new(j), back)).collect(),
            to_from_joint: rests().next_back().map_or(Pose::IDENTITY, frame),
            size: if size > 0.0 { size } else { 1.0 },
        }
    }

    /// The gap at coordinates that make the position gap smallest, then the angle.
    pub(super) fn gap(&self, from_to: &Pose) -> Pose {
        let target = *from_to * self.to_from_joint;
        let mut places: Vec<Place> = self.joints.iter().map(|(m, _)| m.start()).collect();
        let mut best = (f64::INFINITY, f64::INFINITY, Pose::IDENTITY);
        for _ in 0..Self::ITERATIONS {
            let (end, columns) = self.evaluate(&places);
            let gap = end.inverse() * target;
            let far = gap.translation.length() / self.size;
            let angle = log_rotation(gap.rotation).length();
            // Position first; the angle decides between equal positions.
            let equal = (far - best.0).abs() <= Self::ROUNDING;
            if if equal { angle < best.1 } else { far < best.0 } {
                best = (far, angle, gap);
            }
            let step = self.step(&columns, &gap);
            let largest = step.iter().fold(0.0f64, |a, x| a.max(x.abs()));
            if largest < 1e-15 || !largest.is_finite() {
                break;
            }
            let mut rest = &step[..];
            for ((motion, _), place) in self.joints.iter().zip(&mut places) {
                let (own, others) = rest.split_at(motion.dof());
                motion.advance(place, own);
                rest = others;
            }
        }
        best.2
    }

    /// Pose of the last joint's frame in the first link, and the columns in that frame.
    fn evaluate(&self, places: &[Place]) -> (Pose, Vec<Twist>) {
        let mut pose = Pose::IDENTITY;
        let mut columns: Vec<(Pose, Twist)> = Vec::new();
        for ((motion, backwards), place) in self.joints.iter().zip(places) {
            let (moved, local) = motion.at_place(place);
            // A column is a twist of the child-side frame against the parent's.
            if *backwards {
                let joint = pose * motion.joint_from_child.inverse();
                columns.extend(local.into_iter().map(|c| (joint, -c)));
                pose = joint * moved.inverse() * motion.left.inverse();
            } else {
                let joint = pose * motion.left * moved;
                columns.extend(local.into_iter().map(|c| (joint, c)));
                pose = joint * motion.joint_from_child;
            }
        }
        let end = pose * self.to_from_joint;
        let back = end.inverse();
        let columns = columns.iter().map(|(at, c)| (back * *at).adjoint().apply(*c)).collect();
        (end, columns)
    }

    /// The step that removes the position gap as far as it goes and uses what freedom is left for
    /// the angle.
    fn step(&self, columns: &[Twist], gap: &Pose) -> Vec<f64> {
        let n = columns.len();
        let linear = Matrix::from_fn(3, n, |i, j| columns[j].linear[i] / self.size);
        let mut angular = Matrix::from_fn(3, n, |i, j| columns[j].angular[i]);
        let rotation = log_rotation(gap.rotation);
        let least = |rows: &OrthogonalRows| Self::RANK_TOLERANCE * rows.largest().max(1.0);
        let positions = OrthogonalRows::new(&linear);
        let target = (gap.translation / self.size).to_array();
        let mut v = positions.solve(&target, least(&positions));
        let turned = angular.mul_vec(&v);
        let rest: Vec<f64> = (0..3).map(|i| rotation[i] - turned[i]).collect();
        (0..3).for_each(|i| positions.remove_span(angular.row_mut(i), least(&positions)));
        let angles = OrthogonalRows::new(&angular);
        let more = angles.solve(&rest, least(&angles));
        v.iter_mut().zip(more).for_each(|(v, x)| *v += x);
        let largest = v.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        let cap = Self::MAX_STEP * self.size.max(1.0);
        if largest > cap {
            v.iter_mut().for_each(|x| *x *= cap / largest);
        }
        v
    }
}
