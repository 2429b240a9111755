//! Motion of the joints that are neither fixed, hinge nor slide.

use forks_mechanism::{
    JointColumns, JointKind,
    lie::{Pose, Twist, se3::right_jacobian_derivative},
};

use super::compile::MultiJoint;

/// Columns of a joint and their rate at a state, in the frame of the outer slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MultiMotion {
    pub(crate) columns: JointColumns,
    /// Ṡ θ̇.
    pub(crate) rate: Twist,
}

impl MultiMotion {
    pub(crate) const NONE: Self = Self { columns: JointColumns::EMPTY, rate: Twist::ZERO };
}

impl MultiJoint {
    /// Pose of the outer joint frame in the inner one, and the columns.
    ///
    /// For a joint whose child is the inner link the twist is φ' = −Ad(M) φ; since ad_φ φ = 0 the
    /// rate is turned round like the columns: Ṡ' θ̇ = −Ad(M) Ṡ θ̇.
    pub(crate) fn motion(&self, q: &[f64], v: &[f64]) -> (Pose, MultiMotion) {
        let mut at = [0.0; 7];
        for (i, at) in at[..self.positions as usize].iter_mut().enumerate() {
            *at = q[i] - self.reference[i];
        }
        let at = &at[..self.positions as usize];
        let motion = self.kind.motion(at);
        let columns = self.kind.columns(at);
        let rate = column_rate(&self.kind, at, v, &columns);
        if !self.reversed {
            return (motion, MultiMotion { columns, rate });
        }
        let ad = motion.adjoint();
        let columns = columns.map(|c| -ad.apply(c));
        (motion.inverse(), MultiMotion { columns, rate: -ad.apply(rate) })
    }
}

/// Ṡ θ̇ in the child-side joint frame. The first column of a universal joint is carried by the
/// second rotation; a general joint's are J_r(Sθ) S.
fn column_rate(kind: &JointKind, q: &[f64], v: &[f64], columns: &JointColumns) -> Twist {
    match kind {
        JointKind::Universal { .. } => {
            let c = columns.as_slice();
            c[0].ad(c[1]) * (v[0] * v[1])
        }
        JointKind::General { subspace } if subspace.len() > 1 => {
            let combine =
                |x: &[f64]| subspace.iter().zip(x).fold(Twist::ZERO, |sum, (c, s)| sum + *c * *s);
            let rate = combine(v);
            let derivative = right_jacobian_derivative(combine(q), rate);
            Twist::from_array(derivative.mul_vec(&rate.to_array()))
        }
        _ => Twist::ZERO,
    }
}
