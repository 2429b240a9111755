//! One instance in motion, as Python sees it.

use forks_mechanism::lie::Pose;
use forks_rom::{EffectorLoad, StepStatus};
use numpy::{IntoPyArray as _, PyArray1, PyArray2, PyArray3, PyArrayDyn, PyArrayMethods as _};
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyDict, PyString},
};

use crate::{
    arrays::{Input, energies, poses, room, vector, writing},
    drawing,
    error::{NotFiniteError, refused},
    handle::Handle,
    loads,
    recording::Recording,
    run::Run,
};

/// Steps between two looks at Ctrl-C.
const PIECE: usize = 4096;

/// A reduced or blended model in motion: one instance, made by `Model.simulation`.
///
/// Coordinates are the model's own (`Model.dof` velocities; of a floating base its pose x, y, z, qw,
/// qx, qy, qz comes first). Wrenches are rows (fx, fy, fz, tx, ty, tz) in N and N m, one row an
/// effector, at the effector's origin. One thread uses a simulation at a time; a second one gets a
/// `HandleError`.
#[pyclass(frozen, module = "forks")]
#[derive(Debug)]
pub(crate) struct Simulation {
    handle: Handle<Held>,
}

#[derive(Debug)]
struct Held {
    run: Box<dyn Run>,
    loads: Vec<EffectorLoad>,
    step: f64,
    steps: u64,
}

impl Simulation {
    pub(crate) fn new(run: Box<dyn Run>, step: f64) -> Self {
        let loads = Vec::with_capacity(run.data().effectors.len());
        Self { handle: Handle::new("simulation", Held { run, loads, step, steps: 0 }) }
    }
}

impl Held {
    fn load(&mut self, wrenches: Option<&Bound<'_, PyAny>>, frame: &str) -> PyResult<()> {
        let count = self.run.data().effectors.len();
        loads::fill(&mut self.loads, wrenches, count, loads::frame(frame)?)
    }

    /// Some steps; the worst status among them.
    fn steps(&mut self, count: usize) -> Result<StepStatus, StepStatus> {
        let mut worst = StepStatus::Completed;
        for _ in 0..count {
            match self.run.step(&self.loads) {
                StepStatus::Completed => {}
                StepStatus::NotFinite => return Err(StepStatus::NotFinite),
                other => worst = other,
            }
            self.steps += 1;
        }
        Ok(worst)
    }

    fn overflow(&self) -> PyErr {
        NotFiniteError::new_err(format!(
            "the numbers overflow in the step after {} s; the state is that before it; a shorter \
             step may help",
            self.step * self.steps as f64
        ))
    }
}

/// A status as a word.
pub(crate) fn word(py: Python<'_>, status: StepStatus) -> Bound<'_, PyString> {
    match status {
        StepStatus::Completed => pyo3::intern!(py, "completed").clone(),
        StepStatus::OutOfRange { .. } => pyo3::intern!(py, "out-of-range").clone(),
        StepStatus::NotFinite => pyo3::intern!(py, "not-finite").clone(),
        StepStatus::InertiaHeldBack => pyo3::intern!(py, "inertia-held-back").clone(),
        StepStatus::NotSettled => pyo3::intern!(py, "not-settled").clone(),
    }
}

#[pymethods]
impl Simulation {
    /// Makes `count` steps under constant wrenches.
    ///
    /// wrenches: (effectors, 6) array of float64, N and N m, or None.
    /// frame: 'world' or 'body', the axes of the wrenches.
    /// Returns 'completed'; 'out-of-range' if an effector left the model's range (the step is made
    /// all the same); of floating bases also 'inertia-held-back' and 'not-settled'.
    /// Raises NotFiniteError if numbers overflow; the state is then that before the step.
    #[pyo3(signature = (wrenches=None, *, frame="world", count=1))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        wrenches: Option<&Bound<'py, PyAny>>,
        frame: &str,
        count: usize,
    ) -> PyResult<Bound<'py, PyString>> {
        self.handle.with(|held| {
            held.load(wrenches, frame)?;
            let (mut worst, mut left) = (StepStatus::Completed, count);
            while left > 0 {
                let piece = left.min(PIECE);
                let done = if piece < 64 {
                    held.steps(piece)
                } else {
                    py.check_signals()?;
                    py.detach(|| held.steps(piece))
                };
                match done {
                    Ok(StepStatus::Completed) => {}
                    Ok(other) => worst = other,
                    Err(_) => return Err(held.overflow()),
                }
                left -= piece;
            }
            Ok(word(py, worst))
        })
    }

    /// Runs for `time` seconds and records every `every`-th step, the start and the end.
    ///
    /// wrenches: (effectors, 6), constant; or a function of the time (s) that returns such an
    /// array or None. Ctrl-C stops it between steps. Returns a Recording.
    #[pyo3(signature = (time, wrenches=None, *, frame="world", every=1))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        time: f64,
        wrenches: Option<&Bound<'py, PyAny>>,
        frame: &str,
        every: usize,
    ) -> PyResult<Recording> {
        if !(time.is_finite() && time >= 0.0 && every > 0) {
            return Err(PyValueError::new_err(format!(
                "time is {time} s and every is {every}; expected a finite time, 0 or more, and 1 \
                 or more"
            )));
        }
        self.handle.with(|held| {
            let function = wrenches.filter(|w| w.is_callable());
            if function.is_none() {
                held.load(wrenches, frame)?;
            }
            let steps = (time / held.step).round() as usize;
            let mut recording = drawing::of_model(held.run.data(), held.run.links());
            let now = |held: &Held| held.step * held.steps as f64;
            let push = |held: &mut Held, recording: &mut Recording| {
                let poses: Vec<Pose> = held.run.link_poses().iter().map(|(_, p)| p).collect();
                recording.push(held.step * held.steps as f64, poses, &held.run.energies());
            };
            push(held, &mut recording);
            let mut done = 0;
            while done < steps {
                let piece = match function {
                    Some(_) => 1,
                    None => (steps - done).min(every - done % every),
                };
                if let Some(f) = function {
                    let w = f.call1((now(held),))?;
                    held.load(Some(&w).filter(|w| !w.is_none()), frame)?;
                }
                py.check_signals()?;
                if py.detach(|| held.steps(piece)).is_err() {
                    return Err(held.overflow());
                }
                done += piece;
                if done % every == 0 || done == steps {
                    push(held, &mut recording);
                }
            }
            Ok(recording)
        })
    }

    /// Time since the start, s.
    #[getter]
    fn time(&self) -> PyResult<f64> {
        self.handle.with(|held| Ok(held.step * held.steps as f64))
    }

    /// The step, s.
    #[getter]
    fn step_size(&self) -> PyResult<f64> {
        self.handle.with(|held| Ok(held.step))
    }

    /// A copy of the coordinates, (coordinates,).
    #[getter]
    fn coordinates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.handle.with(|held| {
            let mut out = vec![0.0; held.run.sizes()[0]];
            held.run.coordinates(&mut out);
            Ok(out.into_pyarray(py))
        })
    }

    /// A copy of the velocities, (dof,).
    #[getter]
    fn velocity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.handle.with(|held| {
            let mut out = vec![0.0; held.run.sizes()[1]];
            held.run.velocity(&mut out);
            Ok(out.into_pyarray(py))
        })
    }

    /// Sets coordinates and velocities, (coordinates,) and (dof,).
    fn set(&self, coordinates: &Bound<'_, PyAny>, velocity: &Bound<'_, PyAny>) -> PyResult<()> {
        self.handle.with(|held| {
            let [c, n] = held.run.sizes();
            let coordinates = Input::new("coordinates", coordinates, &[c])?;
            let velocity = Input::new("velocity", velocity, &[n])?;
            held.run.set(coordinates.as_slice(), velocity.as_slice()).map_err(refused)
        })
    }

    /// Back to the linearisation pose at rest, at time 0, servo targets 0.
    fn reset(&self) -> PyResult<()> {
        self.handle.with(|held| {
            held.run.reset();
            held.steps = 0;
            Ok(())
        })
    }

    /// Servo targets relative to those of the linearisation, (servos,), rad or m.
    #[getter]
    fn get_servo_targets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.handle.with(|held| Ok(vector(py, held.run.servo_targets())))
    }

    #[setter]
    fn set_servo_targets(&self, targets: &Bound<'_, PyAny>) -> PyResult<()> {
        self.handle.with(|held| {
            let count = held.run.servo_targets().len();
            let targets = Input::new("servo_targets", targets, &[count])?;
            held.run.set_servo_targets(targets.as_slice()).map_err(refused)
        })
    }

    /// World poses of the effectors, (effectors, 7): x, y, z (m), qw, qx, qy, qz.
    fn effector_poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.handle.with(|held| {
            let count = held.run.data().effectors.len();
            let all: Vec<Pose> = (0..count).map(|e| held.run.effector_pose(e)).collect();
            poses(py, &all)
        })
    }

    /// Body twists of the effectors in their own frames, (effectors, 6): m/s, then rad/s.
    fn effector_twists<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.handle.with(|held| {
            let states = held.run.effectors();
            let all: Vec<f64> = states.iter().flat_map(|e| e.twist.to_array()).collect();
            all.into_pyarray(py).reshape([states.len(), 6])
        })
    }

    /// Body twist per velocity, (effectors, 6, dof).
    fn effector_jacobians<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        self.handle.with(|held| {
            let (states, n) = (held.run.effectors(), held.run.sizes()[1]);
            let all: Vec<f64> =
                states.iter().flat_map(|e| e.jacobian.as_slice().iter().copied()).collect();
            all.into_pyarray(py).reshape([states.len(), 6, n])
        })
    }

    /// Names of the links of `link_poses`.
    #[getter]
    fn links(&self) -> PyResult<Vec<String>> {
        self.handle.with(|held| {
            let name = |&l: &usize| held.run.data().links[l].name.clone();
            Ok(held.run.links().iter().map(name).collect())
        })
    }

    /// World poses of the links, (links, 7): x, y, z (m), qw, qx, qy, qz; into `out` if given.
    #[pyo3(signature = (out=None))]
    fn link_poses<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.handle.with(|held| {
            let array = room(py, out, &[held.run.links().len(), 7])?;
            let mut numbers = writing(&array)?;
            let (rows, _) = numbers.as_slice_mut()?.as_chunks_mut::<7>();
            for (row, (_, pose)) in rows.iter_mut().zip(held.run.link_poses().iter()) {
                *row = pose.to_array();
            }
            drop(numbers);
            Ok(array)
        })
    }

    /// Energies in J: a dict of 'kinetic', 'gravitational' (floating bases), 'elastic'.
    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.handle.with(|held| energies(py, held.run.energies()))
    }

    /// Gaps at joints and effectors: (position over the mechanism's size, angle in rad), sums.
    fn constraint_error(&self) -> PyResult<(f64, f64)> {
        self.handle.with(|held| {
            let e = held.run.constraint_error();
            Ok((e.position, e.angle))
        })
    }

    /// Weights of a blend's samples, (samples,); empty for one linearisation.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.handle.with(|held| Ok(held.run.weights().into_pyarray(py)))
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
            return Ok("<forks.Simulation, closed>".into());
        }
        self.handle.with(|held| {
            Ok(format!(
                "<forks.Simulation at {} s, step {} s, {} velocities>",
                held.step * held.steps as f64,
                held.step,
                held.run.sizes()[1]
            ))
        })
    }
}
