//! Twists and wrenches.

use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use glam::DVec3;

use crate::Vec6;

/// A velocity or small displacement of a rigid body: (linear; angular), m/s and rad/s (or m and
/// rad).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Twist {
    /// Velocity of the point at the frame's origin.
    pub linear: DVec3,
    /// Angular velocity.
    pub angular: DVec3,
}

/// A force and a torque about the frame's origin: (force; torque), N and N·m.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Wrench {
    /// Force.
    pub force: DVec3,
    /// Torque about the frame's origin.
    pub torque: DVec3,
}

impl Twist {
    /// The zero twist.
    pub const ZERO: Self = Self::new(DVec3::ZERO, DVec3::ZERO);

    /// A twist from its parts.
    pub const fn new(linear: DVec3, angular: DVec3) -> Self {
        Self { linear, angular }
    }

    /// The `i`-th unit twist, linear directions first.
    ///
    /// # Panics
    /// If `i` ≥ 6.
    pub fn unit(i: usize) -> Self {
        let mut v = [0.0; 6];
        v[i] = 1.0;
        Self::from_array(v)
    }

    /// From a flat array, linear part first.
    pub fn from_array(v: Vec6) -> Self {
        Self::new(DVec3::new(v[0], v[1], v[2]), DVec3::new(v[3], v[4], v[5]))
    }

    /// As a flat array, linear part first.
    pub fn to_array(self) -> Vec6 {
        let (l, a) = (self.linear, self.angular);
        [l.x, l.y, l.z, a.x, a.y, a.z]
    }

    /// The Lie bracket `[self, other] = ad_self other`.
    pub fn ad(self, other: Twist) -> Twist {
        Twist::new(
            self.angular.cross(other.linear) + self.linear.cross(other.angular),
            self.angular.cross(other.angular),
        )
    }

    /// `ad_selfᵀ w`: the dual of [`Twist::ad`], so that `w · (ad_self η) = (ad_selfᵀ w) · η`.
    pub fn ad_transpose(self, w: Wrench) -> Wrench {
        Wrench::new(
            w.force.cross(self.angular),
            w.force.cross(self.linear) + w.torque.cross(self.angular),
        )
    }

    /// Power or work of a wrench on this twist.
    pub fn dot(self, w: Wrench) -> f64 {
        self.linear.dot(w.force) + self.angular.dot(w.torque)
    }

    /// True if all parts are finite.
    pub fn is_finite(self) -> bool {
        self.linear.is_finite() && self.angular.is_finite()
    }

    /// Linear part times `s`; used to make twists dimensionless.
    pub fn scale_linear(self, s: f64) -> Self {
        Self::new(self.linear * s, self.angular)
    }

    /// Euclidean norm of the six numbers; it mixes m and rad, see [`Twist::scale_linear`].
    pub fn norm(self) -> f64 {
        forks_linalg::sqrt(self.linear.length_squared() + self.angular.length_squared())
    }
}

impl Wrench {
    /// The zero wrench.
    pub const ZERO: Self = Self::new(DVec3::ZERO, DVec3::ZERO);

    /// A wrench from its parts.
    pub const fn new(force: DVec3, torque: DVec3) -> Self {
        Self { force, torque }
    }

    /// The `i`-th unit wrench, forces first.
    ///
    /// # Panics
    /// If `i` ≥ 6.
    pub fn unit(i: usize) -> Self {
        let mut v = [0.0; 6];
        v[i] = 1.0;
        Self::from_array(v)
    }

    /// From a flat array, force first.
    pub fn from_array(v: Vec6) -> Self {
        Self::new(DVec3::new(v[0], v[1], v[2]), DVec3::new(v[3], v[4], v[5]))
    }

    /// As a flat array, force first.
    pub fn to_array(self) -> Vec6 {
        let (f, t) = (self.force, self.torque);
        [f.x, f.y, f.z, t.x, t.y, t.z]
    }

    /// Power or work on a twist.
    pub fn dot(self, twist: Twist) -> f64 {
        twist.dot(self)
    }

    /// True if all parts are finite.
    pub fn is_finite(self) -> bool {
        self.force.is_finite() && self.torque.is_finite()
    }
}

macro_rules! vector_space {
    ($t:ident, $a:ident, $b:ident) => {
        impl Add for $t {
            type Output = Self;
            fn add(self, o: Self) -> Self {
                Self::new(self.$a + o.$a, self.$b + o.$b)
            }
        }
        impl Sub for $t {
            type Output = Self;
            fn sub(self, o: Self) -> Self {
                Self::new(self.$a - o.$a, self.$b - o.$b)
            }
        }
        impl Neg for $t {
            type Output = Self;
            fn neg(self) -> Self {
                Self::new(-self.$a, -self.$b)
            }
        }
        impl Mul<f64> for $t {
            type Output = Self;
            fn mul(self, s: f64) -> Self {
                Self::new(self.$a * s, self.$b * s)
            }
        }
        impl Mul<$t> for f64 {
            type Output = $t;
            fn mul(self, t: $t) -> $t {
                t * self
            }
        }
        impl AddAssign for $t {
            fn add_assign(&mut self, o: Self) {
                *self = *self + o;
            }
        }
        impl SubAssign for $t {
            fn sub_assign(&mut self, o: Self) {
                *self = *self - o;
            }
        }
        impl From<Vec6> for $t {
            fn from(v: Vec6) -> Self {
                Self::from_array(v)
            }
        }
        impl From<$t> for Vec6 {
            fn from(t: $t) -> Vec6 {
                t.to_array()
            }
        }
    };
}
vector_space!(Twist, linear, angular);
vector_space!(Wrench, force, torque);
