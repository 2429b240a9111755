//! The exponential of twists without division, square root or case distinction.
//!
//! With h = ‖ω‖/2 and y = h²: cos h = 1 − y P(y), sin h / h = 1 − y Q(y), P and Q polynomials. Then
//! exp(ω) = (cos h, ½ (sin h / h) ω) and V(ω) v = v + b ω×v + c ω×(ω×v) with b = (1 − cos 2h)/4h² = ½ (sin h / h)²,
//! c = (1 − sin 2h / 2h)/4h² = (P + Q − y P Q)/4: nothing cancels, not even at ω = 0.

use super::{Lane4, Lanes};

/// y up to which the polynomials hold: rotations up to π.
pub(crate) const MAX_QUARTER_ANGLE_SQUARED: f64 =
    core::f64::consts::FRAC_PI_2 * core::f64::consts::FRAC_PI_2;

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

/// Horner's scheme.
#[inline(always)]
fn polynomial<L: Lanes>(l: L, coefficients: &[f64; 8], y: L::V) -> L::V {
    let mut sum = l.splat(coefficients[7]);
    for c in coefficients[..7].iter().rev() {
        sum = l.mul_add(sum, y, l.splat(*c));
    }
    sum
}

/// P(y), Q(y).
#[inline(always)]
pub(super) fn series<L: Lanes>(l: L, y: L::V) -> (L::V, L::V) {
    (polynomial(l, &P, y), polynomial(l, &Q, y))
}

/// A pose times the exponential of a twist given in the axes of the target frame: position, quaternion (x, y, z, w).
///
/// `rest` is (position, quaternion) and `twist` (v, ω), both turned into world axes: (R exp(ω̂), p + R V v) =
/// (exp(ω̂') R, p + V(ω') v') with ω' = R ω, v' = R v. Also returns y = ‖ω‖²/4.
#[inline(always)]
pub(super) fn displaced<L: Lanes>(l: L, rest: [L::V; 7], twist: [L::V; 6]) -> ([L::V; 7], L::V) {
    let [px, py, pz, ax, ay, az, aw] = rest;
    let [v, w] = [[twist[0], twist[1], twist[2]], [twist[3], twist[4], twist[5]]];
    let square = l.mul_add(w[2], w[2], l.mul_add(w[1], w[1], l.mul(w[0], w[0])));
    let y = l.mul(square, l.splat(0.25));
    let (p, q) = series(l, y);
    let one = l.splat(1.0);
    let cosine = l.neg_mul_add(y, p, one);
    let sinc = l.neg_mul_add(y, q, one);
    let half = l.splat(0.5);
    let half_sinc = l.mul(half, sinc);
    let b = l.mul(half_sinc, sinc);
    let c = l.mul(l.splat(0.25), l.neg_mul_add(l.mul(y, p), q, l.add(p, q)));
    // v + ω × (b v + c ω × v)
    let u = cross(l, w, v);
    let inner: [L::V; 3] = core::array::from_fn(|i| l.mul_add(c, u[i], l.mul(b, v[i])));
    let turn = cross(l, w, inner);
    let position = [
        l.add(px, l.add(v[0], turn[0])),
        l.add(py, l.add(v[1], turn[1])),
        l.add(pz, l.add(v[2], turn[2])),
    ];
    // (d, cosine) * (a, aw), d = half_sinc ω
    let d: [L::V; 3] = core::array::from_fn(|i| l.mul(half_sinc, w[i]));
    let x = l.neg_mul_add(d[2], ay, l.mul_add(d[1], az, l.mul_add(d[0], aw, l.mul(cosine, ax))));
    let yq = l.neg_mul_add(d[0], az, l.mul_add(d[2], ax, l.mul_add(d[1], aw, l.mul(cosine, ay))));
    let z = l.neg_mul_add(d[1], ax, l.mul_add(d[0], ay, l.mul_add(d[2], aw, l.mul(cosine, az))));
    let s = l.neg_mul_add(
        d[2],
        az,
        l.neg_mul_add(d[1], ay, l.neg_mul_add(d[0], ax, l.mul(cosine, aw))),
    );
    ([position[0], position[1], position[2], x, yq, z, s], y)
}

#[inline(always)]
fn cross<L: Lanes>(l: L, a: [L::V; 3], b: [L::V; 3]) -> [L::V; 3] {
    [
        l.neg_mul_add(a[2], b[1], l.mul(a[1], b[2])),
        l.neg_mul_add(a[0], b[2], l.mul(a[2], b[0])),
        l.neg_mul_add(a[1], b[0], l.mul(a[0], b[1])),
    ]
}

/// Coefficients of P, Q, P', Q' side by side.
const SERIES: [Lane4; 8] = {
    let mut out = [Lane4([0.0; 4]); 8];
    let mut k = 0;
    while k < 8 {
        let last = k == 7;
        let (dp, dq) = if last { (0.0, 0.0) } else { (P[k + 1], Q[k + 1]) };
        let n = (k + 1) as f64;
        out[k] = Lane4([P[k], Q[k], n * dp, n * dq]);
        k += 1;
    }
    out
};

/// P, Q and their derivatives at y, for one twist.
#[inline(always)]
pub(crate) fn half_angle_series<L: Lanes>(l: L, y: f64) -> [f64; 4] {
    let y = l.splat(y);
    let mut sum = l.load(&SERIES[7]);
    for c in SERIES[..7].iter().rev() {
        sum = l.mul_add(sum, y, l.load(c));
    }
    l.store(sum).0
}

/// [`half_angle_series`] in every lane, to the same bits.
#[inline(always)]
pub(crate) fn half_angle_series_of_lanes<L: Lanes>(l: L, y: L::V) -> [L::V; 4] {
    let mut sums = SERIES[7].0.map(|c| l.splat(c));
    for c in SERIES[..7].iter().rev() {
        for (sum, c) in sums.iter_mut().zip(c.0) {
            *sum = l.mul_add(*sum, y, l.splat(c));
        }
    }
    sums
}

/// (cos √y, sin √y / √y) for y ≤ (π/2)².
#[inline(always)]
pub(crate) fn cosine_and_sinc<L: Lanes>(l: L, y: f64) -> (f64, f64) {
    let [p, q, ..] = half_angle_series(l, y);
    (1.0 - y * p, 1.0 - y * q)
}
