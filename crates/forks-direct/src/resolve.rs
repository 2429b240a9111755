//! Names of tasks looked up in what is driven.

use forks_control::{
    plant::Kinematics,
    task::{Axes, Frame, Goal, Moving, Task},
};
use forks_mechanism::{
    JointId, LinkId, Mechanism,
    lie::{
        Pose,
        glam::{DQuat, DVec3},
        so3::quaternion_from_wxyz,
    },
    linalg::Matrix,
};

use crate::{
    near::unknown,
    task_spec::{Aspect, Subject, TaskSpec},
};

/// What can be named in a task.
pub trait Names {
    /// A frame by the name of a link or `site:NAME`.
    ///
    /// # Errors
    /// A sentence about a name that is not there.
    fn frame(&self, name: &str) -> Result<Frame, String>;

    /// The mechanism, where joints are known.
    fn mechanism(&self) -> Option<&Mechanism>;
}

impl Names for Mechanism {
    fn frame(&self, name: &str) -> Result<Frame, String> {
        frame(self, name)
    }

    fn mechanism(&self) -> Option<&Mechanism> {
        Some(self)
    }
}

/// Names of the effectors of a reduced model: all that it knows.
#[derive(Clone, Debug)]
pub struct Effectors(pub Vec<String>);

impl Names for Effectors {
    fn frame(&self, name: &str) -> Result<Frame, String> {
        match self.0.iter().position(|e| e == name) {
            Some(e) => Ok(Frame::of(LinkId::new(e))),
            None => Err(unknown("effector", name, self.0.iter().map(String::as_str))),
        }
    }

    fn mechanism(&self) -> Option<&Mechanism> {
        None
    }
}

/// A frame by the name of a link or `site:NAME`.
fn frame(m: &Mechanism, name: &str) -> Result<Frame, String> {
    if let Some(site) = name.strip_prefix("site:") {
        let names = m.frames().iter().map(|f| f.name.as_str());
        let id = m.find_frame(site).ok_or_else(|| unknown("site", site, names))?;
        let f = &m.frames()[id.index()];
        return Ok(Frame { link: f.link, link_from_frame: f.link_from_frame });
    }
    let names = m.moving_links().filter(|(_, l)| !l.auxiliary).map(|(_, l)| l.name.as_str());
    let link = m.find_link(name).filter(|l| *l != LinkId::WORLD);
    Ok(Frame::of(link.ok_or_else(|| unknown("link", name, names))?))
}

/// A joint by its name.
///
/// # Errors
/// A sentence about a name that is not there.
pub fn find_joint(m: &Mechanism, name: &str) -> Result<JointId, String> {
    let names = m.joints().iter().map(|j| j.name.as_str()).filter(|n| !n.is_empty());
    let found = (!name.is_empty()).then(|| m.find_joint(name)).flatten();
    found.ok_or_else(|| unknown("joint", name, names))
}

/// Tree joints with one coordinate that is a plain number.
pub fn single_joints(m: &Mechanism) -> impl Iterator<Item = JointId> + '_ {
    m.forest()
        .edges()
        .iter()
        .map(|e| e.joint)
        .filter(|j| m.velocity_range(*j).len() == 1 && m.position_range(*j).len() == 1)
}

/// The task with its target, that of the plant's state where it has none.
///
/// # Errors
/// A sentence about a name that is not there, or what a plant does not know.
pub fn resolve<P: Kinematics>(w: &TaskSpec, names: &dyn Names, plant: &P) -> Result<Task, String> {
    const JOINTS: &str = "a reduced model knows no joints: name an effector";
    let n = plant.rates().len();
    let mut rows = Matrix::zeros(6, n);
    let mut row = vec![0.0; n];
    let mut mask = w.mask();
    let goal = match &w.subject {
        Subject::Link(name, aspect) => {
            let f = names.frame(name)?;
            let here = plant.frame(&f, &mut rows);
            match &w.within {
                Some(other) => {
                    let of = names.frame(other)?;
                    let there = plant.frame(&of, &mut rows).inverse() * here;
                    mask = within(mask, *aspect);
                    Goal::Relative(f, of, target(w, *aspect, there))
                }
                None => of_link(w, *aspect, f, here),
            }
        }
        Subject::Joint(name) => {
            let m = names.mechanism().ok_or(JOINTS)?;
            let j = find_joint(m, name)?;
            if !single_joints(m).any(|k| k == j) {
                let label = m.joint_label(j);
                return Err(format!("joint '{label}' is no tree joint with one coordinate"));
            }
            let here = plant.joint(j, &mut row);
            Goal::Joint(j, w.target.first().copied().unwrap_or(here))
        }
        Subject::CentreOfMass => {
            let mut rows = Matrix::zeros(3, n);
            let here = plant.centre_of_mass(&mut rows).ok_or("the model has no moving mass")?;
            Goal::CentreOfMass(point(&w.target).unwrap_or(here))
        }
        Subject::Posture => {
            let m = names.mechanism().ok_or(JOINTS)?;
            Goal::Posture(single_joints(m).map(|j| (j, plant.joint(j, &mut row))).collect())
        }
    };
    let axes = if w.world_axes { Axes::World } else { Axes::Own };
    Ok(Task {
        name: w.name.clone(),
        goal,
        axes,
        mask,
        level: w.level,
        weight: w.weight,
        stiffness: w.stiffness,
        damping: w.damping,
        moving: Moving::default(),
    })
}

fn of_link(w: &TaskSpec, aspect: Aspect, f: Frame, here: Pose) -> Goal {
    let to = target(w, aspect, here);
    match aspect {
        Aspect::Position => Goal::Position(f, to.translation),
        Aspect::Orientation => Goal::Orientation(f, to.rotation),
        Aspect::Pose => Goal::Pose(f, to),
        Aspect::Still => Goal::Still(f),
        Aspect::Direction => {
            let axis = DVec3::from_array(w.axis);
            Goal::Direction(f, axis, point(&w.target).unwrap_or(here.rotation * axis))
        }
    }
}

/// The pose that is asked for; `here` where no number says otherwise.
fn target(w: &TaskSpec, aspect: Aspect, here: Pose) -> Pose {
    let t = &w.target[..];
    match aspect {
        _ if t.is_empty() => here,
        Aspect::Position => Pose::new(here.rotation, DVec3::from_slice(t)),
        Aspect::Orientation => Pose::new(rotation(t), here.translation),
        Aspect::Pose => Pose::new(rotation(&t[3..]), DVec3::from_slice(t)),
        Aspect::Direction | Aspect::Still => here,
    }
}

fn rotation(wxyz: &[f64]) -> DQuat {
    quaternion_from_wxyz(core::array::from_fn(|i| wxyz[i]))
}

fn point(numbers: &[f64]) -> Option<DVec3> {
    (numbers.len() == 3).then(|| DVec3::from_slice(numbers))
}

/// Rows of an aspect among the six of a pose.
fn within(mask: [bool; 6], aspect: Aspect) -> [bool; 6] {
    core::array::from_fn(|i| match aspect {
        Aspect::Position => i < 3 && mask[i],
        Aspect::Orientation => i >= 3 && mask[i - 3],
        _ => mask[i],
    })
}

/// What the rows of a task are called in reports.
pub fn row_names(spec: &TaskSpec, task: &Task, m: Option<&Mechanism>) -> Vec<String> {
    match (&task.goal, m) {
        (Goal::Posture(all), Some(m)) => all.iter().map(|(j, _)| m.joint_label(*j)).collect(),
        (Goal::Relative(..), _) => ["x", "y", "z", "rx", "ry", "rz"].map(String::from).to_vec(),
        (Goal::Joint(j, _), Some(m)) if !turns(m, *j) => vec!["position".into()],
        _ => spec.subject.rows().iter().map(|r| (*r).to_owned()).collect(),
    }
}

/// True for joints whose first coordinate is an angle.
pub fn turns(m: &Mechanism, joint: JointId) -> bool {
    let j = m.joint(joint);
    j.columns(&j.start).as_slice().first().is_some_and(|c| c.angular.length() > 0.0)
}

/// `m` or `rad`, by row.
pub fn unit(m: Option<&Mechanism>, task: &Task, row: usize) -> &'static str {
    let of_joint = |j| if m.is_some_and(|m| turns(m, j)) { "rad" } else { "m" };
    match &task.goal {
        Goal::Joint(j, _) => of_joint(*j),
        Goal::Posture(all) => of_joint(all[row].0),
        goal => goal.unit(row),
    }
}
