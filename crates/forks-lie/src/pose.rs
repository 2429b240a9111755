//! Rigid poses: the group SE(3).

use crate::{Digits, DigitsOf};
use core::ops::Mul;

use glam::{DMat3, DQuat, DVec3};

use crate::{Adjoint, Twist, so3};

/// A rigid motion that maps coordinates of one frame to another: `x_a = R x_b + p` for `a_from_b`.
///
/// With feature `serde`: `{"position": [x, y, z], "quaternion_wxyz": [w, x, y, z]}`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pose {
    /// Unit quaternion.
    #[cfg_attr(feature = "serde", serde(rename = "quaternion_wxyz", with = "wxyz"))]
    pub rotation: DQuat,
    /// Position of the source frame's origin in the target frame, metres.
    #[cfg_attr(feature = "serde", serde(rename = "position"))]
    pub translation: DVec3,
}

/// Writes and reads a quaternion as (w, x, y, z).
#[cfg(feature = "serde")]
mod wxyz {
    use glam::DQuat;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::so3::{quaternion_from_wxyz, wxyz_from_quaternion};

    pub(super) fn serialize<S: Serializer>(q: &DQuat, s: S) -> Result<S::Ok, S::Error> {
        wxyz_from_quaternion(*q).serialize(s)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<DQuat, D::Error> {
        <[f64; 4]>::deserialize(d).map(quaternion_from_wxyz)
    }
}

/// Why sixteen numbers are no rigid motion.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PoseError {
    /// A number is NaN or infinite.
    #[error("entry ({row}, {column}) of the transformation is {value}", value = Digits(*.value))]
    NotFinite {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// The last row is not (0, 0, 0, 1).
    #[error("the last row of the transformation is ({}), not (0, 0, 0, 1)", DigitsOf(.0))]
    LastRow([f64; 4]),
    /// The 3×3 part is not a rotation: the largest entry of `RᵀR − 1` and the determinant.
    #[error(
        "not a rotation: RᵀR differs from 1 by {deviation}, determinant {determinant}",
        deviation = Digits(*.deviation),
        determinant = Digits(*.determinant)
    )]
    NotARotation {
        /// Largest absolute entry of `RᵀR − 1`.
        deviation: f64,
        /// Determinant of `R`.
        determinant: f64,
    },
}

/// Largest entry of `RᵀR − 1` accepted from a matrix: that of one written with six decimals.
const ROTATION_TOLERANCE: f64 = 1e-5;

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Pose {
    /// The identity.
    pub const IDENTITY: Self = Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO };

    /// A pose from a unit quaternion and a translation.
    pub const fn new(rotation: DQuat, translation: DVec3) -> Self {
        Self { rotation, translation }
    }

    /// A pure translation.
    pub const fn from_translation(translation: DVec3) -> Self {
        Self::new(DQuat::IDENTITY, translation)
    }

    /// A pure rotation.
    pub const fn from_rotation(rotation: DQuat) -> Self {
        Self::new(rotation, DVec3::ZERO)
    }

    /// From (x, y, z, qw, qx, qy, qz); the quaternion is taken as it is, see [`Pose::normalized`].
    pub fn from_array(a: [f64; 7]) -> Self {
        let [x, y, z, qw, qx, qy, qz] = a;
        Self::new(so3::quaternion_from_wxyz([qw, qx, qy, qz]), DVec3::new(x, y, z))
    }

    /// As (x, y, z, qw, qx, qy, qz).
    pub fn to_array(&self) -> [f64; 7] {
        let (p, [w, x, y, z]) = (self.translation, so3::wxyz_from_quaternion(self.rotation));
        [p.x, p.y, p.z, w, x, y, z]
    }

    /// From the rows of the homogeneous matrix `[[R, p], [0, 1]]`.
    ///
    /// # Errors
    /// Where a number is not finite, `R` is not a rotation to 1e-5 or the last row is not (0, 0, 0,
    /// 1).
    pub fn from_rows(rows: [[f64; 4]; 4]) -> Result<Self, PoseError> {
        for (row, numbers) in rows.iter().enumerate() {
            if let Some(column) = numbers.iter().position(|x| !x.is_finite()) {
                return Err(PoseError::NotFinite { row, column, value: numbers[column] });
            }
        }
        let [x, y, z, last] = rows;
        if last != [0.0, 0.0, 0.0, 1.0] {
            return Err(PoseError::LastRow(last));
        }
        let column = |j: usize| DVec3::new(x[j], y[j], z[j]);
        let r = DMat3::from_cols(column(0), column(1), column(2));
        let excess = r.transpose() * r - DMat3::IDENTITY;
        let deviation = excess.to_cols_array().iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let determinant = r.determinant();
        if deviation > ROTATION_TOLERANCE || determinant < 0.0 {
            return Err(PoseError::NotARotation { deviation, determinant });
        }
        Ok(Self::new(DQuat::from_mat3(&r).normalize(), column(3)))
    }

    /// The rows of the homogeneous matrix `[[R, p], [0, 1]]`.
    pub fn to_rows(&self) -> [[f64; 4]; 4] {
        let (r, p) = (DMat3::from_quat(self.rotation), self.translation);
        let row = |i: usize| [r.x_axis[i], r.y_axis[i], r.z_axis[i], p[i]];
        [row(0), row(1), row(2), [0.0, 0.0, 0.0, 1.0]]
    }

    /// The inverse motion.
    #[inline]
    pub fn inverse(&self) -> Self {
        let q = self.rotation.conjugate();
        Self::new(q, -(q * self.translation))
    }

    /// Maps a point.
    #[inline]
    pub fn transform_point(&self, p: DVec3) -> DVec3 {
        self.rotation * p + self.translation
    }

    /// Maps a direction.
    #[inline]
    pub fn transform_vector(&self, v: DVec3) -> DVec3 {
        self.rotation * v
    }

    /// The adjoint map of this pose.
    #[inline]
    pub fn adjoint(&self) -> Adjoint {
        Adjoint { rotation: DMat3::from_quat(self.rotation), translation: self.translation }
    }

    /// The exponential of a twist.
    ///
    /// With `θ = |ω|`: rotation `exp(ω×)`, translation `J_l(ω) v`.
    pub fn exp(twist: Twist) -> Self {
        Self::new(
            so3::exp_rotation(twist.angular),
            so3::rotation_left_jacobian(twist.angular) * twist.linear,
        )
    }

    /// The logarithm: the twist of smallest rotation angle (≤ π) with `exp(log) = self`.
    pub fn log(&self) -> Twist {
        let w = so3::log_rotation(self.rotation);
        Twist::new(so3::rotation_left_jacobian_inverse(w) * self.translation, w)
    }

    /// `self exp(ξ)`: displaced by a body twist.
    #[inline]
    pub fn displaced(&self, twist: Twist) -> Self {
        (*self * Self::exp(twist)).normalized()
    }

    /// `log(self⁻¹ other)`: the body twist that takes `self` to `other`.
    pub fn twist_to(&self, other: &Pose) -> Twist {
        (self.inverse() * *other).log()
    }

    /// The same pose with its quaternion scaled to unit length.
    #[inline]
    pub fn normalized(&self) -> Self {
        Self::new(self.rotation.normalize(), self.translation)
    }

    /// True if all numbers are finite.
    pub fn is_finite(&self) -> bool {
        self.rotation.is_finite() && self.translation.is_finite()
    }
}

impl Mul for Pose {
    type Output = Pose;
    /// Composition: `a_from_b * b_from_c = a_from_c`.
    #[inline]
    fn mul(self, other: Pose) -> Pose {
        Pose::new(self.rotation * other.rotation, self.transform_point(other.translation))
    }
}

impl From<Pose> for Adjoint {
    fn from(pose: Pose) -> Self {
        pose.adjoint()
    }
}

impl From<[f64; 7]> for Pose {
    fn from(a: [f64; 7]) -> Self {
        Self::from_array(a)
    }
}

impl From<Pose> for [f64; 7] {
    fn from(pose: Pose) -> Self {
        pose.to_array()
    }
}

impl TryFrom<[[f64; 4]; 4]> for Pose {
    type Error = PoseError;
    fn try_from(rows: [[f64; 4]; 4]) -> Result<Self, PoseError> {
        Self::from_rows(rows)
    }
}

impl From<Pose> for [[f64; 4]; 4] {
    fn from(pose: Pose) -> Self {
        pose.to_rows()
    }
}
