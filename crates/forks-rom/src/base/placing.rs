//! States of a floating model: at rest, or where a base link is and how it moves.

use forks_lie::{Pose, Twist, glam::DVec3};

use super::{model::FloatingModel, state::FloatingState};
use crate::{ModelError, State};

impl FloatingState {
    /// The linearisation pose at rest.
    pub fn new(model: &FloatingModel) -> Self {
        Self {
            shape: State::new(&model.model),
            world_from_base: model.base_from_rest.inverse(),
            center_velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
        }
    }

    /// Sets everything: η, η̇, the base link's world pose and its body twist.
    ///
    /// # Errors
    /// Wrong lengths, numbers that are not finite; the state is then unchanged.
    pub fn set(
        &mut self,
        model: &FloatingModel,
        eta: &[f64],
        velocity: &[f64],
        world_from_base: Pose,
        base_velocity: Twist,
    ) -> Result<(), ModelError> {
        if !world_from_base.is_finite() || !base_velocity.is_finite() {
            return Err(ModelError::NotFinite { quantity: "base" });
        }
        self.shape.set(eta, velocity)?;
        self.world_from_base = world_from_base.normalized();
        let (m, omega) = (model.motion(self), base_velocity.angular);
        let rotation = self.world_from_base.rotation;
        let relative = omega.cross(m.center) + m.center_rate;
        self.center_velocity = rotation * (base_velocity.linear + relative);
        self.spin = rotation * (m.rotation * omega + m.coupled);
        Ok(())
    }

    /// Sets the servo targets; see [`State::set_servo_targets`]. Momentum stays.
    ///
    /// # Errors
    /// A wrong length, numbers that are not finite; the state is then unchanged.
    pub fn set_servo_targets(
        &mut self,
        model: &FloatingModel,
        targets: &[f64],
    ) -> Result<(), ModelError> {
        self.shape.set_servo_targets(&model.model, targets)
    }
}
