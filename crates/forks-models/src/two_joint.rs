//! Two links and two joints near their stretched pose (\[A16\] Fig. 4).

use forks_mechanism::{
    BuildError, LinkId,
    lie::{
        Pose,
        glam::{DQuat, DVec3},
    },
};

use crate::{
    Parametric,
    sketch::{Compliance, Sketch, isotropic_rod},
};

/// Length of each link, m.
const LENGTH: f64 = 0.5;

/// Two links of 0.5 m in the x–z plane on hinges about y, bent by `bend` radians at the second
/// joint with the tip on the x axis; straight at 0.
///
/// As the tip is pulled out along x the mechanism approaches its singular pose: the tip's
/// compliance along the second link's x axis, (L sin bend)²/K, goes to zero (\[A16\] Fig. 4). Each
/// link is 0.1 kg, K = 1000 N·m/rad, D = 0.1 N·m·s/rad, springs unstressed as built. Frames: x
/// along the link; the first at its ground hinge, the second (the effector) at its far end, the
/// tip.
///
/// # Errors
/// [`BuildError::NotFinite`] for an angle that is not finite.
pub fn two_joint_example(bend: f64) -> Result<Parametric, BuildError> {
    let spring = Some(Compliance::new(1000.0, 0.1));
    // A turn about +y lowers the x axis: the first link rises by half the bend, the second
    // descends.
    let [rising, falling] = [-0.5, 0.5].map(|s| DQuat::from_rotation_y(s * bend));
    let axis = DVec3::X * LENGTH;
    let elbow = rising * axis;
    let tip = elbow + falling * axis;
    let mut s = Sketch::new("two-joint");
    let first = s.link_at("first", Pose::from_rotation(rising), isotropic_rod(0.1, axis));
    let second = s.link_at("second", Pose::new(falling, tip), isotropic_rod(0.1, -axis));
    s.hinge("shoulder", [LinkId::WORLD, first], DVec3::ZERO, DVec3::Y, spring);
    s.hinge("elbow", [first, second], elbow, DVec3::Y, spring);
    Ok(Parametric { mechanism: s.try_build()?, effectors: vec![second] })
}
