//! What shall be done.

use forks_control::{
    plant::Kinematics,
    task::{Axes, Goal, Task as Resolved},
};
use forks_mechanism::{
    Mechanism,
    lie::{
        Pose,
        glam::{DQuat, DVec3},
        so3::quaternion_from_wxyz,
    },
    linalg::Matrix,
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyDict,
};

use super::names;
use crate::arrays::Input;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Position,
    Orientation,
    Pose,
    Direction,
    Still,
    Joint,
    CentreOfMass,
    Posture,
}

impl What {
    fn word(self) -> &'static str {
        match self {
            Self::Position => "position",
            Self::Orientation => "orientation",
            Self::Pose => "pose",
            Self::Direction => "direction",
            Self::Still => "still",
            Self::Joint => "joint",
            Self::CentreOfMass => "com",
            Self::Posture => "posture",
        }
    }

    fn numbers(self) -> usize {
        match self {
            Self::Position | Self::Direction | Self::CentreOfMass => 3,
            Self::Orientation => 4,
            Self::Pose => 7,
            Self::Joint => 1,
            Self::Still | Self::Posture => 0,
        }
    }

    fn rows(self) -> &'static [&'static str] {
        match self {
            Self::Position | Self::CentreOfMass => &["x", "y", "z"],
            Self::Orientation => &["rx", "ry", "rz"],
            Self::Pose | Self::Still => &["x", "y", "z", "rx", "ry", "rz"],
            Self::Direction => &["first", "second"],
            Self::Joint => &["angle"],
            Self::Posture => &[],
        }
    }
}

/// Something that shall be done: where a link, a joint or the centre of mass shall be, with its
/// importance. Without a target it is what is at the start.
///
/// Made by `Task.position`, `orientation`, `pose`, `direction`, `still` (of a link, or
/// 'site:NAME'), `joint`, `centre_of_mass`, `posture`. All take the keywords level (0 the most important; 1),
/// weight (within the level; 1), k (1/s²; 100), d (1/s; 2√k), rows (those that count, as
/// ['x', 'rz']; all), axes ('own' or 'world'), within (a link in which a position, orientation or
/// pose is meant), name.
#[pyclass(frozen, module = "forks.control")]
#[derive(Clone, Debug)]
pub(crate) struct Task {
    what: What,
    /// Link, site or joint; empty for the others.
    of: String,
    name: String,
    target: Vec<f64>,
    /// Of a direction, in the link.
    axis: DVec3,
    level: usize,
    weight: f64,
    stiffness: f64,
    damping: f64,
    rows: Vec<String>,
    world_axes: bool,
    within: Option<String>,
}

fn make(
    what: What,
    of: &str,
    target: Option<&Bound<'_, PyAny>>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Task> {
    let called = match what {
        What::CentreOfMass | What::Posture => what.word().to_owned(),
        What::Joint => format!("joint {of}"),
        _ => format!("{of} {}", what.word()),
    };
    let mut task = Task {
        what,
        of: of.to_owned(),
        name: called,
        target: vec![],
        axis: DVec3::Z,
        level: 1,
        weight: 1.0,
        stiffness: 100.0,
        damping: 0.0,
        rows: vec![],
        world_axes: false,
        within: None,
    };
    task.set_target(target)?;
    let mut damping = None;
    for (key, value) in settings.into_iter().flatten() {
        task.set(&key.extract::<String>()?, &value, &mut damping)?;
    }
    // Critical damping goes with a stiffness that is given alone.
    task.damping = damping.unwrap_or(2.0 * task.stiffness.max(0.0).sqrt());
    task.check()?;
    Ok(task)
}

impl Task {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn set_target(&mut self, target: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let Some(x) = target else {
            self.target.clear();
            return Ok(());
        };
        let expected = self.what.numbers();
        let what = format!("the target of '{}'", self.name);
        self.target = match (expected, x.extract::<f64>()) {
            (0, _) => return Err(PyValueError::new_err(format!("'{}' has no target", self.name))),
            (1, Ok(x)) => vec![names::finite(&what, x)?],
            _ => Input::new(&what, x, &[expected])?.as_slice().to_vec(),
        };
        let quaternion = match self.what {
            What::Orientation => &self.target[..],
            What::Pose => &self.target[3..],
            _ => return Ok(()),
        };
        if quaternion.iter().all(|x| x.abs() < 1e-6) {
            return Err(PyValueError::new_err(format!("{what} has a quaternion of length zero")));
        }
        Ok(())
    }

    fn set(
        &mut self,
        key: &str,
        value: &Bound<'_, PyAny>,
        damping: &mut Option<f64>,
    ) -> PyResult<()> {
        let name = &self.name;
        let wrong = |kind| PyTypeError::new_err(format!("{key} of '{name}' is no {kind}"));
        let number = || value.extract::<f64>().map_err(|_| wrong("number"));
        let text = || value.extract::<String>().map_err(|_| wrong("text"));
        match key {
            "level" => self.level = value.extract().map_err(|_| wrong("number from 0 on"))?,
            "weight" => self.weight = number()?,
            "k" => self.stiffness = number()?,
            "d" => *damping = Some(number()?),
            "rows" => self.rows = value.extract().map_err(|_| wrong("list of rows' names"))?,
            "axes" => match &*text()? {
                "own" => self.world_axes = false,
                "world" => self.world_axes = true,
                other => {
                    let text = format!("axes is '{other}', expected 'own' or 'world'");
                    return Err(PyValueError::new_err(text));
                }
            },
            "within" => self.within = value.extract().map_err(|_| wrong("link's name"))?,
            "name" => self.name = text()?,
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "'{key}' of '{name}' is none of level, weight, k, d, rows, axes, within, name"
                )));
            }
        }
        Ok(())
    }

    fn check(&self) -> PyResult<()> {
        let name = &self.name;
        let refused = |text: String| Err(PyValueError::new_err(format!("task '{name}': {text}")));
        let numbers = [("weight", self.weight), ("k", self.stiffness), ("d", self.damping)];
        for (key, x) in numbers {
            if !(x.is_finite() && (x > 0.0 || (x == 0.0 && key != "weight"))) {
                let least = if key == "weight" { "above 0" } else { "not below 0" };
                return refused(format!("{key} is {x}; it has to be finite and {least}"));
            }
        }
        if self.level > 100 {
            return refused(format!("level {} is none of 0…100", self.level));
        }
        let known = self.what.rows();
        if let Some(row) = self.rows.iter().find(|r| !known.contains(&r.as_str())) {
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return refused(format!("there is no row '{row}'; there are: {known}"));
        }
        let of_link = !matches!(self.what, What::Joint | What::CentreOfMass | What::Posture);
        if self.world_axes && !of_link {
            return refused("it has no axes".into());
        }
        let inside = matches!(self.what, What::Position | What::Orientation | What::Pose);
        if self.within.is_some() && !inside {
            return refused(
                "only positions, orientations and poses are meant within a link".into(),
            );
        }
        Ok(())
    }

    /// What its rows are called; of a posture the joints' names.
    pub(super) fn row_names(&self, m: &Mechanism, resolved: &Resolved) -> Vec<String> {
        match &resolved.goal {
            Goal::Posture(all) => all.iter().map(|(j, _)| m.joint_label(*j)).collect(),
            Goal::Joint(j, _) if !names::turns(m, *j) => vec!["position".into()],
            Goal::Relative(..) => What::Pose.rows().iter().map(|r| (*r).to_owned()).collect(),
            _ => self.what.rows().iter().map(|r| (*r).to_owned()).collect(),
        }
    }

    /// With its names looked up, its target that of the plant's state where it has none.
    pub(super) fn resolve<P: Kinematics>(&self, m: &Mechanism, plant: &P) -> PyResult<Resolved> {
        let named = |e: PyErr| {
            Python::attach(|py| {
                PyValueError::new_err(format!("task '{}': {}", self.name, e.value(py)))
            })
        };
        let (goal, mask) = self.goal(m, plant).map_err(named)?;
        let axes = if self.world_axes { Axes::World } else { Axes::Own };
        Ok(Resolved {
            name: self.name.clone(),
            goal,
            axes,
            mask,
            level: self.level,
            weight: self.weight,
            stiffness: self.stiffness,
            damping: self.damping,
            moving: forks_control::task::Moving::default(),
        })
    }

    fn goal<P: Kinematics>(&self, m: &Mechanism, plant: &P) -> PyResult<(Goal, [bool; 6])> {
        let known = self.what.rows();
        let counts = |i: usize| {
            self.rows.is_empty() || known.get(i).is_some_and(|r| self.rows.iter().any(|w| w == r))
        };
        let mut mask: [bool; 6] = core::array::from_fn(counts);
        let n = plant.rates().len();
        let (mut rows, mut row) = (Matrix::zeros(6, n), vec![0.0; n]);
        let goal = match self.what {
            What::Joint => {
                let j = names::joint(m, &self.of)?;
                if !names::single_joints(m).any(|k| k == j) {
                    let text = "it is no tree joint with one coordinate";
                    return Err(PyValueError::new_err(text));
                }
                let here = plant.joint(j, &mut row);
                Goal::Joint(j, self.target.first().copied().unwrap_or(here))
            }
            What::CentreOfMass => {
                let none = || PyValueError::new_err("the mechanism has no moving mass");
                let here = plant.centre_of_mass(&mut Matrix::zeros(3, n)).ok_or_else(none)?;
                Goal::CentreOfMass(self.point().unwrap_or(here))
            }
            What::Posture => {
                let all = names::single_joints(m).map(|j| (j, plant.joint(j, &mut row)));
                Goal::Posture(all.collect())
            }
            _ => {
                let f = names::frame(m, &self.of)?;
                let here = plant.frame(&f, &mut rows);
                match &self.within {
                    Some(other) => {
                        let of = names::frame(m, other)?;
                        let there = plant.frame(&of, &mut rows).inverse() * here;
                        let all = mask;
                        mask = core::array::from_fn(|i| match self.what {
                            What::Position => i < 3 && all[i],
                            What::Orientation => i >= 3 && all[i - 3],
                            _ => all[i],
                        });
                        Goal::Relative(f, of, self.pose_from(there))
                    }
                    None => {
                        let to = self.pose_from(here);
                        match self.what {
                            What::Position => Goal::Position(f, to.translation),
                            What::Orientation => Goal::Orientation(f, to.rotation),
                            What::Pose => Goal::Pose(f, to),
                            What::Still => Goal::Still(f),
                            _ => {
                                let now = here.rotation * self.axis;
                                Goal::Direction(f, self.axis, self.point().unwrap_or(now))
                            }
                        }
                    }
                }
            }
        };
        Ok((goal, mask))
    }

    fn point(&self) -> Option<DVec3> {
        (self.target.len() == 3).then(|| DVec3::from_slice(&self.target))
    }

    /// The pose that is asked for; `here` where no number says otherwise.
    fn pose_from(&self, here: Pose) -> Pose {
        let rotation = |x: &[f64]| -> DQuat {
            quaternion_from_wxyz(core::array::from_fn(|i| x[i])).normalize()
        };
        let t = &self.target[..];
        match self.what {
            _ if t.is_empty() => here,
            What::Position => Pose::new(here.rotation, DVec3::from_slice(t)),
            What::Orientation => Pose::new(rotation(t), here.translation),
            What::Pose => Pose::new(rotation(&t[3..]), DVec3::from_slice(t)),
            _ => here,
        }
    }
}

#[pymethods]
impl Task {
    /// The origin of a link (or 'site:NAME') at a point of the world, (3,), m.
    #[staticmethod]
    #[pyo3(signature = (link, target=None, **settings))]
    fn position(
        link: &str,
        target: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        make(What::Position, link, target, settings)
    }

    /// The axes of a link, (4,): a quaternion w, x, y, z of any length.
    #[staticmethod]
    #[pyo3(signature = (link, target=None, **settings))]
    fn orientation(
        link: &str,
        target: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        make(What::Orientation, link, target, settings)
    }

    /// Both, (7,): x, y, z (m), qw, qx, qy, qz.
    #[staticmethod]
    #[pyo3(signature = (link, target=None, **settings))]
    fn pose(
        link: &str,
        target: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        make(What::Pose, link, target, settings)
    }

    /// An axis of a link, (3,) in it, points in a direction of the world, (3,); it may turn about
    /// it.
    #[staticmethod]
    #[pyo3(signature = (link, target=None, *, axis=None, **settings))]
    fn direction(
        link: &str,
        target: Option<&Bound<'_, PyAny>>,
        axis: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut task = make(What::Direction, link, target, settings)?;
        if let Some(x) = axis {
            task.axis = DVec3::from_array(crate::arrays::numbers("axis", x)?);
        }
        Ok(task)
    }

    /// A link without motion, wherever it is.
    #[staticmethod]
    #[pyo3(signature = (link, **settings))]
    fn still(link: &str, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        make(What::Still, link, None, settings)
    }

    /// A tree joint with one coordinate at a position, rad or m.
    #[staticmethod]
    #[pyo3(signature = (joint, target=None, **settings))]
    fn joint(
        joint: &str,
        target: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        make(What::Joint, joint, target, settings)
    }

    /// The centre of mass of all moving links at a point of the world, (3,), m.
    #[staticmethod]
    #[pyo3(signature = (target=None, **settings))]
    fn centre_of_mass(
        target: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        make(What::CentreOfMass, "", target, settings)
    }

    /// All tree joints with one coordinate where they are at the start.
    #[staticmethod]
    #[pyo3(signature = (**settings))]
    fn posture(settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        make(What::Posture, "", None, settings)
    }

    fn __repr__(&self) -> String {
        let Self { name, level, weight, .. } = self;
        format!("<forks.control.Task '{name}', level {level}, weight {weight}>")
    }
}
