//! Loop closures and couplings as equations: residuals and Jacobians.
//!
//! Rows: six per loop-closing joint (in joint order), then one per coupling. A closure's residual is
//! g = log(E), E = (where the joint puts the child)⁻¹ (where the child is): the gap in the child's
//! frame, linear part first. The closing joint's own coordinates are unknowns like any other, so a
//! closure with d free directions takes away 6 − d.

use forks_lie::{Matrix, Pose, Twist, right_jacobian_inverse};

use crate::{Combination, JointId, Mechanism, link_jacobian};

/// Number of rows of the loop equations.
pub fn constraint_rows(m: &Mechanism) -> usize {
    6 * m.forest().closures().len() + m.couplings().len()
}

/// The pose E of the gap of a closing joint.
fn gap_pose(m: &Mechanism, q: &[f64], world_from_link: &[Pose], id: JointId) -> Pose {
    let j = m.joint(id);
    let expected =
        world_from_link[j.parent.index()] * j.parent_from_child(&q[m.position_range(id)]);
    expected.inverse() * world_from_link[j.child.index()]
}

/// The gap g = log(E) of a closing joint, in the child's frame.
pub fn closure_gap(m: &Mechanism, q: &[f64], world_from_link: &[Pose], id: JointId) -> Twist {
    gap_pose(m, q, world_from_link, id).log()
}

/// Value of a combination of coordinates.
pub fn combination_value(m: &Mechanism, c: &Combination, q: &[f64]) -> f64 {
    c.offset + c.terms.iter().map(|(c, a)| a * q[m.position_index(*c)]).sum::<f64>()
}

/// Residuals of all loop equations at `q`.
pub fn constraint_residual(m: &Mechanism, q: &[f64], world_from_link: &[Pose]) -> Vec<f64> {
    let mut out = Vec::with_capacity(constraint_rows(m));
    for &id in m.forest().closures() {
        out.extend(closure_gap(m, q, world_from_link, id).to_array());
    }
    for c in m.couplings() {
        out.push(
            c.terms.iter().map(|t| t.evaluate(combination_value(m, &t.combination, q)).0).sum(),
        );
    }
    out
}

/// Jacobian of [`constraint_residual`] with respect to the velocities of all joints: exact also where
/// the loops are open.
pub fn constraint_jacobian(m: &Mechanism, q: &[f64], world_from_link: &[Pose]) -> Matrix {
    let mut out = Matrix::zeros(constraint_rows(m), m.velocity_count());
    let mut row = 0;
    for &id in m.forest().closures() {
        write_closure_rows(m, q, world_from_link, id, &mut out, row);
        row += 6;
    }
    for c in m.couplings() {
        for t in &c.terms {
            let slope = t.evaluate(combination_value(m, &t.combination, q)).1;
            for (coordinate, a) in &t.combination.terms {
                out[(row, m.velocity_index(*coordinate))] += slope * a;
            }
        }
        row += 1;
    }
    out
}

/// ġ = J_r⁻¹(g) (φ_c − Ad(E⁻¹)(Ad(child_from_parent) φ_p + J θ̇)), child_from_parent as the joint puts it.
fn write_closure_rows(
    m: &Mechanism,
    q: &[f64],
    world_from_link: &[Pose],
    id: JointId,
    out: &mut Matrix,
    row: usize,
) {
    let j = m.joint(id);
    let qj = &q[m.position_range(id)];
    let gap = gap_pose(m, q, world_from_link, id);
    let slope = right_jacobian_inverse(gap.log());
    let gap_back = gap.inverse();
    let ad_gap = gap_back.adjoint();
    let ad_parent = (gap_back * j.parent_from_child(qj).inverse()).adjoint();
    let mut add = |column: usize, t: Twist, sign: f64| {
        let t = slope.mul_vec(&t.to_array());
        for i in 0..6 {
            out[(row + i, column)] += sign * t[i];
        }
    };
    let child = link_jacobian(m, q, world_from_link, j.child);
    let parent = link_jacobian(m, q, world_from_link, j.parent);
    let column = |m: &Matrix, k: usize| Twist::from_array(core::array::from_fn(|i| m[(i, k)]));
    for k in 0..m.tree_velocity_count() {
        let (c, p) = (column(&child, k), column(&parent, k));
        if c != Twist::ZERO {
            add(k, c, 1.0);
        }
        if p != Twist::ZERO {
            add(k, ad_parent.apply(p), -1.0);
        }
    }
    for (c, k) in j.columns(qj).as_slice().iter().zip(m.velocity_range(id)) {
        add(k, ad_gap.apply(*c), -1.0);
    }
}
