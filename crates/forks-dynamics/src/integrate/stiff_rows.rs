//! Springs, dampers and rotors that are no part of a single tree joint, as rows: each adds κ s sᵀ
//! to the implicit matrix.

use forks_mechanism::{
    JointId, LinkId, Mechanism,
    kinematics::link_jacobian,
    lie::Twist,
    linalg::{Matrix, dense},
};

use super::blocks::Block;
use crate::{
    cables::for_each_stiff_row,
    constrained::{ConstrainedWorkspace, LoopRows},
    springs::{bushing_frames, bushing_gradient_and_hessian, joint_hessian},
};

/// Entries below this part of the largest eigenvalue are rounding.
const NEGLIGIBLE: f64 = 1e-14;

/// Rows s over the tree velocities, each with κ = h² k + h d (+ rotor inertia).
#[derive(Clone, Debug, Default)]
pub(crate) struct StiffRows {
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) strengths: Vec<f64>,
}

impl StiffRows {
    /// All rows at a configuration; combinations of a single tree joint go to its block instead.
    pub(crate) fn new(
        m: &Mechanism,
        loops: &LoopRows,
        work: &ConstrainedWorkspace,
        h: f64,
        blocks: &mut [Block],
    ) -> Self {
        let mut out = Self::default();
        out.add_combinations(m, loops, h, blocks);
        out.add_closing_joints(m, loops, work, h);
        out.add_bushings(m, work, h);
        out.add_cables(m, work, h);
        out
    }

    fn push(&mut self, row: Vec<f64>, strength: f64) {
        if strength != 0.0 && row.iter().any(|&x| x != 0.0) {
            self.rows.push(row);
            self.strengths.push(strength);
        }
    }

    fn add_combinations(&mut self, m: &Mechanism, loops: &LoopRows, h: f64, blocks: &mut [Block]) {
        let n = m.tree_velocity_count();
        for s in m.combination_springs() {
            let strength = h * h * s.stiffness + h * s.damping;
            let terms = &s.combination.terms;
            let Some((first, _)) = terms.first() else { continue };
            let single = terms.iter().all(|(c, _)| c.joint == first.joint);
            if single && m.velocity_index(*first) < n {
                let at = tree_position(m, first.joint);
                let block = &mut blocks[at];
                for (c, a) in terms {
                    for (d, b) in terms {
                        block[c.index][d.index] += strength * a * b;
                    }
                }
            } else {
                let (mut row, mut bias) = (vec![0.0; n], 0.0);
                loops.add_combination(m, &s.combination, 1.0, &mut row, &mut bias);
                self.push(row, strength);
            }
        }
    }

    fn add_closing_joints(
        &mut self,
        m: &Mechanism,
        loops: &LoopRows,
        work: &ConstrainedWorkspace,
        h: f64,
    ) {
        let n = m.tree_velocity_count();
        for &id in m.forest().closures() {
            let j = m.joint(id);
            let hessian = joint_hessian(m, id, &work.q);
            let first = m.velocity_range(id).start - n;
            let k = Matrix::from_fn(j.dof(), j.dof(), |a, b| {
                let rotor = if a == b { j.armature[a] } else { 0.0 };
                h * h * hessian.get(a, b) + h * j.damping.get(a, b) + rotor
            });
            self.push_matrix(
                &k,
                |a, row| {
                    row.iter_mut().zip(loops.own.row(first + a.0)).for_each(|(x, r)| *x += a.1 * r);
                },
                n,
            );
        }
    }

    fn add_bushings(&mut self, m: &Mechanism, work: &ConstrainedWorkspace, h: f64) {
        let poses = &work.motion.world_from_link;
        let n = m.tree_velocity_count();
        for b in m.bushings() {
            let (_, hessian) = bushing_gradient_and_hessian(b, poses);
            let k =
                Matrix::from_fn(6, 6, |i, j| h * h * hessian.get(i, j) + h * b.damping.get(i, j));
            let (_, world_from_frame) = bushing_frames(b, poses);
            let rate = |link: forks_mechanism::LinkId| {
                let jacobian = link_jacobian(m, &work.q, poses, link);
                let ad = (world_from_frame.inverse() * poses[link.index()]).adjoint();
                let column = |k: usize| {
                    let t: [f64; 6] = core::array::from_fn(|i| jacobian[(i, k)]);
                    ad.apply(Twist::from_array(t)).to_array()
                };
                (0..n).map(column).collect::<Vec<_>>()
            };
            let (on_b, on_a) = (rate(b.link_b), rate(b.link_a));
            self.push_matrix(
                &k,
                |a, row| {
                    for (x, (p, q)) in row.iter_mut().zip(on_b.iter().zip(&on_a)) {
                        *x += a.1 * (p[a.0] - q[a.0]);
                    }
                },
                n,
            );
        }
    }

    fn add_cables(&mut self, m: &Mechanism, work: &ConstrainedWorkspace, h: f64) {
        let poses = &work.motion.world_from_link;
        let n = m.tree_velocity_count();
        for c in m.cables().iter().filter(|c| !c.is_idle()) {
            let jacobians: Vec<(LinkId, Matrix)> =
                c.links().into_iter().map(|l| (l, link_jacobian(m, &work.q, poses, l))).collect();
            for_each_stiff_row(c, poses, h, |s| {
                let mut row = vec![0.0; n];
                s.for_each(c, poses, |l, w| {
                    let of = jacobians.iter().find(|j| j.0 == l).expect("a link of the cable");
                    let w = w.to_array();
                    for (k, x) in row.iter_mut().enumerate() {
                        *x += (0..6).map(|i| of.1[(i, k)] * w[i]).sum::<f64>();
                    }
                });
                self.push(row, s.strength);
            });
        }
    }

    /// Rows of a d×d matrix: its eigenvectors with their eigenvalues. `add` adds a multiple
    /// (second) of the local coordinate (first) to a row.
    fn push_matrix(&mut self, k: &Matrix, add: impl Fn((usize, f64), &mut [f64]), n: usize) {
        if k.max_abs() == 0.0 {
            return;
        }
        let Some((values, vectors)) = dense::symmetric_eigen(k) else { return };
        let largest = values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for (i, value) in values.iter().enumerate() {
            if value.abs() <= NEGLIGIBLE * largest {
                continue;
            }
            let mut row = vec![0.0; n];
            (0..k.rows()).for_each(|a| add((a, vectors[(a, i)]), &mut row));
            self.push(row, *value);
        }
    }
}

/// Where a tree joint stands in the forest: it carries one of its two links.
fn tree_position(m: &Mechanism, id: JointId) -> usize {
    let (j, forest) = (m.joint(id), m.forest());
    [j.child, j.parent]
        .into_iter()
        .filter_map(|l| forest.edge_of_link(l))
        .find(|&e| forest.edges()[e].joint == id)
        .expect("a tree joint carries its child or its parent")
}

/// Joint terms: armature + h D + h² K_θ, tree joints in forest order.
pub(crate) fn joint_blocks(m: &Mechanism, q: &[f64], h: f64) -> Vec<Block> {
    m.forest().edges().iter().map(|e| joint_block(m, e.joint, q, h)).collect()
}

fn joint_block(m: &Mechanism, id: JointId, q: &[f64], h: f64) -> Block {
    let j = m.joint(id);
    let mut out = [[0.0; 6]; 6];
    let d = j.dof();
    for a in 0..d {
        out[a][a] = j.armature[a];
        for b in 0..d {
            out[a][b] += h * j.damping.get(a, b);
        }
    }
    let has_limits = j.has_limit_springs();
    if j.spring.is_none() && !has_limits {
        return out;
    }
    let mut add = |k: &forks_mechanism::JointMatrix| {
        for a in 0..d {
            (0..d).for_each(|b| out[a][b] += h * h * k.get(a, b));
        }
    };
    match &j.spring {
        Some(spring) if j.kind.has_scalar_coordinates() && !has_limits => add(&spring.stiffness),
        _ => add(&joint_hessian(m, id, q)),
    }
    out
}
