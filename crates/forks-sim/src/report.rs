//! What a step came to.

use forks_rom::StepStatus as ModelStatus;

use crate::handles::{BodyHandle, MechanismHandle, ShapeHandle};

/// A part of a world, in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// A rigid body.
    Body(BodyHandle),
    /// A reduced mechanism.
    Mechanism(MechanismHandle),
    /// The contact between two shapes.
    Contact([ShapeHandle; 2]),
}

/// How a step ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum WorldStatus {
    /// As it should.
    #[default]
    Completed,
    /// The step was made with admissible impulses that solve contact less exactly than asked.
    ContactInexact,
    /// The step was made; an effector was outside its model's range or had turned by π or more.
    OutOfRange {
        /// The mechanism.
        mechanism: MechanismHandle,
        /// The first such effector.
        effector: usize,
    },
    /// Numbers overflowed; the world is as it was before the step.
    NotFinite {
        /// Where it was noticed.
        part: Part,
    },
}

/// What a step came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[must_use]
pub struct StepReport {
    /// How it ended.
    pub status: WorldStatus,
    /// Points of the last substep that were close enough to touch.
    pub contacts: usize,
    /// Of these, points that pushed.
    pub touching: usize,
    /// Sweeps of Gauss–Seidel, all substeps.
    pub sweeps: usize,
    /// Iterations of other methods, all substeps.
    pub iterations: usize,
    /// Substeps whose contacts were solved less exactly than asked.
    pub inexact: usize,
    /// Largest residual of the contact law, m/s.
    pub residual: f64,
    /// The largest of inexact substeps over the fastest speed that contact had to stop or give
    /// there.
    pub relative_residual: f64,
    /// Energy that contact put in, J: negative for friction and impacts, above 0 by parting
    /// penetrations only.
    pub contact_energy: f64,
}

impl StepReport {
    /// How the step of a mechanism went.
    pub(crate) fn take(
        &mut self,
        mechanism: MechanismHandle,
        status: ModelStatus,
    ) -> Result<(), Part> {
        let effector = match status {
            ModelStatus::Completed => return Ok(()),
            ModelStatus::NotFinite => return Err(Part::Mechanism(mechanism)),
            ModelStatus::OutOfRange { effector } => effector,
            // Nowhere that the model is meant for.
            ModelStatus::InertiaHeldBack | ModelStatus::NotSettled => 0,
        };
        if self.status == WorldStatus::Completed {
            self.status = WorldStatus::OutOfRange { mechanism, effector };
        }
        Ok(())
    }
}
