//! The logarithm of relative poses, four at once, without division or case distinction.
//!
//! A quaternion (d, cos h) with d = sin h · axis, s = ‖d‖² has ω = 2 g(s) d with g = h / sin h, and
//! V(ω)⁻¹ t = t − g d×t + γ(s) d×(d×t) with γ = (1 − h cot h)/sin²h: both are power series of s.

use forks_rom::internal::{Arithmetic, POSE, cross};

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

/// A polynomial of even degree, even and odd powers apart: half of Horner's depth.
#[inline(always)]
pub(crate) fn polynomial<L: Arithmetic, const N: usize>(
    l: L,
    coefficients: &[f64; N],
    s: L::V,
) -> L::V {
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

/// Adds α times the twist (v, ω) in world axes that leads from `base` to `pose`: pose = (exp(ω̂) R,
/// p + V(ω) v) for base (R, p).
#[inline(always)]
pub(crate) fn add_twist_between<L: Arithmetic>(
    l: L,
    alpha: L::V,
    base: &[L::V; POSE],
    pose: &[L::V; POSE],
    sum: &mut [L::V; 6],
) {
    let t = [l.sub(pose[0], base[0]), l.sub(pose[1], base[1]), l.sub(pose[2], base[2])];
    let [.., bx, by, bz, bw] = *base;
    let [.., qx, qy, qz, qw] = *pose;
    // q times the conjugate of b.
    let w = l.add(l.mul_add(qx, bx, l.mul(qw, bw)), l.mul_add(qz, bz, l.mul(qy, by)));
    let d = [
        l.add(l.neg_mul_add(bx, qw, l.mul(bw, qx)), l.neg_mul_add(bz, qy, l.mul(by, qz))),
        l.add(l.neg_mul_add(by, qw, l.mul(bw, qy)), l.neg_mul_add(bx, qz, l.mul(bz, qx))),
        l.add(l.neg_mul_add(bz, qw, l.mul(bw, qz)), l.neg_mul_add(by, qx, l.mul(bx, qy))),
    ];
    let s = l.mul_add(d[2], d[2], l.mul_add(d[1], d[1], l.mul(d[0], d[0])));
    // The sign that makes the angle at most π is that of w.
    let cosine = l.turn_sign(w, w);
    let (mut g, mut gamma) = (polynomial(l, &NEAR_G, s), polynomial(l, &NEAR_GAMMA, s));
    if l.any_above(s, NEAR) {
        let (far_g, far_gamma) = far(l, cosine, s);
        g = l.select_above(s, NEAR, far_g, g);
        gamma = l.select_above(s, NEAR, far_gamma, gamma);
    }
    // V⁻¹ t = g cos h t − g d×t + γ (d·t) d
    let u = cross(l, d, t);
    let along = l.mul_add(d[2], t[2], l.mul_add(d[1], t[1], l.mul(d[0], t[0])));
    let g = l.mul(alpha, g);
    let (g_cosine, g) = (l.mul(g, cosine), l.turn_sign(g, w));
    let two_g = l.add(g, g);
    let along = l.mul(l.mul(alpha, gamma), along);
    for k in 0..3 {
        let turned = l.neg_mul_add(g, u[k], l.mul_add(along, d[k], sum[k]));
        sum[k] = l.mul_add(g_cosine, t[k], turned);
        sum[3 + k] = l.mul_add(two_g, d[k], sum[3 + k]);
    }
}

/// g and γ for h up to π/2, from a quarter of h.
#[inline(always)]
fn far<L: Arithmetic>(l: L, cosine: L::V, s: L::V) -> (L::V, L::V) {
    let (one, half) = (l.splat(1.0), l.splat(0.5));
    // 1/cos (h/2) and 1/cos (h/4); sin h = 4 sin (h/4) cos (h/4) cos (h/2).
    let square = l.mul_add(half, cosine, half);
    let first = l.inverse_root(square);
    let second = l.inverse_root(l.mul_add(half, l.mul(square, first), half));
    let scale = l.mul(first, second);
    let quarter = l.mul(l.mul(s, l.splat(0.0625)), l.mul(scale, scale));
    let g = l.mul(polynomial(l, &G, quarter), scale);
    let root = l.inverse_root(s);
    (g, l.mul(l.neg_mul_add(g, cosine, one), l.mul(root, root)))
}

#[cfg(test)]
mod tests {
    use forks_lie::{Pose, Twist, glam::DVec3};

    use super::*;
    use forks_rom::internal::{Portable, pose_entries};

    #[test]
    fn twists_agree_with_the_library_of_rigid_motions() {
        let base = Pose::exp(Twist::new(DVec3::new(0.3, -0.8, 0.5), DVec3::new(1.1, 0.4, -0.9)));
        for angle in
            [0.0, 1e-9, 1e-3, 0.2, 0.5, 0.51, 0.7, 1.04, 2.0, 3.0, core::f64::consts::PI - 1.6e-3]
        {
            for sign in [1.0, -1.0] {
                let omega = DVec3::new(0.48, -0.6, 0.64) * angle;
                let turn = Pose::exp(Twist::new(DVec3::new(0.7, 0.2, -0.4), omega));
                let mut pose =
                    Pose::new(turn.rotation * base.rotation, base.translation + turn.translation);
                pose.rotation *= sign;
                let lanes = |p: &Pose| pose_entries(p).map(|x| [x; 4]);
                let mut twist = [[1.0; 4]; 6];
                let half = [0.5; 4];
                add_twist_between(Portable, half, &lanes(&base), &lanes(&pose), &mut twist);
                let rival = turn.log().to_array();
                for (x, y) in twist.map(|x| 2.0 * (x[0] - 1.0)).iter().zip(rival) {
                    // Positions and quaternions of size 1, each rounded a few times.
                    assert!((x - y).abs() < 16.0 * f64::EPSILON, "{angle}: {x} {y}");
                }
            }
        }
    }
}
