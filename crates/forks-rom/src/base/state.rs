//! The state of a reduced model whose base floats.

use alloc::vec::Vec;

use forks_lie::{Pose, glam::DVec3};

use crate::{ModelError, State};

/// Momentum of the whole mechanism, world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Momentum {
    /// Linear momentum, kg·m/s.
    pub linear: DVec3,
    /// Angular momentum about the world's origin, kg·m²/s.
    pub angular: DVec3,
}

/// Pose and momentum of the base beside the reduced coordinates.
///
/// Momentum is what is kept, so that it is conserved to rounding; the base's velocity follows from
/// it ([`FloatingModel::base_velocity`](crate::FloatingModel::base_velocity)).
#[derive(Clone, Debug, PartialEq)]
pub struct FloatingState {
    /// η, η̇, servo targets.
    pub(super) shape: State,
    pub(super) world_from_base: Pose,
    /// Velocity of the centre of mass, world axes.
    pub(super) center_velocity: DVec3,
    /// Angular momentum about the centre of mass, world axes.
    pub(super) spin: DVec3,
}

impl FloatingState {
    /// The whole state but the servo targets, to the last bit, in place of what `out` held: base
    /// pose (x, y, z, qw, qx, qy, qz), velocity of the centre of mass, spin, η, η̇.
    pub fn extra_state(&self, out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.world_from_base.to_array());
        out.extend(self.center_velocity.to_array());
        out.extend(self.spin.to_array());
        out.extend_from_slice(self.shape.coordinates());
        out.extend_from_slice(self.shape.velocity());
    }

    /// Sets the state to what [`FloatingState::extra_state`] gave, bit by bit.
    ///
    /// # Errors
    /// A wrong length, numbers that are not finite; the state is then unchanged.
    pub fn set_extra_state(&mut self, numbers: &[f64]) -> Result<(), ModelError> {
        let n = self.shape.coordinates().len();
        crate::state::check("numbers of a floating state", numbers, 13 + 2 * n)?;
        let (base, shape) = numbers.split_at(13);
        let pose = core::array::from_fn(|i| base[i]);
        self.shape.set(&shape[..n], &shape[n..])?;
        self.world_from_base = Pose::from_array(pose);
        self.center_velocity = DVec3::new(base[7], base[8], base[9]);
        self.spin = DVec3::new(base[10], base[11], base[12]);
        Ok(())
    }

    /// Reduced coordinates, their rates and servo targets, relative to the base.
    pub fn shape(&self) -> &State {
        &self.shape
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
