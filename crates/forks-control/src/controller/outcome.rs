//! What a decision came to.

use forks_dynamics::mechanism::JointId;

use crate::lexicographic::Certificate;

/// A row of a task at the end of the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// Which of the tasks, from zero.
    pub task: usize,
    /// Its level.
    pub level: usize,
    /// Which row of its goal.
    pub row: usize,
    /// What is missing before the step, m or rad.
    pub error: f64,
    /// Rate at the end of the step less the rate that is asked for, m/s or rad/s.
    pub by: f64,
}

/// What a row of the problem is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Origin {
    /// The limits of a command.
    Command(usize),
    /// The limits of a joint.
    Joint(JointId),
    /// The force of a touch, which neither pulls nor leaves its cone.
    Force {
        /// Which of the touches.
        touch: usize,
    },
    /// A touch that stays.
    Touch {
        /// Which of the touches.
        touch: usize,
        /// Axis of its frame.
        row: usize,
    },
    /// A row of a task's goal.
    Task {
        /// Which of the tasks.
        task: usize,
        /// Which row of its goal.
        row: usize,
    },
}

/// A row that gives way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relaxed {
    /// What it is for.
    pub origin: Origin,
    /// Level of the problem: 0 for limits, then touches where there are some, then tasks.
    pub level: usize,
    /// What it is beyond its bound: N or N·m of a command, else m/s or rad/s.
    pub by: f64,
}

/// Commands and what they bring.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solution {
    /// Commands in the plant's order and units.
    pub commands: Vec<f64>,
    /// The plant's rates at the end of the step.
    pub rates: Vec<f64>,
    /// Forces on the touches, three each in the axes of their frames, N.
    pub reactions: Vec<f64>,
    /// Rounds in which cones were cut closer; 1 without touches.
    pub rounds: usize,
    /// All rows of all tasks, in their order.
    pub residuals: Vec<Residual>,
    /// Every row that gives way, the most important level first. Empty where all are met.
    pub relaxed: Vec<Relaxed>,
    /// Joints that cannot keep their limits any more, from this state on, whatever is done.
    pub beyond: Vec<JointId>,
    /// False if the solver used up its iterations at some level; those before it are optimal.
    pub finished: bool,
    /// One certificate per level: limits, touches, tasks, the objective, and where that leaves
    /// commands open the least of them. None where filtered commands are within their limits.
    pub certificates: Vec<Certificate>,
}
