//! A linearisation point: the reduced model about a loaded equilibrium, with its potential.

use forks_dynamics::{Equilibrium, Loads, potential_energy};
use forks_mechanism::lie::Pose;
use forks_reduce::Problem;
use forks_rom::ModelData;

use crate::error::BlendError;

/// A linearisation point before it is made to fit the others of a blend: its rank is its own.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The reduced model's numbers there. 𝓗 is the exact second derivative of the energy and need not be
    /// positive definite: the pose may be held only by the loads on the effectors.
    pub data: ModelData,
    /// Elastic energy, and gravity's where it acts, without the potential of the loads on the effectors, J.
    pub potential: f64,
}

impl Sample {
    /// The sample at an equilibrium under `loads`.
    ///
    /// # Errors
    /// The pose cannot be reduced: see [`forks_reduce::ReduceError`].
    pub fn new(problem: &Problem, at: &Equilibrium, loads: &Loads) -> Result<Self, BlendError> {
        let reduction = problem.reduce_held_at(at, loads)?;
        let own = Loads { gravity: loads.gravity, wrenches: vec![] };
        let potential = potential_energy(problem.mechanism(), &at.q, &at.world_from_link, &own);
        if !potential.is_finite() {
            return Err(BlendError::NotFinite { quantity: "the potential energy of a sample" });
        }
        Ok(Self { data: reduction.model.data().clone(), potential })
    }

    /// Poses of the effectors.
    pub fn effector_poses(&self) -> Vec<Pose> {
        self.data.effectors.iter().map(|e| e.rest).collect()
    }

    /// Number of independent motions of the effectors here.
    pub fn rank(&self) -> usize {
        self.data.basis.columns()
    }
}
