//! The mechanisms of scenes with contact: poses, masses, motions, symmetry.

use forks_mechanism::{
    Geometry, JointId, Mechanism,
    kinematics::{RANK_TOLERANCE, loops, mobility},
    lie::{
        Pose,
        glam::{DQuat, DVec3},
    },
};
use forks_models::Parametric;

/// Rounding of poses in mechanisms of a metre.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

fn position(m: &Mechanism, name: &str) -> DVec3 {
    let poses = m.link_poses(&m.start_positions());
    poses[m.find_link(name).unwrap().index()].translation
}

fn near(a: DVec3, b: DVec3) {
    assert!(a.distance(b) < ROUNDING, "{a} {b}");
}

/// dof, equations, their rank, mobility.
fn counts(m: &Mechanism) -> [usize; 4] {
    let q = m.start_positions();
    let c = mobility(m, &q, &m.link_poses(&q), RANK_TOLERANCE);
    [c.dof, c.rows, c.rank, c.mobility]
}

fn names(p: &Parametric) -> Vec<&str> {
    p.effectors.iter().map(|&l| p.mechanism.link(l).name.as_str()).collect()
}

/// Every servo drives the joint of its name, and what it drives has no spring of its own.
fn servos_have_their_joints(m: &Mechanism) {
    for s in m.servos() {
        let [(c, a)] = s.combination.terms[..] else { panic!("{}", s.name) };
        let j = m.joint(c.joint);
        assert_eq!((j.name.as_str(), a, s.damping), (s.name.as_str(), 1.0, 0.0));
        assert!(j.spring.is_none() && j.damping.get(0, 0) > 0.0, "{}", j.name);
    }
}

#[test]
fn firefighters_hold_a_closed_trampoline() {
    let p = forks_models::firefighters();
    let m = &p.mechanism;
    assert_eq!(names(&p), ["bed"]);
    // Four arms of six hinges, the ball that carries the rim, the fabric; three closing balls.
    assert_eq!(counts(m), [4 * 6 + 3 + 3, 9, 9, 21]);
    assert_eq!(m.servos().len(), 24);
    servos_have_their_joints(m);
    // 4 · (1.7 + 1.0 + 0.4) + 6 + 2.
    assert!((m.moving_mass() - 20.4).abs() < 1e-12 && (m.total_mass() - 120.4).abs() < 1e-12);
    let q = m.start_positions();
    for x in loops::constraint_residual(m, &q, &m.link_poses(&q)) {
        assert!(x.abs() < ROUNDING, "{x:e}");
    }
    near(position(m, "bed"), DVec3::Z);
    near(position(m, "rim"), DVec3::Z);
    for (arm, x, y) in [
        ("west.left", -1., 1.),
        ("west.right", -1., -1.),
        ("east.left", 1., -1.),
        ("east.right", 1., 1.),
    ] {
        let at = |part: &str| position(m, &format!("{arm}.{part}"));
        near(at("upper"), DVec3::new(0.80 * x, 0.20 * y, 1.32));
        let elbow = at("forearm");
        assert!((elbow.distance(at("upper")) - 0.30).abs() < ROUNDING);
        assert!((elbow.distance(at("hand")) - 0.25).abs() < ROUNDING);
        // Bent downwards, straight from the elbow to the grip.
        let grip = DVec3::new(0.50 * x, 0.28 * y, 1.0);
        let line = (elbow - at("upper")).cross(grip - at("upper")).normalize();
        assert!(line.z.abs() < 1e-14 && elbow.z < 1.15, "{elbow}");
        near(at("hand") + (at("hand") - elbow) * (0.08 / 0.25), grip);
    }
    let [bed] = m.shapes() else { panic!("one shape") };
    assert_eq!(
        (bed.link, &bed.geometry),
        (p.effectors[0], &Geometry::Cylinder { radius: 0.4, half_length: 0.02 })
    );
    assert!(
        m.gravity().z == -9.81
            && m.links().iter().all(|l| l.inertia.is_zero() || l.gravity_compensation == 1.0)
    );
}

#[test]
fn a_hexapod_stands_on_six_equal_legs() {
    let p = forks_models::hexapod();
    let m = &p.mechanism;
    assert_eq!(
        names(&p),
        ["leg0.foot", "leg1.foot", "leg2.foot", "leg3.foot", "leg4.foot", "leg5.foot"]
    );
    assert_eq!(counts(m), [6 + 18, 0, 0, 24]);
    servos_have_their_joints(m);
    assert_eq!(m.servos().len(), 18);
    assert!((m.total_mass() - 4.1).abs() < 1e-12);
    let poses = m.link_poses(&m.start_positions());
    let center = Pose::from_translation(position(m, "body").with_x(0.0).with_y(0.0));
    near(center.translation, position(m, "body"));
    for (k, &foot) in p.effectors.iter().enumerate() {
        let turn = DQuat::from_rotation_z(std::f64::consts::PI * (2 * k + 1) as f64 / 6.0);
        let pose = poses[foot.index()];
        assert!((pose.translation.z - 0.02).abs() < ROUNDING);
        // Turned back, every leg is the same.
        let radius = 0.12 + 0.05 + 0.12 * 0.5f64.cos() + 0.18 * 0.15f64.sin();
        near(turn.conjugate() * pose.translation, DVec3::new(radius, 0.0, 0.02));
        assert!((pose.rotation * turn.conjugate()).xyz().length() < ROUNDING);
        let own: Vec<_> = m.shapes().iter().filter(|s| s.link == foot).collect();
        assert_eq!((own.len(), own[0].link_from_shape), (1, Pose::IDENTITY));
        assert_eq!(own[0].geometry, Geometry::Sphere { radius: 0.02 });
        // Tibia, and with it all of the leg, from foot to knee.
        let knee = m.joint(m.find_joint(&format!("leg{k}.tibia")).unwrap());
        assert!((knee.child_from_joint.translation.length() - 0.18).abs() < ROUNDING);
    }
    // The weight is above the middle of the feet.
    let weight: DVec3 = m
        .moving_links()
        .map(|(l, x)| poses[l.index()].transform_point(x.inertia.center_of_mass) * x.inertia.mass)
        .sum();
    assert!(weight.truncate().length() < ROUNDING);
    assert!(m.links().iter().all(|l| l.gravity_compensation == 0.0));
}

#[test]
fn a_peg_points_down_at_the_stated_place() {
    let p = forks_models::peg_arm();
    let m = &p.mechanism;
    assert_eq!(names(&p), ["peg"]);
    assert_eq!(counts(m), [6, 0, 0, 6]);
    servos_have_their_joints(m);
    near(position(m, "peg"), DVec3::new(0.40, 0.0, 0.18));
    near(position(m, "gripper"), DVec3::new(0.40, 0.0, 0.32));
    assert!((position(m, "forearm").distance(position(m, "gripper")) - 0.30).abs() < ROUNDING);
    let [peg] = m.shapes() else { panic!("one shape") };
    assert_eq!(peg.geometry, Geometry::Cylinder { radius: 0.01, half_length: 0.04 });
    assert_eq!(peg.link_from_shape.translation, DVec3::Z * 0.04);
    assert_eq!(
        m.link_poses(&m.start_positions())[p.effectors[0].index()].rotation,
        DQuat::IDENTITY
    );
}

/// Targets against forward kinematics; the closed form of the planar arm for shoulder and elbow.
#[test]
fn targets_move_the_peg_without_turning_it() {
    let p = forks_models::peg_arm();
    let m = &p.mechanism;
    let peg = p.effectors[0].index();
    let rest = m.link_poses(&m.start_positions())[peg];
    for shift in [
        DVec3::ZERO,
        DVec3::Z * -0.06,
        DVec3::Z * 0.1,
        DVec3::new(0.02, -0.15, -0.05),
        DVec3::new(-0.1, 0.1, 0.1),
    ] {
        let q = forks_models::peg_arm_targets(&p, shift).unwrap();
        let gap =
            m.link_poses(&q)[peg].twist_to(&Pose { translation: rest.translation + shift, ..rest });
        assert!(gap.norm() < 4e-13, "{shift}: {gap:?}");
        if shift.truncate() == forks_mechanism::lie::glam::DVec2::ZERO {
            // Two links of 0.3 m, the wrist 0.4 m away and shift.z up: half angle at the shoulder
            // by the cosine law.
            let d = 0.4f64.hypot(shift.z);
            let elevation = (0.5 * d / 0.3).acos() + shift.z.atan2(0.4);
            let start = (0.2f64 / 0.3).acos();
            assert!((q[1] - (start - elevation)).abs() < 1e-12, "{q:?}");
            let elbow = 2.0 * (0.5 * d / 0.3).acos();
            assert!((q[2] - (elbow - 2.0 * start)).abs() < 1e-12, "{q:?}");
            assert!(q[0].abs() < 1e-14 && q[3].abs() < 1e-14 && q[5].abs() < 1e-14);
        }
    }
    assert_eq!(forks_models::peg_arm_targets(&p, DVec3::X), None);
    let order: Vec<JointId> = m.servos().iter().map(|s| s.combination.terms[0].0.joint).collect();
    assert!(order.is_sorted());
}
