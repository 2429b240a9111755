//! The wrenches that hold a model where it is.
//!
//! With ŵ the wrench on the exponential coordinates ξ_e of the effectors, the generalised force is
//! Bᵀŵ. The smallest ŵ (torques over forces times r) for the elastic force is b + B⁺ᵀ 𝓗 (η − η_s),
//! B⁺ᵀ = S²B for an orthonormal SB; the body wrench is J_r(ξ_e)⁻ᵀ ŵ_e. Fixed-effector modes have no
//! row in B, so nothing of theirs is in it.

use forks_lie::{Wrench, se3::right_jacobian_inverse};

use crate::{Elasticity, LoadFrame, ReducedModel, State};

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
