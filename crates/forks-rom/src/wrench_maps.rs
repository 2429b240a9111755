//! Maps from reduced coordinates to the wrenches that hold a model, made once.

use forks_lie::skew;
use forks_linalg::{Matrix, OrthogonalRows};

use crate::data::ModelData;

/// Singular values of SB below this fraction of the largest are motions that no effector makes.
const RANK_TOLERANCE: f64 = 1e-12;

/// 6E × n_η: wrenches on the exponential coordinates per unit η − η_s.
#[derive(Clone, Debug)]
pub(crate) struct WrenchMaps {
    /// Of the energy, B⁺ᵀ 𝓗.
    pub(crate) energy: Matrix,
    /// Of the linear form.
    pub(crate) linear: Matrix,
}

impl WrenchMaps {
    pub(crate) fn new(data: &ModelData) -> Self {
        let dual = dual_basis(data);
        Self { energy: dual.mul(&data.hessian), linear: dual.mul(&linear_stiffness(data)) }
    }
}

/// B⁺ᵀ, 6E × n_η, where B⁺ is the pseudo-inverse for lengths over r.
fn dual_basis(data: &ModelData) -> Matrix {
    let n = data.basis.columns();
    let scale = |i: usize| if i % 6 < 3 { 1.0 / data.radius } else { 1.0 };
    let scaled = Matrix::from_fn(n, data.basis.rows(), |j, i| scale(i) * data.basis[(i, j)]);
    let rows = OrthogonalRows::new(&scaled);
    let mut out = Matrix::zeros(data.basis.rows(), n);
    for j in 0..n {
        let unit: alloc::vec::Vec<f64> = (0..n).map(|k| f64::from(j == k)).collect();
        let column = rows.solve(&unit, RANK_TOLERANCE * rows.largest());
        column.into_iter().enumerate().for_each(|(i, x)| out[(i, j)] = scale(i) * x);
    }
    out
}

/// \[A16\]'s stiffness in displaced body axes,
/// `K = 𝓗 + BᵀQB with Q = blockdiag [[0, ½[f]×], [½[f]×, ½[τ]×]]` of the static wrenches: J_r(ξ)⁻ᵀ
/// (b + 𝓗ξ) = b + 𝓗ξ + ½ ad_ξᵀ b to first order.
pub(crate) fn linear_stiffness(data: &ModelData) -> Matrix {
    let n = data.basis.columns();
    let mut out = data.hessian.clone();
    for (e, effector) in data.effectors.iter().enumerate() {
        let b = data.basis.block(6 * e, 0, 6, n);
        let (f, t) = (effector.static_wrench.force * 0.5, effector.static_wrench.torque * 0.5);
        let (f, t) = (skew(f), skew(t));
        let q = Matrix::from_fn(6, 6, |i, j| match (i < 3, j < 3) {
            (true, true) => 0.0,
            (true, false) => f.col(j - 3)[i],
            (false, true) => f.col(j)[i - 3],
            (false, false) => t.col(j - 3)[i - 3],
        });
        out = out.plus_scaled(1.0, &b.transpose_mul(&q.mul(&b)));
    }
    out
}
