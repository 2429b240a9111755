//! The state of a reduced model whose base floats.

use alloc::{vec, vec::Vec};

use forks_lie::{Pose, Twist, glam::DVec3};

use super::model::FloatingModel;
use crate::{ModelError, State};

/// Momentum of the whole mechanism, world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Momentum {
    /// Linear momentum, kg·m/s.
    pub linear: DVec3,
    /// Angular momentum about the world's origin, kg·m²/s.
    pub angular: DVec3,
}

/// Pose and momentum of the base beside the reduced coordinates, with the memory that a step needs.
///
/// Momentum is what is kept, so that it is conserved to rounding; the base's velocity follows from it
/// ([`FloatingModel::base_velocity`]).
#[derive(Clone, Debug, PartialEq)]
pub struct FloatingState {
    /// η, η̇, servo targets.
    pub(super) shape: State,
    pub(super) world_from_base: Pose,
    /// Velocity of the centre of mass, world axes.
    pub(super) center_velocity: DVec3,
    /// Angular momentum about the centre of mass, world axes.
    pub(super) spin: DVec3,
    pub(super) work: FloatingWork,
}

/// Scratch memory of a step; holds nothing between steps.
#[derive(Clone, Debug, Default)]
pub(super) struct FloatingWork {
    /// n: generalised force, then the constant part of the equations of η.
    pub(super) force: Vec<f64>,
    /// n: trial η.
    pub(super) eta: Vec<f64>,
    /// n: η − η_s.
    pub(super) stretch: Vec<f64>,
    /// 3 + n: trial (ω, η̇).
    pub(super) trial: Vec<f64>,
    /// 3 + n: residual, then correction.
    pub(super) residual: Vec<f64>,
    /// (3 + n)²: matrix of Newton's method.
    pub(super) matrix: Vec<f64>,
    /// n: Σ.
    pub(super) coupling: Vec<DVec3>,
    /// n: G, then changes of the spin per η̇.
    pub(super) slope: Vec<DVec3>,
}

impl PartialEq for FloatingWork {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl FloatingState {
    /// The linearisation pose at rest.
    pub fn new(model: &FloatingModel) -> Self {
        let n = model.model.dof();
        Self {
            shape: State::new(&model.model),
            world_from_base: model.base_from_rest.inverse(),
            center_velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
            work: FloatingWork {
                force: vec![0.0; n],
                eta: vec![0.0; n],
                stretch: vec![0.0; n],
                trial: vec![0.0; 3 + n],
                residual: vec![0.0; 3 + n],
                matrix: vec![0.0; (3 + n) * (3 + n)],
                coupling: vec![DVec3::ZERO; n],
                slope: vec![DVec3::ZERO; n],
            },
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
        let (i, omega) = (&model.inertia, base_velocity.angular);
        let held = i.hold_back(eta);
        let rotation = self.world_from_base.rotation;
        let relative = omega.cross(i.center(eta)) + i.center_rate(eta, velocity);
        self.center_velocity = rotation * (base_velocity.linear + relative);
        self.spin = rotation * (i.rotation_at(eta, held) * omega + i.coupled(eta, held, velocity));
        Ok(())
    }

    /// The whole state but the servo targets, to the last bit, in place of what `out` held: base pose (x, y, z, qw, qx, qy, qz),
    /// velocity of the centre of mass, spin, η, η̇.
    pub fn numbers(&self, out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.world_from_base.to_array());
        out.extend(self.center_velocity.to_array());
        out.extend(self.spin.to_array());
        out.extend_from_slice(self.eta());
        out.extend_from_slice(self.velocity());
    }

    /// Sets the state to what [`FloatingState::numbers`] gave, bit by bit.
    ///
    /// # Errors
    /// A wrong length, numbers that are not finite; the state is then unchanged.
    pub fn set_numbers(&mut self, numbers: &[f64]) -> Result<(), ModelError> {
        let n = self.eta().len();
        crate::state::check("numbers of a floating state", numbers, 13 + 2 * n)?;
        let (base, shape) = numbers.split_at(13);
        let pose = core::array::from_fn(|i| base[i]);
        self.shape.set(&shape[..n], &shape[n..])?;
        self.world_from_base = Pose::from_array(pose);
        self.center_velocity = DVec3::new(base[7], base[8], base[9]);
        self.spin = DVec3::new(base[10], base[11], base[12]);
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

    /// Reduced coordinates, their rates and servo targets, relative to the base.
    pub fn shape(&self) -> &State {
        &self.shape
    }

    /// η.
    pub fn eta(&self) -> &[f64] {
        self.shape.eta()
    }

    /// η̇.
    pub fn velocity(&self) -> &[f64] {
        self.shape.velocity()
    }

    /// World pose of the base link.
    pub fn world_from_base(&self) -> Pose {
        self.world_from_base
    }

    /// Velocity of the centre of mass, world axes, m/s.
    pub fn center_velocity(&self) -> DVec3 {
        self.center_velocity
    }

    /// Angular momentum about the centre of mass, world axes, kg·m²/s.
    pub fn spin(&self) -> DVec3 {
        self.spin
    }
}
