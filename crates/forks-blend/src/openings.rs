//! What a motion of a blend opens.

use forks_rom::{Openings, Reconstruction};

use crate::{BlendedModel, BlendedState, LinkBlend};

impl BlendedModel {
    /// What opens in a state; zero for models without joints.
    ///
    /// # Panics
    /// If the state belongs to a model of another size.
    pub fn openings(&self, state: &mut BlendedState) -> Openings {
        let first = self.data().samples[0].model.data();
        if first.joints.is_empty() {
            return Openings::default();
        }
        let (mode, blend) = (Reconstruction::JointSpace, LinkBlend::default());
        Openings::of(&self.constraint_error(state, mode, blend), first.radius)
    }
}
