//! Numbers from and to the geometry library, whose glam is another version than ours.

use forks_lie::{Pose, glam::DVec3};
use parry3d_f64::math::{Pose as ParryPose, Rotation, Vector};

pub(crate) fn vector(v: DVec3) -> Vector {
    Vector::from_array(v.to_array())
}

pub(crate) fn vectors(v: &[DVec3]) -> Vec<Vector> {
    v.iter().map(|v| vector(*v)).collect()
}

pub(crate) fn from_vector(v: Vector) -> DVec3 {
    DVec3::from_array(v.to_array())
}

pub(crate) fn pose(pose: &Pose) -> ParryPose {
    ParryPose::from_parts(vector(pose.translation), Rotation::from_array(pose.rotation.to_array()))
}
