//! How effectors move with the chart coordinates.

use forks_lie::{Pose, se3::right_jacobian};
use forks_linalg::Matrix;

use crate::{
    dense::quadratic, model::BlendedModel, state::BlendedState, workspace::BlendedWorkspace,
};

impl BlendedModel {
    /// Body twist of effector `e` per unit rate of the chart coordinates, J_r(B_e x) B_e, 6 × N,
    /// into the last columns of `out`.
    ///
    /// # Panics
    /// If there is no such effector, or sizes differ.
    pub fn effector_jacobian(&self, e: usize, x: &[f64], out: &mut Matrix) {
        let n = self.dof();
        assert_eq!([x.len(), out.rows()], [n, 6], "sizes");
        let first = out.columns() - n;
        if self.is_curved() {
            return self.chart_jacobian(&self.evaluated(x), e, out);
        }
        let (right, basis) = (right_jacobian(self.effector_twist(e, x)), &self.data().basis);
        for j in 0..n {
            let column = core::array::from_fn(|i| basis[(6 * e + i, j)]);
            for (i, y) in right.mul_vec(&column).into_iter().enumerate() {
                out[(i, first + j)] = y;
            }
        }
    }

    /// Pose of effector `e` in a state, and its [Jacobian](BlendedModel::effector_jacobian) into
    /// `out`. Allocates nothing where the workspace is at the state.
    ///
    /// # Panics
    /// If there is no such effector, or sizes differ.
    pub fn effector(
        &self,
        e: usize,
        state: &BlendedState,
        work: &BlendedWorkspace,
        out: &mut Matrix,
    ) -> Pose {
        if self.is_curved() {
            let here = self.evaluation(state, work);
            self.chart_jacobian(&here, e, out);
            return here.poses[e];
        }
        self.effector_jacobian(e, &state.x, out);
        self.effector_pose(e, &state.x)
    }

    /// Kinetic energy with the blended mass, J.
    pub fn kinetic_energy(&self, state: &BlendedState) -> f64 {
        self.kinetic_energy_with(self.evaluated_at(state).weights(), &state.velocity)
    }

    /// The same for the samples' weights.
    pub(crate) fn kinetic_energy_with(&self, weights: &[f64], velocity: &[f64]) -> f64 {
        0.5 * quadratic(self.mass(weights).as_slice(), velocity)
    }
}
