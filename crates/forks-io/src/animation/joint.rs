//! Joints between bodies, as a viewer shows them on demand.

use forks_lie::{Pose, glam::DVec3};
use serde::Serialize;

/// A joint: its axes, the springs about or along them, and whether it may be open.
///
/// The viewer draws the axes, colours them by the energy of their springs at the time that is
/// shown, and, for a joint that closes a loop, draws the gap between its sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Joint {
    /// Name, shown beside a gap.
    pub name: String,
    /// Parent and child.
    pub sides: [JointSide; 2],
    /// What the child may do, in the joint's frame.
    pub axes: Vec<JointAxis>,
    /// True if it closes a loop: its sides may be apart.
    pub closes: bool,
    /// A spring between its frames as wholes, as ball joints and bushings have.
    pub spring: Option<PoseSpring>,
}

/// A spring between two frames: energy ½ Δᵀ K Δ with Δ = log(rest⁻¹ · parent-from-child) the twist,
/// linear part first, that leads from rest to where the child's frame is in the parent's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PoseSpring {
    /// K, rows; N/m, N, N·m/rad.
    pub stiffness: [[f64; 6]; 6],
    /// The child's frame in the parent's where nothing is held.
    pub rest: Pose,
}

/// A joint's frame on one of its bodies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JointSide {
    /// Number of the body; `None` for the world.
    pub body: Option<usize>,
    /// Pose of the joint's frame in the body.
    pub body_from_joint: Pose,
}

/// A line that the child turns about or slides along.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JointAxis {
    /// Unit vector in the joint's frame, through its origin.
    pub direction: DVec3,
    /// True if the child slides, false if it turns.
    pub slides: bool,
    /// Its spring, if there is one.
    pub spring: Option<AxisSpring>,
}

/// A spring about or along an axis: energy ½ k (x − rest)², x the displacement of the joint's
/// frames from each other or their angle, which is taken within half a turn of `start`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AxisSpring {
    /// k, N·m/rad or N/m.
    pub stiffness: f64,
    /// rad or m.
    pub rest: f64,
    /// About where the joint is, rad or m.
    pub start: f64,
}
