//! Mechanisms, as Python sees them: files, inspection, reduction, blends, statics, motion.

use std::sync::Arc;

use forks_dynamics::{Loads, WrenchFrame, statics::EquilibriumOptions};
use forks_import::{Import, Note};
use forks_mechanism::{
    Mechanism as Data, MechanismBuilder,
    lie::{Pose, Wrench},
};
use forks_place::Placement;
use forks_reduce::{Damping, Linearisation, ReduceError, ReduceOptions};
use numpy::{PyArray1, PyArray2};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyDict, PyList},
};

use crate::{
    arrays::{Input, poses, vector},
    drawing, elements,
    equilibrium::{Equilibrium, balanced},
    error::{ReductionError, refused, sentence},
    full_motion, inspect, loads,
    model::Model,
    options::{self, Preparing},
    place::{self, Placed},
    recording::Recording,
    signals::Signals,
};

/// A mechanism: links, joints, springs, servos, loops. Read by `forks.load`, built by
/// `forks.Builder`; immutable.
#[pyclass(frozen, module = "forks")]
#[derive(Clone, Debug)]
pub(crate) struct Mechanism {
    data: Arc<Data>,
    notes: Arc<Vec<Note>>,
    effectors: Vec<String>,
    order: &'static str,
}

impl Mechanism {
    pub(crate) fn built(data: Data) -> Self {
        let (data, notes) = (Arc::new(data), Arc::default());
        Self { data, notes, effectors: vec![], order: "name" }
    }

    pub(crate) fn of(import: Import) -> Self {
        Self {
            data: Arc::new(import.mechanism),
            notes: Arc::new(import.notes),
            effectors: import.effectors,
            order: import.order.name(),
        }
    }

    pub(crate) fn data(&self) -> &Arc<Data> {
        &self.data
    }

    /// What is not exactly as in the file.
    pub(crate) fn note_texts(&self) -> Vec<String> {
        self.notes.iter().map(ToString::to_string).collect()
    }

    /// Links in the user's sense, their indices.
    pub(crate) fn shown(&self) -> Vec<usize> {
        let links = self.data.moving_links().filter(|(_, l)| !l.auxiliary);
        links.map(|(id, _)| id.index()).collect()
    }

    fn preparing(
        &self,
        effectors: Option<&Bound<'_, PyAny>>,
        default_stiffness: Option<f64>,
        servos: bool,
        limits: Option<f64>,
        start: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Preparing> {
        Ok(Preparing {
            effectors: options::effectors(effectors, &self.effectors)?,
            default_stiffness,
            servos,
            limits,
            start: options::start(&self.data, start)?,
        })
    }
}

#[pymethods]
impl Mechanism {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.data.name()
    }

    /// Names of the links that can be seen: all but the ground and massless frames in joints.
    #[getter]
    fn links(&self) -> Vec<&str> {
        self.shown().into_iter().map(|i| &*self.data.links()[i].name).collect()
    }

    /// Names of the joints that the file has.
    #[getter]
    fn joints(&self) -> Vec<&str> {
        self.data.joints().iter().filter(|j| !j.implicit).map(|j| &*j.name).collect()
    }

    /// Names of the servos.
    #[getter]
    fn servos(&self) -> Vec<&str> {
        self.data.servos().iter().map(|s| &*s.name).collect()
    }

    /// End effectors that the side file names.
    #[getter]
    fn effectors(&self) -> Vec<String> {
        self.effectors.clone()
    }

    /// 'mujoco', or 'name': depth first, the joints of a link by name.
    #[getter]
    fn coordinate_order(&self) -> &'static str {
        self.order
    }

    /// Positions of the tree joints at the start pose, (positions,), m and rad; of MJCF MuJoCo's
    /// qpos.
    #[getter]
    fn start_positions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let q = self.data.start_positions();
        vector(py, &q[..self.data.tree_position_count()])
    }

    /// Keyframes: name to positions of the tree joints, (positions,).
    #[getter]
    fn keyframes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        for k in self.data.keyframes() {
            out.set_item(&k.name, vector(py, &k.positions))?;
        }
        Ok(out)
    }

    /// What of the file the mechanism does not hold exactly: dicts with element, attribute, effect,
    /// reason, file, line, count.
    #[getter]
    fn notes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        inspect::notes(py, &self.notes)
    }

    /// What it is made of and how it can move: a dict of links, joints, loop_closures, dof,
    /// mobility, masses, under the names of `forks inspect --json`.
    fn inspect<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = inspect::report(py, &self.data)?;
        out.set_item("coordinate_order", self.order)?;
        out.set_item("effectors", &self.effectors)?;
        out.set_item("notes", self.notes(py)?)?;
        Ok(out)
    }

    /// The number at an address, as 'joint:hinge.stiffness'; see `changed`.
    fn value(&self, address: &str) -> PyResult<f64> {
        elements::value(&mut MechanismBuilder::from_mechanism(&self.data), address)
    }

    /// The same mechanism with other numbers: a dict of addresses to values, SI units.
    ///
    /// Addresses are KIND:NAME.QUANTITY; a * in NAME stands for any characters. Of a 'joint'
    /// there are stiffness (on every coordinate), damping, armature, rest (of its spring) and x, y,
    /// z (of its frame in the parent); of a 'link' mass (its inertia grows with it); of a 'servo'
    /// stiffness, damping; of a 'cable' or a 'spring' on several joints stiffness, damping, rest;
    /// of a 'frame' x, y, z.
    fn changed(&self, values: &Bound<'_, PyDict>) -> PyResult<Self> {
        let values: Vec<(String, f64)> = values
            .iter()
            .map(|(k, v)| {
                let address: String = k.extract()?;
                let wrong =
                    |_| PyTypeError::new_err(format!("the value of {address} is no number"));
                let value = v.extract().map_err(wrong)?;
                Ok((address, value))
            })
            .collect::<PyResult<_>>()?;
        let mut b = MechanismBuilder::from_mechanism(&self.data);
        elements::change(&mut b, &values)?;
        Ok(Self { data: Arc::new(b.build().map_err(refused)?), ..self.clone() })
    }

    /// 16 hexadecimal digits, the same for mechanisms that are the same in every name and number.
    #[getter]
    fn fingerprint(&self) -> String {
        elements::fingerprint(&self.data)
    }

    /// World poses of `links` at positions of the tree joints, (links, 7): x, y, z (m), qw, qx, qy,
    /// qz; at the start pose if no positions are given.
    #[pyo3(signature = (positions=None))]
    fn link_poses<'py>(
        &self,
        py: Python<'py>,
        positions: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let mut q = self.data.start_positions();
        if let Some(start) = options::start(&self.data, positions)? {
            q[..start.len()].copy_from_slice(&start);
        }
        let all = self.data.link_poses(&q);
        let shown: Vec<Pose> = self.shown().into_iter().map(|i| all[i]).collect();
        poses(py, &shown)
    }

    /// The reduced model of end effectors (link names, or 'site:NAME').
    ///
    /// effectors: a name or a list; those of the side file by default.
    /// default_stiffness: N/m or N m/rad for joints that neither a spring nor a servo resists.
    /// servos: servos count as springs that rest at the start pose.
    /// limits: N/m or N m/rad of springs beyond joint limits; with at='equilibrium' only.
    /// start: positions of the tree joints, (positions,), or a keyframe's name.
    /// at: 'rest' (springs unstressed, no gravity) or 'equilibrium' (under gravity and preload).
    /// mass: 'condensed', 'accelerability' or 'craig-bampton:MODES'.
    /// range: relative displacement of effectors for which the model is meant.
    /// rayleigh: (a in 1/s, b in s) of a·M + b·K. modal_damping: ratio to critical damping.
    /// floating: the root is a base that floats.
    /// Raises ReductionError with what moves without resistance. Ctrl-C stops it.
    #[pyo3(signature = (effectors=None, *, default_stiffness=None, servos=true, limits=None,
        start=None, at="rest", mass="condensed", range=None, rayleigh=(0.0, 0.0),
        modal_damping=None, floating=false))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn reduce(
        &self,
        py: Python<'_>,
        effectors: Option<&Bound<'_, PyAny>>,
        default_stiffness: Option<f64>,
        servos: bool,
        limits: Option<f64>,
        start: Option<&Bound<'_, PyAny>>,
        at: &str,
        mass: &str,
        range: Option<f64>,
        rayleigh: (f64, f64),
        modal_damping: Option<f64>,
        floating: bool,
    ) -> PyResult<Model> {
        let preparing = self.preparing(effectors, default_stiffness, servos, limits, start)?;
        let (default, signals) = (ReduceOptions::default(), Signals::new());
        let options = ReduceOptions {
            cancel: signals.cancel(),
            mass: options::mass(mass)?,
            damping: Damping {
                rayleigh_mass: rayleigh.0,
                rayleigh_stiffness: rayleigh.1,
                modal_ratio: modal_damping,
                ..Damping::default()
            },
            range: range.unwrap_or(default.range),
            floating,
            ..default
        };
        let settled = match at {
            "rest" => false,
            "equilibrium" => true,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "at is '{at}', expected 'rest' or 'equilibrium'"
                )));
            }
        };
        signals.instead_of(py.detach(|| {
            let problem = preparing.problem(&self.data)?;
            let gravity = Loads::gravity();
            let search =
                EquilibriumOptions { cancel: signals.cancel(), ..EquilibriumOptions::default() };
            let equilibrium = settled.then(|| problem.equilibrium(&gravity, &search));
            if let Some(e) = &equilibrium {
                balanced(problem.mechanism(), e)?;
            }
            let at = match &equilibrium {
                Some(e) => Linearisation::equilibrium(e, &gravity),
                None => problem.at_rest(),
            };
            let failed = |e: ReduceError| ReductionError::new_err(sentence(&e));
            let reduction = problem.reduce(at, &options).map_err(failed)?;
            Model::reduced(reduction.model).map_err(refused)
        }))
    }

    /// A blend of reduced models, placed automatically for forces in cones.
    ///
    /// cone: axis of the forces, (3,), or (effectors, 3), world axes.
    /// angle: half angle of the cones, rad. until: largest relative displacement of an effector.
    /// together: all effectors are loaded at once, otherwise one at a time.
    /// tolerance, static_tolerance: largest constraint error and static error allowed.
    /// samples: at most so many. training: so many training loads. seed: of these loads.
    /// chart: 'auto', 'poses', 'joints' or 'manifold'. time_limit: s.
    /// progress: a function of a dict that is called on the way; an exception in it, or Ctrl-C,
    /// stops the search. For the other keywords see `reduce`.
    #[pyo3(signature = (effectors=None, *, cone, angle=0.5235987755982988, until=1.0,
        together=true, tolerance=0.01, static_tolerance=0.02, samples=8, training=96, seed=1,
        gravity=false, chart="auto", mass="condensed", time_limit=60.0, floating=false,
        default_stiffness=None, servos=true, limits=None, start=None, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn blend(
        &self,
        py: Python<'_>,
        effectors: Option<&Bound<'_, PyAny>>,
        cone: &Bound<'_, PyAny>,
        angle: f64,
        until: f64,
        together: bool,
        tolerance: f64,
        static_tolerance: f64,
        samples: usize,
        training: usize,
        seed: u64,
        gravity: bool,
        chart: &str,
        mass: &str,
        time_limit: f64,
        floating: bool,
        default_stiffness: Option<f64>,
        servos: bool,
        limits: Option<f64>,
        start: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Placed> {
        let preparing = self.preparing(effectors, default_stiffness, servos, limits, start)?;
        let problem = preparing.problem(&self.data)?;
        let axes = options::cones(cone, problem.effectors.len())?;
        let placement = Placement {
            regions: place::regions(&axes, angle, until),
            together,
            constraint_tolerance: tolerance,
            static_tolerance,
            max_samples: samples,
            training_loads: training,
            seed,
            gravity,
            floating,
            chart: options::chart(chart)?,
            mass: options::mass(mass)?,
            time_limit: place::limit(time_limit),
            ..Placement::default()
        };
        place::run(py, &problem, &placement, progress)
    }

    /// The full equilibrium under wrenches on end effectors and gravity.
    ///
    /// wrenches: (effectors, 6), rows fx, fy, fz, tx, ty, tz in N and N m, at the effectors'
    /// origins. frame: 'world' or 'body'. For the other keywords see `reduce`.
    /// Raises ForksError with what no equilibrium was found for. Ctrl-C stops it.
    #[pyo3(signature = (effectors=None, wrenches=None, *, frame="world", gravity=true,
        default_stiffness=None, servos=true, limits=None, start=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn statics(
        &self,
        py: Python<'_>,
        effectors: Option<&Bound<'_, PyAny>>,
        wrenches: Option<&Bound<'_, PyAny>>,
        frame: &str,
        gravity: bool,
        default_stiffness: Option<f64>,
        servos: bool,
        limits: Option<f64>,
        start: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Equilibrium> {
        let preparing = self.preparing(effectors, default_stiffness, servos, limits, start)?;
        let axes = match loads::frame(frame)? {
            forks_rom::LoadFrame::World => WrenchFrame::World,
            forks_rom::LoadFrame::Body => WrenchFrame::Body,
        };
        let count = preparing.effectors.len();
        let numbers = match wrenches {
            Some(x) => Input::new("wrenches", x, &[count, 6])?.as_slice().to_vec(),
            None => vec![0.0; 6 * count],
        };
        let signals = Signals::new();
        signals.instead_of(py.detach(|| {
            let problem = preparing.problem(&self.data)?;
            let (rows, _) = numbers.as_chunks::<6>();
            let applied = problem.effectors.iter().zip(rows);
            let wrenches = applied.map(|(e, w)| e.applied(Wrench::from_array(*w), axes)).collect();
            let loads = Loads { gravity, wrenches };
            let search =
                EquilibriumOptions { cancel: signals.cancel(), ..EquilibriumOptions::default() };
            let found = problem.equilibrium(&loads, &search);
            balanced(problem.mechanism(), &found)?;
            Ok(Equilibrium {
                positions: problem.prepared.original_positions(&self.data, &found.q),
                links: self.shown().into_iter().map(|i| found.world_from_link[i]).collect(),
                effectors: problem
                    .effectors
                    .iter()
                    .map(|e| found.world_from_link[e.link.index()] * e.link_from_effector)
                    .collect(),
                status: found.status.name(),
                residual: found.residual,
                iterations: found.iterations,
                shown: Arc::default(),
            })
        }))
    }

    /// Motion of the full mechanism: its own loads, no wrenches, from the start pose at rest.
    ///
    /// time, step: s. every: steps between two frames.
    /// integrator: 'implicit', 'rk4', 'semi-implicit-euler' or 'adaptive' (with `tolerance`).
    /// servos: servos are springs that rest at the start pose. start: see `reduce`.
    /// velocities: of the tree joints, (velocities,), rad/s and m/s; of free joints in their own
    /// axes, linear part first.
    /// Ctrl-C stops it between steps. Returns a Recording.
    #[pyo3(signature = (time, step, *, integrator="implicit", tolerance=1e-9, every=1,
        gravity=true, servos=false, start=None, velocities=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn simulate(
        &self,
        py: Python<'_>,
        time: f64,
        step: f64,
        integrator: &str,
        tolerance: f64,
        every: usize,
        gravity: bool,
        servos: bool,
        start: Option<&Bound<'_, PyAny>>,
        velocities: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Recording> {
        let asked = full_motion::Motion {
            time,
            step,
            integrator,
            tolerance,
            every,
            gravity,
            servos,
            start,
            velocities,
        };
        full_motion::run(py, &self.data, &self.shown(), &asked)
    }

    /// The mechanism as MJCF text.
    fn to_mjcf(&self) -> PyResult<String> {
        forks_import::write::write_mjcf(&self.data).map(|(text, _)| text).map_err(refused)
    }

    fn __repr__(&self) -> String {
        format!(
            "<forks.Mechanism '{}': {} links, {} joints, {} servos>",
            self.name(),
            self.shown().len(),
            self.joints().len(),
            self.data.servos().len()
        )
    }

    fn _repr_html_(&self) -> PyResult<String> {
        let all = self.data.link_poses(&self.data.start_positions());
        let shown = self.shown();
        let radius = self.data.bounding_radius(&all);
        let mut picture = drawing::of_mechanism(&self.data, &shown, radius, vec![]);
        picture.push(0.0, shown.iter().map(|&i| all[i]).collect(), &[]);
        Ok(format!("<p>{}</p>{}", drawing::escaped(&self.__repr__()), picture.frame()?))
    }
}
