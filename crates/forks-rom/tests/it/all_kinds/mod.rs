//! Every kind of joint, and random poses.

use forks_mechanism::{
    JointKind,
    lie::{Pose, Twist, glam::DVec3, so3::exp_rotation},
};
use forks_testkit::Rng;

pub(crate) fn kinds() -> Vec<JointKind> {
    let axis = DVec3::new(2.0, -1.0, 2.0) / 3.0;
    let second = DVec3::new(1.0, 2.0, 0.0).normalize();
    let screw = Twist::new(DVec3::new(0.1, 0.2, -0.1), DVec3::new(0.0, 0.6, 0.8));
    let shear = Twist::new(DVec3::new(0.0, 1.0, 0.3), DVec3::new(0.2, 0.0, 0.5));
    vec![
        JointKind::Fixed,
        JointKind::Revolute { axis },
        JointKind::Prismatic { axis },
        JointKind::Cylindrical { axis },
        JointKind::Universal { first: axis, second },
        JointKind::Spherical,
        JointKind::Planar,
        JointKind::Free,
        JointKind::General { subspace: vec![screw] },
        JointKind::General { subspace: vec![screw, shear] },
    ]
}

pub(crate) fn pose(rng: &mut Rng) -> Pose {
    let (r, t) = (DVec3::from_array(rng.vector()), DVec3::from_array(rng.vector()));
    Pose::new(exp_rotation(r), t * 0.3)
}
