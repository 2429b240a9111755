//! What a tree joint itself adds to Ã and to the forces: rotor, spring, damper, and columns that
//! turn with the joint's own coordinates under the wrench that passes through it.

use forks_mechanism::{
    JointColumns, JointKind, Mechanism,
    lie::{Twist, Wrench, se3::right_jacobian_derivative},
};

use super::plan::SlotJoint;
use crate::{
    integrate::blocks::Block,
    passive::add_spring,
    springs::spring_hessian,
    tree::compile::{MultiJoint, Slot},
};

/// Armature + h D + h² K of a hinge or slide, and the force of its spring.
#[inline(always)]
pub(super) fn own_scalar(m: &Mechanism, j: &SlotJoint, s: &Slot, q: &[f64], h: f64) -> (f64, f64) {
    let spring = &j.spring;
    let delta = q[s.position as usize] - spring.rest;
    let (mut stiffness, mut force) = (spring.stiffness, -spring.stiffness * delta);
    if spring.limited {
        let term = m.joint(j.joint).limit_term(0, q[s.position as usize], None);
        stiffness += term.hessian;
        force -= term.gradient;
    }
    (spring.armature + h * (spring.damping + h * stiffness), force)
}

/// The same of a joint of several coordinates.
pub(super) fn own_block(
    m: &Mechanism,
    j: &SlotJoint,
    multi: &MultiJoint,
    s: &Slot,
    q: &[f64],
    h: f64,
) -> (Block, [f64; 6]) {
    let joint = m.joint(j.joint);
    let d = s.dof as usize;
    let (mut out, mut force) = ([[0.0; 6]; 6], [0.0; 6]);
    for a in 0..d {
        out[a][a] = multi.armature[a];
        for b in 0..d {
            out[a][b] += h * joint.damping.get(a, b);
        }
    }
    let q = &q[s.position as usize..][..multi.positions as usize];
    if joint.has_limit_springs() {
        for (i, x) in q.iter().enumerate() {
            let term = joint.limit_term(i, *x, None);
            force[i] -= term.gradient;
            out[i][i] += h * h * term.hessian;
        }
    }
    let Some(spring) = &joint.spring else { return (out, force) };
    add_spring(&joint.kind, spring, q, &mut force[..d]);
    let hessian;
    let k = match joint.kind.has_scalar_coordinates() {
        true => &spring.stiffness,
        false => {
            hessian = spring_hessian(&joint.kind, &spring.stiffness, &spring.rest, q);
            &hessian
        }
    };
    for a in 0..d {
        (0..d).for_each(|b| out[a][b] += h * h * k.get(a, b));
    }
    (out, force)
}

/// F·∂_b J_a for the wrench through the joint in the slot's frame.
pub(super) fn column_stiffness(
    multi: &MultiJoint,
    columns: &JointColumns,
    q: &[f64],
    f: Wrench,
) -> Block {
    let mut out = [[0.0; 6]; 6];
    if f == Wrench::ZERO {
        return out;
    }
    let mut at = [0.0; 7];
    at.iter_mut().zip(q).zip(&multi.reference).for_each(|((x, q), r)| *x = q - r);
    let at = &at[..multi.positions as usize];
    if !multi.reversed {
        add_curvature(&multi.kind, at, columns.as_slice(), f, &mut out);
        return out;
    }
    // A reversed joint has −Ad(M) J: seen from the child's frame, J with a turning frame.
    let at_child = -multi.kind.motion(at).adjoint().transpose_apply(f);
    let columns = multi.kind.columns(at);
    let columns = columns.as_slice();
    add_curvature(&multi.kind, at, columns, at_child, &mut out);
    for a in 0..columns.len() {
        for b in 0..columns.len() {
            out[a][b] += columns[b].ad(columns[a]).dot(at_child);
        }
    }
    out
}

/// w·∂_b J_a in the child's frame: J_a = J_r(ξ) ∂_aξ gives w·∂_a∂_bξ − ½ w·\[J_b, J_a\]; zero for
/// columns that are constant there.
fn add_curvature(kind: &JointKind, q: &[f64], columns: &[Twist], w: Wrench, out: &mut Block) {
    match kind {
        JointKind::Universal { .. } => {
            // Only the first column turns, with the second coordinate.
            out[0][1] += columns[0].ad(columns[1]).dot(w);
        }
        JointKind::General { subspace } if subspace.len() > 1 => {
            let xi = subspace.iter().zip(q).fold(Twist::ZERO, |sum, (c, x)| sum + *c * *x);
            for b in 0..columns.len() {
                let slope = right_jacobian_derivative(xi, subspace[b]);
                for a in 0..columns.len() {
                    let turned = Twist::from_array(slope.mul_vec(&subspace[a].to_array()));
                    out[a][b] += turned.dot(w);
                }
            }
        }
        _ => {}
    }
}
