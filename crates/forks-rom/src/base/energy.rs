//! Energy and momentum.

use forks_lie::glam::DVec3;
use forks_linalg::dot;

use super::{
    model::FloatingModel,
    state::{FloatingState, Momentum},
};

impl FloatingModel {
    /// Centre of mass in the world.
    pub fn center_of_mass(&self, state: &FloatingState) -> DVec3 {
        state.world_from_base.transform_point(self.motion(state).center)
    }

    /// Momentum in the world; it changes by the impulse of gravity and loads to rounding.
    pub fn momentum(&self, state: &FloatingState) -> Momentum {
        let linear = state.center_velocity * self.inertia.mass;
        Momentum { linear, angular: self.center_of_mass(state).cross(linear) + state.spin }
    }

    /// Kinetic energy of base and mechanism, J.
    pub fn kinetic_energy(&self, state: &FloatingState) -> f64 {
        let (i, rate) = (&self.inertia, state.shape.velocity());
        let m = self.motion(state);
        let omega = m.base_rate(state);
        let (turning, coupled) = (omega.dot(m.rotation * omega), omega.dot(m.coupled));
        let shape: f64 =
            rate.iter().enumerate().map(|(k, x)| x * dot(i.shape_mass.row(k), rate)).sum();
        0.5 * (i.mass * state.center_velocity.length_squared() + turning + shape) + coupled
    }

    /// Kinetic energy, gravitational energy (zero at the world's origin), elastic energy over its
    /// value at the linearisation pose, J.
    pub fn energy(&self, state: &FloatingState) -> f64 {
        let weight = self.gravity * self.inertia.mass;
        let height = weight.dot(self.center_of_mass(state));
        self.kinetic_energy(state) - height + self.elastic_energy(state)
    }

    /// Elastic energy over its value at the linearisation pose, J.
    pub fn elastic_energy(&self, state: &FloatingState) -> f64 {
        self.model.elastic_energy(state.shape.coordinates(), state.shape.drive())
    }
}
