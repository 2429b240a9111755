//! Worlds in contact, as Python sees them.

use std::path::{Path, PathBuf};

use forks_mechanism::lie::{Pose, Twist};
use forks_record::Recording as Growing;
use forks_sim::{
    BodyHandle, MechanismHandle, WorldStatus,
    scene::{Fidelity, Scene as Data, spec::SceneSpec},
};
use numpy::{IntoPyArray as _, PyArray1, PyArray2, PyArrayMethods as _};
use pyo3::{
    exceptions::{PyKeyError, PyValueError},
    prelude::*,
    types::PyDict,
};

use crate::{
    arrays::{self, Input, poses, vector},
    error::{NotFiniteError, refused, unreadable},
    handle::Handle,
    recording::Recording,
};

/// A world of reduced mechanisms, rigid bodies and ground in frictional contact, with what happens
/// in it over time; read by `forks.load_scene`. One thread uses it at a time.
#[pyclass(frozen, module = "forks")]
#[derive(Debug)]
pub(crate) struct Scene {
    handle: Handle<Data>,
}

/// Reads a scene file (TOML) and reduces its mechanisms.
///
/// step, duration: s, in place of the file's. Raises ReadError with file, line and value.
#[pyfunction]
#[pyo3(signature = (path, *, step=None, duration=None))]
pub(crate) fn load_scene(
    py: Python<'_>,
    path: PathBuf,
    step: Option<f64>,
    duration: Option<f64>,
) -> PyResult<Scene> {
    let scene = py.detach(|| {
        let mut spec = SceneSpec::load(&path)?;
        spec.world.step = step.unwrap_or(spec.world.step);
        spec.world.duration = duration.unwrap_or(spec.world.duration);
        let folder = path.parent().unwrap_or(Path::new("."));
        Data::build(spec, folder, Fidelity::Reduced)
    });
    Ok(Scene { handle: Handle::new("scene", scene.map_err(unreadable)?) })
}

/// Reads the text of a scene; models that it names are looked for from `folder`. See `load_scene`.
#[pyfunction]
#[pyo3(signature = (text, folder=None))]
pub(crate) fn parse_scene(py: Python<'_>, text: &str, folder: Option<PathBuf>) -> PyResult<Scene> {
    let folder = folder.unwrap_or_else(|| ".".into());
    let scene =
        py.detach(|| Data::build(SceneSpec::parse(text, "scene")?, &folder, Fidelity::Reduced));
    Ok(Scene { handle: Handle::new("scene", scene.map_err(unreadable)?) })
}

fn body(scene: &Data, name: &str) -> PyResult<BodyHandle> {
    scene.body(name).ok_or_else(|| {
        let known: Vec<&str> = scene.spec.bodies.iter().map(|b| &*b.name).collect();
        PyKeyError::new_err(format!("no body '{name}'; there are: {}", known.join(", ")))
    })
}

fn mechanism(scene: &Data, name: &str) -> PyResult<MechanismHandle> {
    scene.mechanism(name).ok_or_else(|| {
        let known: Vec<&str> = scene.mechanisms.iter().map(|m| &*m.name).collect();
        PyKeyError::new_err(format!("no mechanism '{name}'; there are: {}", known.join(", ")))
    })
}

/// A step; true if it was made as it should.
fn step(scene: &mut Data) -> Result<bool, ()> {
    match scene.step().status {
        WorldStatus::Completed => Ok(true),
        WorldStatus::NotFinite { .. } => Err(()),
        _ => Ok(false),
    }
}

fn overflow(scene: &Data) -> PyErr {
    NotFiniteError::new_err(format!(
        "the numbers overflow in the step after {} s; the world is as it was before it",
        scene.world.time()
    ))
}

impl Scene {
    /// The scene itself; this is closed then.
    pub(crate) fn take(&self) -> PyResult<Data> {
        self.handle.take()
    }
}

#[pymethods]
impl Scene {
    /// Makes `count` steps, with what the scene says happens. Returns the number of steps that left
    /// a model's range or solved contact less exactly than asked. Ctrl-C stops between steps.
    #[pyo3(signature = (count=1))]
    fn step(&self, py: Python<'_>, count: usize) -> PyResult<usize> {
        const PIECE: usize = 64;
        self.handle.with(|scene| {
            let (mut inexact, mut left) = (0, count);
            while left > 0 {
                let piece = left.min(PIECE);
                let done =
                    py.detach(|| (0..piece).try_fold(0, |n, _| Ok(n + usize::from(!step(scene)?))));
                inexact += done.map_err(|()| overflow(scene))?;
                left -= piece;
                py.check_signals()?;
            }
            Ok(inexact)
        })
    }

    /// Title of the scene.
    #[getter]
    fn title(&self) -> PyResult<String> {
        self.handle.with(|scene| Ok(scene.spec.title.clone()))
    }

    /// Time, s.
    #[getter]
    fn time(&self) -> PyResult<f64> {
        self.handle.with(|scene| Ok(scene.world.time()))
    }

    /// The step, s.
    #[getter]
    fn step_size(&self) -> PyResult<f64> {
        self.handle.with(|scene| Ok(scene.spec.world.step))
    }

    /// The time that the scene is meant to last, s.
    #[getter]
    fn duration(&self) -> PyResult<f64> {
        self.handle.with(|scene| Ok(scene.spec.world.duration))
    }

    /// Names of the rigid bodies.
    #[getter]
    fn bodies(&self) -> PyResult<Vec<String>> {
        self.handle.with(|scene| Ok(scene.spec.bodies.iter().map(|b| b.name.clone()).collect()))
    }

    /// Names of the mechanisms, each with those of its end effectors.
    #[getter]
    fn mechanisms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.handle.with(|scene| {
            let out = PyDict::new(py);
            for m in &scene.mechanisms {
                out.set_item(&m.name, &m.effectors)?;
            }
            Ok(out)
        })
    }

    /// What is not exactly as the files say.
    #[getter]
    fn notes(&self) -> PyResult<Vec<String>> {
        self.handle.with(|scene| Ok(scene.notes.clone()))
    }

    /// World pose of a body, (7,): x, y, z (m), qw, qx, qy, qz.
    fn body_pose<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.handle.with(|scene| {
            let pose = scene.world.body_pose(body(scene, name)?).map_err(refused)?;
            Ok(vector(py, &pose.to_array()))
        })
    }

    /// Twist of a body in its own axes, (6,): m/s, then rad/s.
    fn body_twist<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.handle.with(|scene| {
            let twist = scene.world.body_twist(body(scene, name)?).map_err(refused)?;
            Ok(vector(py, &twist.to_array()))
        })
    }

    /// Puts a body at a pose, (7,), with a twist in its own axes, (6,).
    #[pyo3(signature = (name, pose, twist=None))]
    fn set_body(
        &self,
        name: &str,
        pose: &Bound<'_, PyAny>,
        twist: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let pose = arrays::pose("pose", pose)?;
        let motion = twist.map_or(Ok([0.0; 6]), |x| arrays::numbers("twist", x))?;
        self.handle.with(|scene| {
            let body = body(scene, name)?;
            scene.world.set_body(body, pose, Twist::from_array(motion)).map_err(refused)
        })
    }

    /// A wrench on a body, (6,), that acts until it is set again: N and N m, world axes, at its
    /// centre of mass.
    fn set_body_load(&self, name: &str, wrench: &Bound<'_, PyAny>) -> PyResult<()> {
        let wrench = arrays::wrench("wrench", wrench)?;
        self.handle.with(|scene| {
            let body = body(scene, name)?;
            scene.world.set_body_load(body, wrench).map_err(refused)
        })
    }

    /// Runs to the scene's end, or for `time` seconds, and records as often as the scene says.
    /// Ctrl-C stops it between steps. Returns a Recording with the contacts.
    #[pyo3(signature = (time=None))]
    fn run(&self, py: Python<'_>, time: Option<f64>) -> PyResult<Recording> {
        self.handle.with(|scene| {
            let h = scene.spec.world.step;
            let left = scene.step_count().saturating_sub(scene.world.step_count());
            let steps = match time {
                None => left,
                Some(t) if t.is_finite() && t >= 0.0 => (t / h).round() as u64,
                Some(t) => {
                    let text = format!("time is {t} s; expected a finite one, 0 or more");
                    return Err(PyValueError::new_err(text));
                }
            };
            let mut recording = Growing::new(scene);
            for k in 0..steps {
                py.check_signals()?;
                let report = py.detach(|| scene.step());
                if let WorldStatus::NotFinite { .. } = report.status {
                    return Err(overflow(scene));
                }
                recording.after(scene, &report, k + 1 == steps);
            }
            Ok(Recording::new(recording.animation))
        })
    }

    /// A wrench on an end effector of a mechanism, (6,), that acts until it is set again: N and
    /// N m, 'world' or 'body' axes, at its origin.
    #[pyo3(signature = (mechanism, effector, wrench, *, frame="world"))]
    fn set_effector_load(
        &self,
        mechanism: &str,
        effector: usize,
        wrench: &Bound<'_, PyAny>,
        frame: &str,
    ) -> PyResult<()> {
        let wrench = arrays::wrench("wrench", wrench)?;
        let frame = crate::loads::frame(frame)?;
        self.handle.with(|scene| {
            let m = self::mechanism(scene, mechanism)?;
            scene.world.set_effector_load(m, effector, wrench, frame).map_err(refused)
        })
    }

    /// Puts a mechanism at coordinates and velocities, (coordinates,) and (dof,).
    fn set_mechanism(
        &self,
        mechanism: &str,
        coordinates: &Bound<'_, PyAny>,
        velocity: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.handle.with(|scene| {
            let m = self::mechanism(scene, mechanism)?;
            let sizes = [scene.world.coordinates(m), scene.world.velocities(m)];
            let [c, n] = sizes.map(|x| x.map_or(0, <[f64]>::len));
            let coordinates = Input::new("coordinates", coordinates, &[c])?;
            let velocity = Input::new("velocity", velocity, &[n])?;
            let (x, v) = (coordinates.as_slice(), velocity.as_slice());
            scene.world.set_mechanism(m, x, v).map_err(refused)
        })
    }

    /// Servo targets of a mechanism relative to its linearisation, (servos,). What the scene's own
    /// script says of servos comes first in every step.
    fn set_servo_targets(&self, mechanism: &str, targets: &Bound<'_, PyAny>) -> PyResult<()> {
        self.handle.with(|scene| {
            let m = self::mechanism(scene, mechanism)?;
            let numbers: Vec<f64> = match targets.len() {
                Ok(n) => Input::new("targets", targets, &[n])?.as_slice().to_vec(),
                Err(e) => return Err(e),
            };
            scene.world.set_servo_targets(m, &numbers).map_err(refused)
        })
    }

    /// World poses of a mechanism's end effectors, (effectors, 7).
    fn effector_poses<'py>(
        &self,
        py: Python<'py>,
        mechanism: &str,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.handle.with(|scene| {
            let m = self::mechanism(scene, mechanism)?;
            let of = scene.mechanisms.iter().find(|x| x.name == mechanism);
            let count = of.map_or(0, |x| x.effectors.len());
            let all: Result<Vec<Pose>, _> =
                (0..count).map(|e| scene.world.effector_pose(m, e)).collect();
            poses(py, &all.map_err(refused)?)
        })
    }

    /// Names of the links of a mechanism, in the order of `link_poses`.
    fn links(&self, mechanism: &str) -> PyResult<Vec<String>> {
        self.handle.with(|scene| {
            let m = self::mechanism(scene, mechanism)?;
            let names = scene.world.link_names(m).map_err(refused)?;
            Ok(names.map(str::to_owned).collect())
        })
    }

    /// World poses of a mechanism's links, (links, 7).
    fn link_poses<'py>(
        &self,
        py: Python<'py>,
        mechanism: &str,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.handle.with(|scene| {
            let m = self::mechanism(scene, mechanism)?;
            let mut all = Vec::new();
            scene.world.link_poses(m, &mut all).map_err(refused)?;
            poses(py, &all)
        })
    }

    /// Coordinates and velocities of a mechanism, copies.
    fn state<'py>(
        &self,
        py: Python<'py>,
        mechanism: &str,
    ) -> PyResult<[Bound<'py, PyArray1<f64>>; 2]> {
        self.handle.with(|scene| {
            let m = self::mechanism(scene, mechanism)?;
            let coordinates = scene.world.coordinates(m).map_err(refused)?;
            let velocities = scene.world.velocities(m).map_err(refused)?;
            Ok([vector(py, coordinates), vector(py, velocities)])
        })
    }

    /// Contacts of the last substep that push, (contacts, 6): position (m) and force on the second
    /// side (N), world axes.
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.handle.with(|scene| {
            let settings = scene.world.settings();
            let rate = settings.substeps as f64 / settings.step;
            let touching = scene.world.contacts().iter().filter(|c| c.is_touching());
            let all: Vec<f64> = touching
                .flat_map(|c| [c.position.to_array(), (rate * c.impulse).to_array()].concat())
                .collect();
            let count = all.len() / 6;
            all.into_pyarray(py).reshape([count, 6])
        })
    }

    /// Energies in J: a dict of 'kinetic', 'gravitational', 'elastic'.
    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.handle.with(|scene| {
            let e = scene.world.energy();
            arrays::energies(py, [e.kinetic, e.gravitational, e.elastic])
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
            return Ok("<forks.Scene, closed>".into());
        }
        self.handle.with(|scene| {
            let (title, time) = (&scene.spec.title, scene.world.time());
            Ok(format!("<forks.Scene '{title}' at {time} s of {} s>", scene.spec.world.duration))
        })
    }
}
