//! Directions in which a loop-closing joint is not held.

use forks_mechanism::{
    Joint, JointKind, LinkId,
    lie::{
        Pose, Twist, Wrench,
        glam::{DQuat, DVec3},
    },
    redundancy::ReleasedDirections,
};

fn joint() -> Joint {
    let (p, r) = (DVec3::new(0.3, -0.2, 0.5), DQuat::from_rotation_x(0.7));
    let mut j = Joint::new("j", JointKind::Spherical, LinkId::WORLD, LinkId::new(1))
        .child_at(Pose::new(r, p));
    let directions = [
        Twist::new(DVec3::new(0.0, 0.2, 1.0), DVec3::new(0.1, 0.0, 0.0)),
        Twist::new(DVec3::X, DVec3::new(0.0, -0.4, 1.0)),
    ];
    j.released = ReleasedDirections::new(0.25, &directions);
    j
}

/// Held wrenches and held twists are those without work along what is released, and one is the
/// transpose of the other.
#[test]
fn released_directions_do_no_work() {
    let j = joint();
    let held = j.held_wrenches();
    assert_eq!((j.released.count(), held.len()), (2, 4));
    // Products of numbers below 10 with six terms each.
    let small = |x: f64| x.abs() < 1e-14;
    let ad = j.child_from_joint.adjoint();
    for d in j.released.directions() {
        let d = ad.apply(d.scale_linear(j.released.size()));
        assert!(small(j.held_twist(d).norm()));
        assert!(held.iter().all(|w| small(d.dot(*w))));
    }
    let (t, w) = (
        Twist::from_array([1.0, -0.3, 0.7, 0.2, 0.9, -1.1]),
        Wrench::from_array([-0.4, 0.8, 0.1, 1.3, -0.2, 0.6]),
    );
    assert!(small(j.held_twist(t).dot(w) - t.dot(j.held_wrench(w))));
    assert!(small((j.held_twist(j.held_twist(t)) - j.held_twist(t)).norm()));
    for h in held {
        assert!(small(j.held_twist(t).dot(h) - t.dot(h)));
    }
}
