//! What groups of joints do.

use forks_dynamics::mechanism::{JointId, Mechanism};

use crate::{keyframe::Motion, plant::PlantError};

/// What moves joints.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Mode {
    /// They are on their curves at the end of every step, whatever force that takes.
    Keyframes(Motion),
    /// Springs and dampers pull them to their curves.
    Servo {
        /// The curves.
        motion: Motion,
        /// Of every coordinate, N/m or N·m/rad; not below 0.
        stiffness: f64,
        /// Of every coordinate, N·s/m or N·m·s/rad; not below 0.
        damping: f64,
    },
    /// Springs and dampers hold them where they were as the mode began.
    Compliant {
        /// Of every coordinate; not below 0.
        stiffness: f64,
        /// Of every coordinate; not below 0.
        damping: f64,
    },
    /// Constant forces, one per velocity coordinate of the joints in their order, N or N·m.
    Torque(Vec<f64>),
}

/// Joints with what moves them. Joints in no group are free.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub(super) joints: Vec<JointId>,
    pub(super) mode: Mode,
}

impl Group {
    /// The joints of a motion on their curves.
    pub fn keyframes(motion: Motion) -> Self {
        Self { joints: motion.joints().collect(), mode: Mode::Keyframes(motion) }
    }

    /// The joints of a motion, pulled to their curves.
    pub fn servo(motion: Motion, stiffness: f64, damping: f64) -> Self {
        let joints = motion.joints().collect();
        Self { joints, mode: Mode::Servo { motion, stiffness, damping } }
    }

    /// Joints that give way around where they are.
    pub fn compliant(joints: Vec<JointId>, stiffness: f64, damping: f64) -> Self {
        Self { joints, mode: Mode::Compliant { stiffness, damping } }
    }

    /// Joints under constant forces, one per velocity coordinate.
    pub fn torque(joints: Vec<JointId>, forces: Vec<f64>) -> Self {
        Self { joints, mode: Mode::Torque(forces) }
    }

    /// The joints.
    pub fn joints(&self) -> &[JointId] {
        &self.joints
    }

    /// What moves them.
    pub fn mode(&self) -> &Mode {
        &self.mode
    }

    pub(super) fn check(&self, m: &Mechanism) -> Result<(), PlaybackError> {
        let mut dof = 0;
        for id in &self.joints {
            if id.index() >= m.joints().len() {
                let (joint, count) = (id.index(), m.joints().len());
                return Err(PlaybackError::Joint { joint, count });
            }
            if m.velocity_range(*id).end > m.tree_velocity_count() || m.joint(*id).dof() == 0 {
                return Err(PlaybackError::NoMotion { joint: m.joint_label(*id) });
            }
            dof += m.joint(*id).dof();
        }
        let numbers: Vec<(&'static str, f64, bool)> = match &self.mode {
            Mode::Keyframes(_) => vec![],
            Mode::Servo { stiffness, damping, .. } | Mode::Compliant { stiffness, damping } => {
                vec![("the stiffness", *stiffness, true), ("the damping", *damping, true)]
            }
            Mode::Torque(forces) if forces.len() != dof => {
                return Err(PlaybackError::Forces { found: forces.len(), expected: dof });
            }
            Mode::Torque(forces) => forces.iter().map(|f| ("a force", *f, false)).collect(),
        };
        for (what, value, positive) in numbers {
            if !value.is_finite() || (positive && value < 0.0) {
                return Err(PlaybackError::Value { what, value });
            }
        }
        Ok(())
    }
}

/// Why there is no playback.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlaybackError {
    /// A step that cannot be made.
    #[error(transparent)]
    Plant(#[from] PlantError),
    /// A joint that is not there.
    #[error("joint {joint} of {count}")]
    Joint {
        /// Its number.
        joint: usize,
        /// How many there are.
        count: usize,
    },
    /// A joint without coordinates of its own.
    #[error("joint {joint} has no coordinates of its own: it is fixed or closes a loop")]
    NoMotion {
        /// Its name.
        joint: String,
    },
    /// A joint in two groups.
    #[error("joint {joint} is in two groups")]
    Twice {
        /// Its name.
        joint: String,
    },
    /// Not one force per coordinate.
    #[error("{found} forces for {expected} coordinates")]
    Forces {
        /// How many were given.
        found: usize,
        /// How many coordinates there are.
        expected: usize,
    },
    /// A number that is out of its range.
    #[error("{what} is {value}")]
    Value {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// Curves that loops, couplings or missing mass do not let be followed.
    #[error(
        "at {time} s no forces bring the joints onto their curves: loops or couplings tie them"
    )]
    Tied {
        /// The time, s.
        time: f64,
    },
}
