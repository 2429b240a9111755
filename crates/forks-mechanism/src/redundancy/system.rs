//! The equations of some loops over the coordinates that move them, without units.

use forks_lie::{Pose, Twist};
use forks_linalg::{Matrix, dot};

use super::clusters::Cluster;
use crate::{
    CouplingId, JointId, Mechanism,
    kinematics::{
        loops::{closure_columns, closure_gap, combination_value},
        tree_joint_motion,
    },
};

/// Lengths are in units of the loops' size, rows in the frames of the closing joints on their
/// children.
pub(super) struct System<'a> {
    m: &'a Mechanism,
    /// The closing joints, each with the directions (as rows of six) in which it still holds.
    pub(super) closures: Vec<(JointId, Vec<[f64; 6]>)>,
    couplings: Vec<CouplingId>,
    /// Joints that move the loops: those of the tree in its order, then closing ones.
    joints: Vec<JointId>,
    edges: Vec<usize>,
    /// Where a velocity coordinate is among the columns, and the unit of each column.
    columns: Vec<usize>,
    scales: Vec<f64>,
    size: f64,
    start: Vec<f64>,
    poses: Vec<Pose>,
}

/// Jacobian and residual at a pose.
pub(super) struct Equations {
    pub(super) jacobian: Matrix,
    pub(super) residual: Vec<f64>,
}

const NO_COLUMN: usize = usize::MAX;

impl<'a> System<'a> {
    /// `released`: directions that joints have released already, by joint.
    pub(super) fn new(
        m: &'a Mechanism,
        q: &[f64],
        cluster: &Cluster,
        released: &[Vec<Twist>],
    ) -> Self {
        let mut is_used = vec![false; m.joints().len()];
        for &id in &cluster.closures {
            is_used[id.index()] = true;
            let j = m.joint(id);
            m.forest()
                .path_between(j.parent, j.child)
                .for_each(|(e, _)| is_used[e.joint.index()] = true);
        }
        for &c in &cluster.couplings {
            for t in &m.couplings()[c.index()].terms {
                t.combination.terms.iter().for_each(|(c, _)| is_used[c.joint.index()] = true);
            }
        }
        let edges: Vec<usize> = (0..m.forest().edges().len())
            .filter(|&e| is_used[m.forest().edges()[e].joint.index()])
            .collect();
        let tree = edges.iter().map(|&e| m.forest().edges()[e].joint);
        let closing = m.forest().closures().iter().copied().filter(|id| is_used[id.index()]);
        let joints: Vec<JointId> = tree.chain(closing).collect();
        let mut columns = vec![NO_COLUMN; m.velocity_count()];
        let mut scales = Vec::new();
        for &id in &joints {
            let j = m.joint(id);
            let in_child = j.columns(&q[m.position_range(id)]);
            let ad = j.child_from_joint.adjoint();
            for (c, v) in in_child.as_slice().iter().zip(m.velocity_range(id)) {
                let length = ad.apply_inverse(*c).scale_linear(1.0 / cluster.size).norm();
                columns[v] = scales.len();
                scales.push(if length > 0.0 { 1.0 / length } else { 1.0 });
            }
        }
        let held = |id: &JointId| {
            let given = &released[id.index()];
            let directions = crate::released::ReleasedDirections::new(cluster.size, given);
            (*id, directions.complement())
        };
        Self {
            m,
            closures: cluster.closures.iter().map(held).collect(),
            couplings: cluster.couplings.clone(),
            joints,
            edges,
            columns,
            scales,
            size: cluster.size,
            start: q.to_vec(),
            poses: m.link_poses(q),
        }
    }

    pub(super) fn start(&self) -> &[f64] {
        &self.start
    }

    pub(super) fn column_count(&self) -> usize {
        self.scales.len()
    }

    pub(super) fn row_count(&self) -> usize {
        self.closures.iter().map(|c| c.1.len()).sum::<usize>() + self.couplings.len()
    }

    /// q moved along x, which is in the units of the columns.
    pub(super) fn moved(&self, q: &[f64], x: &[f64]) -> Vec<f64> {
        let mut out = q.to_vec();
        let mut at = 0;
        for &id in &self.joints {
            let d = self.m.joint(id).dof();
            let v: Vec<f64> = (at..at + d).map(|k| x[k] * self.scales[k]).collect();
            self.m.joint(id).kind.integrate(&mut out[self.m.position_range(id)], &v);
            at += d;
        }
        out
    }

    /// The equations at positions that differ from the start's in the loops' joints alone.
    pub(super) fn equations(&self, q: &[f64]) -> Equations {
        let m = self.m;
        let mut poses = self.poses.clone();
        for &k in &self.edges {
            let e = m.forest().edges()[k];
            let motion = tree_joint_motion(m, &e, q);
            poses[e.outer.index()] =
                (poses[e.inner.index()] * motion.inner_from_outer).normalized();
        }
        let mut jacobian = Matrix::zeros(self.row_count(), self.column_count());
        let mut residual = Vec::with_capacity(self.row_count());
        let mut first = 0;
        for (id, held) in &self.closures {
            let ad = m.joint(*id).child_from_joint.adjoint();
            let local = |t: Twist| ad.apply_inverse(t).scale_linear(1.0 / self.size).to_array();
            let gap = local(closure_gap(m, q, &poses, *id));
            residual.extend(held.iter().map(|h| dot(h, &gap)));
            for (v, t) in closure_columns(m, q, &poses, *id) {
                let column = self.columns[v];
                let t = local(t);
                for (i, h) in held.iter().enumerate() {
                    jacobian[(first + i, column)] = dot(h, &t) * self.scales[column];
                }
            }
            first += held.len();
        }
        for &c in &self.couplings {
            let mut value = 0.0;
            for t in &m.couplings()[c.index()].terms {
                let (p, slope, _) = t.evaluate(combination_value(m, &t.combination, q));
                value += p;
                for (coordinate, a) in &t.combination.terms {
                    let column = self.columns[m.velocity_index(*coordinate)];
                    jacobian[(first, column)] += slope * a * self.scales[column];
                }
            }
            let row = jacobian.row_mut(first);
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            let unit = if length > 0.0 { 1.0 / length } else { 1.0 };
            row.iter_mut().for_each(|x| *x *= unit);
            residual.push(value * unit);
            first += 1;
        }
        Equations { jacobian, residual }
    }
}
