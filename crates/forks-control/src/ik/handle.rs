//! What is dragged and what is pinned.

use forks_dynamics::mechanism::{
    JointId, LinkId, Mechanism,
    lie::{Pose, glam::DVec3},
};

/// A frame that shall be somewhere, in some of its six directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Handle {
    /// How reports call it.
    pub name: String,
    /// The link.
    pub link: LinkId,
    /// The frame in it.
    pub link_from_frame: Pose,
    /// Where it shall be in the world.
    pub target: Pose,
    /// World axes along which its origin counts.
    pub position: [bool; 3],
    /// World axes about which its rotation counts.
    pub rotation: [bool; 3],
    /// Weight of its rows among those of its level, above 0; squared in the sum of squares.
    pub weight: f64,
}

impl Handle {
    /// A link's point (in its frame) that shall be at a point of the world, m.
    pub fn point(name: impl Into<String>, link: LinkId, point: DVec3, target: DVec3) -> Self {
        Self {
            name: name.into(),
            link,
            link_from_frame: Pose::from_translation(point),
            target: Pose::from_translation(target),
            position: [true; 3],
            rotation: [false; 3],
            weight: 1.0,
        }
    }

    /// A frame of a link that shall be at a pose of the world.
    pub fn pose(name: impl Into<String>, link: LinkId, frame: Pose, target: Pose) -> Self {
        Self {
            link_from_frame: frame,
            target,
            rotation: [true; 3],
            ..Self::point(name, link, DVec3::ZERO, DVec3::ZERO)
        }
    }

    /// Number of its rows.
    pub fn row_count(&self) -> usize {
        self.position.iter().chain(&self.rotation).filter(|x| **x).count()
    }

    /// What a row asks for: `x`, `y`, `z`, `turn x`, …
    pub(super) fn row_names(&self) -> impl Iterator<Item = &'static str> + '_ {
        const NAMES: [&str; 6] = ["x", "y", "z", "turn x", "turn y", "turn z"];
        let counts = self.position.iter().chain(&self.rotation);
        NAMES.iter().zip(counts).filter(|(_, c)| **c).map(|(n, _)| *n)
    }

    pub(super) fn check(&self, m: &Mechanism) -> Result<(), IkError> {
        let wrong = |what, value| Err(IkError::Value { handle: self.name.clone(), what, value });
        if self.link.index() >= m.links().len() {
            let (link, count) = (self.link.index(), m.links().len());
            return Err(IkError::Link { handle: self.name.clone(), link, count });
        }
        for pose in [&self.link_from_frame, &self.target] {
            if let Some(value) = pose.to_array().into_iter().find(|x| !x.is_finite()) {
                return wrong("a number of its poses", value);
            }
            if pose.rotation.length() < 1e-6 {
                return wrong("the length of a quaternion", pose.rotation.length());
            }
        }
        if !(self.weight.is_finite() && self.weight > 0.0) {
            return wrong("the weight", self.weight);
        }
        if self.row_count() == 0 {
            return Err(IkError::NoRows { handle: self.name.clone() });
        }
        Ok(())
    }
}

/// What the base of a mechanism that floats does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Root {
    /// It moves as pins and drags ask.
    #[default]
    Free,
    /// Joints of six coordinates that stand on the ground are held.
    Pinned,
    /// It moves, and the centre of mass stays above the hull of the pins.
    Balanced,
}

/// Why inverse kinematics is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IkError {
    /// A wrong number of positions.
    #[error("{found} positions, expected {expected}")]
    Count {
        /// How many were given.
        found: usize,
        /// How many there are.
        expected: usize,
    },
    /// A position that is not finite.
    #[error("position {index} is {value}")]
    NotFinite {
        /// Which one, from zero.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A link that is not there.
    #[error("{handle}: link {link} of {count}")]
    Link {
        /// The handle's name.
        handle: String,
        /// The number that was given.
        link: usize,
        /// How many links there are.
        count: usize,
    },
    /// A number that is out of its range.
    #[error("{handle}: {what} is {value}")]
    Value {
        /// The handle's name.
        handle: String,
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A handle that asks for nothing.
    #[error("{handle}: none of its six directions counts")]
    NoRows {
        /// Its name.
        handle: String,
    },
    /// Balance without pins, mass or gravity.
    #[error("balance takes {missing}")]
    Balance {
        /// What is missing.
        missing: &'static str,
    },
}

/// A row that is not met.
#[derive(Clone, Debug, PartialEq)]
pub struct Unmet {
    /// Name of the handle, of the loop's joint or of the coupling; `balance` for the centre of
    /// mass.
    pub name: String,
    /// Which of its directions.
    pub row: String,
    /// What is missing, m or rad: target less what is there.
    pub by: f64,
}

/// A coordinate at its limit.
#[derive(Clone, Debug, PartialEq)]
pub struct AtLimit {
    /// The joint.
    pub joint: JointId,
    /// Which of its coordinates.
    pub coordinate: usize,
    /// The limit, rad or m.
    pub limit: f64,
}

/// How inverse kinematics ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IkStatus {
    /// Loops are closed, pins hold and drags are where they shall be.
    Reached,
    /// Loops are closed and pins hold; no motion brings the drags nearer.
    DragsUnmet,
    /// Loops are closed; no motion brings the pins nearer, or balance. Drags are as near as these
    /// let them.
    PinsUnmet,
    /// Loops stay open: the positions are the nearest that were found.
    LoopsOpen,
}

impl IkStatus {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::DragsUnmet => "drags are not reached",
            Self::PinsUnmet => "pins do not hold",
            Self::LoopsOpen => "loops stay open",
        }
    }
}

/// A pose and what it misses.
#[derive(Clone, Debug, PartialEq)]
pub struct IkReport {
    /// How it ended.
    pub status: IkStatus,
    /// Positions of all joints.
    pub positions: Vec<f64>,
    /// Rows that are beyond the tolerance, the most important first.
    pub unmet: Vec<Unmet>,
    /// Coordinates at their limits.
    pub limits: Vec<AtLimit>,
    /// Steps that were tried.
    pub iterations: usize,
}
