//! Tetrahedra: files, boxes, quality.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use forks_deform::{
    Order, TetMesh as Data,
    files::{self, gmsh_text, vtk_text},
};
use forks_io::write_atomically;
use forks_mechanism::lie::glam::DVec3;
use numpy::{PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods as _};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
};

use super::{from_rows, indices, points};
use crate::{
    arrays::{self, Input, vector},
    error::{ReadError, refused, sentence, unreadable},
};

/// Tetrahedra without stress; immutable. Read by `load_mesh`, made by `box_mesh` or from arrays.
///
/// nodes: (nodes, 3), m. elements: (elements, 4), int64, corners.
#[pyclass(frozen, module = "forks.tissue")]
#[derive(Clone, Debug)]
pub(crate) struct TetMesh {
    pub(super) data: Arc<Data>,
    groups: Arc<BTreeMap<String, Vec<usize>>>,
    notes: Arc<Vec<String>>,
}

impl TetMesh {
    fn of(data: Data) -> Self {
        let notes = data.notes().iter().map(ToString::to_string).collect();
        Self { data: Arc::new(data), groups: Arc::default(), notes: Arc::new(notes) }
    }
}

/// Reads a mesh file: Gmsh 2.2 and 4.1 (.msh), Medit (.mesh), TetGen (.node and .ele).
///
/// Raises ReadError with the line or element.
#[pyfunction]
pub(crate) fn load_mesh(py: Python<'_>, path: PathBuf) -> PyResult<TetMesh> {
    let read = py.detach(|| files::load(&path)).map_err(|e| {
        let text = sentence(&e);
        match text.contains(&*path.to_string_lossy()) {
            true => unreadable(e),
            false => ReadError::new_err(format!("{}: {text}", path.display())),
        }
    })?;
    let mut notes: Vec<String> = read.mesh.notes().iter().map(ToString::to_string).collect();
    if read.unused > 0 {
        notes.push(format!("{} nodes without a tetrahedron are left out", read.unused));
    }
    if read.straightened > 0 {
        let count = read.straightened;
        notes
            .push(format!("bent edges of {count} elements are straight: their middle nodes moved"));
    }
    let data = Arc::new(read.mesh);
    Ok(TetMesh { data, groups: Arc::new(read.groups), notes: Arc::new(notes) })
}

/// A box from the origin to `size` (3,), m, cut into `cells` along x, y and z of six tetrahedra
/// each.
#[pyfunction]
pub(crate) fn box_mesh(cells: [usize; 3], size: &Bound<'_, PyAny>) -> PyResult<TetMesh> {
    let size = DVec3::from_array(arrays::numbers("size", size)?);
    Data::kuhn(cells, size).map(TetMesh::of).map_err(refused)
}

/// Corners of elements.
fn corners(x: &Bound<'_, PyAny>) -> PyResult<Vec<[usize; 4]>> {
    let refuse = |row: usize, value: i64| {
        PyValueError::new_err(format!("elements[{row}] names node {value}"))
    };
    let rows: Vec<Vec<i64>> = if let Ok(a) = x.extract::<PyReadonlyArray2<'_, i64>>() {
        a.as_array().rows().into_iter().map(|r| r.to_vec()).collect()
    } else if let Ok(a) = x.cast::<PyUntypedArray>() {
        return Err(PyTypeError::new_err(format!(
            "elements of shape {:?} has dtype {}, expected int64 of shape (elements, 4)",
            a.shape(),
            a.dtype()
        )));
    } else {
        x.extract().map_err(|_| {
            PyTypeError::new_err(
                "elements must be rows of four indices: an array of int64 or lists",
            )
        })?
    };
    let one = |(row, r): (usize, &Vec<i64>)| {
        let [a, b, c, d] = r[..] else {
            return Err(PyValueError::new_err(format!(
                "elements[{row}] has {} indices, expected 4",
                r.len()
            )));
        };
        let mut out = [0; 4];
        for (to, from) in out.iter_mut().zip([a, b, c, d]) {
            *to = usize::try_from(from).map_err(|_| refuse(row, from))?;
        }
        Ok(out)
    };
    rows.iter().enumerate().map(one).collect()
}

#[pymethods]
impl TetMesh {
    #[new]
    fn new(nodes: &Bound<'_, PyAny>, elements: &Bound<'_, PyAny>) -> PyResult<Self> {
        let nodes = from_rows(Input::rows("nodes", nodes, 3)?.as_slice());
        Data::new(nodes, &corners(elements)?).map(Self::of).map_err(refused)
    }

    /// Positions of the nodes, (nodes, 3), m.
    #[getter]
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        points(py, self.data.nodes())
    }

    /// Nodes of the elements, (elements, 4) or (elements, 10): the corners first.
    #[getter]
    fn elements<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let all = (0..self.data.element_count()).flat_map(|e| self.data.element(e).to_vec());
        indices(py, all, self.data.order().nodes())
    }

    /// Triangles of the boundary, (triangles, 3), counter-clockwise from outside.
    #[getter]
    fn boundary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        indices(py, self.data.boundary().into_iter().flatten(), 3)
    }

    /// Named groups of nodes of the file: lists of indices, ascending.
    #[getter]
    fn groups(&self) -> BTreeMap<String, Vec<usize>> {
        (*self.groups).clone()
    }

    /// What was changed, or may not have been meant.
    #[getter]
    fn notes(&self) -> Vec<String> {
        (*self.notes).clone()
    }

    /// Volume of all elements, m³.
    #[getter]
    fn volume(&self) -> f64 {
        self.data.total_volume()
    }

    /// Mean-ratio quality of the elements, (elements,): 1 for a regular tetrahedron, 0 for a flat
    /// one.
    #[getter]
    fn quality<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let all: Vec<f64> = (0..self.data.element_count()).map(|e| self.data.quality(e)).collect();
        vector(py, &all)
    }

    /// The same with elements of ten nodes, which do not lock.
    fn quadratic(&self) -> Self {
        match self.data.order() {
            Order::Linear => {
                Self { groups: Arc::clone(&self.groups), ..Self::of(self.data.quadratic()) }
            }
            Order::Quadratic => self.clone(),
        }
    }

    /// Writes the mesh: Gmsh 4.1 (.msh) or VTK (.vtk), there with the nodes at `x`, (nodes, 3). The
    /// file appears whole or not at all.
    #[pyo3(signature = (path, x=None))]
    fn save(&self, path: PathBuf, x: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let nodes = self.data.nodes().len();
        let moved = x.map(|x| Input::new("x", x, &[nodes, 3])).transpose()?;
        let moved = moved.map(|x| from_rows(x.as_slice()));
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let text = match (extension.as_deref(), &moved) {
            (Some("msh"), None) => gmsh_text(&self.data),
            (Some("vtk"), x) => vtk_text(&self.data, x.as_deref().unwrap_or(self.data.nodes())),
            (Some("msh"), Some(_)) => {
                return Err(PyValueError::new_err("x is for .vtk: .msh holds the mesh at rest"));
            }
            _ => {
                return Err(PyValueError::new_err(format!(
                    "{}: the name must end in .msh or .vtk",
                    path.display()
                )));
            }
        };
        write_atomically(&path, text.as_bytes()).map_err(refused)
    }

    fn __repr__(&self) -> String {
        format!(
            "<forks.tissue.TetMesh: {} nodes, {} elements of {}>",
            self.data.nodes().len(),
            self.data.element_count(),
            self.data.order().nodes()
        )
    }
}
