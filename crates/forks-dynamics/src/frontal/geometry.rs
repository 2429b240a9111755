//! Joints linearised at a pose: how twists and loop equations follow from coordinates,
//! dimensionless: lengths over that of a usual link, in twists as in loop equations.

use forks_mechanism::{
    Mechanism,
    kinematics::loops,
    lie::{Mat6, Pose, Twist, Vec6, Wrench, se3::right_jacobian_inverse},
    linalg::Matrix,
};

use crate::{branches::Branches, scaling::Scaling};

/// ξ_outer = A ξ_inner + C x of all branches; twists have lengths over that of a usual link,
/// coordinates their units.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    /// A, branch by branch (tree joints, then closing joints, whose outer link is where the joint
    /// puts its child).
    pub(crate) carry: Vec<Mat6>,
    /// Columns of C by coordinate.
    pub(crate) columns: Vec<Vec6>,
    /// Closing joints: the outer twist in the child's frame.
    pub(crate) child_from_outer: Vec<Mat6>,
    /// Closing joints: loop equations by the relative twist, rows scaled.
    pub(crate) slopes: Vec<Mat6>,
    /// What a loop equation has to be multiplied by: its own units are those of [`Scaling::rows`].
    pub(crate) units: Vec<f64>,
    /// Couplings: slope of each coordinate, scaled.
    pub(crate) couplings: Vec<Vec<(usize, f64)>>,
    /// Largest entry of a loop equation's row.
    pub(crate) largest_row: f64,
}

impl Geometry {
    pub(crate) fn new(m: &Mechanism, q: &[f64], branches: &Branches, scaling: &Scaling) -> Self {
        let r = scaling.link_length;
        let mut columns = vec![[0.0; 6]; m.velocity_count()];
        let mut carry = Vec::with_capacity(branches.list.len());
        for b in &branches.list {
            carry.push(scaled_map(&b.inner_from_outer.inverse(), r));
            for (c, k) in b.columns.as_slice().iter().zip(b.velocities.clone()) {
                columns[k] = scaled_twist(*c, r, scaling.coordinates[k]);
            }
        }
        let poses = &branches.world_from_link;
        let mut units = vec![1.0; scaling.rows.len()];
        for unit in units.chunks_mut(6).take(m.forest().closures().len()) {
            unit[..3].fill(scaling.radius / r);
        }
        let (mut child_from_outer, mut slopes, mut largest_row) = (vec![], vec![], 0.0f64);
        for (k, &id) in m.forest().closures().iter().enumerate() {
            let child = &poses[m.joint(id).child.index()];
            let gap = poses[m.links().len() + k].inverse() * *child;
            child_from_outer.push(scaled_map(&gap.inverse(), r));
            let full = right_jacobian_inverse(gap.log());
            let mut slope = full;
            for j in 0..6 {
                // Released directions take no part.
                let column = Twist::from_array(core::array::from_fn(|i| full.rows[i][j]));
                let held = m.joint(id).held_twist(column).to_array();
                (0..6).for_each(|i| slope.rows[i][j] = held[i]);
            }
            for i in 0..6 {
                for j in 0..6 {
                    slope.rows[i][j] *= units[6 * k + i] * scaling.rows[6 * k + i] * length(j, r);
                }
            }
            largest_row = largest_row.max(slope.max_abs());
            slopes.push(slope);
        }
        let first = 6 * m.forest().closures().len();
        let couplings: Vec<Vec<(usize, f64)>> = m
            .couplings()
            .iter()
            .enumerate()
            .map(|(i, c)| {
                let terms = c.terms.iter().flat_map(|t| {
                    let value = loops::combination_value(m, &t.combination, q);
                    let slope = t.evaluate(value).1 * scaling.rows[first + i];
                    t.combination.terms.iter().map(move |(c, a)| {
                        let k = m.velocity_index(*c);
                        (k, slope * a * scaling.coordinates[k])
                    })
                });
                terms.collect()
            })
            .collect();
        let coupled = couplings.iter().flatten().fold(0.0f64, |m, c| m.max(c.1.abs()));
        let largest_row = largest_row.max(coupled);
        Self { carry, columns, child_from_outer, slopes, units, couplings, largest_row }
    }

    /// The relative twist of a closing joint's child by the parent's twist (6), the joint's
    /// coordinates and the child's twist (6), and the part that the outer frame moves by, column by
    /// column.
    pub(crate) fn closure_columns(
        &self,
        branch: usize,
        closure: usize,
        coordinates: std::ops::Range<usize>,
    ) -> Vec<(Twist, Twist)> {
        let to_child = &self.child_from_outer[closure];
        let of_parent = *to_child * self.carry[branch];
        let column = |m: &Mat6, j: usize| Twist::from_array(core::array::from_fn(|i| m.rows[i][j]));
        let carried = |t: Twist| (-t, t);
        let parent = (0..6).map(|j| carried(column(&of_parent, j)));
        let own =
            coordinates.map(|k| carried(Twist::from_array(to_child.mul_vec(&self.columns[k]))));
        let child = (0..6).map(|j| (Twist::unit(j), Twist::ZERO));
        parent.chain(own).chain(child).collect()
    }
}

/// Size of a twist's component in units of its own.
pub(crate) fn length(i: usize, r: f64) -> f64 {
    if i < 3 { r } else { 1.0 }
}

pub(crate) fn scaled_map(pose: &Pose, r: f64) -> Mat6 {
    let mut m = pose.adjoint().matrix();
    for i in 0..3 {
        for j in 3..6 {
            m.rows[i][j] /= r;
        }
    }
    m
}

fn scaled_twist(t: Twist, r: f64, unit: f64) -> Vec6 {
    Twist::new(t.linear * (unit / r), t.angular * unit).to_array()
}

/// A wrench as energies.
pub(crate) fn scaled_wrench(w: Wrench, r: f64) -> Wrench {
    Wrench::new(w.force * r, w.torque)
}

/// A form in the twists of several links as energies, by rows.
pub(crate) fn scaled_blocks(m: &Matrix, r: f64) -> Vec<f64> {
    let n = m.columns();
    let entry = |i: usize, j: usize| m[(i, j)] * length(i % 6, r) * length(j % 6, r);
    (0..n * n).map(|k| entry(k / n, k % n)).collect()
}

/// A form in twists as energies.
pub(crate) fn scaled_form(m: &Mat6, r: f64) -> Mat6 {
    let mut out = *m;
    for i in 0..6 {
        for j in 0..6 {
            out.rows[i][j] *= length(i, r) * length(j, r);
        }
    }
    out
}
