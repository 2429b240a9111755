//! Where reduced and blended models rest.

use std::sync::Arc;

use forks_blend::{BlendedStepper, FloatingBlendStepper};
use forks_mechanism::lie::Pose;
use forks_rom::{
    EffectorLoad, FloatingStepper, ModelError, PoseBuffer, Reconstruction, State, StaticSolution,
    System,
};
use numpy::PyArrayDyn;
use pyo3::prelude::*;

use crate::{
    arrays::Shared,
    model::{Kind, Model},
};

pub(crate) struct Solved {
    pub(crate) found: StaticSolution,
    effectors: Vec<Pose>,
    links: Vec<Pose>,
    gap: f64,
}

impl Model {
    pub(crate) fn solve(
        &self,
        loads: &[EffectorLoad],
        targets: &[f64],
    ) -> Result<Solved, ModelError> {
        fn with<S: System>(
            system: S,
            loads: &[EffectorLoad],
            targets: &[f64],
        ) -> Result<Solved, ModelError> {
            let found = system.solve_static(loads, targets)?;
            let mut state = system.state();
            let n = system.dof();
            let mut coordinates = vec![0.0; system.coordinate_count()];
            system.coordinates(&state, &mut coordinates);
            let moving = found.coordinates.len().min(coordinates.len());
            let first = coordinates.len() - moving;
            coordinates[first..].copy_from_slice(&found.coordinates[..moving]);
            system.set_servo_targets(&mut state, targets)?;
            system.set(&mut state, &coordinates, &vec![0.0; n])?;
            let (mut work, mut buffer) = (system.workspace(), system.pose_buffer());
            system.poses(&state, &mut work, &mut buffer);
            let effectors = 0..system.data().effectors.len();
            let error = system.constraint_error(&state, &mut work, Reconstruction::Twist);
            Ok(Solved {
                effectors: effectors.map(|e| system.effector_pose(e, &state)).collect(),
                links: buffer.iter().map(|(_, p)| p).collect(),
                gap: error.position,
                found,
            })
        }
        // Statics do not depend on the step.
        const STEP: f64 = 1e-3;
        match self.inner() {
            Kind::Reduced(m) => {
                let found = m.solve_static(loads, targets)?;
                let eta = &found.coordinates;
                let mut state = State::new(m);
                state.set(eta, &vec![0.0; m.dof()])?;
                state.set_servo_targets(m, targets)?;
                let mut buffer = PoseBuffer::new(m);
                m.poses(&state, &mut buffer);
                Ok(Solved {
                    effectors: (0..m.effector_count()).map(|e| m.effector_pose(e, eta)).collect(),
                    links: buffer.iter().map(|(_, p)| p).collect(),
                    gap: m.constraint_error(&state, Reconstruction::Twist).position,
                    found,
                })
            }
            Kind::Floating(m, _) => {
                with(FloatingStepper::new(Arc::clone(m), STEP)?, loads, targets)
            }
            Kind::Blended(m) => with(BlendedStepper::new(Arc::clone(m), STEP)?, loads, targets),
            Kind::FloatingBlend(m) => {
                with(FloatingBlendStepper::new(Arc::clone(m), STEP)?, loads, targets)
            }
        }
    }
}

/// Where a reduced or blended model rests.
#[pyclass(frozen, module = "forks")]
#[derive(Clone)]
pub(crate) struct Statics {
    solved: Arc<Solved>,
    /// Coordinates, effectors, links: arrays that Python shares.
    shown: Arc<[Shared; 3]>,
}

impl Statics {
    pub(crate) fn new(solved: Solved) -> Self {
        Self { solved: Arc::new(solved), shown: Arc::default() }
    }
}

impl std::fmt::Debug for Statics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.solved.found.fmt(f)
    }
}

#[pymethods]
impl Statics {
    /// Coordinates, (coordinates,); of a floating base those relative to it.
    #[getter]
    fn coordinates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let x = &self.solved.found.coordinates;
        self.shown[0].get(py, &[x.len()], || x.clone())
    }

    /// World poses of the effectors, (effectors, 7): x, y, z (m), qw, qx, qy, qz.
    #[getter]
    fn effector_poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.shown[1].poses(py, &self.solved.effectors)
    }

    /// World poses of the links of `Model.links`, (links, 7).
    #[getter]
    fn link_poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.shown[2].poses(py, &self.solved.links)
    }

    /// Sum of the gaps at joints and effectors over the mechanism's size.
    #[getter]
    fn constraint_error(&self) -> f64 {
        self.solved.gap
    }

    /// Newton steps taken.
    #[getter]
    fn iterations(&self) -> usize {
        self.solved.found.iterations
    }

    /// Largest residual force over the largest force that was balanced.
    #[getter]
    fn residual(&self) -> f64 {
        self.solved.found.residual
    }

    fn __repr__(&self) -> String {
        let StaticSolution { iterations, residual, .. } = &self.solved.found;
        format!("<forks.Statics: {iterations} iterations, residual {residual:.1e}>")
    }
}
