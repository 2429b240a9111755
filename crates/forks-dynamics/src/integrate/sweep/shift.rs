//! What a translation does to twists and wrenches that are seen in the same axes on both sides.

use forks_mechanism::lie::{Twist, Wrench, glam::DVec3};

/// From the origin of an inner slot to that of an outer one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shift(pub(super) DVec3);

impl Shift {
    /// A twist at the inner origin seen at the outer one.
    #[inline(always)]
    pub(super) fn twist_outward(&self, t: &Twist) -> Twist {
        Twist { linear: t.linear + t.angular.cross(self.0), angular: t.angular }
    }

    /// A wrench at the outer origin seen at the inner one.
    #[inline(always)]
    pub(super) fn wrench_inward(&self, w: &Wrench) -> Wrench {
        Wrench { force: w.force, torque: w.torque + self.0.cross(w.force) }
    }
}
