//! The wrenches that hold a model where it is.
//!
//! With ŵ the wrench on the exponential coordinates ξ_e of the effectors, the generalised force is
//! Bᵀŵ. The smallest ŵ (torques over forces times r) for the elastic force is b + B⁺ᵀ 𝓗 (η − η_s),
//! B⁺ᵀ = S²B for an orthonormal SB; the body wrench is J_r(ξ_e)⁻ᵀ ŵ_e. Fixed-effector modes have no
//! row in B, so nothing of theirs is in it.

use forks_lie::{Wrench, right_jacobian_inverse, skew};
use forks_linalg::Matrix;

use crate::{
    Elasticity, LoadFrame, ModelData, ReducedModel, State, linear::sum, orthogonal::OrthogonalRows,
};

/// Singular values of SB below this fraction of the largest are motions that no effector makes.
const RANK_TOLERANCE: f64 = 1e-12;

/// 6E × n_η: wrenches on the exponential coordinates per unit η − η_s.
#[derive(Clone, Debug)]
pub(crate) struct WrenchMaps {
    energy: Matrix,
    linear: Matrix,
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
        out = sum(&out, 1.0, &b.transpose_mul(&q.mul(&b)));
    }
    out
}

impl ReducedModel {
    /// The wrench on an effector that holds the model at η, at the effector's displaced origin, in
    /// the axes of `frame`; allocates nothing.
    ///
    /// At the linearisation pose it is the static wrench. For [`Elasticity::Energy`] it is J_r(ξ)⁻ᵀ
    /// (b + B⁺ᵀ 𝓗 (η − η_s)): around closed paths of η these wrenches do no work together.
    /// [`Elasticity::Linear`] is \[A16\]'s b + K ξ, without that property.
    ///
    /// # Panics
    /// If there is no such effector, or the state belongs to a model of another size.
    pub fn effector_wrench(
        &self,
        e: usize,
        state: &State,
        elasticity: Elasticity,
        frame: LoadFrame,
    ) -> Wrench {
        assert_eq!(state.coordinates().len(), self.dof(), "coordinates of the state");
        let map = match elasticity {
            Elasticity::Energy => &self.wrench_maps().energy,
            Elasticity::Linear => &self.wrench_maps().linear,
        };
        let held = self.data().effectors[e].static_wrench.to_array();
        let hat: [f64; 6] = core::array::from_fn(|i| {
            let stretch = state.coordinates().iter().zip(&state.rest);
            let row = map.row(6 * e + i).iter().zip(stretch);
            held[i] + row.map(|(m, (x, r))| m * (x - r)).sum::<f64>()
        });
        let body = match elasticity {
            Elasticity::Energy => {
                let back = right_jacobian_inverse(self.effector_twist(e, state.coordinates()));
                Wrench::from_array(back.transpose_mul_vec(&hat))
            }
            Elasticity::Linear => Wrench::from_array(hat),
        };
        match frame {
            LoadFrame::Body => body,
            LoadFrame::World => {
                let rotation = self.effector_pose(e, state.coordinates()).rotation;
                Wrench::new(rotation * body.force, rotation * body.torque)
            }
        }
    }

    /// [`ReducedModel::effector_wrench`] of every effector.
    pub fn effector_wrenches<'a>(
        &'a self,
        state: &'a State,
        elasticity: Elasticity,
        frame: LoadFrame,
    ) -> impl ExactSizeIterator<Item = Wrench> + 'a {
        (0..self.effector_count()).map(move |e| self.effector_wrench(e, state, elasticity, frame))
    }
}
