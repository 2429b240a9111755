//! Rotations: the group SO(3), its exponential, logarithm and Jacobians.

use forks_linalg::sqrt;
use glam::{DMat3, DQuat, DVec3};

use crate::{
    equivariant::{inverse_jacobian, jacobian},
    scalar::{atan2, sin_cos},
};

/// Below this `θ²` the exponential is summed as a series; its truncation error is under 1e-17
/// there.
const SERIES_ANGLE_SQUARED: f64 = 1e-2;

/// A quaternion from (w, x, y, z); not normalised.
pub fn quaternion_from_wxyz(wxyz: [f64; 4]) -> DQuat {
    DQuat::from_xyzw(wxyz[1], wxyz[2], wxyz[3], wxyz[0])
}

/// The numbers of a quaternion as (w, x, y, z).
pub fn wxyz_from_quaternion(q: DQuat) -> [f64; 4] {
    [q.w, q.x, q.y, q.z]
}

/// The rotation by |`w`| radians about `w`.
#[inline]
pub fn exp_rotation(w: DVec3) -> DQuat {
    let t2 = w.length_squared();
    let (half_sinc, cos) = if t2 < SERIES_ANGLE_SQUARED {
        // ½ sinc(θ/2) and cos(θ/2) by Taylor, x = (θ/2)².
        let x = 0.25 * t2;
        (
            0.5 * (1.0 - x / 6.0 * (1.0 - x / 20.0 * (1.0 - x / 42.0 * (1.0 - x / 72.0)))),
            1.0 - x / 2.0 * (1.0 - x / 12.0 * (1.0 - x / 30.0 * (1.0 - x / 56.0))),
        )
    } else {
        let t = sqrt(t2);
        let (s, c) = sin_cos(0.5 * t);
        (s / t, c)
    };
    let v = w * half_sinc;
    DQuat::from_xyzw(v.x, v.y, v.z, cos)
}

/// The rotation vector of smallest length (≤ π) of a unit quaternion.
pub fn log_rotation(q: DQuat) -> DVec3 {
    // q and −q are the same rotation; take the one with w ≥ 0.
    let (w, v) = if q.w < 0.0 {
        (-q.w, -DVec3::new(q.x, q.y, q.z))
    } else {
        (q.w, DVec3::new(q.x, q.y, q.z))
    };
    let s2 = v.length_squared();
    if s2 < 1e-30 {
        return v * (2.0 / w);
    }
    let s = sqrt(s2);
    v * (2.0 * atan2(s, w) / s)
}

/// Left Jacobian `J_l(w) = 1 + a w× + b w×²`: spatial angular velocity = `J_l(w) ẇ`.
///
/// `a = (1 − cos θ)/θ²`, `b = (θ − sin θ)/θ³`.
pub fn rotation_left_jacobian(w: DVec3) -> DMat3 {
    jacobian::<1>(w).value()
}

/// Right Jacobian `J_r(w) = J_l(−w)`: body angular velocity = `J_r(w) ẇ`.
pub fn rotation_right_jacobian(w: DVec3) -> DMat3 {
    rotation_left_jacobian(-w)
}

/// Inverse of [`rotation_left_jacobian`], `1 − ½ w× + c w×²`; finite for |w| < 2π.
///
/// `c = (1 − ½θ cot ½θ)/θ²`.
pub fn rotation_left_jacobian_inverse(w: DVec3) -> DMat3 {
    inverse_jacobian::<1>(w).value()
}

/// Inverse of [`rotation_right_jacobian`]; finite for |w| < 2π.
pub fn rotation_right_jacobian_inverse(w: DVec3) -> DMat3 {
    rotation_left_jacobian_inverse(-w)
}
