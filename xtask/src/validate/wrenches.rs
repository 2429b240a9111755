//! Elastic wrenches of a reduced model in displaced effector frames.

use forks_mechanism::{
    dense::Matrix,
    lie::{Wrench, right_jacobian_inverse, skew},
};
use forks_reduce::Basis;
use forks_rom::{Elasticity, ReducedModel};

/// Wrenches that hold the model at η: J_r⁻ᵀ(b + B⁺ᵀ𝓗η), or [A16]'s b + B⁺ᵀKη.
pub(crate) fn elastic_wrenches(
    model: &ReducedModel,
    basis: &Basis,
    eta: &[f64],
    form: Elasticity,
) -> Vec<Wrench> {
    let stiffness = match form {
        Elasticity::Linear => linear_stiffness(model),
        _ => model.data().hessian.clone(),
    };
    let held = basis.dual.mul_vec(&stiffness.mul_vec(eta));
    let rest = model.data().effectors.iter().enumerate();
    rest.map(|(e, effector)| {
        let held = Wrench::from_array(core::array::from_fn(|i| held[6 * e + i]));
        let w = effector.static_wrench + held;
        if form == Elasticity::Linear {
            return w;
        }
        let jacobian = right_jacobian_inverse(model.effector_twist(e, eta));
        Wrench::from_array(jacobian.transpose_mul_vec(&w.to_array()))
    })
    .collect()
}

/// K = 𝓗 − BᵀQB, Q of the static wrenches, which carry half a cross product each.
fn linear_stiffness(model: &ReducedModel) -> Matrix {
    let data = model.data();
    let size = data.basis.rows();
    let mut q = Matrix::zeros(size, size);
    for (e, effector) in data.effectors.iter().enumerate() {
        let f = skew(effector.static_wrench.force * 0.5);
        let t = skew(effector.static_wrench.torque * 0.5);
        for i in 0..3 {
            for j in 0..3 {
                q[(6 * e + i, 6 * e + 3 + j)] = f.col(j)[i];
                q[(6 * e + 3 + i, 6 * e + j)] = -f.col(j)[i];
                q[(6 * e + 3 + i, 6 * e + 3 + j)] = t.col(j)[i];
            }
        }
    }
    data.hessian.sub(&data.basis.transpose_mul(&q.mul(&data.basis)))
}
