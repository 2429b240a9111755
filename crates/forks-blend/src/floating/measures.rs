//! Momentum, energy and poses of a blend whose base floats.

use forks_lie::{Pose, glam::DVec3};
use forks_rom::Momentum;

use super::{model::FloatingBlend, state::FloatingBlendState};

impl FloatingBlend {
    /// Pose of the samples' world, carried along by the base, in the world.
    pub fn world_from_rest(&self, state: &FloatingBlendState) -> Pose {
        state.world_from_base * self.base_from_rest
    }

    /// World pose of effector `e`.
    pub fn effector_pose(&self, e: usize, state: &FloatingBlendState) -> Pose {
        self.world_from_rest(state) * self.model.effector_pose(e, &state.shape.x)
    }

    /// Momentum in the world; it changes by the impulse of gravity and loads to rounding.
    pub fn momentum(&self, state: &FloatingBlendState) -> Momentum {
        let linear = state.center_velocity * self.mass();
        Momentum { linear, angular: state.center_of_mass().cross(linear) + state.spin }
    }

    /// Kinetic energy of base and mechanism, J.
    pub fn kinetic_energy(&self, state: &FloatingBlendState) -> f64 {
        state.derived.energy + 0.5 * self.mass() * state.center_velocity.length_squared()
    }

    /// Energy in gravity (world axes), zero at the world's origin, J.
    pub fn gravitational_energy(&self, state: &FloatingBlendState, gravity: DVec3) -> f64 {
        -self.mass() * gravity.dot(state.center_of_mass())
    }
}
