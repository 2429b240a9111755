//! Frames of trees: where they are, and how they move by the velocity coordinates.

use forks_dynamics::mechanism::{
    Mechanism,
    kinematics::tree_joint_motion,
    lie::{Pose, Twist},
    linalg::Matrix,
};

use crate::frame::Frame;

/// Twists of all coordinates in world axes at the world's origin.
#[derive(Clone, Debug)]
pub struct TreeFrames {
    twists: Vec<Twist>,
}

impl TreeFrames {
    /// Of so many velocity coordinates, not placed yet.
    pub fn new(coordinates: usize) -> Self {
        Self { twists: vec![Twist::ZERO; coordinates] }
    }

    /// The twists at positions `q`; `poses` are those of all links there, in the world.
    pub fn place(&mut self, m: &Mechanism, q: &[f64], poses: &[Pose]) {
        for e in m.forest().edges() {
            let motion = tree_joint_motion(m, e, q);
            let ad = poses[e.outer.index()].adjoint();
            for (column, k) in motion.columns.as_slice().iter().zip(m.velocity_range(e.joint)) {
                self.twists[k] = ad.apply(*column);
            }
        }
    }

    /// That of a coordinate.
    ///
    /// # Panics
    /// If there is no such coordinate.
    pub fn twist(&self, coordinate: usize) -> Twist {
        self.twists[coordinate]
    }

    /// World pose of a frame; its body twist per coordinate (6 × coordinates) into `rows`.
    pub fn frame(&self, m: &Mechanism, poses: &[Pose], frame: &Frame, rows: &mut Matrix) -> Pose {
        let pose = poses[frame.link.index()] * frame.link_from_frame;
        let ad = pose.inverse().adjoint();
        rows.as_mut_slice().fill(0.0);
        for e in m.forest().path_to_ground(frame.link) {
            for k in m.velocity_range(e.joint) {
                let t = ad.apply(self.twists[k]).to_array();
                (0..6).for_each(|i| rows[(i, k)] = t[i]);
            }
        }
        pose
    }
}
