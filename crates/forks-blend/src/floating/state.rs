//! The state of a blend whose base floats.

use alloc::vec::Vec;

use forks_lie::{Pose, Twist, glam::DVec3};
use forks_rom::{
    ModelError,
    internal::{
        check_numbers,
        floating::{BaseInertia, FloatingWork},
    },
};

use super::{
    model::FloatingBlend,
    place::{Place, along, shape_quadratic},
};
use crate::state::BlendedState;

/// Pose and momentum of the base beside the chart coordinates.
///
/// Momentum is what is kept, so that it is conserved to rounding. What follows from all this is
/// kept beside it, so that asking for it needs no evaluation of the blend.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatingBlendState {
    /// x, ẋ, servo targets.
    pub(super) shape: BlendedState,
    pub(super) world_from_base: Pose,
    /// Velocity of the centre of mass, world axes.
    pub(super) center_velocity: DVec3,
    /// Angular momentum about the centre of mass, world axes.
    pub(super) spin: DVec3,
    pub(super) derived: Derived,
}

/// What follows from the rest of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Derived {
    /// c, base axes.
    pub(super) center: DVec3,
    /// Body twist of the base link.
    pub(super) twist: Twist,
    /// Kinetic energy about the centre of mass.
    pub(super) energy: f64,
}

/// Numbers of a state that do not belong to its shape.
const OWN: usize = 13 + 3 + 6 + 1;

impl FloatingBlendState {
    /// At rest at the reference poses of the chart.
    pub fn new(model: &FloatingBlend) -> Self {
        let mut out = Self {
            shape: BlendedState::reference(&model.model),
            world_from_base: model.base_at_rest(),
            center_velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
            derived: Derived::default(),
        };
        out.derived.center = out.inertia(model).center();
        out
    }

    /// Inertia where the state is, evaluated anew.
    fn inertia(&self, model: &FloatingBlend) -> BaseInertia {
        let mut place = Place::new(model);
        let mut here = model.model.evaluated_at(&self.shape);
        let n = model.model.dof();
        place.update(model, &self.shape.x, &mut here, &mut FloatingWork::new(n));
        place.inertia
    }

    /// Sets everything: x, ẋ, the base link's world pose and its body twist.
    ///
    /// # Errors
    /// Wrong lengths, numbers that are not finite; the state is then unchanged.
    pub fn set(
        &mut self,
        model: &FloatingBlend,
        x: &[f64],
        rate: &[f64],
        world_from_base: Pose,
        base_velocity: Twist,
    ) -> Result<(), ModelError> {
        if !world_from_base.is_finite() || !base_velocity.is_finite() {
            return Err(ModelError::NotFinite { quantity: "base" });
        }
        self.shape.set(x, rate)?;
        self.world_from_base = world_from_base.normalized();
        let inertia = self.inertia(model);
        let Twist { linear, angular } = base_velocity;
        let relative = angular.cross(inertia.center()) + along(inertia.center_slope(), rate);
        let spin = inertia.rotation * angular + along(inertia.coupling_at_rest(), rate);
        let rotation = self.world_from_base.rotation;
        self.center_velocity = rotation * (linear + relative);
        self.spin = rotation * spin;
        self.derive(&inertia);
        self.derived.twist = base_velocity;
        Ok(())
    }

    /// Finds what follows from the rest.
    pub(super) fn derive(&mut self, inertia: &BaseInertia) {
        let rate = &self.shape.velocity;
        let back = self.world_from_base.rotation.conjugate();
        let coupled = along(inertia.coupling_at_rest(), rate);
        let spin = back * self.spin;
        let omega = inertia.rotation.inverse() * (spin - coupled);
        let center = inertia.center();
        let moved = omega.cross(center) + along(inertia.center_slope(), rate);
        self.derived = Derived {
            center,
            twist: Twist::new(back * self.center_velocity - moved, omega),
            energy: 0.5 * (omega.dot(spin + coupled) + shape_quadratic(inertia, rate)),
        };
    }

    /// Sets the servo targets; see [`BlendedState::set_servo_targets`]. Momentum stays.
    ///
    /// # Errors
    /// As there.
    pub fn set_servo_targets(
        &mut self,
        model: &FloatingBlend,
        targets: &[f64],
    ) -> Result<(), ModelError> {
        self.shape.set_servo_targets(&model.model, targets)
    }

    /// The whole state but the servo targets, to the last bit, in place of what `out` held.
    pub fn extra_state(&self, out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.world_from_base.to_array());
        out.extend(self.center_velocity.to_array());
        out.extend(self.spin.to_array());
        out.extend(self.derived.center.to_array());
        out.extend(self.derived.twist.to_array());
        out.push(self.derived.energy);
        out.extend_from_slice(&self.shape.x);
        out.extend_from_slice(&self.shape.velocity);
    }

    /// Sets the state to what [`FloatingBlendState::extra_state`] gave, bit by bit.
    ///
    /// # Errors
    /// A wrong length, numbers that are not finite; the state is then unchanged.
    pub fn set_extra_state(&mut self, numbers: &[f64]) -> Result<(), ModelError> {
        let n = self.shape.x.len();
        check_numbers("numbers of a floating state", numbers, OWN + 2 * n)?;
        let (own, shape) = numbers.split_at(OWN);
        let three = |i: usize| DVec3::new(own[i], own[i + 1], own[i + 2]);
        self.shape.set(&shape[..n], &shape[n..])?;
        self.world_from_base = Pose::from_array(core::array::from_fn(|i| own[i]));
        (self.center_velocity, self.spin) = (three(7), three(10));
        let twist = Twist::new(three(16), three(19));
        self.derived = Derived { center: three(13), twist, energy: own[22] };
        Ok(())
    }

    /// Chart coordinates, their rates and servo targets, relative to the base.
    pub fn shape(&self) -> &BlendedState {
        &self.shape
    }

    /// World pose of the base link.
    pub fn world_from_base(&self) -> Pose {
        self.world_from_base
    }

    /// Body twist of the base link.
    pub fn base_velocity(&self) -> Twist {
        self.derived.twist
    }

    /// Velocity of the centre of mass, world axes, m/s.
    pub fn center_velocity(&self) -> DVec3 {
        self.center_velocity
    }

    /// Angular momentum about the centre of mass, world axes, kg·m²/s.
    pub fn spin(&self) -> DVec3 {
        self.spin
    }

    /// Centre of mass in the world.
    pub fn center_of_mass(&self) -> DVec3 {
        self.world_from_base.transform_point(self.derived.center)
    }
}
