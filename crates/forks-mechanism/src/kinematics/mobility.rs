//! Mobility: how many motions loops and couplings leave, and which of their equations repeat
//! others.

use forks_lie::Pose;
use forks_linalg::Matrix;

use super::scaling::ScaledJacobian;
use crate::{CouplingId, JointId, Mechanism};
use forks_linalg::dense;

/// Rank tolerance of [`mobility`]: singular values below this times the largest column count as
/// zero.
///
/// Lengths are in units of the mechanism's size, so that columns are of order one. Exact planar
/// loops leave values of rounding size, poor but true rows go down to about 1e-3; data written with
/// six digits can make redundant rows look independent at 1e-6 and is then told apart by its
/// closure gap.
pub const RANK_TOLERANCE: f64 = 1e-8;

/// The equations of one loop-closing joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosureMobility {
    /// The closing joint.
    pub joint: JointId,
    /// Equations: 6 − d for d directions of the joint.
    pub rows: usize,
    /// How many of them are independent, this closure by itself.
    pub rank: usize,
}

/// The equation of one coupling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CouplingMobility {
    /// The coupling.
    pub coupling: CouplingId,
    /// Always 1.
    pub rows: usize,
    /// 0 if the coupling has no effect at this configuration, by itself.
    pub rank: usize,
}

/// Counts of motions and equations at a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Mobility {
    /// Velocity coordinates of the spanning forest.
    pub dof: usize,
    /// Loop-closing joints, in joint order.
    pub closures: Vec<ClosureMobility>,
    /// Couplings, in order.
    pub couplings: Vec<CouplingMobility>,
    /// All equations.
    pub rows: usize,
    /// How many of them are independent.
    pub rank: usize,
    /// Independent motions that are left: `dof − rank`.
    pub mobility: usize,
    /// Equations that repeat others: `rows − rank`.
    pub redundant_rows: usize,
    /// Singular values of all equations, descending, in units of the largest column; `rank` of them
    /// exceed the tolerance.
    pub singular_values: Vec<f64>,
}

/// The mobility at positions `q` with rank tolerance `tolerance` (usually [`RANK_TOLERANCE`]).
///
/// The counts are those of the linearised equations: in a singular pose they show more motions than
/// the mechanism has nearby. All ranks are 0 where positions are not finite.
pub fn mobility(m: &Mechanism, q: &[f64], world_from_link: &[Pose], tolerance: f64) -> Mobility {
    let r = m.bounding_radius(world_from_link);
    let equations = TreeEquations::new(m, q, world_from_link, r);
    let rank_of = |a: &Matrix| {
        let s = dense::svd(a).map_or(vec![], |d| d.s);
        s.iter().filter(|&&x| x > tolerance * equations.scale).count()
    };
    let closures: Vec<ClosureMobility> = m
        .forest()
        .closures()
        .iter()
        .zip(&equations.closures)
        .map(|(&joint, a)| ClosureMobility { joint, rows: a.rows(), rank: rank_of(a) })
        .collect();
    let couplings = (0..m.couplings().len())
        .map(|i| {
            let row = equations.couplings.block(i, 0, 1, m.tree_velocity_count());
            CouplingMobility { coupling: CouplingId::new(i), rows: 1, rank: rank_of(&row) }
        })
        .collect();
    let all = equations.stacked();
    let singular_values: Vec<f64> = dense::svd(&all)
        .map_or(vec![], |d| d.s)
        .iter()
        .map(|x| if equations.scale > 0.0 { x / equations.scale } else { 0.0 })
        .collect();
    let rank = singular_values.iter().filter(|&&x| x > tolerance).count();
    let dof = m.tree_velocity_count();
    Mobility {
        dof,
        closures,
        couplings,
        rows: all.rows(),
        rank,
        mobility: dof - rank,
        redundant_rows: all.rows() - rank,
        singular_values,
    }
}

/// The loop equations on tree coordinates alone, scaled.
struct TreeEquations {
    closures: Vec<Matrix>,
    couplings: Matrix,
    /// Length of the largest column of a closure or coupling before anything cancels.
    scale: f64,
}

impl TreeEquations {
    /// Solves every closure for its own joint's rates, θ̇ = −S⁺ G v, and keeps Tᵀ G with T
    /// orthogonal to the joint's directions S; puts the rates into the couplings.
    fn new(m: &Mechanism, q: &[f64], world_from_link: &[Pose], r: f64) -> Self {
        let g = ScaledJacobian::new(m, q, world_from_link, r).matrix;
        let (nt, nv) = (m.tree_velocity_count(), m.velocity_count());
        let count = m.forest().closures().len();
        let mut closures = Vec::new();
        let mut couplings = g.block(6 * count, 0, m.couplings().len(), nt);
        let column = |j: usize| g.column(j).iter().map(|x| x * x).sum::<f64>().sqrt();
        let scale = (0..nv).map(column).fold(0.0, f64::max);
        for (i, &id) in m.forest().closures().iter().enumerate() {
            let own = m.velocity_range(id);
            let s = g.block(6 * i, own.start, 6, own.len());
            let tree = g.block(6 * i, 0, 6, nt);
            let d = dense::full_svd(&s).unwrap_or(dense::Svd {
                u: Matrix::identity(6),
                s: vec![],
                v: Matrix::identity(own.len()),
            });
            let along = d.u.transpose_mul(&tree);
            closures.push(along.block(own.len(), 0, 6 - own.len(), nt));
            for c in 0..couplings.rows() {
                for (k, &sigma) in d.s.iter().enumerate() {
                    let a: f64 =
                        own.clone().map(|o| g[(6 * count + c, o)] * d.v[(o - own.start, k)]).sum();
                    for j in 0..nt {
                        couplings[(c, j)] -= a / sigma * along[(k, j)];
                    }
                }
            }
        }
        Self { closures, couplings, scale }
    }

    fn stacked(&self) -> Matrix {
        let blocks: Vec<&Matrix> = self.closures.iter().chain([&self.couplings]).collect();
        let rows: Vec<&[f64]> =
            blocks.iter().flat_map(|b| (0..b.rows()).map(|i| b.row(i))).collect();
        Matrix::from_fn(rows.len(), self.couplings.columns(), |i, j| rows[i][j])
    }
}
