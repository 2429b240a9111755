//! Which tasks a plant takes.

use forks_dynamics::mechanism::JointId;

use super::{
    definition::Task,
    goal::{Axes, Goal},
};
use crate::{frame::Frame, plant::Kinematics};

/// Why a task is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// A number of the goal, or a weight or gain, that is out of its range.
    #[error("task {task}: {what} is {value}")]
    Value {
        /// Its name.
        task: String,
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A joint that has more than one coordinate or closes a loop.
    #[error("task {task}: joint {joint} is no tree joint with one coordinate")]
    Joint {
        /// Its name.
        task: String,
        /// The joint's name.
        joint: String,
    },
    /// A link or joint of a number that the plant does not have.
    #[error("task {task}: {what} {number}; the plant has {count}")]
    Unknown {
        /// Its name.
        task: String,
        /// Link or joint.
        what: &'static str,
        /// Its number, from zero.
        number: usize,
        /// How many there are.
        count: usize,
    },
    /// A goal that needs masses or joints of a plant that knows only frames.
    #[error("task {task}: the plant knows no {what}")]
    Without {
        /// Its name.
        task: String,
        /// Joints or masses.
        what: &'static str,
    },
}

impl Goal {
    fn frames(&self) -> [Option<&Frame>; 2] {
        match self {
            Self::Position(f, _)
            | Self::Orientation(f, _)
            | Self::Pose(f, _)
            | Self::Direction(f, ..)
            | Self::Still(f) => [Some(f), None],
            Self::Relative(f, of, _) => [Some(f), Some(of)],
            Self::CentreOfMass(_) | Self::Joint(..) | Self::Posture(_) => [None, None],
        }
    }

    fn joints(&self) -> impl Iterator<Item = JointId> + '_ {
        let (one, all): (Option<JointId>, &[(JointId, f64)]) = match self {
            Self::Joint(j, _) => (Some(*j), &[]),
            Self::Posture(all) => (None, all),
            _ => (None, &[]),
        };
        one.into_iter().chain(all.iter().map(|(j, _)| *j))
    }

    /// The first number that is not finite.
    fn not_finite(&self) -> Option<f64> {
        let wrong = |numbers: &[f64]| numbers.iter().copied().find(|x| !x.is_finite());
        let frames = self.frames();
        let in_frames =
            frames.into_iter().flatten().find_map(|f| wrong(&f.link_from_frame.to_array()));
        in_frames.or(match self {
            Self::Position(_, p) | Self::CentreOfMass(p) => wrong(&p.to_array()),
            Self::Orientation(_, r) => wrong(&r.to_array()),
            Self::Pose(_, p) | Self::Relative(_, _, p) => wrong(&p.to_array()),
            Self::Direction(_, a, b) => wrong(&a.to_array()).or(wrong(&b.to_array())),
            Self::Still(_) => None,
            Self::Joint(_, q) => wrong(&[*q]),
            Self::Posture(all) => all.iter().find_map(|(_, q)| wrong(&[*q])),
        })
    }

    /// Lengths that must not be zero.
    fn length(&self) -> (&'static str, f64) {
        match self {
            Self::Orientation(_, r) => ("the length of the quaternion", r.length()),
            Self::Pose(_, p) | Self::Relative(_, _, p) => {
                ("the length of the quaternion", p.rotation.length())
            }
            Self::Direction(_, a, b) => ("the length of a direction", a.length().min(b.length())),
            _ => ("", 1.0),
        }
    }
}

impl Task {
    /// Numbers that are finite, a weight above zero, gains not below; links and joints that the
    /// plant has.
    pub(crate) fn check<K: Kinematics>(&self, plant: &K) -> Result<(), TaskError> {
        let wrong = |what, value| Err(TaskError::Value { task: self.name.clone(), what, value });
        if let Some(x) = self.goal.not_finite() {
            return wrong("a number of the goal", x);
        }
        let (what, length) = self.goal.length();
        if length < 1e-6 {
            return wrong(what, length);
        }
        if let Axes::Of(r) = self.axes {
            let length = r.length();
            if !length.is_finite() || length < 1e-6 {
                return wrong("the length of the axes' quaternion", length);
            }
        }
        if !(self.weight.is_finite() && self.weight > 0.0) {
            return wrong("the weight", self.weight);
        }
        for (what, x) in [("the stiffness", self.stiffness), ("the damping", self.damping)] {
            if !(x.is_finite() && x >= 0.0) {
                return wrong(what, x);
            }
        }
        let rates = self.moving.velocity.iter().chain(&self.moving.acceleration);
        if let Some(x) = rates.copied().find(|x| !x.is_finite()) {
            return wrong("a rate of the target", x);
        }
        let unknown = |what, number, count| {
            Err(TaskError::Unknown { task: self.name.clone(), what, number, count })
        };
        for f in self.goal.frames().into_iter().flatten() {
            let (number, count) = (f.link.index(), plant.link_count());
            if number >= count {
                return unknown("link", number, count);
            }
        }
        let without = |what| Err(TaskError::Without { task: self.name.clone(), what });
        let m = match (plant.mechanism(), &self.goal) {
            (Some(m), Goal::CentreOfMass(_)) if m.moving_mass() <= 0.0 => return without("masses"),
            (None, Goal::CentreOfMass(_)) => return without("masses"),
            (None, Goal::Joint(..) | Goal::Posture(_)) => return without("joints"),
            (None, _) => return Ok(()),
            (Some(m), _) => m,
        };
        for j in self.goal.joints() {
            let count = m.joints().len();
            if j.index() >= count {
                return unknown("joint", j.index(), count);
            }
            let (velocities, positions) = (m.velocity_range(j), m.position_range(j));
            if velocities.len() != 1
                || positions.len() != 1
                || velocities.start >= m.tree_velocity_count()
            {
                let joint = m.joint_label(j);
                return Err(TaskError::Joint { task: self.name.clone(), joint });
            }
        }
        Ok(())
    }
}
