//! The symmetric part of Ã = M + h D + h² K of one implicit step as a dense matrix, by composite
//! bodies.
//!
//! Linearised loads make Ã unsymmetric where coordinates are body axes (balls, planar and free
//! joints): there K is a Hessian only where the forces balance. So do wrenches that turn with their
//! link. Impulses that are found by a complementarity problem need a symmetric response.
//!
//! A column c of a joint moves everything outward of it as one body of matrix C = Σ Ad⁻ᵀ (I − h²
//! ∂w/∂ξ) Ad⁻¹; inward joints feel C c, less what the wrench F through the joint turns by, h² ad_cᵀ
//! F ([`super::linearised`]). Rows and columns share C's symmetric part and half of the turning
//! each.

use forks_mechanism::{
    lie::{Mat6, SymMat6, Wrench},
    linalg::Matrix,
};

use super::blocks::Block;
use crate::constrained::{TreeMotion, inverse_matrix};

/// Which tree joint carries a link: none for the ground.
const GROUND: usize = usize::MAX;

/// sym(Ã) over the tree velocities; arguments as for `Linearised::factorize`.
pub(super) fn symmetric_system(
    motion: &TreeMotion,
    links: &[Mat6],
    blocks: &[Block],
    carried: &[Wrench],
    h: f64,
) -> Matrix {
    let n = motion
        .joints
        .last()
        .map_or(0, |_| motion.joints.iter().map(|j| j.velocities.end).max().unwrap_or(0));
    let mut out = Matrix::zeros(n, n);
    let mut composite: Vec<SymMat6> = links.iter().map(SymMat6::symmetric_part).collect();
    let mut carrier = vec![GROUND; links.len()];
    motion.joints.iter().enumerate().for_each(|(k, j)| carrier[j.outer] = k);
    for (k, j) in motion.joints.iter().enumerate().rev() {
        let columns = j.columns.as_slice();
        let c = composite[j.outer];
        for (a, column) in columns.iter().enumerate() {
            let row = j.velocities.start + a;
            let felt = Wrench::from_array(c.mul_vec(&column.to_array()));
            for (b, other) in columns.iter().enumerate() {
                let own = 0.5 * (blocks[k][a][b] + blocks[k][b][a]);
                out[(row, j.velocities.start + b)] = other.dot(felt) + own;
            }
            let turned = column.ad_transpose(carried[j.outer]) * (0.5 * h * h);
            let mut passing = j.inner_from_outer.apply_to_wrench(felt - turned);
            let mut at = carrier[j.inner];
            while at != GROUND {
                let inner = &motion.joints[at];
                for (other, k) in inner.columns.as_slice().iter().zip(inner.velocities.clone()) {
                    let x = other.dot(passing);
                    out[(row, k)] = x;
                    out[(k, row)] = x;
                }
                passing = inner.inner_from_outer.apply_to_wrench(passing);
                at = carrier[inner.inner];
            }
        }
        if j.inner != 0 {
            let outer_from_inner = inverse_matrix(&j.inner_from_outer);
            composite[j.inner] += c.congruence(&outer_from_inner.transpose());
        }
    }
    out
}
