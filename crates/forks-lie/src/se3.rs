//! Jacobians of the exponential map of SE(3), and their directional derivatives.
//!
//! `ad = ad_ξ` satisfies `ad⁵ + 2θ² ad³ + θ⁴ ad = 0` with `θ = |ω|`, so every power series in `ad` is a
//! polynomial of degree four with scalar coefficients in `θ²` (Selig, *Geometric Fundamentals of
//! Robotics*, ch. 4). The right Jacobian is `J_r(ξ) = Σ (−ad)ⁿ/(n+1)!`, its inverse
//! `J_r⁻¹(ξ) = 1 + ½ ad + c₂ ad² + c₄ ad⁴`.

use crate::{
    Mat6, Twist,
    scalar::{sin_cos, sqrt},
};

/// Coefficients of a polynomial in `ad` (powers 1 to 4) and their derivatives with respect to `θ²`.
struct Coefficients {
    value: [f64; 4],
    derivative: [f64; 4],
}

/// Coefficients of `J_l = 1 + Σ value[n−1] adⁿ`.
fn jacobian_coefficients(t2: f64) -> Coefficients {
    if t2 < 0.25 {
        // adⁿ for n > 4 folds back by ad⁵ = −2θ² ad³ − θ⁴ ad; the closed forms below have the series
        //   a₁ = Σ (−1)^k (k+1) x^k/(2k+2)! · …; computed term by term from the recurrence instead.
        return series_jacobian_coefficients(t2);
    }
    let t = sqrt(t2);
    let (s, c) = sin_cos(t);
    let value = [
        (4.0 - t * s - 4.0 * c) / (2.0 * t2),
        (4.0 * t - 5.0 * s + t * c) / (2.0 * t2 * t),
        (2.0 - t * s - 2.0 * c) / (2.0 * t2 * t2),
        (2.0 * t - 3.0 * s + t * c) / (2.0 * t2 * t2 * t),
    ];
    // d/dθ of each numerator N over 2θ^k, then d/dθ² = (d/dθ)/(2θ).
    let numerator = [
        4.0 - t * s - 4.0 * c,
        4.0 * t - 5.0 * s + t * c,
        2.0 - t * s - 2.0 * c,
        2.0 * t - 3.0 * s + t * c,
    ];
    let numerator_slope = [3.0 * s - t * c, 4.0 - 4.0 * c - t * s, s - t * c, 2.0 - 2.0 * c - t * s];
    let mut derivative = [0.0; 4];
    let mut power = t2;
    for n in 0..4 {
        let k = (n + 2) as f64;
        derivative[n] = (numerator_slope[n] - k * numerator[n] / t) / (2.0 * power) / (2.0 * t);
        power *= t;
    }
    Coefficients { value, derivative }
}

/// The same by summing `Σ adⁿ/(n+1)!` with the powers folded back into degree ≤ 4.
fn series_jacobian_coefficients(x: f64) -> Coefficients {
    // ad^n = Σ_k r[k] ad^(k+1), with r and dr/dx kept for the current n.
    let mut value = [0.0; 4];
    let mut derivative = [0.0; 4];
    let mut r = [1.0, 0.0, 0.0, 0.0];
    let mut dr = [0.0; 4];
    let mut factorial = 2.0;
    for n in 1..24 {
        for k in 0..4 {
            value[k] += r[k] / factorial;
            derivative[k] += dr[k] / factorial;
        }
        // Multiply by ad: shift, and ad⁵ = −2x ad³ − x² ad.
        let (top, dtop) = (r[3], dr[3]);
        r = [-x * x * top, r[0], r[1] - 2.0 * x * top, r[2]];
        dr = [
            -2.0 * x * top - x * x * dtop,
            dr[0],
            dr[1] - 2.0 * top - 2.0 * x * dtop,
            dr[2],
        ];
        factorial *= (n + 2) as f64;
    }
    Coefficients { value, derivative }
}

/// Coefficients of `J_l⁻¹ = 1 − ½ ad + c₂ ad² + c₄ ad⁴`.
fn inverse_coefficients(t2: f64) -> Coefficients {
    if t2 < 0.25 {
        // Bernoulli series Σ B_2k ad^2k/(2k)!, folded: ad⁶ = −2x ad⁴ − x² ad².
        const B: [f64; 10] = [
            1.0 / 12.0,
            -1.0 / 720.0,
            1.0 / 30240.0,
            -1.0 / 1209600.0,
            1.0 / 47900160.0,
            -691.0 / 1307674368000.0,
            1.0 / 74724249600.0,
            -3617.0 / 10670622842880000.0,
            43867.0 / 5109094217170944000.0,
            -174611.0 / 802857662698291200000.0,
        ];
        let x = t2;
        let (mut c2, mut c4, mut d2, mut d4) = (0.0, 0.0, 0.0, 0.0);
        let (mut p, mut q, mut dp, mut dq) = (1.0, 0.0, 0.0, 0.0);
        for b in B {
            c2 += b * p;
            c4 += b * q;
            d2 += b * dp;
            d4 += b * dq;
            (p, q, dp, dq) = (
                -x * x * q,
                p - 2.0 * x * q,
                -2.0 * x * q - x * x * dq,
                dp - 2.0 * q - 2.0 * x * dq,
            );
        }
        return Coefficients { value: [-0.5, c2, 0.0, c4], derivative: [0.0, d2, 0.0, d4] };
    }
    let t = sqrt(t2);
    let (s, c) = sin_cos(0.5 * t);
    // With y = (θ/2) cot(θ/2) and z = (θ/2)²/sin²(θ/2):
    //   c₂ = (2 − (3y + z)/2)/θ²,  c₄ = (1 − (y + z)/2)/θ⁴,
    //   dy/dθ² = (y − z)/(2θ²),  dz/dθ² = z (1 − y)/θ².
    let y = 0.5 * t * c / s;
    let z = 0.25 * t2 / (s * s);
    let dy = (y - z) / (2.0 * t2);
    let dz = z * (1.0 - y) / t2;
    let n2 = 2.0 - 0.5 * (3.0 * y + z);
    let n4 = 1.0 - 0.5 * (y + z);
    let (c2, c4) = (n2 / t2, n4 / (t2 * t2));
    Coefficients {
        value: [-0.5, c2, 0.0, c4],
        derivative: [
            0.0,
            -0.5 * (3.0 * dy + dz) / t2 - c2 / t2,
            0.0,
            -0.5 * (dy + dz) / (t2 * t2) - 2.0 * c4 / t2,
        ],
    }
}

/// `1 + Σ value[n−1] adⁿ` by Horner's rule.
fn polynomial(ad: &Mat6, value: &[f64; 4]) -> Mat6 {
    let mut m = Mat6::IDENTITY.scale(value[3]);
    for c in [value[2], value[1], value[0], 1.0] {
        m = m * *ad;
        for i in 0..6 {
            m.rows[i][i] += c;
        }
    }
    m
}

/// Derivative of [`polynomial`] at `ξ` along `direction`.
fn polynomial_derivative(xi: Twist, direction: Twist, c: &Coefficients) -> Mat6 {
    let (a, da) = (xi.ad_matrix(), direction.ad_matrix());
    let slope = 2.0 * xi.angular.dot(direction.angular);
    let mut power = Mat6::IDENTITY;
    let mut dpower = Mat6::ZERO;
    let mut out = Mat6::ZERO;
    for n in 0..4 {
        dpower = dpower * a + power * da;
        power = power * a;
        out += dpower.scale(c.value[n]) + power.scale(c.derivative[n] * slope);
    }
    out
}

/// Left Jacobian: spatial twist of `exp(ξ)` is `J_l(ξ) ξ̇`.
pub fn left_jacobian(xi: Twist) -> Mat6 {
    polynomial(&xi.ad_matrix(), &jacobian_coefficients(xi.angular.length_squared()).value)
}

/// Right Jacobian: body twist of `exp(ξ)` is `J_r(ξ) ξ̇`.
pub fn right_jacobian(xi: Twist) -> Mat6 {
    left_jacobian(-xi)
}

/// Inverse of [`left_jacobian`]; finite for |ω| < 2π.
pub fn left_jacobian_inverse(xi: Twist) -> Mat6 {
    polynomial(&xi.ad_matrix(), &inverse_coefficients(xi.angular.length_squared()).value)
}

/// Inverse of [`right_jacobian`]; finite for |ω| < 2π.
pub fn right_jacobian_inverse(xi: Twist) -> Mat6 {
    left_jacobian_inverse(-xi)
}

/// Derivative of [`right_jacobian`] at `xi` along `direction`.
pub fn right_jacobian_derivative(xi: Twist, direction: Twist) -> Mat6 {
    polynomial_derivative(-xi, -direction, &jacobian_coefficients(xi.angular.length_squared()))
}

/// Derivative of [`right_jacobian_inverse`] at `xi` along `direction`.
pub fn right_jacobian_inverse_derivative(xi: Twist, direction: Twist) -> Mat6 {
    polynomial_derivative(-xi, -direction, &inverse_coefficients(xi.angular.length_squared()))
}
