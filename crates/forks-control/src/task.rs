//! What a mechanism shall do, as rates at the end of the next step.
//!
//! A task with error e and rate V asks for V⁺ = V + h (k e − d V): a spring and a damper per unit
//! of mass, e the logarithm of the pose error in the frame's own axes, rotation included.

use forks_dynamics::mechanism::{
    JointId, LinkId, Mechanism,
    lie::{
        Pose,
        glam::{DQuat, DVec3},
        so3::log_rotation,
    },
};

use crate::plant::ImplicitPlant;

/// A frame in a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// The link.
    pub link: LinkId,
    /// The frame in it.
    pub link_from_frame: Pose,
}

/// Where something shall be, in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Goal {
    /// The frame's origin, m: three rows.
    Position(Frame, DVec3),
    /// The frame's axes: three rows.
    Orientation(Frame, DQuat),
    /// Both: six rows, position first.
    Pose(Frame, Pose),
    /// The position of a tree joint with one coordinate, rad or m: one row.
    Joint(JointId, f64),
}

/// A goal with its importance.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// How reports call it.
    pub name: String,
    /// What it asks for.
    pub goal: Goal,
    /// Level, 0 the most important; limits of commands stand above all.
    pub level: usize,
    /// Weight of its rows within the level; squared in the sum of squares. Above 0.
    pub weight: f64,
    /// k, 1/s².
    pub stiffness: f64,
    /// d, 1/s.
    pub damping: f64,
}

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
}

impl Goal {
    /// Number of its rows.
    pub fn row_count(&self) -> usize {
        match self {
            Self::Position(..) | Self::Orientation(..) => 3,
            Self::Pose(..) => 6,
            Self::Joint(..) => 1,
        }
    }
}

impl Task {
    /// Numbers that are finite, a weight above zero, gains not below.
    pub(crate) fn check(&self, m: &Mechanism) -> Result<(), TaskError> {
        let wrong = |what, value| Err(TaskError::Value { task: self.name.clone(), what, value });
        let goal: Vec<f64> = match self.goal {
            Goal::Position(f, p) => [&f.link_from_frame.to_array()[..], &p.to_array()].concat(),
            Goal::Orientation(f, r) => [&f.link_from_frame.to_array()[..], &r.to_array()].concat(),
            Goal::Pose(f, p) => [f.link_from_frame.to_array(), p.to_array()].concat(),
            Goal::Joint(_, q) => vec![q],
        };
        if let Some(x) = goal.into_iter().find(|x| !x.is_finite()) {
            return wrong("a number of the goal", x);
        }
        let turn = match self.goal {
            Goal::Orientation(_, r) => r.length(),
            Goal::Pose(_, p) => p.rotation.length(),
            Goal::Position(..) | Goal::Joint(..) => 1.0,
        };
        if turn < 1e-6 {
            return wrong("the length of the quaternion", turn);
        }
        if !(self.weight.is_finite() && self.weight > 0.0) {
            return wrong("the weight", self.weight);
        }
        for (what, x) in [("the stiffness", self.stiffness), ("the damping", self.damping)] {
            if !(x.is_finite() && x >= 0.0) {
                return wrong(what, x);
            }
        }
        match self.goal {
            Goal::Joint(j, _)
                if m.velocity_range(j).len() != 1
                    || m.position_range(j).len() != 1
                    || m.velocity_range(j).start >= m.tree_velocity_count() =>
            {
                let joint = m.joint(j).name.clone();
                Err(TaskError::Joint { task: self.name.clone(), joint })
            }
            _ => Ok(()),
        }
    }

    /// Rows over the plant's rates, and errors of the pose: V = row · u.
    pub(crate) fn rows(&self, plant: &ImplicitPlant) -> (Vec<Vec<f64>>, Vec<f64>) {
        let stepper = plant.stepper();
        let pose = |f: &Frame| stepper.link_poses()[f.link.index()] * f.link_from_frame;
        let part = |f: &Frame, range: core::ops::Range<usize>| {
            let all = plant.frame_rows(f.link, &f.link_from_frame);
            range.map(|i| all.row(i).to_vec()).collect()
        };
        match &self.goal {
            Goal::Position(f, p) => {
                let e = pose(f).inverse().transform_point(*p);
                (part(f, 0..3), e.to_array().to_vec())
            }
            Goal::Orientation(f, r) => {
                let e = log_rotation(pose(f).rotation.inverse() * r.normalize());
                (part(f, 3..6), e.to_array().to_vec())
            }
            Goal::Pose(f, p) => {
                let e = pose(f).twist_to(&p.normalized());
                (part(f, 0..6), e.to_array().to_vec())
            }
            Goal::Joint(j, q) => {
                let m = stepper.mechanism();
                let mut row = vec![0.0; stepper.motion_count()];
                stepper.rate_row(m.velocity_range(*j).start, &mut row);
                (vec![row], vec![q - stepper.positions()[m.position_range(*j).start]])
            }
        }
    }
}
