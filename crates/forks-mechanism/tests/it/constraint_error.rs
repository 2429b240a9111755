//! Gaps of poses that do not come from forward kinematics.

use crate::common;

use forks_mechanism::{
    Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    kinematics::{Connection, ConnectionGaps, connections, constraint_error},
    lie::{Pose, SplitMix64, glam::DVec3, so3::exp_rotation},
};
use forks_models::HelixJoints;

fn error(m: &Mechanism, poses: &[Pose]) -> ConnectionGaps {
    constraint_error(m, &connections(m), poses)
}

/// One link on joints of the given kinds in a row at the origin, through auxiliary frames.
fn in_a_row(kinds: &[JointKind]) -> Mechanism {
    let mut b = MechanismBuilder::new("row");
    let mut at = LinkId::WORLD;
    for (i, kind) in kinds.iter().enumerate() {
        let link = Link::new(format!("l{i}"));
        let next = b.add_link(if i + 1 < kinds.len() { link.auxiliary() } else { link });
        b.add_joint(Joint::new("", kind.clone(), at, next));
        at = next;
    }
    b.build().unwrap()
}

/// Poses in which only the last link is displaced.
fn last_at(m: &Mechanism, pose: Pose) -> Vec<Pose> {
    let mut poses = m.link_poses(&m.start_positions());
    *poses.last_mut().unwrap() = pose;
    poses
}

#[test]
fn three_hinges_are_one_connection() {
    let m = forks_models::helix(5, HelixJoints::Hinge3).mechanism;
    let c = connections(&m);
    assert_eq!(c.len(), 5);
    for (k, c) in c.iter().enumerate() {
        assert_eq!(c.joints.len(), 3);
        assert!(c.joints.iter().all(|&(_, backwards)| !backwards));
        assert_eq!(m.link(c.to).name, format!("link{k}"));
        assert!(!m.link(c.from).auxiliary);
    }
    // A frame that branches or ends ends the connection.
    let mut b = MechanismBuilder::from_mechanism(&in_a_row(&[const { JointKind::Spherical }; 3]));
    let extra = b.add_link(Link::new("extra"));
    b.add_joint(Joint::new("", JointKind::Spherical, LinkId::new(1), extra));
    let sizes = |m: &Mechanism| connections(m).iter().map(|c| c.joints.len()).collect::<Vec<_>>();
    assert_eq!(sizes(&b.build().unwrap()), [1, 2, 1]);
}

/// Joints against the direction of the walk are marked.
#[test]
fn connections_with_reversed_joints() {
    let mut b = MechanismBuilder::new("reversed");
    let frame = b.add_link(Link::new("frame").auxiliary());
    let link = b.add_link(Link::new("link"));
    let hinge = |axis| JointKind::Revolute { axis };
    b.add_joint(Joint::new("", hinge(DVec3::X), LinkId::WORLD, frame));
    b.add_joint(Joint::new("", hinge(DVec3::Y), link, frame));
    let m = b.build().unwrap();
    let c = connections(&m);
    assert_eq!(c.len(), 1);
    assert_eq!((c[0].from, c[0].to), (LinkId::WORLD, link));
    assert_eq!(c[0].joints.iter().map(|j| j.1).collect::<Vec<_>>(), [false, true]);
    let mut q = m.start_positions();
    m.integrate(&mut q, &[0.4, -0.7]);
    let e = constraint_error(&m, &c, &m.link_poses(&q));
    assert!(e.angle_sum < 32.0 * f64::EPSILON && e.position_sum < 32.0 * f64::EPSILON);
}

#[test]
fn poses_from_forward_kinematics_have_no_gaps() {
    let mut r = SplitMix64::new(1);
    let mut mechanisms: Vec<Mechanism> =
        (0..15).map(|_| common::random_mechanism(&mut r, 8, 0)).collect();
    mechanisms.push(forks_models::helix(20, HelixJoints::Hinge3).mechanism);
    mechanisms.push(forks_models::y_mechanism().mechanism);
    for m in mechanisms {
        let mut q = m.start_positions();
        let v: Vec<f64> = (0..m.velocity_count()).map(|_| r.range(-0.5, 0.5)).collect();
        m.integrate(&mut q, &v);
        let e = error(&m, &m.link_poses(&q));
        for (g, c) in e.gaps.iter().zip(connections(&m)) {
            // Rounding grows with the distance from the origin (below 5 here) and with how poorly
            // the coordinates of general joints are determined.
            assert!(g.position < 1e-12 && g.angle < 1e-12, "{}: {g:?} {c:?}", m.name());
        }
    }
}

/// A hinge: the rotation across its axis and the whole translation at the anchor are the gap.
#[test]
fn gap_of_a_hinge() {
    let mut b = MechanismBuilder::new("hinge");
    let link = b.add_link(Link::new("link"));
    let anchor = DVec3::new(0.2, -0.1, 0.4);
    let kind = JointKind::Revolute { axis: DVec3::Z };
    b.add_joint(Joint::new("", kind, LinkId::WORLD, link).child_at(Pose::from_translation(anchor)));
    let m = b.build().unwrap();
    let turn = exp_rotation(DVec3::Z * 1.1) * exp_rotation(DVec3::X * 0.2);
    let shift = DVec3::new(0.03, 0.04, 0.0);
    let e = error(&m, &last_at(&m, Pose::new(turn, shift - turn * anchor)));
    assert!((e.position_sum - 0.05).abs() < 16.0 * f64::EPSILON);
    // exp(z a) exp(x b): the part about z is taken off, b is left.
    assert!((e.angle_sum - 0.2).abs() < 16.0 * f64::EPSILON, "{}", e.angle_sum);
}

/// Three hinges allow any rotation; only the translation is left.
#[test]
fn gap_of_three_hinges() {
    let kinds = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| JointKind::Revolute { axis });
    let m = in_a_row(&kinds);
    let mut r = SplitMix64::new(2);
    for _ in 0..50 {
        let pose = common::pose(&mut r, 0.3, 1.4);
        let e = error(&m, &last_at(&m, pose));
        assert!((e.position_sum - pose.translation.length()).abs() < 16.0 * f64::EPSILON);
        assert!(e.angle_sum < 64.0 * f64::EPSILON, "{}", e.angle_sum);
    }
}

#[test]
fn gap_of_two_slides() {
    let kinds = [DVec3::X, DVec3::Y].map(|axis| JointKind::Prismatic { axis });
    let m = in_a_row(&kinds);
    let turn = exp_rotation(DVec3::X * 0.1);
    let e = error(&m, &last_at(&m, Pose::new(turn, DVec3::new(5.0, -2.0, 0.3))));
    assert!((e.position_sum - 0.3).abs() < 32.0 * f64::EPSILON, "{}", e.position_sum);
    assert!((e.angle_sum - 0.1).abs() < 16.0 * f64::EPSILON);
}

/// Position first: a hinge with a lever reaches the position and leaves the angle.
#[test]
fn positions_come_before_angles() {
    let mut b = MechanismBuilder::new("lever");
    let frame = b.add_link(Link::new("frame").auxiliary());
    let link = b.add_link(Link::new("link"));
    let hinge = JointKind::Revolute { axis: DVec3::Z };
    b.add_joint(Joint::new("", hinge, LinkId::WORLD, frame));
    let lever = Pose::from_translation(DVec3::X);
    b.add_joint(Joint::new("", JointKind::Fixed, frame, link).at(lever));
    let m = b.build().unwrap();
    // The tip where an angle of 0.5 puts it, turned by 0.8.
    let tip = Pose::new(exp_rotation(DVec3::Z * 0.8), exp_rotation(DVec3::Z * 0.5) * DVec3::X);
    let e = error(&m, &last_at(&m, tip));
    assert!(e.position_sum < 16.0 * f64::EPSILON, "{}", e.position_sum);
    assert!((e.angle_sum - 0.3).abs() < 16.0 * f64::EPSILON, "{}", e.angle_sum);
}

/// Two hinges in a row leave what the universal joint with the same axes leaves.
#[test]
fn two_hinges_are_a_universal_joint() {
    let (first, second) = (DVec3::X, DVec3::Y);
    let row = in_a_row(&[first, second].map(|axis| JointKind::Revolute { axis }));
    let single = in_a_row(&[JointKind::Universal { first, second }]);
    let mut r = SplitMix64::new(4);
    for _ in 0..30 {
        let pose = Pose::from_rotation(exp_rotation(common::vector(&mut r, 0.5)));
        let (a, b) = (error(&row, &last_at(&row, pose)), error(&single, &last_at(&single, pose)));
        // Both iterations stop when their steps are of rounding size.
        assert!((a.angle_sum - b.angle_sum).abs() < 1e-13, "{} {}", a.angle_sum, b.angle_sum);
    }
}

#[test]
fn sums() {
    let m = forks_models::ladder(2).mechanism;
    let c: Vec<Connection> = connections(&m);
    assert_eq!(c.len(), m.joints().len());
    let mut poses = m.link_poses(&m.start_positions());
    // The first rung moved away by 0.1 m: its hinge and its ball joint open by as much.
    let rung = m.find_link("rung0").unwrap();
    poses[rung.index()].translation.y += 0.1;
    let e = constraint_error(&m, &c, &poses);
    assert!((e.position_sum - 0.2).abs() < 64.0 * f64::EPSILON);
    assert!(e.angle_sum < 64.0 * f64::EPSILON);
    assert_eq!(e.gaps.iter().filter(|g| g.position > 0.09).count(), 2);
}
