//! Tree positions under tree velocities: finite steps, and rates.

use forks_mechanism::{
    JointKind, Mechanism,
    lie::{
        glam::{DQuat, DVec3},
        so3::{exp_rotation, quaternion_from_wxyz, wxyz_from_quaternion},
    },
};

/// q ← q ⊞ h v on the tree coordinates.
pub(crate) fn advance(m: &Mechanism, q: &mut [f64], v: &[f64], h: f64) {
    for e in m.forest().edges() {
        let rates = &v[m.velocity_range(e.joint)];
        advance_joint(&m.joint(e.joint).kind, &mut q[m.position_range(e.joint)], rates, h);
    }
}

/// The same for the positions of one joint and the velocities from its first one on.
pub(crate) fn advance_joint(kind: &JointKind, q: &mut [f64], v: &[f64], h: f64) {
    let d = kind.dof();
    let mut step = [0.0; 6];
    step.iter_mut().zip(&v[..d]).for_each(|(s, r)| *s = h * r);
    kind.integrate(q, &step[..d]);
}

/// q̇ for velocities v: positions of free and planar joints move in the parent's axes, quaternions
/// with ½ q ω.
pub(crate) fn position_rates(m: &Mechanism, q: &[f64], v: &[f64], out: &mut [f64]) {
    for e in m.forest().edges() {
        let (p, w) = (m.position_range(e.joint), m.velocity_range(e.joint));
        let (q, v) = (&q[p.clone()], &v[w]);
        match m.joint(e.joint).kind {
            JointKind::Spherical => out[p].copy_from_slice(&quaternion_rate(q, v)),
            JointKind::Free => {
                let linear = rotation(&q[3..]) * DVec3::from_slice(v);
                out[p.clone()][..3].copy_from_slice(&linear.to_array());
                out[p][3..].copy_from_slice(&quaternion_rate(&q[3..], &v[3..]));
            }
            JointKind::Planar => {
                let linear = exp_rotation(DVec3::Z * q[2]) * DVec3::new(v[0], v[1], 0.0);
                out[p].copy_from_slice(&[linear.x, linear.y, v[2]]);
            }
            _ => out[p].copy_from_slice(v),
        }
    }
}

/// Brings quaternions back to length one.
pub(crate) fn normalize(m: &Mechanism, q: &mut [f64]) {
    for e in m.forest().edges() {
        let start = m.position_range(e.joint).start;
        let first = match m.joint(e.joint).kind {
            JointKind::Spherical => start,
            JointKind::Free => start + 3,
            _ => continue,
        };
        let length = q[first..first + 4].iter().map(|x| x * x).sum::<f64>().sqrt();
        q[first..first + 4].iter_mut().for_each(|x| *x /= length);
    }
}

fn raw(q: &[f64]) -> DQuat {
    quaternion_from_wxyz([q[0], q[1], q[2], q[3]])
}

fn rotation(q: &[f64]) -> DQuat {
    raw(q).normalize()
}

fn quaternion_rate(q: &[f64], v: &[f64]) -> [f64; 4] {
    let omega = DQuat::from_xyzw(v[0], v[1], v[2], 0.0);
    wxyz_from_quaternion(raw(q) * omega).map(|x| 0.5 * x)
}
