//! Kinematics: poses, Jacobians, loop closures.

mod forward;
mod jacobian;
pub mod loops;

pub use forward::{TreeJointMotion, forward_kinematics, tree_joint_motion};
pub use jacobian::{link_jacobian, link_twists, pull_back_wrenches};
