//! Second-order calculus of the logarithm of a relative pose.
//!
//! For E exp(ζ) with Δ(ζ) = log(E exp ζ): ∂Δ/∂ζ = J_r⁻¹(Δ) J_r(ζ), hence at ζ = 0
//!
//! ∂(λ·Δ)/∂ζ = J_r⁻¹(Δ)ᵀ λ,  ∂²(λ·Δ)/∂ζᵢ∂ζⱼ = sym λ·(D J_r⁻¹(Δ)[J_r⁻¹ eⱼ] eᵢ);
//!
//! the antisymmetric part of the last expression is cancelled by the derivative of J_r(ζ).

use forks_mechanism::lie::{
    Mat6, Twist, Vec6, Wrench,
    se3::{right_jacobian_inverse, right_jacobian_inverse_derivative},
};

/// Gradient and symmetric Hessian of a function of a relative pose, in local twist coordinates ζ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RelativeTerm {
    pub(crate) gradient: Wrench,
    pub(crate) hessian: Mat6,
}

/// Gradient of λ·Δ.
pub(crate) fn linear_gradient(delta: Twist, lambda: &Vec6) -> Wrench {
    Wrench::from_array(right_jacobian_inverse(delta).transpose_mul_vec(lambda))
}

/// Gradient and Hessian of λ·Δ.
pub(crate) fn linear_term(delta: Twist, lambda: &Vec6) -> RelativeTerm {
    let inverse = right_jacobian_inverse(delta);
    let gradient = Wrench::from_array(inverse.transpose_mul_vec(lambda));
    let mut hessian = Mat6::ZERO;
    if delta == Twist::ZERO {
        return RelativeTerm { gradient, hessian };
    }
    for j in 0..6 {
        let direction = Twist::from_array(core::array::from_fn(|i| inverse.rows[i][j]));
        let column = right_jacobian_inverse_derivative(delta, direction).transpose_mul_vec(lambda);
        for i in 0..6 {
            hessian.rows[i][j] += 0.5 * column[i];
            hessian.rows[j][i] += 0.5 * column[i];
        }
    }
    RelativeTerm { gradient, hessian }
}

/// Gradient and Hessian of ½ Δᵀ K Δ.
pub(crate) fn quadratic_term(delta: Twist, stiffness: &Mat6) -> RelativeTerm {
    let force = stiffness.mul_vec(&delta.to_array());
    let mut out = linear_term(delta, &force);
    let inverse = right_jacobian_inverse(delta);
    out.hessian += inverse.transpose() * *stiffness * inverse;
    out
}
