//! What wrenches do on the twists of four instances:
//! [`WorldTwist::pull_back`](crate::effectors::WorldTwist) with the same operations in the same
//! order, none of them fused, so that the bits are those of a single instance.

use forks_linalg::simd::{Arithmetic, Unfused, Wide, WideVectors};

use crate::kernel::half_angle_series_of_lanes;

/// a · b.
#[inline(always)]
pub(super) fn dot<L: Arithmetic>(a: WideVectors<L>, b: WideVectors<L>) -> Wide<L> {
    unfused(a).dot(unfused(b)).fused()
}

#[inline(always)]
fn unfused<L: Arithmetic>(WideVectors([x, y, z]): WideVectors<L>) -> WideVectors<Unfused<L>> {
    WideVectors([x.unfused(), y.unfused(), z.unfused()])
}

#[inline(always)]
fn fused<L: Arithmetic>(WideVectors([x, y, z]): WideVectors<Unfused<L>>) -> WideVectors<L> {
    WideVectors([x.fused(), y.fused(), z.fused()])
}

/// V ᵀx = x − b ω×x + c ω×(ω×x).
#[inline(always)]
fn transposed<L: Arithmetic>(
    o: WideVectors<L>,
    x: WideVectors<L>,
    [b, c]: [Wide<L>; 2],
) -> WideVectors<L> {
    let once = o.cross(x);
    let twice = o.cross(once);
    (x - once.scaled(b)).plus_scaled(twice, c)
}

/// Force and torque in the axes of the twists (v, o) of wrenches (f, t) in world axes; holds for
/// ‖o‖ ≤ π.
#[inline(always)]
pub(super) fn pull_back<L: Arithmetic>(
    l: L,
    twist: [WideVectors<L>; 2],
    wrench: [WideVectors<L>; 2],
) -> [WideVectors<L>; 2] {
    let ([v, o], [f, t]) = (twist.map(unfused), wrench.map(unfused));
    let y = (0.25 * o.dot(o)).rounded();
    let [p, q, dp, dq] = half_angle_series_of_lanes(l, y.fused()).map(Wide::unfused);
    let sinc = 1.0 - y * q;
    let b = (0.5 * sinc * sinc).rounded();
    let c = (0.25 * (p + q - y * p * q)).rounded();
    let db = (-0.25 * sinc * (q + y * dq)).rounded();
    let dc = dp + dq - p * q - y * (dp * q + p * dq);
    let dc = (dc * (1.0 / 16.0)).rounded();
    let u = o.cross(v);
    let bend = o.cross(u);
    // (∂(V v)/∂ω)ᵀ f
    let sideways = u.cross(f) + v.cross(f.cross(o));
    let along = (2.0 * (db * f.dot(u) + dc * f.dot(bend))).rounded();
    let turned = v.cross(f).scaled(b).plus_scaled(sideways, c).plus_scaled(o, along);
    [transposed(o, f, [b, c]), turned + transposed(o, t, [b, c])].map(fused)
}
