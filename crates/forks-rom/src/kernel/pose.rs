//! The exponential of twists without division or square root.
//!
//! With h = ‖ω‖/2 and y = h²: cos h = 1 − y P(y), sin h / h = 1 − y Q(y), P and Q polynomials. Then
//! exp(ω) = (cos h, ½ (sin h / h) ω) and V(ω) v = v + b ω×v + c ω×(ω×v) with b = (1 − cos 2h)/4h² =
//! ½ (sin h / h)², c = (1 − sin 2h / 2h)/4h² = (P + Q − y P Q)/4: nothing cancels, not even at ω =
//! 0.

use super::{Arithmetic, Lanes};

/// y up to which the polynomials hold: rotations up to π.
pub(crate) const MAX_QUARTER_ANGLE_SQUARED: f64 =
    core::f64::consts::FRAC_PI_2 * core::f64::consts::FRAC_PI_2;

/// How often a twist is halved before its exponential is taken.
const MAX_HALVINGS: i32 = 4;
/// y up to which [`displaced`] holds: rotations up to 16π.
pub(crate) const FAR_LIMIT: f64 = MAX_QUARTER_ANGLE_SQUARED * 256.0;

/// P on [0, (π/2)²]: interpolation in Chebyshev's points, computed with 60 digits; error 1.3e-17.
const P: [f64; 8] = [
    0.5,
    -0.041_666_666_666_666_34,
    0.001_388_888_888_886_070_9,
    -2.480_158_729_244_621_3e-5,
    2.755_731_776_732_053e-7,
    -2.087_663_086_742_299_4e-9,
    1.146_468_988_572_002_9e-11,
    -4.627_675_985_018_171_6e-14,
];

/// Q, in the same way; error 9.3e-18.
const Q: [f64; 8] = [
    0.166_666_666_666_666_66,
    -0.008_333_333_333_333_316,
    0.000_198_412_698_412_549_74,
    -2.755_731_921_916_323_4e-6,
    2.505_210_761_699_618_2e-8,
    -1.605_897_731_246_408_7e-10,
    7.643_970_296_798_572e-13,
    -2.731_444_766_986_399_5e-15,
];

/// A polynomial of degree seven in pairs (Estrin's scheme), a third of Horner's depth.
#[inline(always)]
fn polynomial<L: Arithmetic>(l: L, c: &[f64; 8], y: L::V) -> L::V {
    let y2 = l.mul(y, y);
    let low = l.mul_add(pair(l, c, 2, y), y2, pair(l, c, 0, y));
    let high = l.mul_add(pair(l, c, 6, y), y2, pair(l, c, 4, y));
    l.mul_add(high, l.mul(y2, y2), low)
}

/// c_k + c_{k+1} y.
#[inline(always)]
fn pair<L: Arithmetic>(l: L, c: &[f64; 8], k: usize, y: L::V) -> L::V {
    l.mul_add(l.splat(c[k + 1]), y, l.splat(c[k]))
}

/// The exponential of a twist: quaternion (d, cosine) and displacement V v.
#[derive(Clone, Copy)]
struct Motion<V> {
    vector: [V; 3],
    cosine: V,
    displacement: [V; 3],
}

impl<V: Copy> Motion<V> {
    /// exp of the twist (v, ω) with y = ‖ω‖²/4 ≤ (π/2)².
    #[inline(always)]
    fn exp<L: Arithmetic<V = V>>(l: L, v: [V; 3], w: [V; 3], y: V) -> Self {
        let (p, q) = (polynomial(l, &P, y), polynomial(l, &Q, y));
        let one = l.splat(1.0);
        let cosine = l.neg_mul_add(y, p, one);
        let sinc = l.neg_mul_add(y, q, one);
        let half_sinc = l.mul(l.splat(0.5), sinc);
        let b = l.mul(half_sinc, sinc);
        let c = l.mul(l.splat(0.25), l.mul_add(cosine, q, p));
        // v + ω × (b v + c ω × v)
        let u = cross(l, w, v);
        let inner = [
            l.mul_add(c, u[0], l.mul(b, v[0])),
            l.mul_add(c, u[1], l.mul(b, v[1])),
            l.mul_add(c, u[2], l.mul(b, v[2])),
        ];
        let turn = cross(l, w, inner);
        Self {
            vector: [l.mul(half_sinc, w[0]), l.mul(half_sinc, w[1]), l.mul(half_sinc, w[2])],
            cosine,
            displacement: [l.add(v[0], turn[0]), l.add(v[1], turn[1]), l.add(v[2], turn[2])],
        }
    }

    /// The motion made twice.
    #[inline(always)]
    fn squared<L: Arithmetic<V = V>>(self, l: L) -> Self {
        let Self { vector: d, cosine: c, displacement: t } = self;
        let square = l.mul_add(d[2], d[2], l.mul_add(d[1], d[1], l.mul(d[0], d[0])));
        let twice = l.add(c, c);
        // t + R t = 2 (t + d × (d × t + c t))
        let once = cross(l, d, t);
        let inner =
            [l.mul_add(c, t[0], once[0]), l.mul_add(c, t[1], once[1]), l.mul_add(c, t[2], once[2])];
        let turn = cross(l, d, inner);
        let two = l.splat(2.0);
        Self {
            vector: [l.mul(twice, d[0]), l.mul(twice, d[1]), l.mul(twice, d[2])],
            cosine: l.sub(l.mul(c, c), square),
            displacement: [
                l.mul(two, l.add(t[0], turn[0])),
                l.mul(two, l.add(t[1], turn[1])),
                l.mul(two, l.add(t[2], turn[2])),
            ],
        }
    }

    /// This motion where `x` is not above the limit, the other where it is.
    #[inline(always)]
    fn or_above<L: Arithmetic<V = V>>(self, l: L, x: V, limit: f64, other: Self) -> Self {
        let mut out = self;
        out.cosine = l.select_above(x, limit, other.cosine, self.cosine);
        for k in 0..3 {
            out.vector[k] = l.select_above(x, limit, other.vector[k], self.vector[k]);
            out.displacement[k] =
                l.select_above(x, limit, other.displacement[k], self.displacement[k]);
        }
        out
    }

    /// exp of any twist up to 16π: lanes that turn by more than π take ½, ¼, … of it and square the
    /// result again.
    #[inline(always)]
    fn exp_far<L: Arithmetic<V = V>>(l: L, mut v: [V; 3], mut w: [V; 3], y: V) -> Self {
        let one = l.splat(1.0);
        let (mut scale, mut part, mut limit) = (one, 0.5, MAX_QUARTER_ANGLE_SQUARED);
        for _ in 0..MAX_HALVINGS {
            scale = l.select_above(y, limit, l.splat(part), scale);
            part *= 0.5;
            limit *= 4.0;
        }
        for k in 0..3 {
            v[k] = l.mul(scale, v[k]);
            w[k] = l.mul(scale, w[k]);
        }
        let mut out = Self::exp(l, v, w, l.mul(l.mul(scale, scale), y));
        limit = MAX_QUARTER_ANGLE_SQUARED;
        for _ in 0..MAX_HALVINGS {
            if !l.any_above(y, limit) {
                break;
            }
            out = out.or_above(l, y, limit, out.squared(l));
            limit *= 4.0;
        }
        out
    }
}

/// A pose times the exponential of a twist given in the axes of the target frame: position,
/// quaternion (x, y, z, w).
///
/// `rest` is (position, quaternion) and `twist` (v, ω), both turned into world axes: (R exp(ω̂), p
/// + R V v) = (exp(ω̂') R, p + V(ω') v') with ω' = R ω, v' = R v. Sets `beyond` where a lane turns
/// by more than 16π: that lane is not right.
#[inline(always)]
pub fn displaced<L: Arithmetic>(
    l: L,
    rest: [L::V; 7],
    twist: [L::V; 6],
    beyond: &mut bool,
) -> [L::V; 7] {
    let [px, py, pz, ax, ay, az, aw] = rest;
    let [v, w] = [[twist[0], twist[1], twist[2]], [twist[3], twist[4], twist[5]]];
    let square = l.mul_add(w[2], w[2], l.mul_add(w[1], w[1], l.mul(w[0], w[0])));
    let y = l.mul(square, l.splat(0.25));
    let motion = if l.any_above(y, MAX_QUARTER_ANGLE_SQUARED) {
        *beyond |= l.any_above(y, FAR_LIMIT);
        Motion::exp_far(l, v, w, y)
    } else {
        Motion::exp(l, v, w, y)
    };
    let Motion { vector, cosine, displacement: t } = motion;
    let [x, y, z, w] = turned_by(l, vector, cosine, [ax, ay, az, aw]);
    [l.add(px, t[0]), l.add(py, t[1]), l.add(pz, t[2]), x, y, z, w]
}

/// (d, cosine) a, quaternions (x, y, z, w).
#[inline(always)]
pub(crate) fn turned_by<L: Arithmetic>(
    l: L,
    d: [L::V; 3],
    cosine: L::V,
    [ax, ay, az, aw]: [L::V; 4],
) -> [L::V; 4] {
    let left = l.neg_mul_add(d[0], ax, l.mul(cosine, aw));
    let right = l.mul_add(d[2], az, l.mul(d[1], ay));
    [
        dot(l, [cosine, d[0], d[1], d[2]], [ax, aw, az, ay]),
        dot(l, [cosine, d[1], d[2], d[0]], [ay, aw, ax, az]),
        dot(l, [cosine, d[2], d[0], d[1]], [az, aw, ay, ax]),
        l.sub(left, right),
    ]
}

/// a = cos h, b = sin h / h and 4c = (1 − a b)/h² for y = h², half the angle of ω: exp(ω) = (½ b ω,
/// a) and V(ω) v = a b v + ½ b² ω×v + c (ω·v) ω. Sets `beyond` where a lane turns by more than 16π:
/// that lane is not right.
#[inline(always)]
pub fn half_angle_coefficients<L: Arithmetic>(l: L, y: L::V, beyond: &mut bool) -> [L::V; 3] {
    let one = l.splat(1.0);
    if l.any_above(y, MAX_QUARTER_ANGLE_SQUARED) {
        *beyond |= l.any_above(y, FAR_LIMIT);
        return half_angle_coefficients_far(l, y);
    }
    let (p, q) = (polynomial(l, &P, y), polynomial(l, &Q, y));
    let (cosine, sinc) = (l.neg_mul_add(y, p, one), l.neg_mul_add(y, q, one));
    [cosine, sinc, l.mul_add(cosine, q, p)]
}

/// The same by ½, ¼, … of the angle where it is above π/2, doubled again.
#[inline(always)]
fn half_angle_coefficients_far<L: Arithmetic>(l: L, y: L::V) -> [L::V; 3] {
    let one = l.splat(1.0);
    let (mut scale, mut part, mut limit) = (one, 0.25, MAX_QUARTER_ANGLE_SQUARED);
    for _ in 0..MAX_HALVINGS {
        scale = l.select_above(y, limit, l.splat(part), scale);
        part *= 0.25;
        limit *= 4.0;
    }
    let mut part = l.mul(scale, y);
    let (p, q) = (polynomial(l, &P, part), polynomial(l, &Q, part));
    let (mut cosine, mut sinc) = (l.neg_mul_add(part, p, one), l.neg_mul_add(part, q, one));
    limit = MAX_QUARTER_ANGLE_SQUARED;
    for _ in 0..MAX_HALVINGS {
        // cos 2h = cos² h − sin² h, sin 2h / 2h = cos h sin h / h
        let sine_squared = l.mul(l.mul(part, sinc), sinc);
        let twice = l.sub(l.mul(cosine, cosine), sine_squared);
        sinc = l.select_above(y, limit, l.mul(cosine, sinc), sinc);
        cosine = l.select_above(y, limit, twice, cosine);
        part = l.select_above(y, limit, l.mul(part, l.splat(4.0)), part);
        limit *= 4.0;
    }
    let root = l.inverse_root(y);
    let far = l.mul(l.neg_mul_add(cosine, sinc, one), l.mul(root, root));
    let near = l.mul_add(cosine, q, p);
    let pitch = l.select_above(y, MAX_QUARTER_ANGLE_SQUARED, far, near);
    [cosine, sinc, pitch]
}

/// a₀b₀ + a₁b₁ + a₂b₂ − a₃b₃.
#[inline(always)]
fn dot<L: Arithmetic>(l: L, a: [L::V; 4], b: [L::V; 4]) -> L::V {
    let left = l.mul_add(a[1], b[1], l.mul(a[0], b[0]));
    l.add(left, l.neg_mul_add(a[3], b[3], l.mul(a[2], b[2])))
}

/// a·b.
#[inline(always)]
pub(crate) fn inner<L: Arithmetic>(l: L, a: [L::V; 3], b: [L::V; 3]) -> L::V {
    l.mul_add(a[2], b[2], l.mul_add(a[1], b[1], l.mul(a[0], b[0])))
}

/// a × b.
#[inline(always)]
pub fn cross<L: Arithmetic>(l: L, a: [L::V; 3], b: [L::V; 3]) -> [L::V; 3] {
    [
        l.neg_mul_add(a[2], b[1], l.mul(a[1], b[2])),
        l.neg_mul_add(a[0], b[2], l.mul(a[2], b[0])),
        l.neg_mul_add(a[1], b[0], l.mul(a[0], b[1])),
    ]
}

/// Coefficients of P, Q, P', Q' side by side.
const SERIES: [Lanes; 8] = {
    let mut out = [Lanes([0.0; 4]); 8];
    let mut k = 0;
    while k < 8 {
        let last = k == 7;
        let (dp, dq) = if last { (0.0, 0.0) } else { (P[k + 1], Q[k + 1]) };
        let n = (k + 1) as f64;
        out[k] = Lanes([P[k], Q[k], n * dp, n * dq]);
        k += 1;
    }
    out
};

/// P, Q and their derivatives at y, for one twist.
#[inline(always)]
pub(crate) fn half_angle_series<L: Arithmetic>(l: L, y: f64) -> [f64; 4] {
    let y = l.splat(y);
    let mut sum = l.load(&SERIES[7]);
    for c in SERIES[..7].iter().rev() {
        sum = l.mul_add(sum, y, l.load(c));
    }
    l.store(sum).0
}

/// [`half_angle_series`] in every lane, to the same bits.
#[inline(always)]
pub(crate) fn half_angle_series_of_lanes<L: Arithmetic>(l: L, y: L::V) -> [L::V; 4] {
    let mut sums = [l.splat(0.0); 4];
    for (i, sum) in sums.iter_mut().enumerate() {
        *sum = l.splat(SERIES[7].0[i]);
        for c in SERIES[..7].iter().rev() {
            *sum = l.mul_add(*sum, y, l.splat(c.0[i]));
        }
    }
    sums
}

/// (cos √y, sin √y / √y) for y ≤ (π/2)².
#[inline(always)]
pub(crate) fn cosine_and_sinc<L: Arithmetic>(l: L, y: f64) -> (f64, f64) {
    let [p, q, ..] = half_angle_series(l, y);
    (1.0 - y * p, 1.0 - y * q)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Portable;

    #[test]
    fn coefficients_of_half_angles_are_the_closed_forms() {
        for h in [1e-9, 1e-3, 0.5, 1.5, 1.58, 3.0, 3.2, 6.2, 6.4, 12.5, 12.6, 25.1] {
            let mut beyond = false;
            // A lane beside it that is near.
            let y = [h * h, 0.0, 0.25, h * h];
            let found = half_angle_coefficients(Portable, y, &mut beyond);
            let (cosine, sinc) = (f64::cos(h), f64::sin(h) / h);
            let pitch = match h < 0.1 {
                true => 2.0 / 3.0 - h * h * (2.0 / 15.0),
                false => (1.0 - cosine * sinc) / (h * h),
            };
            assert!(!beyond && found.map(|x| x[0]) == found.map(|x| x[3]));
            for (x, y) in found.iter().zip([cosine, sinc, pitch]) {
                // A few roundings, doubled with the angle up to four times; h is rounded when it is
                // squared.
                assert!((x[0] - y).abs() < 128.0 * f64::EPSILON, "{h}: {} {y}", x[0]);
            }
            assert!((found[2][1] - 2.0 / 3.0).abs() < 4.0 * f64::EPSILON, "{h}");
            assert!((found[0][2] - f64::cos(0.5)).abs() < 4.0 * f64::EPSILON, "{h}");
        }
        let mut beyond = false;
        let _ = half_angle_coefficients(Portable, [700.0; 4], &mut beyond);
        assert!(beyond);
    }
}
