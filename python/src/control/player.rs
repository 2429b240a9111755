//! Joints that follow curves, springs or forces while physics moves the rest.

use std::sync::Arc;

use forks_control::{
    keyframe::Motion as Curves,
    playback::{Group as Moved, Player as Playing, Scheme},
};
use forks_mechanism::Mechanism as Data;
use numpy::{PyArray1, PyArray2};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use super::{motion::Motion, names};
use crate::{
    arrays::{poses, vector},
    drawing,
    error::refused,
    full_motion::moving,
    handle::Handle,
    mechanism::Mechanism,
    options,
    recording::Recording,
};

/// Joints with what moves them: `Group.keyframes` (on their curves), `servo` (pulled to them),
/// `compliant` (springs about where they are), `torque` (constant forces).
#[pyclass(frozen, module = "forks.control")]
#[derive(Clone, Debug)]
pub(crate) struct Group {
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Keyframes(Arc<Curves>),
    Servo(Arc<Curves>, f64, f64),
    Compliant(Vec<String>, f64, f64),
    Torque(Vec<String>, Vec<f64>),
}

impl Group {
    fn resolve(&self, m: &Data) -> PyResult<Moved> {
        Ok(match &self.what {
            What::Keyframes(c) => Moved::keyframes(Curves::clone(c)),
            What::Servo(c, k, d) => Moved::servo(Curves::clone(c), *k, *d),
            What::Compliant(joints, k, d) => Moved::compliant(names::joints(m, joints)?, *k, *d),
            What::Torque(joints, f) => Moved::torque(names::joints(m, joints)?, f.clone()),
        })
    }
}

#[pymethods]
impl Group {
    /// The joints of a motion on their curves, whatever that takes.
    #[staticmethod]
    fn keyframes(motion: &Motion) -> Self {
        Self { what: What::Keyframes(Arc::clone(&motion.curves)) }
    }

    /// The joints of a motion pulled to their curves by springs (N m/rad or N/m) and dampers.
    #[staticmethod]
    fn servo(motion: &Motion, stiffness: f64, damping: f64) -> Self {
        Self { what: What::Servo(Arc::clone(&motion.curves), stiffness, damping) }
    }

    /// Joints held by springs and dampers where they are when this begins.
    #[staticmethod]
    fn compliant(joints: Vec<String>, stiffness: f64, damping: f64) -> Self {
        Self { what: What::Compliant(joints, stiffness, damping) }
    }

    /// Joints under constant forces, N or N m, one per coordinate.
    #[staticmethod]
    fn torque(joints: Vec<String>, forces: Vec<f64>) -> Self {
        Self { what: What::Torque(joints, forces) }
    }

    fn __repr__(&self) -> String {
        let what = match &self.what {
            What::Keyframes(_) => "keyframes",
            What::Servo(..) => "servo",
            What::Compliant(..) => "compliant",
            What::Torque(..) => "torque",
        };
        format!("<forks.control.Group, {what}>")
    }
}

/// A mechanism that is played: some joints on curves, servos, springs or forces, physics moves the
/// rest. One thread uses it at a time.
///
/// play: a Motion whose joints follow it, from its first keys on unless from_state; or None, and
/// `switch` says later what moves. step: s. integrator: 'implicit' (any mechanism) or
/// 'semi-implicit-euler' (trees). servos: servos act as springs that rest at the start.
/// start, velocities: as in `Mechanism.simulate`.
#[pyclass(frozen, module = "forks.control")]
#[derive(Debug)]
pub(crate) struct Player {
    handle: Handle<Held>,
}

#[derive(Clone, Debug)]
struct Held {
    mechanism: Arc<Data>,
    shown: Vec<usize>,
    player: Playing,
}

impl Held {
    /// Forces by name.
    fn forces<'py>(
        &self,
        py: Python<'py>,
        step: &forks_control::playback::Step,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (m, out) = (&*self.mechanism, PyDict::new(py));
        for (c, f) in step.coordinates.iter().zip(&step.forces) {
            let owner = m.velocity_owner(*c);
            let all = names::coordinates(m, owner.joint);
            out.set_item(&all[owner.index], f)?;
        }
        Ok(out)
    }
}

#[pymethods]
impl Player {
    #[new]
    #[pyo3(signature = (mechanism, play=None, *, step=0.004, integrator="implicit",
        from_state=false, servos=false, start=None, velocities=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn new(
        mechanism: &Mechanism,
        play: Option<&Motion>,
        step: f64,
        integrator: &str,
        from_state: bool,
        servos: bool,
        start: Option<&Bound<'_, PyAny>>,
        velocities: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let scheme = match integrator {
            "implicit" => Scheme::Implicit,
            "semi-implicit-euler" => Scheme::Explicit,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "integrator is '{integrator}', expected 'implicit' or 'semi-implicit-euler'"
                )));
            }
        };
        let start = options::start(mechanism.data(), start)?;
        let m = Arc::new(moving(mechanism.data(), servos, start.as_deref())?);
        let mut q = m.start_positions();
        start.iter().for_each(|s| q[..s.len()].copy_from_slice(s));
        let mut v = options::velocities(&m, velocities)?;
        let mut begin = 0.0;
        let mut groups = vec![];
        if let Some(motion) = play {
            let mut curves = Curves::clone(&motion.curves);
            begin = curves.range().0;
            if from_state {
                curves = curves.started_from(&m, &q, &v).map_err(refused)?;
            } else {
                curves.positions(&m, begin, &mut q);
                for (id, state) in curves.joints().zip(curves.state(begin)) {
                    v[m.velocity_range(id)].copy_from_slice(&state.v);
                }
            }
            groups.push(Moved::keyframes(curves));
        }
        let tree = &q[..m.tree_position_count()];
        let mut player =
            Playing::new(Arc::clone(&m), scheme, tree, &v, begin, step).map_err(refused)?;
        player.switch(groups).map_err(refused)?;
        let held = Held { mechanism: m, shown: mechanism.shown(), player };
        Ok(Self { handle: Handle::new("player", held) })
    }

    /// From now on these groups; joints in none are free. Positions and velocities stay.
    fn switch(&self, groups: Vec<PyRef<'_, Group>>) -> PyResult<()> {
        self.handle.with(|held| {
            let m = Arc::clone(&held.mechanism);
            let groups = groups.iter().map(|g| g.resolve(&m)).collect::<PyResult<_>>()?;
            held.player.switch(groups).map_err(refused)
        })
    }

    /// Makes `count` steps. Returns a dict of the forces in the last one, N or N m, by joint (with
    /// the number of the coordinate where there are several). Ctrl-C stops between steps. Raises
    /// ForksError with the time where no forces bring joints onto their curves; the state stays.
    #[pyo3(signature = (count=1))]
    fn step<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyDict>> {
        self.handle.with(|held| {
            let mut forces = PyDict::new(py);
            for k in 0..count {
                if k > 0 {
                    py.check_signals()?;
                }
                let step = py.detach(|| held.player.step()).map_err(refused)?;
                if k + 1 == count {
                    forces = held.forces(py, &step)?;
                }
            }
            Ok(forces)
        })
    }

    /// Plays for `time` seconds and records every `every`-th step, the start and the end. Ctrl-C
    /// stops it between steps. Returns a Recording.
    #[pyo3(signature = (time, *, every=1))]
    fn run(&self, py: Python<'_>, time: f64, every: usize) -> PyResult<Recording> {
        if !(time.is_finite() && time >= 0.0 && every > 0) {
            return Err(PyValueError::new_err(format!(
                "time is {time} s and every is {every}; expected a finite time, 0 or more, and 1 \
                 or more"
            )));
        }
        self.handle.with(|held| {
            let all = held.player.link_poses();
            let radius = held.mechanism.bounding_radius(&all);
            let mut recording = drawing::of_mechanism(&held.mechanism, &held.shown, radius, vec![]);
            let push = |held: &Held, recording: &mut Recording| {
                let all = held.player.link_poses();
                let poses = held.shown.iter().map(|&i| all[i]).collect();
                recording.push(held.player.time(), poses, &[]);
            };
            push(held, &mut recording);
            let steps = (time / held.player.step_length() - 1e-9).ceil().max(0.0) as usize;
            for i in 0..steps {
                py.check_signals()?;
                py.detach(|| held.player.step()).map_err(refused)?;
                if (i + 1) % every == 0 || i + 1 == steps {
                    push(held, &mut recording);
                }
            }
            Ok(recording)
        })
    }

    /// Another player in the same state: what it does, down to the last bit, this one would do.
    fn copy(&self) -> PyResult<Self> {
        self.handle.with(|held| Ok(Self { handle: Handle::new("player", held.clone()) }))
    }

    /// Time, s.
    #[getter]
    fn time(&self) -> PyResult<f64> {
        self.handle.with(|held| Ok(held.player.time()))
    }

    /// A copy of the positions of the tree joints, (positions,).
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.handle.with(|held| {
            let tree = held.mechanism.tree_position_count();
            Ok(vector(py, &held.player.positions()[..tree]))
        })
    }

    /// A copy of their velocities, (velocities,); of free joints in their own axes, linear part
    /// first.
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.handle.with(|held| Ok(vector(py, held.player.velocities())))
    }

    /// World poses of the mechanism's links, (links, 7): x, y, z (m), qw, qx, qy, qz.
    fn link_poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.handle.with(|held| {
            let all = held.player.link_poses();
            let shown: Vec<_> = held.shown.iter().map(|&i| all[i]).collect();
            poses(py, &shown)
        })
    }

    /// Gives the memory back; every further use raises HandleError.
    fn close(&self) -> PyResult<()> {
        self.handle.close()
    }

    fn __repr__(&self) -> PyResult<String> {
        if self.handle.is_closed() {
            return Ok("<forks.control.Player, closed>".into());
        }
        self.handle.with(|held| Ok(format!("<forks.control.Player at {} s>", held.player.time())))
    }
}
