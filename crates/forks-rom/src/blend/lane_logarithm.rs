//! The logarithm of relative poses, four at once, without division or case distinction.
//!
//! A quaternion (d, cos h) with d = sin h · axis, s = ‖d‖² has ω = 2 g(s) d with g = h / sin h, and V(ω)⁻¹ t =
//! t − g d×t + γ(s) d×(d×t) with γ = (1 − h cot h)/sin²h: both are power series of s.

use crate::kernel::{Lanes, POSE, cross};

/// s up to which the polynomials hold: relative rotations up to 60°.
const MAX_SINE_SQUARED: f64 = 0.25;

/// s up to which the shorter polynomials hold: 29°.
const NEAR: f64 = 0.0625;

/// g on [0, 1/16]: interpolation in Chebyshev's points, computed with 60 digits; error 2.8e-18.
const NEAR_G: [f64; 9] = [
    1.0,
    0.166_666_666_666_663_08,
    0.075_000_000_001_531_67,
    0.044_642_856_892_065_94,
    0.030_381_964_973_388_388,
    0.022_371_217_903_664_76,
    0.017_377_988_197_123_058,
    0.013_574_602_068_216_915,
    0.014_731_093_985_552_658,
];

/// γ, in the same way; error 2.3e-17.
const NEAR_GAMMA: [f64; 9] = [
    0.333_333_333_333_333_3,
    0.133_333_333_333_328_34,
    0.076_190_476_192_602_57,
    0.050_793_650_445_498_564,
    0.036_940_865_437_760_91,
    0.028_414_722_041_664_76,
    0.022_767_828_385_278_684,
    0.018_179_706_395_877_27,
    0.020_173_982_030_068_767,
];

/// g on [0, 1/4]: interpolation in Chebyshev's points, computed with 60 digits; error 2.8e-17.
const G: [f64; 13] = [
    1.0,
    0.166_666_666_666_649_42,
    0.075_000_000_003_852_01,
    0.044_642_856_805_998_936,
    0.030_381_959_697_685_14,
    0.022_371_749_733_164_054,
    0.017_359_779_641_349_98,
    0.013_884_842_826_402_08,
    0.012_170_138_592_391_726,
    0.006_529_302_004_736_569_5,
    0.019_513_468_251_252_167,
    -0.016_187_392_271_599_134,
    0.031_879_621_400_812_84,
];

/// γ, in the same way; error 4.3e-17.
const GAMMA: [f64; 13] = [
    0.333_333_333_333_333_37,
    0.133_333_333_333_308_32,
    0.076_190_476_196_059_66,
    0.050_793_650_305_392_2,
    0.036_940_859_048_579_903,
    0.028_415_435_140_349_884,
    0.022_742_988_861_890_03,
    0.018_605_228_601_478_514,
    0.016_660_985_904_670_567,
    0.008_831_341_295_759_425,
    0.027_855_562_614_777_96,
    -0.023_665_491_912_352_687,
    0.045_950_044_240_792_104,
];

/// A polynomial of even degree, even and odd powers apart: half of Horner's depth.
#[inline(always)]
pub(super) fn polynomial<L: Lanes, const N: usize>(l: L, coefficients: &[f64; N], s: L::V) -> L::V {
    let square = l.mul(s, s);
    let (mut even, mut odd) = (l.splat(coefficients[N - 1]), l.splat(coefficients[N - 2]));
    let mut k = N - 3;
    while k > 1 {
        even = l.mul_add(even, square, l.splat(coefficients[k]));
        odd = l.mul_add(odd, square, l.splat(coefficients[k - 1]));
        k -= 2;
    }
    even = l.mul_add(even, square, l.splat(coefficients[0]));
    l.mul_add(odd, s, even)
}

/// The twist (v, ω) in world axes that leads from `base` to `pose`: pose = (exp(ω̂) R, p + V(ω) v) for base (R, p).
/// Sets `far` where s is beyond the polynomials: that lane is not right.
#[inline(always)]
pub(super) fn twist_between<L: Lanes>(
    l: L,
    base: &[L::V; POSE],
    pose: &[L::V; POSE],
    far: &mut bool,
) -> [L::V; 6] {
    let t = [l.sub(pose[0], base[0]), l.sub(pose[1], base[1]), l.sub(pose[2], base[2])];
    let [.., bx, by, bz, bw] = *base;
    let [.., qx, qy, qz, qw] = *pose;
    // q times the conjugate of b, with the sign that makes the angle at most π.
    let w = l.mul_add(qz, bz, l.mul_add(qy, by, l.mul_add(qx, bx, l.mul(qw, bw))));
    let x = l.mul_add(by, qz, l.neg_mul_add(bz, qy, l.neg_mul_add(bx, qw, l.mul(bw, qx))));
    let y = l.mul_add(bz, qx, l.neg_mul_add(bx, qz, l.neg_mul_add(by, qw, l.mul(bw, qy))));
    let z = l.mul_add(bx, qy, l.neg_mul_add(by, qx, l.neg_mul_add(bz, qw, l.mul(bw, qz))));
    let d = [l.turn_sign(x, w), l.turn_sign(y, w), l.turn_sign(z, w)];
    let s = l.mul_add(d[2], d[2], l.mul_add(d[1], d[1], l.mul(d[0], d[0])));
    let (mut g, mut gamma) = (polynomial(l, &NEAR_G, s), polynomial(l, &NEAR_GAMMA, s));
    if l.any_above(s, NEAR) {
        g = l.select_above(s, NEAR, polynomial(l, &G, s), g);
        gamma = l.select_above(s, NEAR, polynomial(l, &GAMMA, s), gamma);
        *far |= l.any_above(s, MAX_SINE_SQUARED);
    }
    // t + d × (γ d×t − g t)
    let u = cross(l, d, t);
    let inner = [
        l.neg_mul_add(g, t[0], l.mul(gamma, u[0])),
        l.neg_mul_add(g, t[1], l.mul(gamma, u[1])),
        l.neg_mul_add(g, t[2], l.mul(gamma, u[2])),
    ];
    let v = cross(l, d, inner);
    let two_g = l.add(g, g);
    [
        l.add(t[0], v[0]),
        l.add(t[1], v[1]),
        l.add(t[2], v[2]),
        l.mul(two_g, d[0]),
        l.mul(two_g, d[1]),
        l.mul(two_g, d[2]),
    ]
}

#[cfg(test)]
mod tests {
    use forks_lie::{Pose, Twist, glam::DVec3};

    use super::*;
    use crate::kernel::{Portable, pose_entries};

    #[test]
    fn twists_agree_with_the_library_of_rigid_motions() {
        let base = Pose::exp(Twist::new(DVec3::new(0.3, -0.8, 0.5), DVec3::new(1.1, 0.4, -0.9)));
        for angle in [0.0, 1e-9, 1e-3, 0.2, 0.5, 0.51, 0.7, 1.04] {
            for sign in [1.0, -1.0] {
                let omega = DVec3::new(0.48, -0.6, 0.64) * angle;
                let turn = Pose::exp(Twist::new(DVec3::new(0.7, 0.2, -0.4), omega));
                let mut pose =
                    Pose::new(turn.rotation * base.rotation, base.translation + turn.translation);
                pose.rotation *= sign;
                let lanes = |p: &Pose| pose_entries(p).map(|x| [x; 4]);
                let mut far = false;
                let twist = twist_between(Portable, &lanes(&base), &lanes(&pose), &mut far);
                assert!(!far);
                let rival = turn.log().to_array();
                for (x, y) in twist.iter().zip(rival) {
                    // Positions and quaternions of size 1, each rounded a few times.
                    assert!((x[0] - y).abs() < 16.0 * f64::EPSILON, "{angle}: {} {y}", x[0]);
                }
            }
        }
    }
}
