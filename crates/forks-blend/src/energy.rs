//! Energy, force, weights and effector poses of a blend at any place.

use alloc::vec::Vec;

use forks_lie::{Pose, Twist, Wrench};

use crate::{
    evaluation::Evaluation,
    model::{BlendedModel, chart_twist},
    state::BlendedState,
};

impl BlendedModel {
    /// Wrenches that hold the effectors at `x`, each in its effector's displaced frame.
    pub fn effector_wrenches(&self, x: &[f64]) -> Vec<Wrench> {
        self.evaluated(x).effector_wrenches(self)
    }

    /// Twist of effector `e` from its reference pose, exponential coordinates: B_e x in a chart of
    /// poses.
    pub fn effector_twist(&self, e: usize, x: &[f64]) -> Twist {
        if self.is_curved() {
            return self.data.reference[e].twist_to(&self.effector_pose(e, x));
        }
        chart_twist(&self.data.basis, e, x)
    }

    /// World pose of effector `e`: H_ref,e exp(B_e x) in a chart of poses.
    pub fn effector_pose(&self, e: usize, x: &[f64]) -> Pose {
        if self.is_curved() {
            return self.evaluated(x).poses[e];
        }
        self.data.reference[e].displaced(self.effector_twist(e, x))
    }

    /// World pose of effector `e` in a state: where links follow the joints servo targets move it a
    /// little at the same coordinates.
    ///
    /// # Panics
    /// If the state belongs to a model of another size.
    pub fn effector_pose_at(&self, e: usize, state: &BlendedState) -> Pose {
        match &self.tree {
            Some(_) => self.evaluated_at(state).poses[e],
            None => self.effector_pose(e, &state.x),
        }
    }

    /// Potential energy of the blend at `x`, J.
    pub fn potential_energy(&self, x: &[f64]) -> f64 {
        self.evaluated(x).energy
    }

    /// Gradient of [`BlendedModel::potential_energy`].
    pub fn elastic_force(&self, x: &[f64]) -> Vec<f64> {
        self.evaluated(x).gradient[..self.dof()].to_vec()
    }

    /// Weights of the samples at `x`; their sum is 1.
    pub fn weights(&self, x: &[f64]) -> Vec<f64> {
        self.evaluated(x).weights
    }

    /// An evaluation with memory of its own.
    pub(crate) fn evaluated(&self, x: &[f64]) -> Evaluation {
        assert_eq!(x.len(), self.dof(), "chart coordinates");
        let mut out = Evaluation::new(self);
        out.at(self, x);
        out
    }
}
