//! Scenes with all joints of their mechanisms (features `scene` and `twin`).

use forks_mechanism::Preparation;
use forks_reduce::Problem;

use super::{Scene, SceneMechanism, error::SceneError};
use crate::{
    MechanismHandle,
    twin::{FullMechanism, Gravity},
};

impl Scene {
    /// Adds a mechanism with all its joints where its reduced model would be.
    pub(super) fn add_full(
        &mut self,
        m: &SceneMechanism,
        problem: &Problem,
    ) -> Result<MechanismHandle, SceneError> {
        let full = if m.floating {
            afloat(m)?
        } else if m.gravity {
            FullMechanism::of(problem).from_positions(&m.equilibrium(problem)?.q)
        } else {
            FullMechanism::of(problem).under(Gravity::Off)
        };
        Ok(self.world.add_full(&m.name, &full, m.placement)?)
    }
}

/// With its base free, as a problem has it held.
fn afloat(m: &SceneMechanism) -> Result<FullMechanism, SceneError> {
    let names: Vec<&str> = m.effectors.iter().map(String::as_str).collect();
    let preparation = Preparation { servos: true, ..Preparation::default() };
    FullMechanism::new(&m.mechanism, &preparation, &names).map_err(|e| m.reduce_error(e))
}
