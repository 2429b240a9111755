//! A linearisation point: the reduced model about a loaded equilibrium, with its potential.

use forks_blend::SampleData;
use forks_dynamics::{Loads, potential_energy, statics::Equilibrium};
use forks_mechanism::{lie::Pose, linalg::Matrix};
use forks_reduce::{Linearisation, MassModel, Problem, ReduceOptions};
use forks_rom::{ServoTerms, data::ModelData};

use crate::error::BlendError;

/// A linearisation point before it is made to fit the others of a blend: its rank is its own.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The reduced model's numbers there. 𝓗 is the exact second derivative of the energy and need
    /// not be positive definite: the pose may be held only by the loads on the effectors.
    pub data: ModelData,
    /// Elastic energy, and gravity's where it acts, without the potential of the loads on the
    /// effectors, J.
    pub potential: f64,
    /// How it depends on the servos' targets.
    pub servos: ServoTerms,
    /// How soft directions bend, in the sample's own coordinates; see
    /// [`forks_blend::SampleData::curvature`].
    pub curvature: Matrix,
}

impl Sample {
    /// The sample at an equilibrium under `loads`.
    ///
    /// # Errors
    /// The pose cannot be reduced: see [`forks_reduce::ReduceError`].
    pub fn new(problem: &Problem, at: &Equilibrium, loads: &Loads) -> Result<Self, BlendError> {
        Self::with_mass(problem, at, loads, MassModel::Condensed)
    }

    /// The same with another mass; not one with further coordinates.
    ///
    /// # Errors
    /// As [`Sample::new`].
    pub fn with_mass(
        problem: &Problem,
        at: &Equilibrium,
        loads: &Loads,
        mass: MassModel,
    ) -> Result<Self, BlendError> {
        let options = ReduceOptions { held_by_loads: true, mass, ..ReduceOptions::default() };
        let reduction = problem.reduce(Linearisation::equilibrium(at, loads), &options)?;
        let own = Loads { gravity: loads.gravity, wrenches: vec![] };
        let potential = potential_energy(problem.mechanism(), &at.q, &at.world_from_link, &own);
        if !potential.is_finite() {
            return Err(BlendError::NotFinite { quantity: "the potential energy of a sample" });
        }
        let data = reduction.model.data().clone();
        let servos = problem.servo_terms(&at.q, &data);
        Ok(Self { data, potential, servos, curvature: Matrix::zeros(0, 0) })
    }

    /// A sample of a blend, with the coordinates it was given there.
    pub fn of_blend(s: &SampleData) -> Self {
        Self {
            data: s.model.data().clone(),
            potential: s.potential,
            servos: s.servos.clone(),
            curvature: s.curvature.clone(),
        }
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
