//! The exponential of twists without division or square root.
//!
//! With h = ‖ω‖/2 and y = h²: cos h = 1 − y P(y), sin h / h = 1 − y Q(y), P and Q polynomials. Then
//! exp(ω) = (cos h, ½ (sin h / h) ω) and V(ω) v = v + b ω×v + c ω×(ω×v) with b = (1 − cos 2h)/4h² =
//! ½ (sin h / h)², c = (1 − sin 2h / 2h)/4h² = (P + Q − y P Q)/4: nothing cancels, not even at ω =
//! 0.

use forks_linalg::simd::{Arithmetic, Lanes, Wide, WideVectors};

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
fn polynomial<L: Arithmetic>(c: &[f64; 8], y: Wide<L>) -> Wide<L> {
    let y2 = (y * y).rounded();
    let low = pair(c, 2, y) * y2 + pair(c, 0, y);
    let high = pair(c, 6, y) * y2 + pair(c, 4, y);
    high * (y2 * y2) + low
}

/// c_k + c_{k+1} y.
#[inline(always)]
fn pair<L: Arithmetic>(c: &[f64; 8], k: usize, y: Wide<L>) -> Wide<L> {
    c[k + 1] * y + c[k]
}

/// The exponential of a twist: quaternion (d, cosine) and displacement V v.
#[derive(Clone, Copy)]
struct Motion<L: Arithmetic> {
    vector: WideVectors<L>,
    cosine: Wide<L>,
    displacement: WideVectors<L>,
}

impl<L: Arithmetic> Motion<L> {
    /// exp of the twist (v, ω) with y = ‖ω‖²/4 ≤ (π/2)².
    #[inline(always)]
    fn exp(v: WideVectors<L>, w: WideVectors<L>, y: Wide<L>) -> Self {
        let (p, q) = (polynomial(&P, y), polynomial(&Q, y));
        let cosine = 1.0 - y * p;
        let sinc = 1.0 - y * q;
        let half_sinc = (0.5 * sinc).rounded();
        let b = (half_sinc * sinc).rounded();
        let c = (0.25 * (cosine * q + p)).rounded();
        // v + ω × (b v + c ω × v)
        let inner = v.scaled(b).plus_scaled(w.cross(v), c);
        Self { vector: w.scaled(half_sinc), cosine, displacement: v + w.cross(inner) }
    }

    /// The motion made twice.
    #[inline(always)]
    fn squared(self, l: L) -> Self {
        let Self { vector: d, cosine: c, displacement: t } = self;
        // t + R t = 2 (t + d × (d × t + c t))
        let inner = d.cross(t).plus_scaled(t, c);
        Self {
            vector: d.scaled(c + c),
            cosine: (c * c).rounded() - d.dot(d),
            displacement: (t + d.cross(inner)).scaled(l.splat(2.0)),
        }
    }

    /// This motion where `x` is not above the limit, the other where it is.
    #[inline(always)]
    fn or_above(self, l: L, x: Wide<L>, limit: f64, other: Self) -> Self {
        let mut out = self;
        out.cosine = l.select_above(x, limit, other.cosine, self.cosine);
        for k in 0..3 {
            out.vector.0[k] = l.select_above(x, limit, other.vector[k], self.vector[k]);
            out.displacement.0[k] =
                l.select_above(x, limit, other.displacement[k], self.displacement[k]);
        }
        out
    }

    /// exp of any twist up to 16π: lanes that turn by more than π take ½, ¼, … of it and square the
    /// result again.
    #[inline(always)]
    fn exp_far(l: L, v: WideVectors<L>, w: WideVectors<L>, y: Wide<L>) -> Self {
        let (mut scale, mut part, mut limit) = (l.splat(1.0), 0.5, MAX_QUARTER_ANGLE_SQUARED);
        for _ in 0..MAX_HALVINGS {
            scale = l.select_above(y, limit, l.splat(part), scale);
            part *= 0.5;
            limit *= 4.0;
        }
        let reduced = (scale * scale * y).rounded();
        let mut out = Self::exp(v.scaled(scale), w.scaled(scale), reduced);
        limit = MAX_QUARTER_ANGLE_SQUARED;
        for _ in 0..MAX_HALVINGS {
            if !y.any_above(limit) {
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
/// `rest` is (position, quaternion) and `twist` (v, ω), both turned into world axes: (R exp(ω̂),
/// p + R V v) = (exp(ω̂') R, p + V(ω') v') with ω' = R ω, v' = R v. Sets `beyond` where a lane
/// turns by more than 16π: that lane is not right.
#[inline(always)]
pub fn displaced<L: Arithmetic>(
    l: L,
    rest: [Wide<L>; 7],
    twist: [Wide<L>; 6],
    beyond: &mut bool,
) -> [Wide<L>; 7] {
    let [px, py, pz, ax, ay, az, aw] = rest;
    let [vx, vy, vz, wx, wy, wz] = twist;
    let (v, w) = (WideVectors([vx, vy, vz]), WideVectors([wx, wy, wz]));
    let y = (w.dot(w) * 0.25).rounded();
    let motion = if y.any_above(MAX_QUARTER_ANGLE_SQUARED) {
        *beyond |= y.any_above(FAR_LIMIT);
        Motion::exp_far(l, v, w, y)
    } else {
        Motion::exp(v, w, y)
    };
    let Motion { vector, cosine, displacement: t } = motion;
    let [x, y, z, w] = turned_by(vector, cosine, [ax, ay, az, aw]);
    [px + t[0], py + t[1], pz + t[2], x, y, z, w]
}

/// (d, cosine) a, quaternions (x, y, z, w).
#[inline(always)]
pub(crate) fn turned_by<L: Arithmetic>(
    d: WideVectors<L>,
    cosine: Wide<L>,
    [ax, ay, az, aw]: [Wide<L>; 4],
) -> [Wide<L>; 4] {
    let left = cosine * aw - d[0] * ax;
    let right = d[1] * ay + d[2] * az;
    [
        dot([cosine, d[0], d[1], d[2]], [ax, aw, az, ay]),
        dot([cosine, d[1], d[2], d[0]], [ay, aw, ax, az]),
        dot([cosine, d[2], d[0], d[1]], [az, aw, ay, ax]),
        left - right,
    ]
}

/// a = cos h, b = sin h / h and 4c = (1 − a b)/h² for y = h², half the angle of ω: exp(ω) = (½ b ω,
/// a) and V(ω) v = a b v + ½ b² ω×v + c (ω·v) ω. Sets `beyond` where a lane turns by more than 16π:
/// that lane is not right.
#[inline(always)]
pub fn half_angle_coefficients<L: Arithmetic>(l: L, y: Wide<L>, beyond: &mut bool) -> [Wide<L>; 3] {
    if y.any_above(MAX_QUARTER_ANGLE_SQUARED) {
        *beyond |= y.any_above(FAR_LIMIT);
        return half_angle_coefficients_far(l, y);
    }
    let (p, q) = (polynomial(&P, y), polynomial(&Q, y));
    let (cosine, sinc) = (1.0 - y * p, 1.0 - y * q);
    [cosine, sinc, cosine * q + p]
}

/// The same by ½, ¼, … of the angle where it is above π/2, doubled again.
#[inline(always)]
fn half_angle_coefficients_far<L: Arithmetic>(l: L, y: Wide<L>) -> [Wide<L>; 3] {
    let (mut scale, mut part, mut limit) = (l.splat(1.0), 0.25, MAX_QUARTER_ANGLE_SQUARED);
    for _ in 0..MAX_HALVINGS {
        scale = l.select_above(y, limit, l.splat(part), scale);
        part *= 0.25;
        limit *= 4.0;
    }
    let mut part = (scale * y).rounded();
    let (p, q) = (polynomial(&P, part), polynomial(&Q, part));
    let (mut cosine, mut sinc) = (1.0 - part * p, 1.0 - part * q);
    limit = MAX_QUARTER_ANGLE_SQUARED;
    for _ in 0..MAX_HALVINGS {
        // cos 2h = cos² h − sin² h, sin 2h / 2h = cos h sin h / h
        let sine_squared = (part * sinc * sinc).rounded();
        let twice = (cosine * cosine).rounded() - sine_squared;
        sinc = l.select_above(y, limit, (cosine * sinc).rounded(), sinc);
        cosine = l.select_above(y, limit, twice, cosine);
        part = l.select_above(y, limit, (part * 4.0).rounded(), part);
        limit *= 4.0;
    }
    let root = y.inverse_root();
    let far = ((1.0 - cosine * sinc) * (root * root)).rounded();
    let near = cosine * q + p;
    let pitch = l.select_above(y, MAX_QUARTER_ANGLE_SQUARED, far, near);
    [cosine, sinc, pitch]
}

/// a₀b₀ + a₁b₁ + a₂b₂ − a₃b₃.
#[inline(always)]
fn dot<L: Arithmetic>(a: [Wide<L>; 4], b: [Wide<L>; 4]) -> Wide<L> {
    let left = a[0] * b[0] + a[1] * b[1];
    left + (a[2] * b[2] - a[3] * b[3])
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
        sum = sum * y + l.load(c);
    }
    sum.store().0
}

/// [`half_angle_series`] in every lane, to the same bits.
#[inline(always)]
pub(crate) fn half_angle_series_of_lanes<L: Arithmetic>(l: L, y: Wide<L>) -> [Wide<L>; 4] {
    let mut sums = [l.splat(0.0); 4];
    for (i, sum) in sums.iter_mut().enumerate() {
        *sum = l.splat(SERIES[7].0[i]);
        for c in SERIES[..7].iter().rev() {
            *sum = *sum * y + c.0[i];
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
    use forks_linalg::simd::Portable;

    #[test]
    fn coefficients_of_half_angles_are_the_closed_forms() {
        for h in [1e-9, 1e-3, 0.5, 1.5, 1.58, 3.0, 3.2, 6.2, 6.4, 12.5, 12.6, 25.1] {
            let mut beyond = false;
            // A lane beside it that is near.
            let y = [h * h, 0.0, 0.25, h * h];
            let found = half_angle_coefficients(Portable, Portable.read(&y), &mut beyond);
            let found = found.map(Wide::store);
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
        let _ = half_angle_coefficients(Portable, Portable.splat(700.0), &mut beyond);
        assert!(beyond);
    }
}
