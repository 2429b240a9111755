//! A mechanism with tissue: motion and rest.

use std::collections::BTreeMap;

use forks_deform::{
    Attachment, Commands, Coordinates, Momentum, SoftBody, SoftOptions, SoftSimulation as Data,
    StaticsOptions, StaticsStatus, StepStatus, Stepper,
};
use forks_mechanism::{LinkId, lie::glam::DVec3};
use numpy::{PyArray1, PyArray2};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyDict,
};

use super::{from_rows, material::Material, mesh::TetMesh, points};
use crate::{
    arrays::{Input, vector},
    error::{NotFiniteError, refused},
    handle::Handle,
    mechanism::Mechanism,
};

/// Steps between two looks at Ctrl-C.
const PIECE: usize = 8;

/// A tree mechanism with tissue on it, in motion; one thread uses it at a time.
///
/// mesh, material: the tissue, without stress at the mechanism's start pose. within: nodes no
/// farther than this (m) from a bone's segments are part of the bone. nodes: instead, a dict from
/// links to lists of nodes; 'world' holds nodes too. stepper: 'linear' (linearly implicit),
/// 'backward' (backward Euler, to `tolerance` times the largest nodal force) or 'explicit' (mixed
/// Euler). damping: 1/s, of free nodes against their nearest bone. momentum: 'projected' (kept to
/// rounding by the twist of a free root) or 'free'.
#[pyclass(frozen, module = "forks.tissue")]
#[derive(Debug)]
pub(crate) struct SoftSimulation {
    handle: Handle<Data>,
}

/// How a search for rest ended.
#[pyclass(frozen, module = "forks.tissue", get_all)]
#[derive(Clone, Debug)]
pub(crate) struct Rest {
    /// 'converged', 'stalled' or 'iteration limit'.
    status: &'static str,
    /// Newton steps.
    newton: usize,
    /// Halvings in line searches.
    line_search_cuts: usize,
    /// Largest force that is not balanced, N or N·m.
    residual: f64,
}

#[pymethods]
impl Rest {
    fn __repr__(&self) -> String {
        format!(
            "<forks.tissue.Rest: {} after {} steps, residual {:e}>",
            self.status, self.newton, self.residual
        )
    }
}

fn attachment(
    m: &Mechanism,
    within: Option<f64>,
    nodes: Option<BTreeMap<String, Vec<usize>>>,
) -> PyResult<Option<Attachment>> {
    match (within, nodes) {
        (Some(_), Some(_)) => {
            Err(PyTypeError::new_err("give either within or nodes: they say the same"))
        }
        (Some(distance), None) => Ok(Some(Attachment::Within(distance))),
        (None, None) => Ok(None),
        (None, Some(lists)) => {
            let data = m.data();
            let find = |(name, list): (String, Vec<usize>)| {
                let link = match &*name {
                    "world" => Some(LinkId::WORLD),
                    _ => data.find_link(&name),
                };
                link.map(|l| (l, list)).ok_or_else(|| {
                    PyValueError::new_err(format!("nodes names link '{name}', which is not there"))
                })
            };
            lists.into_iter().map(find).collect::<PyResult<_>>().map(|l| Some(Attachment::Nodes(l)))
        }
    }
}

/// Forces of a call, owned.
struct Given {
    forces: Vec<f64>,
    nodes: Vec<DVec3>,
}

impl Given {
    fn read(
        sim: &Data,
        forces: Option<&Bound<'_, PyAny>>,
        node_forces: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (n, nodes) = (sim.state().v.len(), sim.state().x.len());
        let forces = match forces {
            Some(f) => Input::new("forces", f, &[n])?.as_slice().to_vec(),
            None => vec![],
        };
        let nodes = match node_forces {
            Some(f) => from_rows(Input::new("node_forces", f, &[nodes, 3])?.as_slice()),
            None => vec![],
        };
        Ok(Self { forces, nodes })
    }

    fn commands(&self) -> Commands<'_> {
        Commands { forces: &self.forces, node_forces: &self.nodes, ..Commands::default() }
    }
}

#[pymethods]
impl SoftSimulation {
    #[new]
    #[pyo3(signature = (mechanism, mesh, material, *, within=None, nodes=None, stepper="linear",
        tolerance=1e-9, damping=0.0, gravity=true, momentum="projected"))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        py: Python<'_>,
        mechanism: &Mechanism,
        mesh: &TetMesh,
        material: &Material,
        within: Option<f64>,
        nodes: Option<BTreeMap<String, Vec<usize>>>,
        stepper: &str,
        tolerance: f64,
        damping: f64,
        gravity: bool,
        momentum: &str,
    ) -> PyResult<Self> {
        let stepper = match stepper {
            "linear" => Stepper::LinearlyImplicit,
            "backward" if tolerance > 0.0 && tolerance < 1.0 => {
                Stepper::BackwardEuler { tolerance }
            }
            "backward" => {
                return Err(PyValueError::new_err(format!(
                    "tolerance is {tolerance}, expected a number above 0 and below 1"
                )));
            }
            "explicit" => Stepper::MixedEuler(Coordinates::Absolute),
            _ => {
                return Err(PyValueError::new_err(format!(
                    "stepper is '{stepper}', expected 'linear', 'backward' or 'explicit'"
                )));
            }
        };
        let momentum = match momentum {
            "projected" => Momentum::Projected,
            "free" => Momentum::Free,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "momentum is '{momentum}', expected 'projected' or 'free'"
                )));
            }
        };
        let options = SoftOptions { stepper, momentum, gravity, damping };
        let how = attachment(mechanism, within, nodes)?;
        let (data, mesh, law) = (mechanism.data(), (*mesh.data).clone(), material.data);
        let made = py.detach(|| {
            let mut body = SoftBody::new(mesh, law)?;
            if let Some(how) = &how {
                body = body.attached(data, how)?;
            }
            Data::new(data, body, options)
        });
        Ok(Self { handle: Handle::new("simulation", made.map_err(refused)?) })
    }

    /// Makes `count` steps of `h` seconds. forces: on the velocity coordinates beside springs,
    /// (velocities,), N or N·m; node_forces: (nodes, 3), N, world axes; both stay the same
    /// for all steps. Returns the number of steps that ended above the tolerance of backward Euler.
    /// Raises NotFiniteError if numbers overflow: the state is that before the step.
    #[pyo3(signature = (h, count=1, *, forces=None, node_forces=None))]
    fn step(
        &self,
        py: Python<'_>,
        h: f64,
        count: usize,
        forces: Option<&Bound<'_, PyAny>>,
        node_forces: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        use forks_deform::SoftError;
        self.handle.with(|sim| {
            let given = Given::read(sim, forces, node_forces)?;
            let (mut inexact, mut left) = (0, count);
            while left > 0 {
                let piece = left.min(PIECE);
                let done = py.detach(|| {
                    (0..piece).try_fold(0, |n, _| {
                        let report = sim.step(h, &given.commands())?;
                        Ok(n + usize::from(report.status == StepStatus::IterationLimit))
                    })
                });
                inexact += done.map_err(|e: SoftError| match e {
                    SoftError::NotFinite { .. } => NotFiniteError::new_err(e.to_string()),
                    _ => refused(e),
                })?;
                left -= piece;
                py.check_signals()?;
            }
            Ok(inexact)
        })
    }

    /// Moves to rest under gravity, springs and the forces of `step`. Returns how the search ended;
    /// only 'converged' says that forces balance to `tolerance` times the largest nodal force.
    #[pyo3(signature = (*, forces=None, node_forces=None, tolerance=1e-10, iterations=200,
        load_steps=1))]
    fn rest(
        &self,
        py: Python<'_>,
        forces: Option<&Bound<'_, PyAny>>,
        node_forces: Option<&Bound<'_, PyAny>>,
        tolerance: f64,
        iterations: usize,
        load_steps: usize,
    ) -> PyResult<Rest> {
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return Err(PyValueError::new_err(format!(
                "tolerance is {tolerance}, expected a number above 0 and below 1"
            )));
        }
        if load_steps == 0 {
            return Err(PyValueError::new_err("load_steps is 0, expected at least 1"));
        }
        let options = StaticsOptions { tolerance, iterations, load_steps };
        self.handle.with(|sim| {
            let given = Given::read(sim, forces, node_forces)?;
            let found = py.detach(|| sim.rest(&given.commands(), &options)).map_err(refused)?;
            let status = match found.status {
                StaticsStatus::Converged => "converged",
                StaticsStatus::Stalled => "stalled",
                StaticsStatus::IterationLimit => "iteration limit",
            };
            let (newton, line_search_cuts) = (found.newton, found.line_search_cuts);
            Ok(Rest { status, newton, line_search_cuts, residual: found.residual })
        })
    }

    /// Positions of all nodes, (nodes, 3), m.
    #[getter]
    fn x<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.handle.with(|sim| points(py, &sim.state().x))
    }

    /// Velocities of all nodes, (nodes, 3), m/s.
    #[getter]
    fn node_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.handle.with(|sim| points(py, &sim.state().velocity))
    }

    /// Positions of the tree joints, (positions,), m and rad.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.handle.with(|sim| Ok(vector(py, &sim.state().q)))
    }

    /// Velocities of the tree joints, (velocities,), m/s and rad/s.
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.handle.with(|sim| Ok(vector(py, &sim.state().v)))
    }

    /// Sets the state; nodes in bones follow the joints. What is not given stays.
    #[pyo3(signature = (*, positions=None, velocities=None, x=None, node_velocities=None))]
    fn set_state(
        &self,
        positions: Option<&Bound<'_, PyAny>>,
        velocities: Option<&Bound<'_, PyAny>>,
        x: Option<&Bound<'_, PyAny>>,
        node_velocities: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.handle.with(|sim| {
            let mut state = sim.state().clone();
            let nodes = state.x.len();
            if let Some(q) = positions {
                let q = Input::new("positions", q, &[state.q.len()])?;
                state.q.copy_from_slice(q.as_slice());
            }
            if let Some(v) = velocities {
                let v = Input::new("velocities", v, &[state.v.len()])?;
                state.v.copy_from_slice(v.as_slice());
            }
            if let Some(x) = x {
                state.x = from_rows(Input::new("x", x, &[nodes, 3])?.as_slice());
            }
            if let Some(v) = node_velocities {
                let v = Input::new("node_velocities", v, &[nodes, 3])?;
                state.velocity = from_rows(v.as_slice());
            }
            sim.set_state(state).map_err(refused)
        })
    }

    /// Indices of the nodes that are not in bones, ascending.
    #[getter]
    fn free_nodes(&self) -> PyResult<Vec<usize>> {
        self.handle.with(|sim| {
            let nodes = 0..sim.state().x.len();
            Ok(nodes.filter(|&n| sim.body().holder(n).is_none()).collect())
        })
    }

    /// Time since the start, s.
    #[getter]
    fn time(&self) -> PyResult<f64> {
        self.handle.with(|sim| Ok(sim.time()))
    }

    /// Mass of the tissue, kg.
    #[getter]
    fn mass(&self) -> PyResult<f64> {
        self.handle.with(|sim| Ok(sim.body().mass()))
    }

    /// What may not have been meant.
    #[getter]
    fn notes(&self) -> PyResult<Vec<String>> {
        self.handle.with(|sim| Ok(sim.body().notes().iter().map(ToString::to_string).collect()))
    }

    /// Energies in J: a dict of 'kinetic', 'tissue' (elastic) and 'potential' (springs, gravity).
    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.handle.with(|sim| {
            let e = sim.energy();
            let out = PyDict::new(py);
            for (name, e) in
                [("kinetic", e.kinetic), ("tissue", e.tissue), ("potential", e.potential)]
            {
                out.set_item(name, e)?;
            }
            Ok(out)
        })
    }

    /// Momentum (N·s) and moment of momentum about the world's origin (N·m·s), (6,).
    fn momentum<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.handle.with(|sim| {
            let (p, l) = sim.momentum();
            Ok(vector(py, &[p.to_array(), l.to_array()].concat()))
        })
    }

    /// Gives the memory back; every further use raises HandleError.
    fn close(&self) -> PyResult<()> {
        self.handle.close()
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_details))]
    fn __exit__(&self, _details: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<()> {
        self.close()
    }

    fn __repr__(&self) -> PyResult<String> {
        if self.handle.is_closed() {
            return Ok("<forks.tissue.SoftSimulation, closed>".into());
        }
        self.handle.with(|sim| {
            Ok(format!(
                "<forks.tissue.SoftSimulation: {} joint velocities, {} nodes, at {} s>",
                sim.state().v.len(),
                sim.state().x.len(),
                sim.time()
            ))
        })
    }
}
