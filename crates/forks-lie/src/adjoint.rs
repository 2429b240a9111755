//! The adjoint map of a pose (\[A16\] Eq. 29).

use glam::{DMat3, DVec3};

use crate::{Mat6, Twist, Wrench, skew};

/// The adjoint of the pose `a_from_b`: maps a twist in `b`'s frame to the same motion in `a`'s
/// frame.
///
/// As a matrix `[[R, p× R], [0, R]]`, linear part first.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Adjoint {
    /// Rotation of the pose.
    pub rotation: DMat3,
    /// Translation of the pose.
    pub translation: DVec3,
}

impl Adjoint {
    /// The identity map.
    pub const IDENTITY: Self = Self { rotation: DMat3::IDENTITY, translation: DVec3::ZERO };

    /// Maps a twist: `Ad ξ`.
    #[inline]
    pub fn apply(&self, t: Twist) -> Twist {
        let angular = self.rotation * t.angular;
        Twist::new(self.rotation * t.linear + self.translation.cross(angular), angular)
    }

    /// Maps a twist backwards: `Ad⁻¹ ξ`.
    #[inline]
    pub fn apply_inverse(&self, t: Twist) -> Twist {
        let rt = self.rotation.transpose();
        Twist::new(rt * (t.linear - self.translation.cross(t.angular)), rt * t.angular)
    }

    /// `Adᵀ w`: takes a wrench in the target frame of the twists back to the source frame.
    #[inline]
    pub fn transpose_apply(&self, w: Wrench) -> Wrench {
        let rt = self.rotation.transpose();
        Wrench::new(rt * w.force, rt * (w.torque - self.translation.cross(w.force)))
    }

    /// `Ad⁻ᵀ w`: maps a wrench in the same direction as [`Adjoint::apply`] maps twists.
    #[inline]
    pub fn apply_to_wrench(&self, w: Wrench) -> Wrench {
        let force = self.rotation * w.force;
        Wrench::new(force, self.rotation * w.torque + self.translation.cross(force))
    }

    /// The 6×6 matrix.
    pub fn matrix(&self) -> Mat6 {
        Mat6::from_blocks(
            self.rotation,
            skew(self.translation) * self.rotation,
            DMat3::ZERO,
            self.rotation,
        )
    }
}

impl From<Adjoint> for Mat6 {
    fn from(a: Adjoint) -> Self {
        a.matrix()
    }
}
