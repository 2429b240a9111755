//! The direction of a vector, where it has one.

use forks_lie::glam::DVec3;

/// Below this a length has no direction: its square would lose digits to underflow.
const TINY: f64 = 1e-140;

/// Length and direction, if there is one.
#[inline(always)]
pub(super) fn direction(v: DVec3) -> Option<(f64, DVec3)> {
    let length = v.length();
    (length > TINY).then(|| (length, v / length))
}
