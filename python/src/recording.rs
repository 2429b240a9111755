//! Poses and numbers over time, as Python sees them.

use std::{path::PathBuf, sync::Arc};

use forks_io::{
    CsvTable, IoError,
    animation::{Animation, AnimationFrame},
    gltf, html, json,
};
use forks_mechanism::lie::Pose;
use numpy::PyArrayDyn;
use pyo3::{
    exceptions::{PyKeyError, PyValueError},
    prelude::*,
    types::PySlice,
};

use crate::{arrays::Shared, drawing::escaped, error::refused};

/// Poses of bodies and numbers over time; in a notebook a 3D page that plays it.
#[pyclass(frozen, module = "forks")]
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    animation: Animation,
    /// Times, poses, numbers by series: arrays that Python shares once it has the recording.
    shown: Arc<[Shared; 3]>,
}

impl Recording {
    pub(crate) fn new(animation: Animation) -> Self {
        Self { animation, shown: Arc::default() }
    }

    /// Adds what there is at a time (s): a pose a body, a number a series.
    pub(crate) fn push(&mut self, time: f64, poses: Vec<Pose>, values: &[f64]) {
        let frame = AnimationFrame::new(time, poses).values(values.iter().copied());
        self.animation.frames.push(frame);
    }

    /// The page in a frame of a notebook's.
    pub(crate) fn frame(&self) -> PyResult<String> {
        let page = html::to_string(&self.animation).map_err(refused)?;
        Ok(format!(
            "<iframe srcdoc=\"{}\" style=\"width:100%;height:480px;border:0\"></iframe>",
            escaped(&page)
        ))
    }

    /// Time, numbers, then seven columns a body.
    fn table(&self) -> Result<CsvTable, IoError> {
        let mut columns = vec!["time (s)".to_owned()];
        let a = &self.animation;
        columns.extend(a.series.iter().map(|s| format!("{} ({})", s.name, s.unit)));
        for body in &a.bodies {
            columns.extend(["x (m)", "y (m)", "z (m)"].map(|c| format!("{} {c}", body.name)));
            columns.extend(["qw", "qx", "qy", "qz"].map(|c| format!("{} {c}", body.name)));
        }
        let mut table = CsvTable::new(columns);
        for frame in &a.frames {
            let mut row = vec![frame.time];
            row.extend(&frame.values);
            frame.world_from_body.iter().for_each(|p| row.extend(p.to_array()));
            table.push(row)?;
        }
        Ok(table)
    }
}

#[pymethods]
impl Recording {
    /// Times of the frames, (frames,), s.
    #[getter]
    fn times<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let frames = &self.animation.frames;
        self.shown[0].get(py, &[frames.len()], || frames.iter().map(|f| f.time).collect())
    }

    /// Names of the bodies.
    #[getter]
    fn bodies(&self) -> Vec<&str> {
        self.animation.bodies.iter().map(|b| &*b.name).collect()
    }

    /// World poses, (frames, bodies, 7): x, y, z (m), qw, qx, qy, qz.
    #[getter]
    fn poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let frames = &self.animation.frames;
        self.shown[1].get(py, &[frames.len(), self.animation.bodies.len(), 7], || {
            frames.iter().flat_map(|f| f.world_from_body.iter().flat_map(Pose::to_array)).collect()
        })
    }

    /// World poses of one body, (frames, 7); a view of `poses`.
    fn body<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let Some(i) = self.animation.bodies.iter().position(|b| b.name == name) else {
            let known = self.bodies().join(", ");
            return Err(PyKeyError::new_err(format!("no body '{name}'; there are {known}")));
        };
        self.poses(py)?.get_item((PySlice::full(py), i))
    }

    /// Names of the numbers over time, with their units.
    #[getter]
    fn series(&self) -> Vec<(&str, &str)> {
        self.animation.series.iter().map(|s| (&*s.name, &*s.unit)).collect()
    }

    /// One of the numbers over time, (frames,).
    fn values<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let a = &self.animation;
        let Some(i) = a.series.iter().position(|s| s.name == name) else {
            let known: Vec<&str> = self.series().into_iter().map(|s| s.0).collect();
            let known = known.join(", ");
            return Err(PyKeyError::new_err(format!("no series '{name}'; there are {known}")));
        };
        let all = || (0..a.series.len()).flat_map(|k| a.frames.iter().map(move |f| f.values[k]));
        let shape = [a.series.len(), a.frames.len()];
        self.shown[2].get(py, &shape, || all().collect())?.get_item(i)
    }

    /// Writes a file: .html (a 3D page that opens from disk), .glb, .csv or .json by its name.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
        let known = ["html", "htm", "glb", "csv", "json"];
        if !known.contains(&&*ending) {
            return Err(PyValueError::new_err(format!(
                "{}: a recording is written as .html, .glb, .csv or .json",
                path.display()
            )));
        }
        py.detach(|| match &*ending {
            "html" | "htm" => html::save(&path, &self.animation),
            "glb" => gltf::save(&path, &self.animation),
            "csv" => self.table()?.save(&path),
            _ => json::save(&path, &self.animation),
        })
        .map_err(refused)
    }

    /// The 3D page as text; it needs no other file and no network.
    fn to_html(&self) -> PyResult<String> {
        html::to_string(&self.animation).map_err(refused)
    }

    fn _repr_html_(&self) -> PyResult<String> {
        self.frame()
    }

    fn __len__(&self) -> usize {
        self.animation.frames.len()
    }

    fn __repr__(&self) -> String {
        let frames = &self.animation.frames;
        let [start, end] = [frames.first(), frames.last()].map(|f| f.map_or(0.0, |f| f.time));
        format!(
            "<forks.Recording: {} frames from {start} s to {end} s, {} bodies>",
            frames.len(),
            self.animation.bodies.len()
        )
    }
}
