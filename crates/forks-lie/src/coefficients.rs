//! The scalar functions of `x = θ²` behind the Jacobians of the exponential map.
//!
//! All are entire in `x`, or analytic up to `θ = 2π`, so nothing special happens at `θ = 0`: below
//! a switch point they are summed as series in which no digits cancel, above it taken from closed
//! forms. A function returns `[f, f′, f″]`, derivatives with respect to `x`, as far as `N` asks.

use forks_linalg::sqrt;

use crate::scalar::sin_cos;

/// Up to this `θ²` (θ = 2) the series of [`jacobian_coefficients`] is used. There the terms'
/// absolute sum is at most three times the value; the closed forms lose less than that above.
const JACOBIAN_SWITCH: f64 = 4.0;

/// Up to this `θ²` (just over π²) the partial fractions of [`inverse_coefficient`] are used: every
/// logarithm lies in this range.
const INVERSE_SWITCH: f64 = 10.0;

/// Terms of the series: enough for the second derivative at either switch point.
const TERMS: usize = 17;

/// Coefficients of the `order`-th derivative of the Stumpff function `c_k(x) = Σ (−x)ⁿ/(2n + k)!`.
const fn stumpff(k: usize, order: usize) -> [f64; TERMS] {
    let mut series = [0.0; TERMS];
    let mut n = 0;
    while n < TERMS {
        // Term n of the derivative comes from term m = n + order of the function.
        let m = n + order;
        let mut term = if m.is_multiple_of(2) { 1.0 } else { -1.0 };
        let mut i = 1;
        while i <= order {
            term *= (n + i) as f64;
            i += 1;
        }
        let mut i = 2;
        let mut factorial = 1.0;
        while i <= 2 * m + k {
            factorial *= i as f64;
            i += 1;
        }
        series[n] = term / factorial;
        n += 1;
    }
    series
}

const C2: [[f64; TERMS]; 3] = [stumpff(2, 0), stumpff(2, 1), stumpff(2, 2)];
const C3: [[f64; TERMS]; 3] = [stumpff(3, 0), stumpff(3, 1), stumpff(3, 2)];

/// `Σ_{m ≥ 2} 2/(4π²m²)ᵏ⁺¹ = 2 (ζ(2k + 2) − 1)/(2π)²ᵏ⁺²`: what is left of [`inverse_coefficient`]
/// without its first pole.
const REMAINDER: [f64; TERMS] = [
    0.03267274151216445,
    0.000105641107053347,
    5.637370282876845e-07,
    3.357141926657451e-09,
    2.0742872904166045e-11,
    1.3000482138698975e-13,
    8.196052055691008e-16,
    5.180118196169724e-18,
    3.277539174701792e-20,
    2.0747401878593604e-22,
    1.3136241807166534e-24,
    8.318003195189264e-27,
    5.267262996834231e-29,
    3.3354842988221443e-31,
    2.1122063323183885e-33,
    1.3375664093215244e-35,
    8.470227328650247e-38,
];

/// Coefficients of the derivative of the polynomial `p`.
const fn differentiate(p: [f64; TERMS]) -> [f64; TERMS] {
    let mut d = [0.0; TERMS];
    let mut n = 1;
    while n < TERMS {
        d[n - 1] = n as f64 * p[n];
        n += 1;
    }
    d
}

const REMAINDERS: [[f64; TERMS]; 3] =
    [REMAINDER, differentiate(REMAINDER), differentiate(differentiate(REMAINDER))];

const FOUR_PI_SQUARED: f64 = 39.47841760435743;

/// `p(x)` by Horner's rule.
#[inline]
fn horner(p: &[f64], x: f64) -> f64 {
    p.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// `a = (1 − cos θ)/θ²` and `b = (θ − sin θ)/θ³`, of `J_l = 1 + a ω× + b ω×²`.
pub(crate) fn jacobian_coefficients<const N: usize>(x: f64) -> ([f64; N], [f64; N]) {
    let (mut a, mut b) = ([0.0; N], [0.0; N]);
    if x <= JACOBIAN_SWITCH {
        // At θ ≤ 2 the 13th term is below 4¹²/26! ~ 4e-20.
        for n in 0..N {
            a[n] = horner(&C2[n][..13], x);
            b[n] = horner(&C3[n][..13], x);
        }
        return (a, b);
    }
    // Stumpff functions: c₀ = cos θ, c₁ = sin θ/θ, c₂ = a, c₃ = b and c_k′ = (c_{k−1} − k c_k)/2x.
    let t = sqrt(x);
    let (s, c) = sin_cos(t);
    let (sinc, half) = (s / t, 0.5 / x);
    a[0] = (1.0 - c) / x;
    b[0] = (1.0 - sinc) / x;
    if N > 1 {
        a[1] = (sinc - 2.0 * a[0]) * half;
        b[1] = (a[0] - 3.0 * b[0]) * half;
    }
    if N > 2 {
        let sinc1 = (c - sinc) * half;
        a[2] = (sinc1 - 4.0 * a[1]) * half;
        b[2] = (a[1] - 5.0 * b[1]) * half;
    }
    (a, b)
}

/// `c = (1 − ½θ cot ½θ)/θ²`, of `J_l⁻¹ = 1 − ½ ω× + c ω×²`; finite for `θ < 2π`.
pub(crate) fn inverse_coefficient<const N: usize>(x: f64) -> [f64; N] {
    let mut f = [0.0; N];
    if x <= INVERSE_SWITCH {
        // Partial fractions of the cotangent: c = Σ_{m ≥ 1} 2/(4π²m² − x). The pole m = 1 is taken
        // as it stands; the rest converges like (x/16π²)ⁿ, and all terms of all derivatives are
        // positive.
        let pole = 1.0 / (FOUR_PI_SQUARED - x);
        let mut term = 2.0 * pole;
        for n in 0..N {
            f[n] = term + horner(&REMAINDERS[n], x);
            term *= (n + 1) as f64 * pole;
        }
        return f;
    }
    // With y = ½θ cot ½θ and z = (½θ)²/sin² ½θ: y′ = (y − z)/2x and z′ = z (1 − y)/x.
    let t = sqrt(x);
    let (s, c) = sin_cos(0.5 * t);
    let y = 0.5 * t * c / s;
    f[0] = (1.0 - y) / x;
    if N > 1 {
        let z = 0.25 * x / (s * s);
        let y1 = 0.5 * (y - z) / x;
        f[1] = -(y1 + f[0]) / x;
        if N > 2 {
            let z1 = z * (1.0 - y) / x;
            let y2 = (0.5 * (y1 - z1) - y1) / x;
            f[2] = -(y2 + 2.0 * f[1]) / x;
        }
    }
    f
}
