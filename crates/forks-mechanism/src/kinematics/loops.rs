//! Loop closures and couplings as equations: residuals and Jacobians.
//!
//! Rows: six per loop-closing joint (in joint order), then one per coupling. A closure's residual
//! is g = log(E), E = (where the joint puts the child)⁻¹ (where the child is): the gap in the
//! child's frame, linear part first. The closing joint's own coordinates are unknowns like any
//! other, so a closure with d free directions takes away 6 − d. Directions that a closing joint has
//! released ([`crate::Joint::released`]) are taken out of its rows: what is left of g there is no
//! residual, and the gap itself ([`closure_gap`]) may stay open along them.

use forks_lie::{Pose, Twist, Wrench, se3::right_jacobian_inverse, so3::log_rotation};
use forks_linalg::Matrix;

use crate::{Combination, JointId, Mechanism, kinematics::tree_joint_motion};

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
        let gap = closure_gap(m, q, world_from_link, id);
        out.extend(m.joint(id).held_twist(gap).to_array());
    }
    for c in m.couplings() {
        out.push(
            c.terms.iter().map(|t| t.evaluate(combination_value(m, &t.combination, q)).0).sum(),
        );
    }
    out
}

/// Jacobian of [`constraint_residual`] with respect to the velocities of all joints: exact also
/// where the loops are open.
pub fn constraint_jacobian(m: &Mechanism, q: &[f64], world_from_link: &[Pose]) -> Matrix {
    let mut out = Matrix::zeros(constraint_rows(m), m.velocity_count());
    for (i, &id) in m.forest().closures().iter().enumerate() {
        for (column, t) in closure_columns(m, q, world_from_link, id) {
            let held = m.joint(id).held_twist(t);
            for (k, x) in held.to_array().into_iter().enumerate() {
                out[(6 * i + k, column)] = x;
            }
        }
    }
    let first = 6 * m.forest().closures().len();
    for (i, c) in m.couplings().iter().enumerate() {
        for t in &c.terms {
            let slope = t.evaluate(combination_value(m, &t.combination, q)).1;
            for (coordinate, a) in &t.combination.terms {
                out[(first + i, m.velocity_index(*coordinate))] += slope * a;
            }
        }
    }
    out
}

/// Multipliers of [`constraint_residual`]'s rows as loads: for every closing joint the wrench that
/// it passes to its child, without parts along released directions.
pub fn carry_multipliers(m: &Mechanism, multipliers: &mut [f64]) {
    for (w, &id) in multipliers.chunks_exact_mut(6).zip(m.forest().closures()) {
        let j = m.joint(id);
        if !j.released.is_empty() {
            let given = Wrench::from_array(core::array::from_fn(|i| w[i]));
            w.copy_from_slice(&j.held_wrench(given).to_array());
        }
    }
}

/// The columns of a closure's six rows (released directions included) that are not zero, with their
/// velocity index: those of the tree joints on the loop, then those of the closing joint.
///
/// ġ = J_r⁻¹(g) (φ_c − Ad(E⁻¹)(Ad(child_from_parent) φ_p + J θ̇)), child_from_parent as the joint
/// puts it. E⁻¹ child_from_parent is where the parent is seen from the child, open loop or not, so
/// a tree joint below both links moves both alike and has no part in the gap.
pub fn closure_columns(
    m: &Mechanism,
    q: &[f64],
    world_from_link: &[Pose],
    id: JointId,
) -> Vec<(usize, Twist)> {
    let j = m.joint(id);
    let gap = gap_pose(m, q, world_from_link, id);
    let slope = right_jacobian_inverse(gap.log());
    let sloped = |t: Twist| Twist::from_array(slope.mul_vec(&t.to_array()));
    let child_from_world = world_from_link[j.child.index()].inverse();
    let mut out = Vec::new();
    for (e, carries_child) in m.forest().path_between(j.parent, j.child) {
        let ad = (child_from_world * world_from_link[e.outer.index()]).adjoint();
        let sign = if carries_child { 1.0 } else { -1.0 };
        let columns = tree_joint_motion(m, e, q).columns;
        for (c, k) in columns.as_slice().iter().zip(m.velocity_range(e.joint)) {
            out.push((k, sloped(ad.apply(*c)) * sign));
        }
    }
    let ad_gap = gap.inverse().adjoint();
    let own = j.columns(&q[m.position_range(id)]);
    for (c, k) in own.as_slice().iter().zip(m.velocity_range(id)) {
        out.push((k, -sloped(ad_gap.apply(*c))));
    }
    out
}

/// How far a loop-closing joint is from closed.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosureGap {
    /// The closing joint.
    pub joint: JointId,
    /// What it is called in messages.
    pub name: String,
    /// Distance of the joint frame where the joint puts it from where the child has it, m.
    pub position: f64,
    /// Angle between the two, rad.
    pub angle: f64,
}

/// The gaps of all closing joints at `q`, measured at their joint frames.
pub fn closure_gaps(m: &Mechanism, q: &[f64], world_from_link: &[Pose]) -> Vec<ClosureGap> {
    let gap_of = |&id: &JointId| {
        let c = m.joint(id).child_from_joint;
        let gap = c.inverse() * gap_pose(m, q, world_from_link, id) * c;
        ClosureGap {
            joint: id,
            name: m.joint_label(id),
            position: gap.translation.length(),
            angle: log_rotation(gap.rotation).length(),
        }
    };
    m.forest().closures().iter().map(gap_of).collect()
}
