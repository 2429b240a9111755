//! Commands of the next steps of a reduced model, and those under which it rests at poses.

use std::{fmt, sync::Arc, time::Duration};

use forks_blend::BlendedStepper;
use forks_mechanism::lie::{
    Pose,
    glam::{DQuat, DVec3},
};
use forks_mpc::{
    Commands, Goal, Mpc as Predicting, MpcError, MpcReport, MpcSettings, MpcStatus,
    set_point as rest_at,
};
use forks_rom::{EffectorLoad, Stepper, System, data::ModelData};
use numpy::{IntoPyArray as _, PyArray1, PyArray2, PyArrayMethods as _};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyDict,
};

use super::names::unknown;
use crate::{
    arrays::{self, Input, vector},
    error::refused,
    handle::Handle,
    loads,
    model::{Kind, Model},
};

/// An effector by its name or index.
fn effector(data: &ModelData, x: &Bound<'_, PyAny>) -> PyResult<usize> {
    let count = data.effectors.len();
    if let Ok(name) = x.extract::<String>() {
        let names = data.effectors.iter().map(|e| &*e.name);
        let found = names.clone().position(|n| n == name);
        return found.ok_or_else(|| unknown("effector", &name, names));
    }
    match x.extract::<usize>() {
        Ok(i) if i < count => Ok(i),
        Ok(i) => Err(PyValueError::new_err(format!("effector {i} of {count}"))),
        Err(_) => Err(PyTypeError::new_err("an effector is a name or a number from 0 on")),
    }
}

/// What may be commanded: 'servos', or effectors whose forces are.
fn commands(data: &ModelData, x: Option<&Bound<'_, PyAny>>) -> PyResult<Commands> {
    let Some(x) = x else { return Ok(Commands::Servos) };
    if let Ok(word) = x.extract::<String>() {
        return match &*word {
            "servos" => Ok(Commands::Servos),
            _ => Ok(Commands::Forces(vec![effector(data, x)?])),
        };
    }
    let all: Vec<Bound<'_, PyAny>> = x.extract().map_err(|_| {
        PyTypeError::new_err("commands is 'servos', or a list of effectors whose forces are chosen")
    })?;
    Ok(Commands::Forces(all.iter().map(|e| effector(data, e)).collect::<PyResult<_>>()?))
}

fn count(commands: &Commands, data: &ModelData) -> usize {
    match commands {
        Commands::Servos => data.servos.len(),
        Commands::Forces(effectors) => 3 * effectors.len(),
    }
}

/// Bounds of commands: (lower, upper) for all, or (commands, 2).
fn bounds(x: Option<&Bound<'_, PyAny>>, count: usize) -> PyResult<Vec<(f64, f64)>> {
    let Some(x) = x else { return Ok(vec![(f64::NEG_INFINITY, f64::INFINITY); count]) };
    if let Ok(one) = x.extract::<(f64, f64)>() {
        return Ok(vec![one; count]);
    }
    let input = Input::any("bounds", x, &[count, 2])?;
    let (rows, _) = input.as_slice().as_chunks::<2>();
    Ok(rows.iter().map(|[l, u]| (*l, *u)).collect())
}

/// Goals: a dict of effectors to weights (per m), or to (per m, per rad).
fn goals(data: &ModelData, x: &Bound<'_, PyDict>) -> PyResult<Vec<Goal>> {
    let goal = |(key, weight): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let effector = effector(data, &key)?;
        let wrong =
            |_| PyTypeError::new_err(format!("the weight of {key} is no number and no pair"));
        let (position, orientation) = match weight.extract::<f64>() {
            Ok(x) => (x, 0.0),
            Err(_) => weight.extract().map_err(wrong)?,
        };
        Ok(Goal { effector, position, orientation })
    };
    x.iter().map(goal).collect()
}

/// What is asked of predictions, whatever the model is made of.
trait Predict: Send + fmt::Debug {
    fn data(&self) -> &ModelData;
    fn settings(&self) -> &MpcSettings;
    fn dof(&self) -> usize;
    fn solve(
        &mut self,
        state: (&[f64], &[f64]),
        loads: &[EffectorLoad],
        targets: &[Pose],
    ) -> Result<MpcReport, MpcError>;
    fn plan(&self) -> &[f64];
}

impl<S: System> Predict for Predicting<S> {
    fn data(&self) -> &ModelData {
        self.system().data()
    }

    fn settings(&self) -> &MpcSettings {
        Predicting::settings(self)
    }

    fn dof(&self) -> usize {
        self.system().dof()
    }

    fn solve(
        &mut self,
        state: (&[f64], &[f64]),
        loads: &[EffectorLoad],
        targets: &[Pose],
    ) -> Result<MpcReport, MpcError> {
        let goals = Predicting::settings(self).goals.len();
        Predicting::solve(self, state, loads, |k, g| targets[(k - 1) * goals + g])
    }

    fn plan(&self) -> &[f64] {
        Predicting::plan(self)
    }
}

/// Model predictive control of a reduced or blended model: the commands of the next steps that
/// follow moving poses best, within bounds. One thread uses it at a time.
///
/// step: s, that of the horizon and of commands. horizon: steps.
/// follow: a dict of effectors (name or index) to weights of their positions (per m), or to pairs
/// (per m, per rad).
/// commands: 'servos', the targets of all servos relative to the linearisation; or effectors, the
/// forces (3 each, N, world axes) at whose origins are chosen.
/// bounds: (lower, upper) for all commands, or (commands, 2); none by default.
/// effort, change: costs of a command's distance from where it ends and of its change in a step.
/// pivots: guesses of the quadratic problem at most. budget: s, after which there is no further
/// one.
#[pyclass(frozen, module = "forks.control")]
#[derive(Debug)]
pub(crate) struct Mpc {
    handle: Handle<Box<dyn Predict>>,
}

#[pymethods]
impl Mpc {
    #[new]
    #[pyo3(signature = (model, step, horizon, follow, *, commands=None, bounds=None, effort=1e-6,
        change=1e-5, pivots=100, budget=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn new(
        model: &Model,
        step: f64,
        horizon: usize,
        follow: &Bound<'_, PyDict>,
        commands: Option<&Bound<'_, PyAny>>,
        bounds: Option<&Bound<'_, PyAny>>,
        effort: f64,
        change: f64,
        pivots: usize,
        budget: Option<f64>,
    ) -> PyResult<Self> {
        let data = model.data();
        let commands = self::commands(data, commands)?;
        let bounds = self::bounds(bounds, count(&commands, data))?;
        let goals = goals(data, follow)?;
        let budget = match budget {
            None => None,
            Some(s) => Some(Duration::try_from_secs_f64(s).map_err(|_| {
                PyValueError::new_err(format!("budget is {s} s; expected 0 or more"))
            })?),
        };
        let settings =
            MpcSettings { horizon, commands, bounds, goals, effort, change, pivots, budget };
        let predict: Box<dyn Predict> = match model.inner() {
            Kind::Reduced(m) => {
                let stepper = Stepper::new(Arc::clone(m), step).map_err(refused)?;
                Box::new(Predicting::new(stepper, settings).map_err(refused)?)
            }
            Kind::Blended(m) => {
                let stepper = BlendedStepper::new(Arc::clone(m), step).map_err(refused)?;
                Box::new(Predicting::new(stepper, settings).map_err(refused)?)
            }
            Kind::Floating(..) | Kind::FloatingBlend(_) => {
                return Err(refused(MpcError::FloatingBase));
            }
        };
        Ok(Self { handle: Handle::new("prediction", predict) })
    }

    /// Chooses commands from a state on.
    ///
    /// coordinates, velocity: (dof,). targets: (horizon, goals, 7), the poses after each step, in
    /// the order of `follow`; or (goals, 7), the same after every one. wrenches: (effectors, 6),
    /// world axes, that stay beside the commands.
    /// Returns the commands of the next step, (commands,), and a dict of 'status' ('solved', 'cut'
    /// or 'not-finite'), 'pivots', 'at_bounds', 'out_of_range' (an effector, or None).
    #[pyo3(signature = (coordinates, velocity, targets, wrenches=None))]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        coordinates: &Bound<'py, PyAny>,
        velocity: &Bound<'py, PyAny>,
        targets: &Bound<'py, PyAny>,
        wrenches: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyDict>)> {
        self.handle.with(|predict| {
            let n = predict.dof();
            let x = Input::new("coordinates", coordinates, &[n])?.as_slice().to_vec();
            let v = Input::new("velocity", velocity, &[n])?.as_slice().to_vec();
            let (horizon, goals) = (predict.settings().horizon, predict.settings().goals.len());
            let mut poses = match Input::any("targets", targets, &[goals, 7]) {
                Ok(_) => {
                    let one = Input::new("targets", targets, &[goals, 7])?;
                    one.as_slice().repeat(horizon)
                }
                Err(_) => Input::new("targets", targets, &[horizon, goals, 7])?.as_slice().to_vec(),
            };
            let (rows, _) = poses.as_chunks_mut::<7>();
            let targets: Vec<Pose> =
                rows.iter().map(|p| arrays::pose_of("targets", *p)).collect::<PyResult<_>>()?;
            let mut loads = vec![];
            let effectors = predict.data().effectors.len();
            loads::fill(&mut loads, wrenches, effectors, forks_rom::LoadFrame::World)?;
            let report =
                py.detach(|| predict.solve((&x, &v), &loads, &targets)).map_err(refused)?;
            let out = PyDict::new(py);
            out.set_item(
                "status",
                match report.status {
                    MpcStatus::Solved => "solved",
                    MpcStatus::Cut => "cut",
                    MpcStatus::NotFinite => "not-finite",
                },
            )?;
            out.set_item("pivots", report.pivots)?;
            out.set_item("at_bounds", report.at_bounds)?;
            out.set_item("out_of_range", report.out_of_range)?;
            let commands = count(&predict.settings().commands, predict.data());
            Ok((vector(py, &predict.plan()[..commands]), out))
        })
    }

    /// Commands of all steps of the horizon, (horizon, commands).
    #[getter]
    fn plan<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.handle.with(|predict| {
            let horizon = predict.settings().horizon;
            let plan = predict.plan().to_vec();
            let commands = plan.len() / horizon.max(1);
            plan.into_pyarray(py).reshape([horizon, commands])
        })
    }

    /// Gives the memory back; every further use raises HandleError.
    fn close(&self) -> PyResult<()> {
        self.handle.close()
    }

    fn __repr__(&self) -> PyResult<String> {
        if self.handle.is_closed() {
            return Ok("<forks.control.Mpc, closed>".into());
        }
        self.handle.with(|predict| {
            let (horizon, commands) = (predict.settings().horizon, predict.plan().len());
            Ok(format!("<forks.control.Mpc: {horizon} steps, {commands} commands in all>"))
        })
    }
}

/// Commands under which effectors of a reduced or blended model rest at poses, or as close to them
/// as bounds allow.
///
/// targets: a dict of effectors (name or index) to points, (3,), m, or poses, (7,).
/// commands, bounds: as in `Mpc`. start: commands to begin with, (commands,); 0.
/// wrenches: (effectors, 6), world axes, that stay beside the commands.
/// weights: of positions (per m) and orientations (per rad).
/// Returns a dict of 'commands', 'coordinates' (at rest under them), 'errors' (goals, 6; weighted),
/// 'settled' (no change of the commands makes them smaller).
#[pyfunction]
#[pyo3(signature = (model, targets, *, commands=None, bounds=None, start=None, wrenches=None,
    weights=(1.0, 1.0)))]
#[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
pub(crate) fn set_point<'py>(
    py: Python<'py>,
    model: &Model,
    targets: &Bound<'py, PyDict>,
    commands: Option<&Bound<'py, PyAny>>,
    bounds: Option<&Bound<'py, PyAny>>,
    start: Option<&Bound<'py, PyAny>>,
    wrenches: Option<&Bound<'py, PyAny>>,
    weights: (f64, f64),
) -> PyResult<Bound<'py, PyDict>> {
    if let Kind::Floating(..) | Kind::FloatingBlend(_) = model.inner() {
        return Err(refused(MpcError::FloatingBase));
    }
    let data = model.data();
    let commands = self::commands(data, commands)?;
    let count = count(&commands, data);
    let bounds = self::bounds(bounds, count)?;
    let start = match start {
        Some(x) => Input::new("start", x, &[count])?.as_slice().to_vec(),
        None => vec![0.0; count],
    };
    let mut loads = vec![];
    loads::fill(&mut loads, wrenches, data.effectors.len(), forks_rom::LoadFrame::World)?;
    let goal = |(key, target): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let effector = effector(data, &key)?;
        let what = format!("the target of {key}");
        if target.len()? == 3 {
            let point = DVec3::from_array(arrays::numbers(&what, &target)?);
            let goal = Goal { effector, position: weights.0, orientation: 0.0 };
            return Ok((goal, Pose::new(DQuat::IDENTITY, point)));
        }
        let goal = Goal { effector, position: weights.0, orientation: weights.1 };
        Ok((goal, arrays::pose(&what, &target)?))
    };
    let goals: Vec<(Goal, Pose)> = targets.iter().map(goal).collect::<PyResult<_>>()?;
    // Rests do not depend on the step.
    const STEP: f64 = 1e-3;
    let found = py.detach(|| match model.inner() {
        Kind::Reduced(m) => {
            let system = Stepper::new(Arc::clone(m), STEP)?;
            rest_at(&system, &commands, &goals, &bounds, &loads, &start)
        }
        Kind::Blended(m) => {
            let system = BlendedStepper::new(Arc::clone(m), STEP)?;
            rest_at(&system, &commands, &goals, &bounds, &loads, &start)
        }
        Kind::Floating(..) | Kind::FloatingBlend(_) => unreachable!("refused above"),
    });
    let found = found.map_err(refused)?;
    let out = PyDict::new(py);
    out.set_item("commands", vector(py, &found.commands))?;
    out.set_item("coordinates", vector(py, &found.coordinates))?;
    out.set_item("errors", found.errors.into_pyarray(py).reshape([goals.len(), 6])?)?;
    out.set_item("settled", found.settled)?;
    Ok(out)
}
