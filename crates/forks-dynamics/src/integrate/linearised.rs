//! The matrix Ã = M + h D + h² K of one implicit step, factorised in one inward pass.
//!
//! Displacing every joint by x turns each link by ξ = Ad⁻¹ξ_inner + J x. The wrench F that passes
//! through a joint then changes by δF, and what arrives at the inner link by Ad⁻ᵀ(δF − ad_{Jx}ᵀ F):
//! the second part is the geometric stiffness of the load, and it keeps the recursion of
//! articulated bodies intact, with matrices that are no longer symmetric. Per link δF = (I − h²
//! ∂w/∂ξ) ξ + what comes from outward, w its weight; per joint Jᵀ δF + (armature + h D + h² K_θ) x
//! = the right-hand side.
//!
//! With A the articulated matrix, U = A J, V = Jᵀ A, N = \[ad_{Jₖ}ᵀ F\]: D = V J + joint terms,
//! x = D⁻¹ (u − V ξ′), A_inner += Ad⁻ᵀ (A − (U − h² N) D⁻¹ V) Ad⁻¹.

use forks_mechanism::lie::{Mat6, SymMat6, Twist, Vec6, Wrench};

use super::blocks::{Block, Factorised, exceeds_half, inverse, multiply};
use crate::constrained::{MovingJoint, TreeMotion, inverse_matrix};

#[derive(Clone, Debug)]
struct JointPart {
    /// D.
    pivot: Block,
    /// D⁻¹.
    inverse: Block,
    /// Rows of V = Jᵀ A.
    rows: [Wrench; 6],
    /// Columns of U − h² N.
    columns: [Wrench; 6],
}

/// The factorised matrix.
#[derive(Clone, Debug, Default)]
pub(crate) struct Linearised {
    parts: Vec<JointPart>,
    matrices: Vec<Mat6>,
    wrenches: Vec<Wrench>,
    twists: Vec<Twist>,
}

impl Linearised {
    /// Factorises Ã.
    ///
    /// `links` are the links' own 6×6 matrices I − h² ∂w/∂ξ (ground first), `least` the
    /// [`least_pivots`], `blocks` the joint terms with the stiffness of loads within the joint,
    /// both in forest order, `carried` the wrench through the joint of every link.
    ///
    /// Without loads a joint's pivot D is at least what its own link and terms give, Jᵀ I J + own:
    /// outward links only add to it. Loads that take more than half of that away make the mechanism
    /// so soft that the step would jump over, or land on, a pole of Ã⁻¹.
    pub(crate) fn factorize(
        &mut self,
        motion: &TreeMotion,
        links: &[Mat6],
        least: &[Block],
        blocks: &[Block],
        carried: &[Wrench],
        h: f64,
    ) -> Factorised {
        self.matrices.clear();
        self.matrices.extend_from_slice(links);
        self.wrenches.resize(links.len(), Wrench::ZERO);
        self.twists.resize(links.len(), Twist::ZERO);
        let empty = JointPart {
            pivot: [[0.0; 6]; 6],
            inverse: [[0.0; 6]; 6],
            rows: [Wrench::ZERO; 6],
            columns: [Wrench::ZERO; 6],
        };
        self.parts.resize(motion.joints.len(), empty);
        for (k, j) in motion.joints.iter().enumerate().rev() {
            let a = self.matrices[j.outer];
            let part = &mut self.parts[k];
            if !part.fill(j, &a, &blocks[k], carried[j.outer], h) {
                return Factorised::Singular(k);
            }
            if !exceeds_half(&part.pivot, &least[k], j.velocities.len()) {
                return Factorised::TooSoft(k);
            }
            if j.inner != 0 {
                let reduced = part.without_joint(&a, j.velocities.len());
                let outer_from_inner = inverse_matrix(&j.inner_from_outer);
                self.matrices[j.inner] +=
                    outer_from_inner.transpose() * (reduced * outer_from_inner);
            }
        }
        Factorised::Sound
    }

    /// Solves Ã x = f: one pass inwards, one outwards.
    pub(crate) fn solve(&mut self, motion: &TreeMotion, f: &[f64], x: &mut [f64]) {
        self.wrenches.fill(Wrench::ZERO);
        for (part, j) in self.parts.iter().zip(&motion.joints).rev() {
            let mut p = self.wrenches[j.outer];
            let d = j.velocities.len();
            let mut u = [0.0; 6];
            for (i, c) in j.columns.as_slice().iter().enumerate() {
                u[i] = f[j.velocities.start + i] - c.dot(p);
            }
            let s = multiply(&part.inverse, &u, d);
            x[j.velocities.clone()].copy_from_slice(&s[..d]);
            if j.inner != 0 {
                for (c, s) in part.columns[..d].iter().zip(s) {
                    p += *c * s;
                }
                self.wrenches[j.inner] += j.inner_from_outer.apply_to_wrench(p);
            }
        }
        self.twists[0] = Twist::ZERO;
        for (part, j) in self.parts.iter().zip(&motion.joints) {
            let d = j.velocities.len();
            let carried = j.inner_from_outer.apply_inverse(self.twists[j.inner]);
            let mut u = [0.0; 6];
            for i in 0..d {
                u[i] = part.rows[i].dot(carried);
            }
            let s = multiply(&part.inverse, &u, d);
            let own = &mut x[j.velocities.clone()];
            own.iter_mut().zip(s).for_each(|(x, s)| *x -= s);
            self.twists[j.outer] = carried + j.columns.combine(own);
        }
    }
}

impl JointPart {
    /// False where the pivot is singular.
    fn fill(&mut self, j: &MovingJoint, a: &Mat6, block: &Block, f: Wrench, h: f64) -> bool {
        let columns = j.columns.as_slice();
        let d = columns.len();
        for (k, c) in columns.iter().enumerate() {
            let c6 = c.to_array();
            let geometric = c.ad_transpose(f) * (h * h);
            self.columns[k] = Wrench::from_array(a.mul_vec(&c6)) - geometric;
            self.rows[k] = Wrench::from_array(a.transpose_mul_vec(&c6));
        }
        let mut joint = *block;
        for i in 0..d {
            for k in 0..d {
                joint[i][k] += columns[k].dot(self.rows[i]);
            }
        }
        self.pivot = joint;
        match inverse(&joint, d) {
            Some(x) => {
                self.inverse = x;
                true
            }
            None => false,
        }
    }

    /// A − (U − h² N) D⁻¹ V.
    fn without_joint(&self, a: &Mat6, d: usize) -> Mat6 {
        let mut out = *a;
        for i in 0..d {
            let mut row: Vec6 = [0.0; 6];
            for k in 0..d {
                let v = self.rows[k].to_array();
                (0..6).for_each(|c| row[c] += self.inverse[i][k] * v[c]);
            }
            let column = self.columns[i].to_array();
            for r in 0..6 {
                (0..6).for_each(|c| out.rows[r][c] -= column[r] * row[c]);
            }
        }
        out
    }
}

/// What every pivot is at least without loads, in forest order.
pub(crate) fn least_pivots(motion: &TreeMotion, inertia: &[SymMat6], own: &[Block]) -> Vec<Block> {
    motion.joints.iter().zip(own).map(|(j, own)| least_pivot(j, &inertia[j.outer], own)).collect()
}

/// Jᵀ I J + the joint's own terms.
fn least_pivot(j: &MovingJoint, inertia: &SymMat6, own: &Block) -> Block {
    let columns = j.columns.as_slice();
    let mut out = *own;
    for (k, c) in columns.iter().enumerate() {
        let felt = Wrench::from_array(inertia.mul_vec(&c.to_array()));
        (0..columns.len()).for_each(|i| out[i][k] += columns[i].dot(felt));
    }
    out
}
