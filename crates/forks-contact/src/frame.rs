//! Jacobians of points of rigid bodies.

use forks_lie::glam::DVec3;
use forks_linalg::simd::{Lanes, Vectors};

/// Two unit tangents that make a right-handed frame (normal, first, second) with a unit normal: the
/// x and y axes turned the shortest way from z to the normal, or from −z, whichever is nearer
/// \[D17\].
#[inline]
pub fn tangents(normal: DVec3) -> [DVec3; 2] {
    let DVec3 { x, y, z } = normal;
    let sign = 1.0f64.copysign(z);
    let a = -1.0 / (sign + z);
    let b = x * y * a;
    [DVec3::new(1.0 + sign * x * x * a, sign * b, -sign * x), DVec3::new(b, sign + y * y * a, -y)]
}

/// Velocity of a body's point along three axes, as 3 × 6 Jacobian of the body's twist (v; ω), row
/// after row.
///
/// `point` (m) and `axes` (normal, two tangents) are in the frame of the twist. The body towards
/// which the normal points takes `sign` 1, the other one −1, so that a positive normal velocity
/// separates them.
pub fn point_jacobian(point: DVec3, axes: [DVec3; 3], sign: f64) -> [f64; 18] {
    let columns = point_columns(point, &Vectors::of_three(axes).scaled(sign));
    core::array::from_fn(|k| columns[k % 6][k / 6])
}

/// The same column after column, as [`Side::by_columns`](crate::Side::by_columns) takes it; the
/// sign is that of the axes.
#[inline]
pub fn point_columns(point: DVec3, axes: &Vectors) -> [Lanes; 6] {
    let moments = axes.crossed_by(point);
    [axes.x, axes.y, axes.z, moments.x, moments.y, moments.z]
}
