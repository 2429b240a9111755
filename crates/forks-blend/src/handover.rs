//! Between a blend and other models of the same mechanism, and how well a blend's links fit
//! together.

use alloc::{vec, vec::Vec};

use forks_lie::{
    Pose, Twist,
    se3::{right_jacobian, right_jacobian_inverse},
};
use forks_linalg::{Matrix, sqrt};
use forks_rom::{ConstraintError, ModelError, Reconstruction, ReducedModel, State};

use crate::{
    data::dual, mean::LinkBlend, model::BlendedModel, state::BlendedState,
    workspace::BlendedWorkspace,
};

impl BlendedModel {
    /// Chart coordinates and rates for effector poses and body twists, as a full solver or another
    /// model has them.
    ///
    /// What the chart's basis does not span is lost; the third number is its size, lengths over r:
    /// below rounding the state is continuous.
    ///
    /// # Errors
    /// Lists that do not have one entry per effector, numbers that are not finite.
    pub fn coordinates_of(
        &self,
        poses: &[Pose],
        twists: &[Twist],
    ) -> Result<(Vec<f64>, Vec<f64>, f64), ModelError> {
        if self.is_curved() {
            return self.chart_coordinates_of(poses, twists);
        }
        let data = self.data();
        of_effectors(&data.reference, &data.basis, data.radius, poses, twists)
    }

    /// A state for effector poses and body twists; see [`BlendedModel::coordinates_of`].
    ///
    /// # Errors
    /// As [`BlendedModel::coordinates_of`].
    pub fn state_of(&self, poses: &[Pose], twists: &[Twist]) -> Result<BlendedState, ModelError> {
        let (x, rate, _) = self.coordinates_of(poses, twists)?;
        let mut out = BlendedState::new(self, &x)?;
        out.set(&x, &rate)?;
        Ok(out)
    }

    /// Body twist of effector `e`, effector frame: J_r(ξ_e) B_e ẋ.
    pub fn effector_velocity(&self, e: usize, state: &BlendedState) -> Twist {
        if self.is_curved() {
            let mut jacobian = Matrix::zeros(6, self.dof());
            self.effector_jacobian(e, &state.x, &mut jacobian);
            let twist = jacobian.mul_vec(&state.velocity);
            return Twist::from_array(core::array::from_fn(|i| twist[i]));
        }
        let rate = self.effector_twist(e, &state.velocity);
        let jacobian = right_jacobian(self.effector_twist(e, &state.x));
        Twist::from_array(jacobian.mul_vec(&rate.to_array()))
    }

    /// Reduced coordinates at which a model has the effectors where this one has them at `x`.
    ///
    /// # Panics
    /// If the numbers of effectors differ.
    pub fn to_sample(&self, x: &[f64], model: &ReducedModel) -> Vec<f64> {
        assert_eq!(model.effector_count(), self.effector_count(), "effectors of the model");
        let twist = |e: usize| model.data().effectors[e].rest.twist_to(&self.effector_pose(e, x));
        let all: Vec<f64> = (0..self.effector_count()).flat_map(|e| twist(e).to_array()).collect();
        dual(&model.data().basis, model.data().radius).transpose_mul_vec(&all)
    }

    /// The state of one reduced model with the effectors of a blend's state: poses and velocities
    /// are continuous as far as the model's basis spans them, servo targets are the same. The basis
    /// must be orthonormal with lengths over r, as those of a blend's samples are.
    ///
    /// # Errors
    /// Another number of effectors.
    pub fn leave(&self, state: &BlendedState, model: &ReducedModel) -> Result<State, ModelError> {
        let count = self.effector_count();
        let poses: Vec<Pose> = (0..count).map(|e| self.effector_pose_at(e, state)).collect();
        let twists: Vec<Twist> = (0..count).map(|e| self.effector_velocity(e, state)).collect();
        let d = model.data();
        let rests: Vec<Pose> = d.effectors.iter().map(|e| e.rest).collect();
        let (eta, rate, _) = of_effectors(&rests, &d.basis, d.radius, &poses, &twists)?;
        let mut out = State::new(model);
        out.set(&eta, &rate)?;
        if !state.driven_targets().is_empty() {
            out.set_servo_targets(model, state.servo_targets())?;
        }
        Ok(out)
    }

    /// The state of the blend with the effectors of a reduced model's state.
    ///
    /// # Errors
    /// Another number of effectors.
    pub fn enter(&self, model: &ReducedModel, state: &State) -> Result<BlendedState, ModelError> {
        let count = model.effector_count();
        let poses: Vec<Pose> =
            (0..count).map(|e| model.effector_pose(e, state.coordinates())).collect();
        let twists: Vec<Twist> = (0..count).map(|e| model.effector_velocity(e, state)).collect();
        let mut out = self.state_of(&poses, &twists)?;
        if !state.drive().is_empty() {
            out.set_servo_targets(self, state.servo_targets())?;
        }
        Ok(out)
    }

    /// Gaps at joints and effectors for the blended link poses: how far the blend is from what the
    /// mechanism allows, without solving it. See [`ReducedModel::constraint_error`].
    ///
    /// # Panics
    /// If the state belongs to a model of another size.
    pub fn constraint_error(
        &self,
        state: &BlendedState,
        work: &mut BlendedWorkspace,
        mode: Reconstruction,
        blend: LinkBlend,
    ) -> ConstraintError {
        let first = &self.data().samples[0].model;
        let mut poses = vec![Pose::IDENTITY; first.data().links.len()];
        self.link_poses_into(state, work, mode, blend, &mut poses);
        first.gaps_of(&poses, |e| self.effector_pose_at(e, state))
    }
}

pub(crate) fn check_effectors(
    expected: usize,
    poses: &[Pose],
    twists: &[Twist],
) -> Result<(), ModelError> {
    for (quantity, found) in [("effector poses", poses.len()), ("effector twists", twists.len())] {
        if found != expected {
            return Err(ModelError::WrongSize { quantity, found, expected });
        }
    }
    match poses.iter().all(Pose::is_finite) && twists.iter().all(|t| t.is_finite()) {
        true => Ok(()),
        false => Err(ModelError::NotFinite { quantity: "effector poses and twists" }),
    }
}

/// Coordinates, rates and what they leave, for effectors at H exp(B x).
fn of_effectors(
    rests: &[Pose],
    basis: &Matrix,
    radius: f64,
    poses: &[Pose],
    twists: &[Twist],
) -> Result<(Vec<f64>, Vec<f64>, f64), ModelError> {
    check_effectors(rests.len(), poses, twists)?;
    let (mut xi, mut xi_rate) = (Vec::new(), Vec::new());
    for (rest, (pose, twist)) in rests.iter().zip(poses.iter().zip(twists)) {
        let log = rest.twist_to(pose);
        xi.extend(log.to_array());
        xi_rate.extend(right_jacobian_inverse(log).mul_vec(&twist.to_array()));
    }
    let dual = dual(basis, radius);
    let (x, rate) = (dual.transpose_mul_vec(&xi), dual.transpose_mul_vec(&xi_rate));
    let left = |all: &[f64], x: &[f64]| {
        let spanned = basis.mul_vec(x);
        let part = all.iter().zip(&spanned).enumerate().map(|(i, (a, b))| {
            let d = if i % 6 < 3 { (a - b) / radius } else { a - b };
            d * d
        });
        sqrt(part.sum())
    };
    let lost = left(&xi, &x).max(left(&xi_rate, &rate));
    Ok((x, rate, lost))
}
