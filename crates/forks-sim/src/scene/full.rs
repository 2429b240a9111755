//! Scenes with all joints of their mechanisms (features `scene` and `twin`).

use forks_lie::Pose;
use forks_mechanism::{JointKind, LinkId, Preparation};
use forks_reduce::Problem;

use super::{
    Scene, SceneMechanism,
    error::{SceneError, invalid},
};
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
        if m.floating {
            return Ok(self.world.add_full(&m.name, &afloat(m)?, Pose::IDENTITY)?);
        }
        let full = FullMechanism::of(problem);
        let full = if m.gravity {
            full.from_positions(&m.equilibrium(problem)?.q)
        } else {
            full.under(Gravity::Off)
        };
        Ok(self.world.add_full(&m.name, &full, m.placement)?)
    }
}

/// With its base free, where the scene has it.
fn afloat(m: &SceneMechanism) -> Result<FullMechanism, SceneError> {
    let names: Vec<&str> = m.effectors.iter().map(String::as_str).collect();
    let preparation = Preparation { servos: true, ..Preparation::default() };
    let full = FullMechanism::new(&m.mechanism, &preparation, &names);
    let mut full = full.map_err(|source| m.reduce_error(source))?;
    let free = full
        .mechanism
        .joints()
        .iter()
        .position(|j| j.kind == JointKind::Free && j.parent == LinkId::WORLD);
    let Some(free) = free else {
        return Err(invalid(format!("mechanism {:?}", m.name), "floats and has no free joint"));
    };
    let base = full.mechanism.joints()[free].closest_positions(&m.placement);
    let range = full.mechanism.position_range(forks_mechanism::JointId::new(free));
    full.start[range].copy_from_slice(&base);
    Ok(full)
}
