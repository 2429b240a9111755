//! Matrix functions `F(ω) = 1 + α(θ²) ω× + β(θ²) ω×²` of a rotation vector, and their derivatives.
//!
//! The Jacobians of SO(3) have this form. Those of SE(3) follow from them: `ad_ξ` is the
//! cross-product matrix of the dual vector `ω + ε v`, so any power series in it is
//! `F(ω) + ε DF(ω)[v]`, that is `[[F, DF(ω)[v]], [0, F]]` (the principle of transference).
//! Directional derivatives of these need `D²F`. Only additions of terms that are linear in `v`: the
//! size of `v` never costs `F` a digit.

use glam::{DMat3, DVec3};

use crate::{
    coefficients::{inverse_coefficient, jacobian_coefficients},
    skew,
};

/// `½ (a× b× + b× a×)`, which is `a×²` for `a = b`.
#[inline]
fn symmetric_product(a: DVec3, b: DVec3) -> DMat3 {
    let (x, y, z) = (a.x * b.x, a.y * b.y, a.z * b.z);
    let xy = 0.5 * (a.x * b.y + a.y * b.x);
    let xz = 0.5 * (a.x * b.z + a.z * b.x);
    let yz = 0.5 * (a.y * b.z + a.z * b.y);
    DMat3::from_cols(
        DVec3::new(-(y + z), xy, xz),
        DVec3::new(xy, -(x + z), yz),
        DVec3::new(xz, yz, -(x + y)),
    )
}

/// `F` at one `ω`: the coefficients and their `N − 1` first derivatives with respect to `θ²`.
pub(crate) struct Equivariant<const N: usize> {
    omega: DVec3,
    alpha: [f64; N],
    beta: [f64; N],
}

impl<const N: usize> Equivariant<N> {
    /// `F(ω)`.
    pub(crate) fn value(&self) -> DMat3 {
        let w = self.omega;
        DMat3::IDENTITY + (skew(w) * self.alpha[0] + symmetric_product(w, w) * self.beta[0])
    }

    /// `DF(ω)[u]`; needs N ≥ 2.
    pub(crate) fn derivative(&self, u: DVec3) -> DMat3 {
        let w = self.omega;
        let slope = 2.0 * w.dot(u);
        skew(u * self.alpha[0] + w * (slope * self.alpha[1]))
            + (symmetric_product(w, u) * (2.0 * self.beta[0])
                + symmetric_product(w, w) * (slope * self.beta[1]))
    }

    /// `D²F(ω)[u, v]`, symmetric in the directions; needs N ≥ 3.
    pub(crate) fn second_derivative(&self, u: DVec3, v: DVec3) -> DMat3 {
        let w = self.omega;
        let (su, sv, suv) = (2.0 * w.dot(u), 2.0 * w.dot(v), 2.0 * u.dot(v));
        // Second derivative of a scalar f(θ²) along u and v.
        let curvature = |f: &[f64; N]| f[1] * suv + f[2] * (su * sv);
        skew((v * su + u * sv) * self.alpha[1] + w * curvature(&self.alpha))
            + (symmetric_product(u, v) * (2.0 * self.beta[0])
                + symmetric_product(w, v * su + u * sv) * (2.0 * self.beta[1])
                + symmetric_product(w, w) * curvature(&self.beta))
    }
}

/// The SO(3) left Jacobian as a function of `ω`.
pub(crate) fn jacobian<const N: usize>(omega: DVec3) -> Equivariant<N> {
    let (alpha, beta) = jacobian_coefficients(omega.length_squared());
    Equivariant { omega, alpha, beta }
}

/// The inverse of the SO(3) left Jacobian as a function of `ω`.
pub(crate) fn inverse_jacobian<const N: usize>(omega: DVec3) -> Equivariant<N> {
    let mut alpha = [0.0; N];
    alpha[0] = -0.5;
    Equivariant { omega, alpha, beta: inverse_coefficient(omega.length_squared()) }
}
