//! Nodes first, skeleton last: the matrix of an implicit step
//!
//! ```text
//! [ A_ss  A_sn ]   A_nn = m + h D_n + s K_nn             sparse, factorised once per step
//! [ A_ns  A_nn ]   S = A_ss − A_sn A_nn⁻¹ A_ns            dense, as large as the skeleton
//! ```
//!
//! S answers commands and impulses on bones with the tissue in motion too: the map from forces on
//! the skeleton to its velocities at the end of the step is h S⁻¹.

use forks_dynamics::mechanism::{
    lie::glam::{DMat3, DVec3},
    linalg::{Matrix, Pivots, axpy, dot, solve_cholesky, solve_lower, solve_lower_transposed},
};

use super::{prepared::Prepared, touch::Inverse};
use crate::{
    body::SoftBody,
    curvature::Curvature,
    elastic::Elastic,
    sparse::{BlockCholesky, NotPositive, SymmetricBlocks},
};

/// What the matrix is made of beside stiffness and skeleton.
pub(crate) struct Terms<'a> {
    /// s: what the stiffness counts.
    pub(crate) scale: f64,
    /// m + h c of every free node.
    pub(crate) diagonal: &'a [f64],
    /// h c of every free node's damper; empty without dampers.
    pub(crate) dampers: &'a [f64],
    /// Velocity of every node per coordinate: of nodes in bones, and of the reference bone at free
    /// nodes where there are dampers.
    pub(crate) motion: &'a [Vec<DVec3>],
}

/// The matrix of an implicit step, factorised.
#[derive(Clone, Debug)]
pub struct Border {
    k: SymmetricBlocks,
    factor: BlockCholesky,
    fixed: Vec<bool>,
    /// L⁻¹ P A_ns, column by column.
    half: Vec<Vec<f64>>,
    /// What tissue adds to A_ss.
    tissue: Matrix,
    /// S.
    schur: Matrix,
    /// Coordinates that are not prescribed, and the factor of S over them.
    active: Vec<usize>,
    reduced: Matrix,
    y: Vec<f64>,
    /// A_sn A_nn⁻¹ r_n of the last right side.
    taken: Vec<f64>,
    columns: [Vec<DVec3>; 2],
    /// The step whose matrix this is, where a response asked for it; gone with the next stiffness.
    pub(crate) prepared: Option<Prepared>,
}

impl Border {
    pub(crate) fn new(body: &SoftBody, dof: usize) -> Self {
        let k = body.elastic.matrix();
        let fixed: Vec<bool> = body.holder.iter().map(Option::is_some).collect();
        let keep: Vec<bool> = fixed.iter().map(|f| !f).collect();
        let factor = BlockCholesky::new(&k, body.mesh.nodes(), &keep);
        let size = 3 * factor.nodes();
        Self {
            half: vec![vec![0.0; size]; dof],
            tissue: Matrix::zeros(dof, dof),
            schur: Matrix::zeros(dof, dof),
            active: (0..dof).collect(),
            reduced: Matrix::zeros(dof, dof),
            y: vec![0.0; size],
            taken: vec![0.0; dof],
            columns: [vec![DVec3::ZERO; fixed.len()], vec![DVec3::ZERO; fixed.len()]],
            k,
            factor,
            fixed,
            prepared: None,
        }
    }

    /// The stiffness at positions of all nodes.
    pub(crate) fn stiffness(
        &mut self,
        elastic: &Elastic,
        x: &[DVec3],
        curvature: Curvature,
    ) -> &SymmetricBlocks {
        self.prepared = None;
        elastic.stiffness(x, curvature, &mut self.k);
        &self.k
    }

    /// Factorises A_nn for the stiffness as it is, and eliminates the free nodes.
    pub(crate) fn eliminate(&mut self, t: &Terms<'_>) -> Result<(), NotPositive> {
        let dof = self.half.len();
        let diagonal = |n: usize| DMat3::from_diagonal(DVec3::splat(t.diagonal[n]));
        self.factor.factorise(&self.k, t.scale, diagonal)?;
        let [own, pulled] = &mut self.columns;
        for k in 0..dof {
            for (n, own) in own.iter_mut().enumerate() {
                *own = if self.fixed[n] { t.motion[k][n] } else { DVec3::ZERO };
            }
            self.k.multiply(own, pulled);
            pulled.iter_mut().for_each(|p| *p *= t.scale);
            for l in 0..dof {
                let work = |n: usize| {
                    let drag =
                        t.dampers.get(n).map_or(0.0, |c| c * t.motion[k][n].dot(t.motion[l][n]));
                    if self.fixed[n] { t.motion[l][n].dot(pulled[n]) } else { drag }
                };
                self.tissue[(l, k)] = (0..self.fixed.len()).map(work).sum();
            }
            if !t.dampers.is_empty() {
                for n in (0..self.fixed.len()).filter(|&n| !self.fixed[n]) {
                    pulled[n] -= t.motion[k][n] * t.dampers[n];
                }
            }
            self.factor.half_solve(pulled, &mut self.half[k]);
        }
        for k in 0..dof {
            for l in 0..=k {
                let lost = dot(&self.half[k], &self.half[l]);
                let kept = 0.5 * (self.tissue[(k, l)] + self.tissue[(l, k)]) - lost;
                self.tissue[(k, l)] = kept;
                self.tissue[(l, k)] = kept;
            }
        }
        Ok(())
    }

    /// Adds the skeleton's own part and factorises S over the coordinates that are not prescribed;
    /// `None` where it is not positive definite.
    pub(crate) fn complete(&mut self, skeleton: &Matrix, prescribed: &[bool]) -> Option<()> {
        let dof = self.half.len();
        self.schur = self.tissue.plus_scaled(1.0, skeleton);
        self.active.clear();
        self.active.extend((0..dof).filter(|&k| !prescribed[k]));
        let a = &self.active;
        let part = Matrix::from_fn(a.len(), a.len(), |i, j| self.schur[(a[i], a[j])]);
        self.reduced = part.cholesky(Pivots::ROUNDING)?;
        Some(())
    }

    /// Solves for skeleton and free nodes. Prescribed coordinates hold their value, the others
    /// their right side; so do free nodes, while nodes in bones are left alone.
    pub(crate) fn solve(&mut self, skeleton: &mut [f64], nodes: &mut [DVec3]) {
        self.factor.half_solve(nodes, &mut self.y);
        for (t, half) in self.taken.iter_mut().zip(&self.half) {
            *t = dot(half, &self.y);
        }
        let active = &self.active;
        let mut right: Vec<f64> = Vec::with_capacity(active.len());
        for &i in active {
            let mut r = skeleton[i] - self.taken[i];
            for j in 0..skeleton.len() {
                if active.binary_search(&j).is_err() {
                    r -= self.schur[(i, j)] * skeleton[j];
                }
            }
            right.push(r);
        }
        solve_cholesky(self.reduced.as_slice(), active.len(), &mut right);
        for (&i, r) in active.iter().zip(right) {
            skeleton[i] = r;
        }
        for (half, v) in self.half.iter().zip(skeleton.iter()) {
            self.y.iter_mut().zip(half).for_each(|(y, a)| *y -= a * v);
        }
        self.factor.back_solve(&mut self.y, nodes);
    }

    /// Impulse that holds a prescribed coordinate to its velocity, N·s or N·m·s, after a solution
    /// `v` with the right side `right` as it would be without.
    pub(crate) fn reaction(&self, k: usize, v: &[f64], right: f64) -> f64 {
        dot(self.schur.row(k), v) + self.taken[k] - right
    }

    /// S⁻¹, zero for prescribed coordinates.
    pub(crate) fn inverse(&self) -> Matrix {
        let (dof, count) = (self.half.len(), self.active.len());
        let mut out = Matrix::zeros(dof, dof);
        let mut column = vec![0.0; count];
        for (j, &c) in self.active.iter().enumerate() {
            column.fill(0.0);
            column[j] = 1.0;
            solve_cholesky(self.reduced.as_slice(), count, &mut column);
            self.active.iter().zip(&column).for_each(|(&r, x)| out[(r, c)] = *x);
        }
        out
    }

    /// S of the last implicit step: what resists a change of the skeleton's velocities, tissue and
    /// step included, kg or kg·m². Velocities at the end of a step change by h S⁻¹ per force on the
    /// coordinates.
    pub fn schur(&self) -> &Matrix {
        &self.schur
    }
}

/// Prescribed coordinates do not move.
impl Inverse for Border {
    fn half(&self, skeleton: &[f64], nodes: &[DVec3]) -> Vec<f64> {
        let mut out = vec![0.0; self.y.len() + self.active.len()];
        let (y, z) = out.split_at_mut(self.y.len());
        self.factor.half_solve(nodes, y);
        for (z, &k) in z.iter_mut().zip(&self.active) {
            *z = skeleton[k] - dot(&self.half[k], y);
        }
        solve_lower(self.reduced.as_slice(), self.active.len(), z);
        out
    }

    fn other_half(&self, mut half: Vec<f64>) -> (Vec<f64>, Vec<DVec3>) {
        let (y, z) = half.split_at_mut(self.y.len());
        solve_lower_transposed(self.reduced.as_slice(), self.active.len(), z);
        let (mut v, mut moved) = (vec![0.0; self.half.len()], vec![DVec3::ZERO; self.fixed.len()]);
        for (z, &k) in z.iter().zip(&self.active) {
            v[k] = *z;
            axpy(-z, &self.half[k], y);
        }
        self.factor.back_solve(y, &mut moved);
        (v, moved)
    }
}
