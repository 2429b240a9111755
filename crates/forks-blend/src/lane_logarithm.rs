//! The logarithm of relative poses, four at once, without division or case distinction.
//!
//! A quaternion (d, cos h) with d = sin h · axis, s = ‖d‖² has ω = 2 g(s) d with g = h / sin h, and
//! V(ω)⁻¹ t = t − g d×t + γ(s) d×(d×t) with γ = (1 − h cot h)/sin²h: both are power series of s.

use forks_linalg::simd::{Arithmetic, Wide, WideVectors};

use forks_rom::internal::POSE;

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
    s: Wide<L>,
) -> Wide<L> {
    let square = (s * s).rounded();
    let (mut even, mut odd) = (l.splat(coefficients[N - 1]), l.splat(coefficients[N - 2]));
    let mut k = N - 3;
    while k > 1 {
        even = even * square + coefficients[k];
        odd = odd * square + l.splat(coefficients[k - 1]);
        k -= 2;
    }
    even = even * square + coefficients[0];
    odd * s + even
}

/// Adds α times the twist (v, ω) in world axes that leads from `base` to `pose`: pose = (exp(ω̂) R,
/// p + V(ω) v) for base (R, p).
#[inline(always)]
pub(crate) fn add_twist_between<L: Arithmetic>(
    l: L,
    alpha: Wide<L>,
    base: &[Wide<L>; POSE],
    pose: &[Wide<L>; POSE],
    sum: &mut [Wide<L>; 6],
) {
    let t = WideVectors([pose[0] - base[0], pose[1] - base[1], pose[2] - base[2]]);
    let [.., bx, by, bz, bw] = *base;
    let [.., qx, qy, qz, qw] = *pose;
    // q times the conjugate of b.
    let w = qw * bw + qx * bx + (qy * by + qz * bz);
    let d = WideVectors([
        bw * qx - bx * qw + (by * qz - bz * qy),
        bw * qy - by * qw + (bz * qx - bx * qz),
        bw * qz - bz * qw + (bx * qy - by * qx),
    ]);
    let s = d.dot(d);
    // The sign that makes the angle at most π is that of w.
    let cosine = w.turn_sign(w);
    let (mut g, mut gamma) = (polynomial(l, &NEAR_G, s), polynomial(l, &NEAR_GAMMA, s));
    if s.any_above(NEAR) {
        let (far_g, far_gamma) = far(l, cosine, s);
        g = l.select_above(s, NEAR, far_g, g);
        gamma = l.select_above(s, NEAR, far_gamma, gamma);
    }
    // V⁻¹ t = g cos h t − g d×t + γ (d·t) d
    let u = d.cross(t);
    let g = (alpha * g).rounded();
    let (g_cosine, g) = ((g * cosine).rounded(), g.turn_sign(w));
    let two_g = g + g;
    let along = (alpha * gamma * d.dot(t)).rounded();
    for k in 0..3 {
        let turned = along * d[k] + sum[k] - g * u[k];
        sum[k] = g_cosine * t[k] + turned;
        sum[3 + k] += two_g * d[k];
    }
}

/// g and γ for h up to π/2, from a quarter of h.
#[inline(always)]
fn far<L: Arithmetic>(l: L, cosine: Wide<L>, s: Wide<L>) -> (Wide<L>, Wide<L>) {
    let half = l.splat(0.5);
    // 1/cos (h/2) and 1/cos (h/4); sin h = 4 sin (h/4) cos (h/4) cos (h/2).
    let square = half * cosine + half;
    let first = square.inverse_root();
    let second = (half * (square * first) + half).inverse_root();
    let scale = (first * second).rounded();
    let quarter = (s * 0.0625 * (scale * scale)).rounded();
    let g = (polynomial(l, &G, quarter) * scale).rounded();
    let root = s.inverse_root();
    (g, ((1.0 - g * cosine) * (root * root)).rounded())
}

#[cfg(test)]
mod tests {
    use forks_lie::{Pose, Twist, glam::DVec3};

    use super::*;
    use forks_linalg::simd::Portable;
    use forks_rom::internal::pose_entries;

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
                let lanes = |p: &Pose| pose_entries(p).map(|x| Portable.splat(x));
                let mut twist = [Portable.splat(1.0); 6];
                let half = Portable.splat(0.5);
                add_twist_between(Portable, half, &lanes(&base), &lanes(&pose), &mut twist);
                let rival = turn.log().to_array();
                for (x, y) in twist.map(|x| 2.0 * (x.store()[0] - 1.0)).iter().zip(rival) {
                    // Positions and quaternions of size 1, each rounded a few times.
                    assert!((x - y).abs() < 16.0 * f64::EPSILON, "{angle}: {x} {y}");
                }
            }
        }
    }
}
