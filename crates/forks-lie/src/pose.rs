//! Rigid poses: the group SE(3).

use core::ops::Mul;

use glam::{DQuat, DVec3};

use crate::{Adjoint, Twist, so3};

/// A rigid motion that maps coordinates of one frame to another: `x_a = R x_b + p` for `a_from_b`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pose {
    /// Unit quaternion.
    pub rotation: DQuat,
    /// Position of the source frame's origin in the target frame, metres.
    pub translation: DVec3,
}

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
        Adjoint::from_pose(self)
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
