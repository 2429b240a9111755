//! Constraint error of a reduced state (\[A16\] §8.2): gaps that independent link poses leave at
//! joints and effectors.

use forks_mechanism::{
    Mechanism,
    kinematics::{Connection, constraint_error},
    lie::{Pose, so3::log_rotation},
};
use forks_rom::{Reconstruction, ReducedModel};

/// Sums of gaps over all joints and effectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelativeConstraintError {
    /// Position gaps over the mechanism's size r.
    pub position: f64,
    /// Angles, rad.
    pub angle: f64,
}

/// The constraint error of a reduced state in one reconstruction mode.
///
/// The gap at an effector is between its reduced pose and the pose of its reconstructed link.
/// `connections` come from [`forks_mechanism::kinematics::connections`].
pub fn relative_constraint_error(
    m: &Mechanism,
    connections: &[Connection],
    model: &ReducedModel,
    eta: &[f64],
    servo_targets: &[f64],
    mode: Reconstruction,
) -> RelativeConstraintError {
    let poses = model.link_poses(eta, servo_targets, mode);
    let joints = constraint_error(m, connections, &poses);
    let (mut position, mut angle) = (joints.position_sum, joints.angle_sum);
    for (e, effector) in model.data().effectors.iter().enumerate() {
        let link = poses[effector.link] * effector.link_from_effector;
        let gap: Pose = link.inverse() * model.effector_pose(e, eta);
        position += gap.translation.length();
        angle += log_rotation(gap.rotation).length();
    }
    RelativeConstraintError { position: position / model.data().radius, angle }
}

/// Relative displacement of an effector (\[A16\] §8.2): Euclidean norm of the twist log(H_rest⁻¹
/// H), linear part over r, angular part over π.
pub fn relative_displacement(rest: &Pose, pose: &Pose, r: f64) -> f64 {
    let t = rest.twist_to(pose);
    let angular = t.angular / core::f64::consts::PI;
    ((t.linear / r).length_squared() + angular.length_squared()).sqrt()
}
