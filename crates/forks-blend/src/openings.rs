//! What a motion of a blend opens.

use forks_rom::{Openings, Reconstruction};

use crate::{BlendedModel, BlendedState, BlendedWorkspace, LinkBlend};

impl BlendedModel {
    /// What opens in a state; zero for models without joints.
    ///
    /// # Panics
    /// If the state belongs to a model of another size.
    pub fn openings(&self, state: &BlendedState, work: &mut BlendedWorkspace) -> Openings {
        let first = self.data().samples[0].model.data();
        if first.joints.is_empty() {
            return Openings::default();
        }
        let (mode, blend) = (Reconstruction::JointSpace, LinkBlend::default());
        Openings::of(&self.constraint_error(state, work, mode, blend), first.radius)
    }
}
