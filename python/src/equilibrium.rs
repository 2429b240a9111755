//! Where mechanisms rest.

use std::sync::Arc;

use forks_dynamics::statics::Equilibrium as Found;
use forks_mechanism::{Mechanism, lie::Pose};
use numpy::PyArrayDyn;
use pyo3::prelude::*;

use crate::{arrays::Shared, error::ForksError};

/// Refuses what is no stable equilibrium, with the reason.
pub(crate) fn balanced(m: &Mechanism, e: &Found) -> PyResult<()> {
    if e.status.is_equilibrium() && e.explanation(m).is_none() {
        return Ok(());
    }
    let why = e.explanation(m).unwrap_or_default();
    Err(ForksError::new_err(format!("no equilibrium, {}: {why}", e.status.name())))
}

/// Where a mechanism rests.
#[pyclass(frozen, module = "forks")]
#[derive(Clone, Debug)]
pub(crate) struct Equilibrium {
    pub(crate) positions: Vec<f64>,
    pub(crate) links: Vec<Pose>,
    pub(crate) effectors: Vec<Pose>,
    pub(crate) status: &'static str,
    pub(crate) residual: f64,
    pub(crate) iterations: usize,
    /// Positions, links, effectors: arrays that Python shares.
    pub(crate) shown: Arc<[Shared; 3]>,
}

#[pymethods]
impl Equilibrium {
    /// Positions of the tree joints, (positions,), m and rad; of MJCF MuJoCo's qpos.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.shown[0].get(py, &[self.positions.len()], || self.positions.clone())
    }

    /// World poses of the mechanism's links, (links, 7): x, y, z (m), qw, qx, qy, qz.
    #[getter]
    fn link_poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.shown[1].poses(py, &self.links)
    }

    /// World poses of the end effectors, (effectors, 7).
    #[getter]
    fn effector_poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.shown[2].poses(py, &self.effectors)
    }

    /// How the search ended.
    #[getter]
    fn status(&self) -> &'static str {
        self.status
    }

    /// Largest unbalanced force over the largest one, or loop gap over the mechanism's size.
    #[getter]
    fn residual(&self) -> f64 {
        self.residual
    }

    /// Newton iterations.
    #[getter]
    fn iterations(&self) -> usize {
        self.iterations
    }

    fn __repr__(&self) -> String {
        format!("<forks.Equilibrium, {}: residual {:.1e}>", self.status, self.residual)
    }
}
