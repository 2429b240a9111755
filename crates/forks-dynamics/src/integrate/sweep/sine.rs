//! Sine and cosine without a call, so that a sweep goes on with other work meanwhile.
//!
//! Angles are brought to at most π/4 by multiples of π/2 in three parts (W. J. Cody and W. Waite),
//! then the polynomials of fdlibm's `__kernel_sin` and `__kernel_cos` (Sun Microsystems, 1993),
//! which are exact to half a unit in the last place.

/// Beyond this multiples of π/2 are not exact in three parts.
const FAR: f64 = 1e5;
/// 1.5 · 2⁵²: added and taken off again it rounds to an integer, which stands in the last bits of
/// the sum.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// π/2 in parts of 33 bits, and what is left.
const HALF_PI: [f64; 3] =
    [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21];
/// x⁻³ (sin x − x) in x².
const SINE: [f64; 6] = [
    -1.666_666_666_666_663_2e-1,
    8.333_333_333_322_49e-3,
    -1.984_126_982_985_795e-4,
    2.755_731_370_707_006_8e-6,
    -2.505_076_025_340_686_3e-8,
    1.589_690_995_211_55e-10,
];
/// x⁻⁴ (cos x − 1 + x²/2) in x².
const COSINE: [f64; 6] = [
    4.166_666_666_666_66e-2,
    -1.388_888_888_887_411e-3,
    2.480_158_728_947_673e-5,
    -2.755_731_435_139_066_3e-7,
    2.087_572_321_298_175e-9,
    -1.135_964_755_778_819_5e-11,
];

/// sin x and cos x.
#[inline(always)]
pub(super) fn sin_cos(x: f64) -> (f64, f64) {
    // Not finite angles too.
    if x.abs() < FAR { near(x) } else { x.sin_cos() }
}

#[inline(always)]
fn near(x: f64) -> (f64, f64) {
    let sum = x * core::f64::consts::FRAC_2_PI + ROUND;
    let (quarter, k) = (sum.to_bits(), sum - ROUND);
    let r = ((x - k * HALF_PI[0]) - k * HALF_PI[1]) - k * HALF_PI[2];
    let z = r * r;
    let (s, c) = (polynomial(&SINE, z), polynomial(&COSINE, z));
    let sin = r + r * z * s;
    let half = 0.5 * z;
    let one = 1.0 - half;
    let cos = one + (((1.0 - one) - half) + z * z * c);
    let (a, b) = if quarter & 1 == 0 { (sin, cos) } else { (cos, sin) };
    let negative = |bit: u64| (bit & 2) << 62;
    let turned = |x: f64, sign: u64| f64::from_bits(x.to_bits() ^ sign);
    (turned(a, negative(quarter)), turned(b, negative(quarter.wrapping_add(1))))
}

/// In pairs, so that few products wait for others.
#[inline(always)]
fn polynomial(c: &[f64; 6], z: f64) -> f64 {
    let square = z * z;
    let (low, middle, high) = (c[0] + z * c[1], c[2] + z * c[3], c[4] + z * c[5]);
    low + square * (middle + square * high)
}

#[cfg(test)]
mod tests {
    use forks_testkit::Rng;

    use super::*;

    #[test]
    fn they_are_those_of_the_standard_library() {
        let mut rng = Rng::new(1);
        let sizes = [1e-300, 1e-9, 0.1, 1.0, 10.0, 1e3, 0.99e5, 1e9];
        for size in sizes {
            for _ in 0..20_000 {
                let x = size * rng.range(-1.0, 1.0);
                let ((s, c), (sin, cos)) = (sin_cos(x), x.sin_cos());
                let error = (s - sin).abs().max((c - cos).abs());
                assert!(error <= f64::EPSILON, "{x:e}: {error:e}");
            }
        }
        // Near multiples of π/2 one of them is small.
        for k in -50_000..50_000 {
            let x = f64::from(k) * core::f64::consts::FRAC_PI_2;
            let ((s, c), (sin, cos)) = (sin_cos(x), x.sin_cos());
            assert!((s - sin).abs() <= 1e-16 && (c - cos).abs() <= 1e-16, "{k}");
        }
        assert_eq!(sin_cos(0.0), (0.0, 1.0));
        assert!(sin_cos(f64::NAN).0.is_nan() && sin_cos(f64::INFINITY).1.is_nan());
    }
}
