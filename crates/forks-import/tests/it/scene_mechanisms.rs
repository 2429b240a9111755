//! The mechanisms of scenes are written as MJCF that reads back to the same mechanism.

use std::path::Path;

use forks_import::mechanism::{
    Grasp, GraspCarrier, Joint, JointId, Mechanism, MechanismBuilder, Mount, Slide,
    kinematics::loops,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
    },
};
use forks_import::{ImportOptions, Note, load_urdf, parse_mjcf, write::write_mjcf};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};

/// What is written is read without notes; the notes of writing.
fn again(m: &Mechanism) -> (Mechanism, Vec<Note>) {
    let (text, notes) = write_mjcf(m).unwrap();
    let import = parse_mjcf(&text, &ImportOptions::default()).unwrap();
    // A joint that starts outside its range does so again.
    let lost = import.notes.iter().find(|n| n.attribute != "range");
    assert!(lost.is_none(), "{lost:?}\n{text}");
    (import.mechanism, notes)
}

/// Same links, shapes, servos, springs, loops and coordinates, at positions away from the start.
fn reads_back(m: &Mechanism) {
    let (b, notes) = again(m);
    // Welded bodies have no joint in MJCF whose name could be kept.
    let changed = notes.iter().find(|n| n.attribute != "name");
    assert!(changed.is_none(), "{changed:?}");
    assert_eq!(m.links().len(), b.links().len());
    for (x, y) in m.links().iter().zip(b.links()) {
        assert_eq!((&x.name, x.auxiliary), (&y.name, y.auxiliary));
        assert_eq!(x.inertia, y.inertia, "{}", x.name);
        assert_eq!(x.gravity_compensation, y.gravity_compensation, "{}", x.name);
    }
    assert_eq!(m.shapes(), b.shapes());
    assert_eq!(m.servos(), b.servos());
    assert_eq!(m.gravity(), b.gravity());
    let forces = |j: &Joint| (j.spring.clone(), j.damping.clone(), j.armature.clone());
    for (x, y) in m.joints().iter().zip(b.joints()) {
        assert_eq!((forces(x), &x.limits), (forces(y), &y.limits), "{}", x.name);
    }
    let mut q = m.start_positions();
    let v: Vec<f64> = (0..m.velocity_count()).map(|i| 0.3 * (1.7 * i as f64).sin()).collect();
    m.integrate(&mut q, &v);
    let n = m.tree_position_count();
    assert_eq!(n, b.tree_position_count());
    let mut p = b.start_positions();
    p[..n].copy_from_slice(&q[..n]);
    let (before, after) = (m.link_poses(&q), b.link_poses(&p));
    for (i, (x, y)) in before.iter().zip(&after).enumerate() {
        let name = &m.links()[i].name;
        assert!(x.translation.distance(y.translation) < 1e-14, "{name}");
        assert!((x.rotation * y.rotation.conjugate()).xyz().length() < 1e-14, "{name}");
    }
    same_loops(m, &b);
}

/// Loops tie the same points and are closed in the start pose.
fn same_loops(m: &Mechanism, b: &Mechanism) {
    let closures = |m: &Mechanism| -> Vec<JointId> { m.forest().closures().to_vec() };
    assert_eq!(closures(m).len(), closures(b).len());
    for (x, y) in closures(m).into_iter().zip(closures(b)) {
        let (x, y) = (m.joint(x), b.joint(y));
        let ends = |m: &Mechanism, j: &Joint| [j.parent, j.child].map(|l| m.link(l).name.clone());
        assert_eq!((&x.kind, ends(m, x)), (&y.kind, ends(b, y)), "{}", x.name);
        for (a, c) in
            [(x.parent_from_joint, y.parent_from_joint), (x.child_from_joint, y.child_from_joint)]
        {
            assert!(a.translation.distance(c.translation) < 1e-14, "{}", x.name);
        }
    }
    for m in [m, b] {
        let q = m.start_positions();
        let residual = loops::constraint_residual(m, &q, &m.link_poses(&q));
        assert!(residual.iter().all(|x| x.abs() < 1e-14), "{residual:?}");
    }
}

/// The hand as a scene uses it: balanced, driven, on a carriage.
#[test]
fn a_hand_on_a_carriage() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/models/allegro_right_hand/allegro_right_hand.nomesh.urdf");
    let options = ImportOptions { balance_inertia: true, ..Default::default() };
    let hand = load_urdf(&file, &options).unwrap().mechanism;
    let driven: Vec<&Joint> = hand.joints().iter().filter(|j| j.dof() == 1).collect();
    assert_eq!(driven.len(), 16);
    let gains: Vec<(&str, f64, f64)> = driven.iter().map(|j| (j.name.as_str(), 3.0, 0.1)).collect();
    let axes = [("lift-x", DVec3::X), ("lift-y", DVec3::Y), ("lift-z", DVec3::Z)];
    let slides = axes.map(|(name, axis)| Slide::new(name, axis, 2e4, 400.0)).to_vec();
    let m = hand.with_servos(&gains).unwrap().mounted(&Mount::new(1.0, slides)).unwrap();
    assert_eq!((m.tree_velocity_count(), m.servos().len()), (19, 19));
    assert!(MechanismBuilder::from_mechanism(&m).balance_inertia().is_empty());
    reads_back(&m);
    let tips = ["link_3.0_tip", "link_7.0_tip", "link_11.0_tip", "link_15.0_tip"];
    // Stretched fingers cannot get longer: three motions less than with bent ones.
    let reduce = |bent: f64| {
        let mut start = vec![bent; 19];
        start[..3].fill(0.0);
        let options = ProblemOptions { start: Some(start), ..Default::default() };
        let problem = Problem::new(&m, &tips, &options).unwrap();
        let r = problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap();
        (r.model, r.linear.basis)
    };
    assert_eq!(reduce(0.0).1.rank, 16);
    let (hand, basis) = reduce(0.5);
    assert_eq!(basis.rank, 19);
    assert!(basis.gap > 1e6, "{}", basis.gap);
    // A lift moves all tips alike.
    let mut targets = vec![0.0; 19];
    targets[2] = 0.1;
    let eta = hand.rest_coordinates(&targets);
    for (e, tip) in tips.iter().enumerate() {
        let rest = hand.data().effectors[e].rest;
        let moved = rest.displaced(hand.effector_twist(e, &eta));
        let gap = moved.translation.distance(rest.translation + DVec3::Z * 0.1);
        assert!(gap < 1e-13, "{tip}: {gap:e}");
    }
}

#[test]
fn parametric_mechanisms() {
    for p in [forks_models::firefighters(), forks_models::hexapod(), forks_models::peg_arm()] {
        reads_back(&p.mechanism);
    }
}

#[test]
fn a_peg_arm_on_a_carriage() {
    let lift = Slide::new("lift", DVec3::Z, 3e4, 600.0);
    let m = forks_models::peg_arm().mechanism.mounted(&Mount::new(2.0, vec![lift])).unwrap();
    reads_back(&m);
}

/// An object that the ground carries keeps the order of coordinates; one that a finger carries is
/// written too.
#[test]
fn grasped_objects() {
    let arm = forks_models::arm20();
    let contacts = arm.effectors.iter().map(|&l| (l, DVec3::new(0.03, 0.0, -0.01))).collect();
    let moments = DMat3::from_diagonal(DVec3::new(1e-4, 2e-4, 2.5e-4));
    let mut grasp = Grasp {
        name: "object".into(),
        inertia: SpatialInertia::new(0.2, DVec3::ZERO, moments),
        world_from_object: Pose::from_translation(DVec3::new(2.15, 0.01, -0.02)),
        contacts,
        carrier: GraspCarrier::Ground,
    };
    reads_back(&arm.mechanism.grasping(&grasp).unwrap());
    grasp.carrier = GraspCarrier::FirstContact;
    let m = arm.mechanism.grasping(&grasp).unwrap();
    let (b, notes) = again(&m);
    assert!(notes.iter().all(|n| n.attribute == "positions"), "{notes:?}");
    same_loops(&m, &b);
}
