//! How far a linearisation is from what its mechanism allows: loops that open, effectors that leave
//! their joints.
//!
//! Joints follow a model's coordinates in straight lines, and so do its effectors. Tree joints put
//! together give each effector a place; where the model has it elsewhere, the difference is what
//! the linearisation leaves out, and so is what a loop opens. Both grow with the square of the
//! displacements. Both are zero at the linearisation pose.

use alloc::vec;

use super::ConstraintError;
use crate::{ModelError, Reconstruction, ReducedModel, State};

/// Largest gaps over the mechanism's size r, of joints that close loops and of effectors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Openings {
    /// Of joints that close loops, with all others closed.
    pub loops: f64,
    /// Between effectors and where the joints put them.
    pub effectors: f64,
}

impl Openings {
    /// What servo targets may open: a loop by 1 % of r (its links then are off by some times as
    /// much), an effector by 5 %.
    pub const OF_TARGETS: Self = Self { loops: 0.01, effectors: 0.05 };
    /// What a motion may open: 5 % of r.
    pub const OF_MOTION: Self = Self { loops: 0.05, effectors: 0.05 };

    /// The largest gaps of those at joints in tree coordinates, and at effectors; `radius` is r.
    pub fn of(error: &ConstraintError, radius: f64) -> Self {
        let largest = |gaps: &mut dyn Iterator<Item = f64>| gaps.fold(0.0, f64::max) / radius;
        Self {
            loops: largest(&mut error.joints.iter().map(|g| g.gap.position)),
            effectors: largest(&mut error.effectors.iter().map(|g| g.position)),
        }
    }

    /// True if one of the gaps is larger than that of another.
    pub fn exceed(&self, most: &Self) -> bool {
        self.loops > most.loops || self.effectors > most.effectors
    }

    /// The larger of each.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { loops: self.loops.max(other.loops), effectors: self.effectors.max(other.effectors) }
    }
}

impl ReducedModel {
    /// What opens in a state; zero for models without joints.
    ///
    /// # Panics
    /// If the state belongs to a model of another size.
    pub fn openings(&self, state: &State) -> Openings {
        if self.data().joints.is_empty() {
            return Openings::default();
        }
        let error = self.constraint_error(state, Reconstruction::JointSpace);
        Openings::of(&error, self.data().radius)
    }

    /// What opens where the model rests for servo targets, without loads.
    ///
    /// # Errors
    /// A wrong number of targets, targets that are not finite or too large.
    pub fn target_openings(&self, targets: &[f64]) -> Result<Openings, ModelError> {
        if targets.iter().all(|s| *s == 0.0) {
            return Ok(Openings::default());
        }
        let mut state = State::new(self);
        state.set_servo_targets(self, targets)?;
        state.set(&self.rest_coordinates(targets), &vec![0.0; self.dof()])?;
        Ok(self.openings(&state))
    }
}
