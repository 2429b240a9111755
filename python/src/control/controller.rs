//! A mechanism that is driven by tasks.

use std::{collections::BTreeMap, sync::Arc};

use forks_control::{
    controller::{ControlError, Controller as Deciding, Origin, Solution},
    limits::CoordinateLimits,
    objective::Objective,
    plant::{ImplicitPlant, Plant as _},
    task::Task as Resolved,
};
use forks_mechanism::{JointId, JointKind, Mechanism as Data};
use numpy::{PyArray1, PyArray2};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use super::{names, task::Task};
use crate::{
    arrays::{poses, vector},
    drawing,
    error::{ForksError, refused},
    full_motion::moving,
    handle::Handle,
    mechanism::Mechanism,
    options,
    recording::Recording,
};

/// A mechanism in motion whose joints' forces bring tasks about, by priority: the least of an
/// objective within limits. One thread uses it at a time.
///
/// step: s. minimise: of what tasks leave open 'torque', 'acceleration', 'velocity', 'energy' or
/// 'jerk'. actuate: joints with commands, beside their springs and dampers; all of the tree but
/// free ones by default. largest: the largest command of every joint, N or N m; limits: of single
/// ones, by name. joint_limits: joints keep within the limits of the model, for which they brake
/// with at most so much (rad/s² or m/s²). servos: servos act as springs that rest at the start.
/// start, velocities: as in `Mechanism.simulate`.
#[pyclass(frozen, module = "forks.control")]
#[derive(Debug)]
pub(crate) struct Controller {
    handle: Handle<Held>,
}

#[derive(Debug)]
struct Held {
    mechanism: Arc<Data>,
    shown: Vec<usize>,
    /// Names of the commands.
    commands: Vec<String>,
    tasks: Vec<Task>,
    resolved: Vec<Resolved>,
    plant: ImplicitPlant,
    deciding: Deciding,
    step: f64,
    steps: u64,
}

/// What was decided for a step.
#[pyclass(frozen, module = "forks.control")]
#[derive(Clone, Debug)]
pub(crate) struct Decision {
    solution: Solution,
    names: Vec<String>,
    tasks: Vec<String>,
    /// Name, row, level (None for limits), by how much.
    relaxed: Vec<(String, String, Option<usize>, f64)>,
}

fn objective(name: &str) -> PyResult<Objective> {
    match name {
        "torque" => Ok(Objective::torque()),
        "acceleration" => Ok(Objective::acceleration()),
        "velocity" => Ok(Objective::velocity()),
        "energy" => Ok(Objective::kinetic_energy()),
        "jerk" => Ok(Objective::jerk()),
        _ => Err(PyValueError::new_err(format!(
            "minimise is '{name}', expected 'torque', 'acceleration', 'velocity', 'energy' or \
             'jerk'"
        ))),
    }
}

/// Joints with commands, in the order of their coordinates.
fn actuated(m: &Data, given: Option<Vec<String>>) -> PyResult<Vec<JointId>> {
    let of_tree = |j: JointId| {
        let range = m.velocity_range(j);
        !range.is_empty() && range.end <= m.tree_velocity_count()
    };
    let mut out: Vec<JointId> = Vec::new();
    for name in given.iter().flatten() {
        let joint = names::joint(m, name)?;
        if !of_tree(joint) {
            let text = format!("actuate: joint '{name}' is fixed or closes a loop");
            return Err(PyValueError::new_err(text));
        }
        if out.contains(&joint) {
            return Err(PyValueError::new_err(format!("actuate: joint '{name}' is there twice")));
        }
        out.push(joint);
    }
    if given.is_none() {
        let all = m.forest().edges().iter().map(|e| e.joint);
        out.extend(all.filter(|j| of_tree(*j) && m.joint(*j).kind != JointKind::Free));
    }
    out.sort_by_key(|j| m.velocity_range(*j).start);
    Ok(out)
}

impl Held {
    fn solve(&mut self) -> Result<Solution, ControlError> {
        self.deciding.solve(&mut self.plant, &self.resolved).cloned()
    }

    /// Decides and moves.
    fn step_once(&mut self) -> Result<Solution, String> {
        let time = self.step * self.steps as f64;
        let stopped = |why: String| format!("stopped after {time} s: {why}");
        let solution = self.solve().map_err(|e| stopped(e.to_string()))?;
        if !solution.commands.iter().all(|z| z.is_finite()) {
            return Err(stopped("the commands overflow".into()));
        }
        self.plant.step(&solution.commands).map_err(|e| stopped(e.to_string()))?;
        self.steps += 1;
        Ok(solution)
    }

    fn decision(&self, solution: &Solution) -> Decision {
        let m = &*self.mechanism;
        let relaxed = solution.relaxed.iter().map(|r| match r.origin {
            Origin::Command(i) => (self.commands[i].clone(), "command".into(), None, r.by),
            Origin::Joint(j) => (m.joint_label(j), "range".into(), None, r.by),
            Origin::Task { task, row } => {
                let t = &self.resolved[task];
                let rows = self.tasks[task].row_names(m, t);
                (t.name.clone(), rows[row].clone(), Some(t.level), r.by)
            }
            // Nothing touches here; what a later version may add is still a row that gives way.
            _ => ("contact".into(), "touch".into(), None, r.by),
        });
        Decision {
            relaxed: relaxed.collect(),
            solution: solution.clone(),
            names: self.commands.clone(),
            tasks: self.tasks.iter().map(|t| t.name().to_owned()).collect(),
        }
    }
}

#[pymethods]
impl Controller {
    #[new]
    #[pyo3(signature = (mechanism, tasks, *, step=1e-3, minimise="torque", actuate=None,
        largest=None, limits=None, joint_limits=None, servos=false, start=None, velocities=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn new(
        mechanism: &Mechanism,
        tasks: Vec<PyRef<'_, Task>>,
        step: f64,
        minimise: &str,
        actuate: Option<Vec<String>>,
        largest: Option<f64>,
        limits: Option<BTreeMap<String, f64>>,
        joint_limits: Option<f64>,
        servos: bool,
        start: Option<&Bound<'_, PyAny>>,
        velocities: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let start = options::start(mechanism.data(), start)?;
        let m = Arc::new(moving(mechanism.data(), servos, start.as_deref())?);
        let q = start.unwrap_or_else(|| m.start_positions()[..m.tree_position_count()].to_vec());
        let v = options::velocities(&m, velocities)?;
        let joints = actuated(&m, actuate)?;
        let bound = |what: &str, x: f64| match x >= 0.0 {
            true => Ok(x),
            false => Err(PyValueError::new_err(format!("{what} is {x}; it must not be below 0"))),
        };
        let mut bounds = vec![bound("largest", largest.unwrap_or(f64::INFINITY))?; joints.len()];
        for (name, limit) in limits.iter().flatten() {
            let joint = names::joint(&m, name)?;
            let none = || PyValueError::new_err(format!("limits: joint '{name}' has no command"));
            let at = joints.iter().position(|j| *j == joint).ok_or_else(none)?;
            bounds[at] = bound(&format!("limits['{name}']"), *limit)?;
        }
        let (mut commands, mut commanded, mut all) = (vec![], vec![], vec![]);
        for (joint, bound) in joints.iter().zip(bounds) {
            let coordinates = m.velocity_range(*joint);
            all.extend(coordinates.clone().map(|_| (-bound, bound)));
            commanded.extend(coordinates);
            commands.extend(names::coordinates(&m, *joint));
        }
        let mut deciding = Deciding::new(all).minimise(objective(minimise)?);
        if let Some(acceleration) = joint_limits {
            for joint in names::single_joints(&m) {
                let Some(position) = m.joint(joint).limits.first().copied().flatten() else {
                    continue;
                };
                let velocity = f64::INFINITY;
                let limits = CoordinateLimits { position: Some(position), velocity, acceleration };
                deciding = deciding.limit_joint(joint, limits);
            }
        }
        let plant =
            ImplicitPlant::new(Arc::clone(&m), &q, &v, &commanded, step).map_err(refused)?;
        let tasks: Vec<Task> = tasks.iter().map(|t| Task::clone(t)).collect();
        if let Some(i) =
            (1..tasks.len()).find(|&i| tasks[..i].iter().any(|t| t.name() == tasks[i].name()))
        {
            let text = format!("two tasks are called '{}'; give one a name", tasks[i].name());
            return Err(PyValueError::new_err(text));
        }
        let resolved = tasks.iter().map(|t| t.resolve(&m, &plant)).collect::<PyResult<_>>()?;
        let shown = mechanism.shown();
        let held = Held {
            mechanism: m,
            shown,
            commands,
            tasks,
            resolved,
            plant,
            deciding,
            step,
            steps: 0,
        };
        Ok(Self { handle: Handle::new("controller", held) })
    }

    /// Decides the commands of the next step without making it. Returns a Decision.
    fn solve(&self, py: Python<'_>) -> PyResult<Decision> {
        self.handle.with(|held| {
            let solution = py.detach(|| held.solve()).map_err(refused)?;
            Ok(held.decision(&solution))
        })
    }

    /// Decides and makes `count` steps. Returns the Decision of the last one. Ctrl-C stops between
    /// steps. Raises ForksError with the time if there is no step; the state stays.
    #[pyo3(signature = (count=1))]
    fn step(&self, py: Python<'_>, count: usize) -> PyResult<Option<Decision>> {
        self.handle.with(|held| {
            let mut last = None;
            for k in 0..count {
                if k > 0 {
                    py.check_signals()?;
                }
                let solution = py.detach(|| held.step_once()).map_err(ForksError::new_err)?;
                last = (k + 1 == count).then(|| held.decision(&solution));
            }
            Ok(last)
        })
    }

    /// Decides and steps for `time` seconds, records every `every`-th step, the start and the end.
    /// Ctrl-C stops it between steps. Returns a Recording.
    #[pyo3(signature = (time, *, every=1))]
    fn run(&self, py: Python<'_>, time: f64, every: usize) -> PyResult<Recording> {
        if !(time.is_finite() && time >= 0.0 && every > 0) {
            return Err(PyValueError::new_err(format!(
                "time is {time} s and every is {every}; expected a finite time, 0 or more, and 1 \
                 or more"
            )));
        }
        self.handle.with(|held| {
            let m = Arc::clone(&held.mechanism);
            let radius = m.bounding_radius(held.plant.stepper().link_poses());
            let mut recording = drawing::of_mechanism(&m, &held.shown, radius, vec![]);
            let push = |held: &Held, recording: &mut Recording| {
                let all = held.plant.stepper().link_poses();
                let poses = held.shown.iter().map(|&i| all[i]).collect();
                recording.push(held.step * held.steps as f64, poses, &[]);
            };
            push(held, &mut recording);
            let steps = (time / held.step - 1e-9).ceil().max(0.0) as usize;
            for i in 0..steps {
                py.check_signals()?;
                py.detach(|| held.step_once()).map_err(ForksError::new_err)?;
                if (i + 1) % every == 0 || i + 1 == steps {
                    push(held, &mut recording);
                }
            }
            Ok(recording)
        })
    }

    /// Gives a task another target; None: what is there now.
    #[pyo3(signature = (task, target))]
    fn set_target(&self, task: &str, target: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        self.handle.with(|held| {
            let names = held.tasks.iter().map(Task::name);
            let i = names.clone().position(|n| n == task);
            let i = i.ok_or_else(|| names::unknown("task", task, names))?;
            let mut changed = held.tasks[i].clone();
            changed.set_target(target)?;
            held.resolved[i] = changed.resolve(&held.mechanism, &held.plant)?;
            held.tasks[i] = changed;
            Ok(())
        })
    }

    /// Names of the tasks.
    #[getter]
    fn tasks(&self) -> PyResult<Vec<String>> {
        self.handle.with(|held| Ok(held.tasks.iter().map(|t| t.name().to_owned()).collect()))
    }

    /// Names of the commands: joints, with the number of the coordinate where there are several.
    #[getter]
    fn commands(&self) -> PyResult<Vec<String>> {
        self.handle.with(|held| Ok(held.commands.clone()))
    }

    /// Time since the start, s.
    #[getter]
    fn time(&self) -> PyResult<f64> {
        self.handle.with(|held| Ok(held.step * held.steps as f64))
    }

    /// A copy of the positions of the tree joints, (positions,).
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.handle.with(|held| {
            let tree = held.mechanism.tree_position_count();
            Ok(vector(py, &held.plant.stepper().positions()[..tree]))
        })
    }

    /// A copy of their velocities, (velocities,); of free joints in their own axes, linear part
    /// first.
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.handle.with(|held| Ok(vector(py, held.plant.stepper().tree_velocities())))
    }

    /// World poses of the mechanism's links, (links, 7): x, y, z (m), qw, qx, qy, qz.
    fn link_poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.handle.with(|held| {
            let all = held.plant.stepper().link_poses();
            let shown: Vec<_> = held.shown.iter().map(|&i| all[i]).collect();
            poses(py, &shown)
        })
    }

    /// Largest gap of the loops over the mechanism's size.
    #[getter]
    fn loop_gap(&self) -> PyResult<f64> {
        self.handle.with(|held| Ok(held.plant.stepper().loop_gap()))
    }

    /// Gives the memory back; every further use raises HandleError.
    fn close(&self) -> PyResult<()> {
        self.handle.close()
    }

    fn __repr__(&self) -> PyResult<String> {
        if self.handle.is_closed() {
            return Ok("<forks.control.Controller, closed>".into());
        }
        self.handle.with(|held| {
            let (tasks, commands) = (held.tasks.len(), held.commands.len());
            let time = held.step * held.steps as f64;
            Ok(format!(
                "<forks.control.Controller at {time} s: {tasks} tasks, {commands} commands>"
            ))
        })
    }
}

#[pymethods]
impl Decision {
    /// Forces of the joints, (commands,), N or N m.
    #[getter]
    fn commands<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        vector(py, &self.solution.commands)
    }

    /// What the commands are called.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// 'solved', 'relaxed' (rows give way) or 'iteration-limit'.
    #[getter]
    fn status(&self) -> &'static str {
        match (self.solution.finished, self.relaxed.is_empty()) {
            (false, _) => "iteration-limit",
            (true, false) => "relaxed",
            (true, true) => "solved",
        }
    }

    /// Rows that give way, the most important first: task or joint, row, level (None for limits),
    /// by how much (N or N m of a command, else m/s or rad/s).
    #[getter]
    fn relaxed(&self) -> Vec<(String, String, Option<usize>, f64)> {
        self.relaxed.clone()
    }

    /// By task what its rows missed before the step, (rows,), m or rad.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.by_task(py, |r| r.error)
    }

    /// By task the rates of its rows at the end of the step less those asked for, (rows,), m/s or
    /// rad/s.
    #[getter]
    fn residuals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.by_task(py, |r| r.by)
    }

    fn __repr__(&self) -> String {
        let relaxed = self.relaxed.len();
        format!("<forks.control.Decision, {}: {relaxed} rows give way>", self.status())
    }
}

impl Decision {
    fn by_task<'py>(
        &self,
        py: Python<'py>,
        number: impl Fn(&forks_control::controller::Residual) -> f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        for (task, name) in self.tasks.iter().enumerate() {
            let rows = self.solution.residuals.iter().filter(|r| r.task == task);
            out.set_item(name, vector(py, &rows.map(&number).collect::<Vec<f64>>()))?;
        }
        Ok(out)
    }
}
