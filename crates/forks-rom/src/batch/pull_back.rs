//! What wrenches do on the twists of four instances:
//! [`WorldTwist::pull_back`](crate::effectors::WorldTwist) with the same operations in the same
//! order, none of them fused, so that the bits are those of a single instance.

use crate::kernel::{Arithmetic, half_angle_series_of_lanes};

/// A vector per lane.
pub(super) type Vectors<V> = [V; 3];

/// a × b.
#[inline(always)]
fn cross<L: Arithmetic>(l: L, a: Vectors<L::V>, b: Vectors<L::V>) -> Vectors<L::V> {
    let minor = |i: usize, j: usize| l.sub(l.mul(a[i], b[j]), l.mul(b[i], a[j]));
    [minor(1, 2), minor(2, 0), minor(0, 1)]
}

/// a · b.
#[inline(always)]
pub(super) fn dot<L: Arithmetic>(l: L, a: Vectors<L::V>, b: Vectors<L::V>) -> L::V {
    l.add(l.add(l.mul(a[0], b[0]), l.mul(a[1], b[1])), l.mul(a[2], b[2]))
}

#[inline(always)]
fn sum<L: Arithmetic>(l: L, a: Vectors<L::V>, b: Vectors<L::V>) -> Vectors<L::V> {
    core::array::from_fn(|i| l.add(a[i], b[i]))
}

#[inline(always)]
fn scaled<L: Arithmetic>(l: L, a: Vectors<L::V>, s: L::V) -> Vectors<L::V> {
    core::array::from_fn(|i| l.mul(a[i], s))
}

/// V ᵀx = x − b ω×x + c ω×(ω×x).
#[inline(always)]
fn transposed<L: Arithmetic>(
    l: L,
    o: Vectors<L::V>,
    x: Vectors<L::V>,
    [b, c]: [L::V; 2],
) -> Vectors<L::V> {
    let once = cross(l, o, x);
    let twice = cross(l, o, once);
    core::array::from_fn(|i| l.add(l.sub(x[i], l.mul(once[i], b)), l.mul(twice[i], c)))
}

/// Force and torque in the axes of the twists (v, o) of wrenches (f, t) in world axes; holds for
/// ‖o‖ ≤ π.
#[inline(always)]
pub(super) fn pull_back<L: Arithmetic>(
    l: L,
    [v, o]: [Vectors<L::V>; 2],
    [f, t]: [Vectors<L::V>; 2],
) -> [Vectors<L::V>; 2] {
    let y = l.mul(l.splat(0.25), dot(l, o, o));
    let [p, q, dp, dq] = half_angle_series_of_lanes(l, y);
    let sinc = l.sub(l.splat(1.0), l.mul(y, q));
    let b = l.mul(l.mul(l.splat(0.5), sinc), sinc);
    let c = l.mul(l.splat(0.25), l.sub(l.add(p, q), l.mul(l.mul(y, p), q)));
    let db = l.mul(l.mul(l.splat(-0.25), sinc), l.add(q, l.mul(y, dq)));
    let products = l.add(l.mul(dp, q), l.mul(p, dq));
    let dc = l.sub(l.sub(l.add(dp, dq), l.mul(p, q)), l.mul(y, products));
    let dc = l.mul(dc, l.splat(1.0 / 16.0));
    let u = cross(l, o, v);
    let bend = cross(l, o, u);
    // (∂(V v)/∂ω)ᵀ f
    let sideways = sum(l, cross(l, u, f), cross(l, v, cross(l, f, o)));
    let along = l.add(l.mul(db, dot(l, f, u)), l.mul(dc, dot(l, f, bend)));
    let along = l.mul(l.splat(2.0), along);
    let turned = sum(l, scaled(l, cross(l, v, f), b), scaled(l, sideways, c));
    let turned = sum(l, turned, scaled(l, o, along));
    [transposed(l, o, f, [b, c]), sum(l, turned, transposed(l, o, t, [b, c]))]
}
