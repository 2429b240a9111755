//! Snapshots: everything that a step depends on and changes.

use crate::{SimError, World, contact::Cache, mechanism::Kept, rigid::RigidState};

/// The state of a world at one time. Loads, settings and what the world is made of are not part of
/// it.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    steps: u64,
    states: Vec<RigidState>,
    mechanisms: Vec<Kept>,
    cache: Cache,
}

impl World {
    /// The state now. A world that is set back to it goes on with the same bits.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            steps: self.steps,
            states: self.states.clone(),
            mechanisms: self.mechanisms.iter().map(crate::mechanism::Instance::state).collect(),
            cache: self.cache.clone(),
        }
    }

    /// Sets the world back to a snapshot of itself or of a world with the same bodies and
    /// mechanisms.
    ///
    /// # Errors
    /// Numbers of bodies, mechanisms or their coordinates that differ, a state in which a mechanism
    /// of this world cannot be; the world is then unchanged.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SimError> {
        let same = |kind, found, expected| {
            if found == expected {
                return Ok(());
            }
            Err(SimError::Snapshot { kind, found, expected })
        };
        same("bodies", snapshot.states.len(), self.states.len())?;
        same("mechanisms", snapshot.mechanisms.len(), self.mechanisms.len())?;
        same("forces in joints", snapshot.cache.joint_forces.len(), self.joint_forces.len())?;
        for (s, m) in snapshot.mechanisms.iter().zip(&self.mechanisms) {
            let motion = &m.motion;
            same("coordinates", s.coordinates.len(), motion.coordinates().len())?;
            same("velocities", s.velocity.len(), motion.velocity().len())?;
            same("numbers of a state", s.extra_state.len(), motion.extra_state().len())?;
            same("servo targets", s.servo_targets.len(), motion.servo_targets().len())?;
        }
        // A solver may refuse a state: all of them are asked before any is replaced.
        let mut restored = Vec::with_capacity(self.mechanisms.len());
        for (s, m) in snapshot.mechanisms.iter().zip(&self.mechanisms) {
            let refused = |source| SimError::Model { mechanism: m.name.clone(), source };
            restored.push(m.motion_at(s).map_err(refused)?);
        }
        for (motion, m) in restored.into_iter().zip(&mut self.mechanisms) {
            m.motion = motion;
            m.update_effectors();
        }
        self.steps = snapshot.steps;
        self.states.clone_from(&snapshot.states);
        self.cache.copy_from(&snapshot.cache);
        self.contacts.clear();
        Ok(())
    }
}
