//! Geometric stiffness within a joint: columns that turn with the joint's own coordinates under the
//! wrench that passes through it, F·∂_b J_a.

use forks_mechanism::{
    Joint, Mechanism, TreeEdge,
    lie::{Twist, Wrench},
};

use super::blocks::Block;
use crate::constrained::MovingJoint;

/// Adds h² F·∂_b J_a to a joint's block; `f` is the wrench through the joint in the outer link's
/// frame.
pub(crate) fn add_column_stiffness(
    m: &Mechanism,
    e: &TreeEdge,
    moving: &MovingJoint,
    q: &[f64],
    f: Wrench,
    h: f64,
    block: &mut Block,
) {
    let j = m.joint(e.joint);
    let q = &q[m.position_range(e.joint)];
    let d = j.dof();
    if d < 2 || f == Wrench::ZERO {
        return;
    }
    // A reversed joint has −Ad(parent_from_child) J: seen from the child's frame, J with a turning
    // frame.
    let (child, at_child) = if e.reversed {
        let parent_from_child = j.parent_from_child(q).adjoint();
        (true, -parent_from_child.transpose_apply(f))
    } else {
        (false, f)
    };
    let columns = if child { j.columns(q) } else { moving.columns };
    let columns = columns.as_slice();
    let curvature = curvature(j, q, columns, at_child);
    for a in 0..d {
        for b in 0..d {
            let turning = if child { columns[b].ad(columns[a]).dot(at_child) } else { 0.0 };
            block[a][b] += h * h * (curvature[a][b] + turning);
        }
    }
}

/// w·∂_b J_a in the child's frame: J_a = J_r(ξ) ∂_aξ gives w·∂_a∂_bξ − ½ w·[J_b, J_a]; zero for
/// columns that are constant there.
fn curvature(j: &Joint, q: &[f64], columns: &[Twist], w: Wrench) -> Block {
    let mut out = [[0.0; 6]; 6];
    if let Some(second) = j.curvature(q, w) {
        for a in 0..columns.len() {
            for b in 0..columns.len() {
                out[a][b] = second.get(a, b) - 0.5 * columns[b].ad(columns[a]).dot(w);
            }
        }
    }
    out
}
