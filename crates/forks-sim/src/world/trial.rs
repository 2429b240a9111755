//! What the next step of a mechanism would be, asked before it is made.

use forks_linalg::Matrix;
use forks_rom::{EffectorLoad, EffectorState, LoadFrame, StepStatus};

use crate::{
    MechanismHandle, SimError, World,
    mechanism::{Kept, Motion},
};

/// A mechanism apart from its world: its next step without contact, at the state that it has there,
/// as often as asked.
#[derive(Debug)]
pub struct Trial {
    name: String,
    motion: Box<dyn Motion>,
    placement: forks_lie::Pose,
    state: Kept,
    loads: Vec<EffectorLoad>,
    gravity: forks_lie::glam::DVec3,
}

impl World {
    /// The next step of a mechanism, to be asked for.
    ///
    /// # Errors
    /// A mechanism that is not there.
    pub fn trial(&self, mechanism: MechanismHandle) -> Result<Trial, SimError> {
        let m = self.instance(mechanism)?;
        let placement = *m.placement();
        Ok(Trial {
            name: m.name.clone(),
            motion: m.motion.boxed(),
            state: m.state(),
            loads: m.loads.clone(),
            gravity: placement.rotation.conjugate() * self.settings.gravity,
            placement,
        })
    }
}

impl Trial {
    /// Its velocities.
    pub fn velocity(&self) -> &[f64] {
        &self.state.velocity
    }

    /// Targets of its servos.
    pub fn servo_targets(&self) -> &[f64] {
        &self.state.servo_targets
    }

    /// Loads on its effectors, in the model's axes.
    pub fn loads(&self) -> &[EffectorLoad] {
        &self.loads
    }

    /// Adds a load at an effector's origin for the step that is asked for, in the effector's axes
    /// or the world's.
    pub fn add_load(&mut self, load: EffectorLoad) {
        let back = self.placement.rotation.conjugate();
        let mut load = load;
        if load.frame == LoadFrame::World {
            load.wrench.force = back * load.wrench.force;
            load.wrench.torque = back * load.wrench.torque;
        }
        self.loads.push(load);
    }

    /// World poses, Jacobians and twists of its effectors.
    pub fn effectors(&self) -> Vec<EffectorState> {
        let mut out = vec![EffectorState::new(self.motion.dof()); self.motion.effector_count()];
        self.motion.update(&mut out);
        out.iter_mut().for_each(|e| e.pose = self.placement * e.pose);
        out
    }

    /// Velocities at the end of the step under these servo targets, without contact; where A is the
    /// linear response of a step that is not linear, its linear part.
    ///
    /// # Errors
    /// Numbers that are not finite, another number of servos, a step that overflows.
    pub fn free_velocity(&mut self, servo_targets: &[f64]) -> Result<&[f64], SimError> {
        let wrong = |source| SimError::Model { mechanism: self.name.clone(), source };
        let Kept { coordinates, velocity, extra_state, .. } = &self.state;
        self.motion.set(coordinates, velocity).map_err(wrong)?;
        self.motion.set_extra_state(extra_state).map_err(wrong)?;
        self.motion.set_servo_targets(servo_targets).map_err(wrong)?;
        match self.motion.step_freely(&self.loads, self.gravity) {
            StepStatus::NotFinite => Err(wrong(forks_rom::ModelError::NotFinite {
                quantity: "the step that is asked for",
            })),
            _ => Ok(self.motion.free_velocity()),
        }
    }

    /// A⁻¹ of the step that was asked for last: velocities per impulse.
    pub fn inverse_system(&mut self) -> Option<&Matrix> {
        self.motion.inverse_system()
    }
}
