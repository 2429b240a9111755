//! Jacobians of the exponential map of SE(3), and their directional derivatives.
//!
//! `J_l(ξ) = Σ adⁿ/(n+1)!` and `J_r(ξ) = J_l(−ξ)`. Both and their inverses are power series in
//! `ad_ξ = [[ω×, v×], [0, ω×]]`, hence of the form `[[F, DF(ω)[v]], [0, F]]` with the SO(3)
//! function `F`: `1 + a ω× + b ω×²` for `J_l`, `1 − ½ ω× + c ω×²` for its inverse. Their
//! derivatives along `(v̇; ω̇)` are `[[DF[ω̇], D²F[v, ω̇] + DF[v̇]], [0, DF[ω̇]]]`.

use glam::{DMat3, DVec3};

use crate::{
    Mat6, Twist,
    equivariant::{Equivariant, inverse_jacobian, jacobian},
};

/// `[[F, DF[v]], [0, F]]`.
fn dual<const N: usize>(f: &Equivariant<N>, v: DVec3) -> Mat6 {
    let value = f.value();
    Mat6::from_blocks(value, f.derivative(v), DMat3::ZERO, value)
}

/// Derivative of [`dual`] along `direction`.
fn dual_derivative(f: &Equivariant<3>, v: DVec3, direction: Twist) -> Mat6 {
    let value = f.derivative(direction.angular);
    let upper = f.second_derivative(v, direction.angular) + f.derivative(direction.linear);
    Mat6::from_blocks(value, upper, DMat3::ZERO, value)
}

/// Left Jacobian: spatial twist of `exp(ξ)` is `J_l(ξ) ξ̇`.
pub fn left_jacobian(xi: Twist) -> Mat6 {
    dual(&jacobian::<2>(xi.angular), xi.linear)
}

/// Right Jacobian: body twist of `exp(ξ)` is `J_r(ξ) ξ̇`.
pub fn right_jacobian(xi: Twist) -> Mat6 {
    left_jacobian(-xi)
}

/// Inverse of [`left_jacobian`]; finite for |ω| < 2π.
pub fn left_jacobian_inverse(xi: Twist) -> Mat6 {
    dual(&inverse_jacobian::<2>(xi.angular), xi.linear)
}

/// Inverse of [`right_jacobian`]; finite for |ω| < 2π.
pub fn right_jacobian_inverse(xi: Twist) -> Mat6 {
    left_jacobian_inverse(-xi)
}

/// Derivative of [`right_jacobian`] at `xi` along `direction`.
pub fn right_jacobian_derivative(xi: Twist, direction: Twist) -> Mat6 {
    dual_derivative(&jacobian(-xi.angular), -xi.linear, -direction)
}

/// Derivative of [`right_jacobian_inverse`] at `xi` along `direction`; finite for |ω| < 2π.
pub fn right_jacobian_inverse_derivative(xi: Twist, direction: Twist) -> Mat6 {
    dual_derivative(&inverse_jacobian(-xi.angular), -xi.linear, -direction)
}
