//! Full-solver twins: mechanisms with all their joints in the worlds of their reduced models.
//!
//! ```text
//! reduced world                       its twin
//! add_mechanism(reduced model)        add_full(the mechanism it was made from)
//! bodies, shapes, targets, loads      the same calls in the same order
//! ```

mod full_drive;
mod full_mechanism;

pub use full_drive::FullDrive;
pub(crate) use full_mechanism::with_gravity;
pub use full_mechanism::{FullMechanism, Gravity};

use forks_dynamics::integrate::ImpulseStepper;
use forks_lie::Pose;
use forks_rom::ModelError;

use crate::{
    MechanismHandle, SimError, World,
    mechanism::{Full, Instance},
};

impl World {
    /// The full solver of a mechanism, if that is what steps it, with what drives it: the rows of
    /// the servos are worked out at each call ([`World::full_solver`] has the solver alone).
    ///
    /// # Errors
    /// A mechanism that is not there.
    pub fn full(&mut self, m: MechanismHandle) -> Result<Option<FullDrive<'_>>, SimError> {
        self.instance(m)?;
        Ok(self.mechanisms[m.0].motion.full().map(|f| f.drive()))
    }

    /// Forces (N or N·m) of all velocity coordinates of a mechanism under the full solver from now
    /// on, beside springs, dampers and servos.
    ///
    /// # Errors
    /// A mechanism that is not there or not under the full solver, a wrong length, numbers that are
    /// not finite.
    pub fn set_joint_forces(&mut self, m: MechanismHandle, forces: &[f64]) -> Result<(), SimError> {
        self.instance(m)?;
        let Instance { name, motion, .. } = &mut self.mechanisms[m.0];
        let found = forces.len();
        let none = ModelError::WrongSize { quantity: "joint forces", found, expected: 0 };
        let set = motion.full().ok_or(none).and_then(|f| f.set_joint_forces(forces));
        set.map_err(|source| SimError::Model { mechanism: name.clone(), source })
    }

    /// Adds a mechanism with all its joints; `world_from_mechanism` places the frame that it calls
    /// world.
    ///
    /// Its coordinates are the positions of all joints, its velocities those of the independent
    /// motions: of the tree joints where there are no loops and couplings.
    ///
    /// # Errors
    /// Positions or velocities of a wrong length or not finite, a mechanism that cannot be stepped
    /// from there, a placement that is not finite.
    pub fn add_full(
        &mut self,
        name: &str,
        full: &FullMechanism,
        world_from_mechanism: Pose,
    ) -> Result<MechanismHandle, SimError> {
        full.check(name)?;
        let placement = world_from_mechanism.normalized();
        let motion = Full::new(full, &placement, self.settings.gravity, self.h);
        let motion = motion.map_err(|status| SimError::FullSolver {
            mechanism: name.into(),
            status: status.name(),
        })?;
        self.add_motion(name, Box::new(motion), world_from_mechanism)
    }

    /// The solver of a mechanism that [`World::add_full`] added; `None` of others.
    ///
    /// # Errors
    /// A mechanism that is not there.
    pub fn full_solver(
        &self,
        mechanism: MechanismHandle,
    ) -> Result<Option<&ImpulseStepper>, SimError> {
        Ok(self.instance(mechanism)?.motion.full_solver())
    }
}
