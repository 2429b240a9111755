//! Where something shall be.

use forks_dynamics::mechanism::{
    JointId,
    lie::{
        Pose,
        glam::{DQuat, DVec3},
    },
};

use crate::frame::Frame;

/// Where something shall be.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Goal {
    /// A frame's origin in the world, m: three rows.
    Position(Frame, DVec3),
    /// A frame's axes in the world: three rows.
    Orientation(Frame, DQuat),
    /// Both: six rows, position first.
    Pose(Frame, Pose),
    /// An axis of a frame (in the frame) points in a direction of the world, and may turn about
    /// it: two rows, about two axes of the frame at right angles to it.
    Direction(Frame, DVec3, DVec3),
    /// The pose of the first frame in the second: six rows, position first.
    Relative(Frame, Frame, Pose),
    /// A frame without twist, wherever it is: six rows, position first.
    Still(Frame),
    /// The centre of mass of all moving links in the world, m: three rows.
    CentreOfMass(DVec3),
    /// The position of a tree joint with one coordinate, rad or m: one row.
    Joint(JointId, f64),
    /// The positions of several: a row each.
    Posture(Vec<(JointId, f64)>),
}

/// The axes that rows are written in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Axes {
    /// The frame's own; the world's for the centre of mass.
    #[default]
    Own,
    /// The world's.
    World,
    /// Axes of this orientation in the world.
    Of(DQuat),
}

impl Goal {
    /// Number of its rows.
    pub fn row_count(&self) -> usize {
        match self {
            Self::Position(..) | Self::Orientation(..) | Self::CentreOfMass(..) => 3,
            Self::Pose(..) | Self::Relative(..) | Self::Still(..) => 6,
            Self::Direction(..) => 2,
            Self::Joint(..) => 1,
            Self::Posture(all) => all.len(),
        }
    }

    /// The unit of an error of a row: `m`, `rad`, or nothing for a joint, whose kind decides.
    pub fn unit(&self, row: usize) -> &'static str {
        match self {
            Self::Position(..) | Self::CentreOfMass(..) => "m",
            Self::Orientation(..) | Self::Direction(..) => "rad",
            Self::Pose(..) | Self::Relative(..) | Self::Still(..) if row < 3 => "m",
            Self::Pose(..) | Self::Relative(..) | Self::Still(..) => "rad",
            Self::Joint(..) | Self::Posture(..) => "",
        }
    }
}
