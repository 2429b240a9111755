//! Default springs, held roots, servos as springs, and positions of the original mechanism.

use forks_mechanism::{
    BuildError, Combination, CombinationSpring, Coordinate, Coupling, Joint, JointId, JointKind,
    JointMatrix, JointSpring, Link, LinkId, Mechanism, MechanismBuilder, Preparation, Servo,
    ServoSpring, Transmission,
    lie::{Pose, glam::DVec3},
};

/// A body on a free joint with, one on the other: a plain hinge, a sprung hinge, a ball, a ball
/// sprung about y, a universal joint sprung in its second angle, a servo-driven hinge and one under
/// a tendon.
fn robot() -> Mechanism {
    let mut b = MechanismBuilder::new("robot");
    let z = || JointKind::Revolute { axis: DVec3::Z };
    let universal = JointKind::Universal { first: DVec3::X, second: DVec3::Y };
    let kinds = [
        ("root", JointKind::Free),
        ("plain", z()),
        ("sprung", z()),
        ("ball", JointKind::Spherical),
        ("half-ball", JointKind::Spherical),
        ("universal", universal),
        ("driven", z()),
        ("tendon", z()),
    ];
    let mut at = LinkId::WORLD;
    for (name, kind) in kinds {
        let next = b.add_link(Link::new(name));
        b.add_joint(Joint::new(name, kind, at, next));
        at = next;
    }
    let joints = b.joints_mut();
    joints[1].start = vec![0.3];
    joints[2].spring =
        Some(JointSpring { stiffness: JointMatrix::isotropic(1, 7.0), rest: vec![0.2] });
    let about_y = JointMatrix::diagonal(&[0.0, 5.0, 0.0]);
    joints[4].spring = Some(JointSpring { stiffness: about_y, rest: vec![1.0, 0.0, 0.0, 0.0] });
    let second = JointMatrix::diagonal(&[0.0, 6.0]);
    joints[5].spring = Some(JointSpring { stiffness: second, rest: vec![0.0, 0.4] });
    joints[5].start = vec![0.1, 0.2];
    joints[6].start = vec![0.5];
    for (joint, transmission) in [(6, Transmission::Joint), (7, Transmission::Tendon)] {
        b.add_servo(Servo {
            name: format!("servo{joint}"),
            transmission,
            combination: Combination {
                terms: vec![(Coordinate::of(JointId::new(joint)), 2.0)],
                offset: 0.1,
            },
            stiffness: 11.0,
            damping: 3.0,
        });
    }
    b.build().unwrap()
}

fn stiffness(m: &Mechanism, joint: &str) -> Option<Vec<f64>> {
    let j = m.joint(m.find_joint(joint).unwrap());
    j.spring.as_ref().map(|s| (0..j.dof()).map(|i| s.stiffness.get(i, i)).collect())
}

fn rest(m: &Mechanism, joint: &str) -> Vec<f64> {
    m.joint(m.find_joint(joint).unwrap()).spring.as_ref().unwrap().rest.clone()
}

#[test]
fn default_stiffness_goes_to_springless_coordinates() {
    let p = Preparation { default_stiffness: Some(9.0), ..Default::default() };
    let m = p.apply(&robot()).unwrap().mechanism;
    assert_eq!(stiffness(&m, "root"), None);
    assert_eq!(stiffness(&m, "plain"), Some(vec![9.0]));
    assert_eq!(rest(&m, "plain"), [0.3]);
    assert_eq!(stiffness(&m, "sprung"), Some(vec![7.0]));
    assert_eq!(rest(&m, "sprung"), [0.2]);
    assert_eq!(stiffness(&m, "ball"), Some(vec![9.0; 3]));
    assert_eq!(stiffness(&m, "half-ball"), Some(vec![9.0, 5.0, 9.0]));
    assert_eq!(stiffness(&m, "universal"), Some(vec![9.0, 6.0]));
    // The new spring rests at the start pose, the old one where it did.
    assert_eq!(rest(&m, "universal"), [0.1, 0.4]);
    // Servos count where they are used, tendons never.
    assert_eq!(stiffness(&m, "driven"), Some(vec![9.0]));
    assert_eq!(stiffness(&m, "tendon"), Some(vec![9.0]));
    let p = Preparation { default_stiffness: Some(9.0), servos: true, ..Default::default() };
    let m = p.apply(&robot()).unwrap().mechanism;
    assert_eq!(stiffness(&m, "driven"), None);
    assert_eq!(stiffness(&m, "tendon"), Some(vec![9.0]));
}

#[test]
fn loop_closing_joints_get_no_default_spring() {
    let p = Preparation { default_stiffness: Some(9.0), ..Default::default() };
    let m = p.apply(&forks_models::ladder(2).mechanism).unwrap().mechanism;
    assert_eq!(stiffness(&m, "ball0"), None);
    assert_eq!(stiffness(&m, "rung0"), Some(vec![1000.0]));
}

#[test]
fn bad_numbers_are_refused() {
    let with_k = |k| Preparation { default_stiffness: Some(k), ..Default::default() };
    let e = with_k(-1.0).apply(&robot()).unwrap_err();
    assert!(matches!(&e, BuildError::Negative { element, .. } if element == "joint 'plain'"));
    let e = with_k(f64::NAN).apply(&robot()).unwrap_err();
    assert!(matches!(e, BuildError::NotFinite { .. }));
    let p = Preparation { start: Some(vec![0.0; 3]), ..Default::default() };
    let e = p.apply(&robot()).unwrap_err();
    assert!(matches!(e, BuildError::WrongLength { found: 3, expected: 21, .. }), "{e}");
}

#[test]
fn the_free_root_of_an_effector_is_held() {
    let original = robot();
    let mut start = original.start_positions();
    // Root displaced and turned: it is held there.
    let root = original.find_joint("root").unwrap();
    let mut r = original.position_range(root);
    let at = [0.1, 0.2, 0.3, 0.6, 0.8, 0.0, 0.0];
    start[r.clone()].copy_from_slice(&at);
    let last = original.find_link("tendon");
    let p = Preparation { hold_root_of: last, start: Some(start.clone()), ..Default::default() };
    let prepared = p.apply(&original).unwrap();
    assert_eq!(prepared.held, Some(root));
    let m = &prepared.mechanism;
    assert_eq!(m.joint(root).kind, JointKind::Fixed);
    assert_eq!(m.velocity_count() + 6, original.velocity_count());
    let before = original.link_poses(&start);
    for (a, b) in before.iter().zip(m.link_poses(&m.start_positions())) {
        assert!(a.twist_to(&b).norm() < 64.0 * f64::EPSILON);
    }
    // Positions go back into the original's coordinates: the root's from the start pose.
    let mut q = m.start_positions();
    m.integrate(&mut q, &vec![0.2; m.velocity_count()]);
    let back = prepared.original_positions(&original, &q);
    assert_eq!(back.len(), original.tree_position_count());
    r.end = r.start + 7;
    assert_eq!(back[r], at);
    for (a, b) in original.link_poses(&back).iter().zip(m.link_poses(&q)) {
        assert!(a.twist_to(&b).norm() < 64.0 * f64::EPSILON);
    }
}

#[test]
fn links_on_the_ground_have_no_root_to_hold() {
    let original = forks_models::arm20().mechanism;
    let p = Preparation { hold_root_of: Some(LinkId::new(20)), ..Default::default() };
    let prepared = p.apply(&original).unwrap();
    assert_eq!(prepared.held, None);
    assert_eq!(prepared.mechanism.velocity_count(), original.velocity_count());
    let p = Preparation { hold_root_of: Some(LinkId::WORLD), ..Default::default() };
    assert_eq!(p.apply(&original).unwrap().held, None);
}

/// A servo becomes a spring along its own coordinate that rests at the start pose.
#[test]
fn servos_are_springs() {
    let original = robot();
    let without = Preparation::default().apply(&original).unwrap();
    assert!(without.servo_springs.is_empty());
    assert!(without.mechanism.combination_springs().is_empty());
    let p = Preparation { servos: true, ..Default::default() };
    let prepared = p.apply(&original).unwrap();
    assert_eq!(prepared.servo_springs.len(), 2);
    for (servo, spring) in &prepared.servo_springs {
        let ServoSpring::Combination(spring) = *spring else { panic!("no cables here") };
        let s = &prepared.mechanism.combination_springs()[spring.index()];
        let a = &original.servos()[servo.index()];
        assert_eq!((s.stiffness, s.damping, &s.combination), (11.0, 3.0, &a.combination));
        assert_eq!(s.name, a.name);
    }
    // ℓ = 2 · 0.5 + 0.1 at the start of the driven joint, 0.1 at the other.
    let rests: Vec<f64> = prepared.mechanism.combination_springs().iter().map(|s| s.rest).collect();
    assert!((rests[0] - 1.1).abs() < 4.0 * f64::EPSILON);
    assert!((rests[1] - 0.1).abs() < 4.0 * f64::EPSILON);
}

#[test]
fn a_given_start_moves_loops_too() {
    let original = forks_models::parallelogram().mechanism;
    // The parallelogram swings: legs by a, coupler back by a.
    let a = 0.4;
    let tree: Vec<f64> = original
        .forest()
        .edges()
        .iter()
        .map(|e| if original.joint(e.joint).name == "left-coupler" { -a } else { a })
        .collect();
    let mut start = vec![0.0; original.tree_position_count()];
    for (e, x) in original.forest().edges().iter().zip(tree) {
        start[original.position_range(e.joint).start] = x;
    }
    let p = Preparation { start: Some(start), ..Default::default() };
    let m = p.apply(&original).unwrap().mechanism;
    let q = m.start_positions();
    let closure = m.position_range(m.forest().closures()[0]).start;
    assert!((q[closure] + a).abs() < 16.0 * f64::EPSILON, "{}", q[closure]);
    assert!((m.joint(m.forest().closures()[0]).start[0] + a).abs() < 16.0 * f64::EPSILON);
}

/// A free body in an arm's hand, on a joint in the middle of the tree, and one on the ground with a
/// hinge, a coupling, a loop and a servo of its own stand still without loading anything.
#[test]
fn free_bodies_beside_what_is_wanted_stand_still() {
    let mut b = MechanismBuilder::new("beside");
    let link = |b: &mut MechanismBuilder, name: &str| b.add_link(Link::new(name));
    let names = ["arm", "tool", "box", "lid", "lid2"];
    let [arm, tool, bin, lid, lid2] = names.map(|n| link(&mut b, n));
    let hinge = || JointKind::Revolute { axis: DVec3::Y };
    let at = |x: f64| Pose::from_translation(DVec3::X * x);
    b.add_joint(Joint::new("arm", hinge(), LinkId::WORLD, arm).with_stiffness(10.0));
    let mut grip = Joint::new("grip", JointKind::Free, arm, tool);
    grip.start = vec![0.5, 0.0, 0.0, 0.6, 0.0, 0.8, 0.0];
    let grip = b.add_joint(grip);
    b.add_joint(Joint::new("box", JointKind::Free, LinkId::WORLD, bin));
    let first = b.add_joint(Joint::new("lid", hinge(), bin, lid).at(at(0.1)));
    let second = b.add_joint(Joint::new("lid2", hinge(), bin, lid2).at(at(-0.1)));
    b.add_joint(Joint::new("loop", JointKind::Spherical, lid, lid2).at(at(0.2)));
    let both = vec![
        (Coordinate { joint: first, index: 0 }, 1.0),
        (Coordinate { joint: second, index: 0 }, 1.0),
    ];
    b.add_coupling(Coupling::linear("both", both.clone(), -0.3));
    b.add_combination_spring(CombinationSpring {
        name: "band".into(),
        combination: Combination { terms: both.clone(), offset: 0.0 },
        stiffness: 3.0,
        damping: 0.0,
        rest: 1.0,
    });
    b.add_servo(Servo {
        name: "lid".into(),
        combination: Combination::of(first),
        stiffness: 11.0,
        damping: 0.0,
        transmission: Transmission::Joint,
    });
    let m = b.build().unwrap();
    assert_eq!(m.loose_links(&[arm]), [tool, bin, lid, lid2]);
    assert_eq!(m.loose_links(&[arm, lid]), [tool]);
    let p = Preparation { wanted: vec![arm], servos: true, ..Default::default() };
    let p = p.apply(&m).unwrap();
    assert_eq!(p.left_out, [tool, bin, lid, lid2]);
    assert_eq!(p.mechanism.velocity_count(), 1, "the arm's hinge");
    assert_eq!((p.mechanism.couplings().len(), p.servo_springs.len()), (0, 1));
    // The size is what it was: what stands still for the time being could move.
    let (before, q) = (m.link_poses(&m.start_positions()), p.mechanism.start_positions());
    let after = p.mechanism.link_poses(&q);
    assert_eq!(m.bounding_radius(&before), p.mechanism.bounding_radius(&before));
    for (a, b) in before.iter().zip(&after) {
        assert!(a.twist_to(b).norm() < 64.0 * f64::EPSILON);
    }
    // The arm does not carry the tool.
    let turned = p.mechanism.link_poses(&[0.5]);
    assert!(turned[tool.index()].twist_to(&before[tool.index()]).norm() < 64.0 * f64::EPSILON);
    let back = p.original_positions(&m, &[0.5]);
    assert_eq!(back[0], 0.5);
    assert_eq!(back[m.position_range(grip)], m.joint(grip).start);

    // A tie to the arm keeps the box and all that is on it, a tie between the two keeps none.
    for (other, loose) in [(arm, vec![tool]), (tool, vec![tool, bin, lid, lid2])] {
        let mut b = MechanismBuilder::from_mechanism(&m);
        b.add_joint(Joint::new("tie", JointKind::Spherical, other, bin));
        assert_eq!(b.build().unwrap().loose_links(&[arm]), loose);
    }
}
