//! Soft bodies on mechanisms: `forks.tissue`.
//!
//! ```text
//! mesh        tetrahedra: files, boxes, quality
//! material    laws and their constants
//! simulation  a mechanism with tissue: motion and rest
//! ```

mod material;
mod mesh;
mod simulation;

use forks_mechanism::lie::glam::DVec3;
use numpy::{IntoPyArray as _, PyArray2, PyArrayMethods as _};
use pyo3::prelude::*;

/// What `forks/tissue.py` takes over.
pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<mesh::TetMesh>()?;
    m.add_class::<material::Material>()?;
    m.add_class::<simulation::SoftSimulation>()?;
    m.add_class::<simulation::Rest>()?;
    m.add_function(wrap_pyfunction!(mesh::load_mesh, m)?)?;
    m.add_function(wrap_pyfunction!(mesh::box_mesh, m)?)
}

/// A new array, one point a row.
fn points<'py>(py: Python<'py>, all: &[DVec3]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let numbers: Vec<f64> = all.iter().flat_map(DVec3::to_array).collect();
    numbers.into_pyarray(py).reshape([all.len(), 3])
}

/// Points from rows of three numbers.
fn from_rows(rows: &[f64]) -> Vec<DVec3> {
    rows.chunks_exact(3).map(DVec3::from_slice).collect()
}

/// A new array of indices, `columns` a row.
fn indices<'py>(
    py: Python<'py>,
    all: impl Iterator<Item = usize>,
    columns: usize,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let numbers: Vec<i64> = all.map(|i| i64::try_from(i).unwrap_or(i64::MAX)).collect();
    let rows = numbers.len() / columns;
    numbers.into_pyarray(py).reshape([rows, columns])
}
