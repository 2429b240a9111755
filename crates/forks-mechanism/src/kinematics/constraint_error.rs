//! Constraint error: how far given link poses are from what the joints allow.
//!
//! The poses need not come from forward kinematics: a reduced model gives every link a pose of its
//! own. Joints that are chained through massless auxiliary frames have no poses between them and
//! count as one connection between two real links.

use forks_lie::{Pose, Twist, so3::log_rotation};
use forks_linalg::Matrix;

use crate::{JointId, LinkId, Mechanism};
use forks_linalg::dense;

/// One or more joints in a row between two links that are not auxiliary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// First link.
    pub from: LinkId,
    /// Last link.
    pub to: LinkId,
    /// The joints from first to last, each with true if it leads from its child to its parent here.
    pub joints: Vec<(JointId, bool)>,
}

/// How far one connection is from closed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConnectionGap {
    /// Distance between the last joint's frame where the connection can put it and where the link
    /// has it, m.
    pub position: f64,
    /// Angle between the two frames, rad.
    pub angle: f64,
}

/// Gaps at all connections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConnectionGaps {
    /// Gap of every connection, in the order given.
    pub gaps: Vec<ConnectionGap>,
    /// Sum of the position gaps, m; divide by the mechanism's size to compare mechanisms.
    pub position_sum: f64,
    /// Sum of the angles, rad.
    pub angle_sum: f64,
}

/// All connections of a mechanism, loop-closing ones included, by their joint of smallest index.
///
/// An auxiliary link with one joint, or with more than two, ends a connection like a real one.
pub fn connections(m: &Mechanism) -> Vec<Connection> {
    let mut joints_of: Vec<Vec<JointId>> = vec![Vec::new(); m.links().len()];
    for (i, j) in m.joints().iter().enumerate() {
        joints_of[j.parent.index()].push(JointId::new(i));
        joints_of[j.child.index()].push(JointId::new(i));
    }
    let mut seen = vec![false; m.joints().len()];
    // Follows massless frames from a joint on; the joints passed and the link at the end.
    let follow = |mut at: LinkId, mut last: JointId, seen: &mut Vec<bool>| {
        let mut passed = Vec::new();
        while m.link(at).auxiliary && joints_of[at.index()].len() == 2 {
            let [a, b] = [joints_of[at.index()][0], joints_of[at.index()][1]];
            let next = if a == last { b } else { a };
            if seen[next.index()] {
                break;
            }
            seen[next.index()] = true;
            let j = m.joint(next);
            let backwards = j.child == at;
            at = if backwards { j.parent } else { j.child };
            passed.push((next, backwards));
            last = next;
        }
        (passed, at)
    };
    let mut out = Vec::new();
    for i in 0..m.joints().len() {
        if seen[i] {
            continue;
        }
        seen[i] = true;
        let id = JointId::new(i);
        let (before, from) = follow(m.joint(id).parent, id, &mut seen);
        let (after, to) = follow(m.joint(id).child, id, &mut seen);
        let mut joints: Vec<_> = before.iter().rev().map(|&(j, back)| (j, !back)).collect();
        joints.push((id, false));
        joints.extend(after);
        out.push(Connection { from, to, joints });
    }
    out
}

/// The gaps of connections (see [`connections`]) for given world poses of all links, the ground
/// first; poses of auxiliary links inside a connection are not looked at.
///
/// For a single joint the coordinates are the closest ones ([`crate::Joint::closest_positions`]).
/// For several they make the position gap smallest, then the angle, by Gauss–Newton steps from the
/// start positions.
pub fn constraint_error(
    m: &Mechanism,
    connections: &[Connection],
    world_from_link: &[Pose],
) -> ConnectionGaps {
    let gap_of = |c: &Connection| {
        let from_to = world_from_link[c.from.index()].inverse() * world_from_link[c.to.index()];
        let gap = match c.joints[..] {
            [(id, backwards)] => {
                let relative = if backwards { from_to.inverse() } else { from_to };
                joint_gap(m, id, &relative)
            }
            _ => Chain::new(m, c).closest_gap(&from_to),
        };
        ConnectionGap {
            position: gap.translation.length(),
            angle: log_rotation(gap.rotation).length(),
        }
    };
    let gaps: Vec<ConnectionGap> = connections.iter().map(gap_of).collect();
    ConnectionGaps {
        position_sum: gaps.iter().map(|g| g.position).sum(),
        angle_sum: gaps.iter().map(|g| g.angle).sum(),
        gaps,
    }
}

/// Where the child has the joint frame, seen from where the joint can put it at best.
fn joint_gap(m: &Mechanism, id: JointId, parent_from_child: &Pose) -> Pose {
    let j = m.joint(id);
    let expected = j.parent_from_child(&j.closest_positions(parent_from_child));
    let c = j.child_from_joint;
    c.inverse() * expected.inverse() * *parent_from_child * c
}

/// A connection of several joints, its coordinates one after the other.
struct Chain<'a> {
    m: &'a Mechanism,
    joints: &'a [(JointId, bool)],
    /// The last joint's frame in the last link.
    to_from_joint: Pose,
    /// A length of the connection, m.
    size: f64,
}

impl<'a> Chain<'a> {
    const ITERATIONS: usize = 60;
    /// Position gaps that differ by less than this, relative to the size, are equal.
    const ROUNDING: f64 = 1e-12;
    /// Largest change of an angle per step, rad.
    const MAX_STEP: f64 = 0.7;
    const RANK_TOLERANCE: f64 = 1e-9;

    fn new(m: &'a Mechanism, c: &'a Connection) -> Self {
        let &(last, backwards) = c.joints.last().expect("a connection has a joint");
        let j = m.joint(last);
        let to_from_joint = if backwards { j.parent_from_joint } else { j.child_from_joint };
        let frames = c.joints.iter().flat_map(|&(id, _)| {
            let j = m.joint(id);
            [j.parent_from_joint.translation.length(), j.child_from_joint.translation.length()]
        });
        let size = frames.fold(0.0, f64::max);
        Self { m, joints: &c.joints, to_from_joint, size: if size > 0.0 { size } else { 1.0 } }
    }

    fn start(&self) -> Vec<f64> {
        self.joints.iter().flat_map(|&(id, _)| self.m.joint(id).start.iter().copied()).collect()
    }

    /// Pose of the last joint's frame in the first link, and the columns in that frame.
    fn evaluate(&self, q: &[f64]) -> (Pose, Vec<Twist>) {
        let mut pose = Pose::IDENTITY;
        let mut columns: Vec<(Pose, Twist)> = Vec::new();
        let mut used = 0;
        for &(id, backwards) in self.joints {
            let j = self.m.joint(id);
            let qj = &q[used..used + j.kind.position_count()];
            used += qj.len();
            let step = j.parent_from_child(qj);
            let before = pose;
            pose = pose * if backwards { step.inverse() } else { step };
            for c in j.columns(qj).as_slice() {
                // A column is a twist of the child against the parent, in the child's frame.
                columns.push(if backwards { (before, -*c) } else { (pose, *c) });
            }
        }
        let end = pose * self.to_from_joint;
        let columns =
            columns.iter().map(|(at, c)| (end.inverse() * *at).adjoint().apply(*c)).collect();
        (end, columns)
    }

    fn integrate(&self, q: &mut [f64], v: &[f64]) {
        let (mut p, mut d) = (0, 0);
        for &(id, _) in self.joints {
            let kind = &self.m.joint(id).kind;
            let (np, nd) = (kind.position_count(), kind.dof());
            kind.integrate(&mut q[p..p + np], &v[d..d + nd]);
            (p, d) = (p + np, d + nd);
        }
    }

    fn closest_gap(&self, from_to: &Pose) -> Pose {
        let target = *from_to * self.to_from_joint;
        let mut q = self.start();
        let mut best = (f64::INFINITY, f64::INFINITY, Pose::IDENTITY);
        for _ in 0..Self::ITERATIONS {
            let (end, columns) = self.evaluate(&q);
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
            self.integrate(&mut q, &step);
        }
        best.2
    }

    /// The step that removes the position gap as far as it goes and uses what freedom is left for
    /// the angle.
    fn step(&self, columns: &[Twist], gap: &Pose) -> Vec<f64> {
        let n = columns.len();
        let rows = |f: fn(&Twist) -> [f64; 3], scale: f64| {
            Matrix::from_fn(3, n, |i, j| f(&columns[j])[i] * scale)
        };
        let linear = rows(|t| t.linear.to_array(), 1.0 / self.size);
        let angular = rows(|t| t.angular.to_array(), 1.0);
        let target = (gap.translation / self.size).to_array();
        let rotation = log_rotation(gap.rotation).to_array();
        let mut v = min_norm(&linear, &target, 1.0);
        let free = free_directions(&linear);
        let turned = angular.mul_vec(&v);
        let rest: Vec<f64> = (0..3).map(|i| rotation[i] - turned[i]).collect();
        let more = free.mul_vec(&min_norm(&angular.mul(&free), &rest, 1.0));
        v.iter_mut().zip(more).for_each(|(v, x)| *v += x);
        let largest = v.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        let cap = Self::MAX_STEP * self.size.max(1.0);
        if largest > cap {
            v.iter_mut().for_each(|x| *x *= cap / largest);
        }
        v
    }
}

/// Least-squares solution of smallest norm; singular values below a fixed fraction of `scale` are
/// zero.
fn min_norm(a: &Matrix, b: &[f64], scale: f64) -> Vec<f64> {
    let largest = a.max_abs();
    if largest <= Chain::RANK_TOLERANCE * scale {
        return vec![0.0; a.columns()];
    }
    dense::min_norm_solve(a, b, Chain::RANK_TOLERANCE * scale.max(largest) / largest)
}

fn free_directions(a: &Matrix) -> Matrix {
    if a.max_abs() <= Chain::RANK_TOLERANCE {
        return Matrix::identity(a.columns());
    }
    dense::nullspace(a, Chain::RANK_TOLERANCE).map_or(Matrix::identity(a.columns()), |(_, n)| n)
}
