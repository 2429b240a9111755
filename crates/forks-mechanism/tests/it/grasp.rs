//! Grasped objects as links.

use forks_mechanism::{
    BuildError, Grasp, GraspCarrier, Joint, JointKind, Keyframe, LinkId, Mechanism,
    MechanismBuilder,
    kinematics::{RANK_TOLERANCE, loops, mobility},
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
        so3::exp_rotation,
    },
};

/// An object between the fingers of an arm, each of which holds it at a point of its last link.
fn grasp(contacts: usize, carrier: GraspCarrier) -> (Mechanism, Grasp) {
    let arm = forks_models::arm20();
    let moment = DMat3::from_diagonal(DVec3::new(1e-4, 2e-4, 2.5e-4));
    let grasp = Grasp {
        name: "object".into(),
        inertia: SpatialInertia::new(0.2, DVec3::ZERO, moment),
        world_from_object: Pose::new(
            exp_rotation(DVec3::new(0.4, -0.2, 0.9)),
            DVec3::new(2.15, 0.01, -0.02),
        ),
        contacts: arm.effectors[..contacts]
            .iter()
            .enumerate()
            .map(|(i, &l)| (l, DVec3::new(0.03, 0.001 * i as f64, -0.01)))
            .collect(),
        carrier,
    };
    (arm.mechanism, grasp)
}

fn counts(m: &Mechanism) -> [usize; 4] {
    let q = m.start_positions();
    let c = mobility(m, &q, &m.link_poses(&q), RANK_TOLERANCE);
    [c.dof, c.rows, c.rank, c.mobility]
}

#[test]
fn an_object_is_where_it_was_put_and_its_loops_are_closed() {
    for carrier in [GraspCarrier::FirstContact, GraspCarrier::Ground] {
        let (arm, grasp) = grasp(3, carrier);
        let m = arm.grasping(&grasp).unwrap();
        let q = m.start_positions();
        let poses = m.link_poses(&q);
        let object = m.find_link("object").unwrap();
        assert_eq!(object.index(), m.links().len() - 1);
        // Chains of twelve joints: some rounding of lengths of 2 m.
        let rounding = 64.0 * f64::EPSILON;
        let gap = poses[object.index()].twist_to(&grasp.world_from_object);
        assert!(gap.norm() < rounding, "{gap:?}");
        for x in loops::constraint_residual(&m, &q, &poses) {
            assert!(x.abs() < rounding, "{x:e}");
        }
        assert_eq!(m.tree_position_count(), arm.tree_position_count() + carried_by(carrier));
        assert!((m.total_mass() - arm.total_mass() - 0.2).abs() < 1e-14);
    }
}

/// Position coordinates of the object.
fn carried_by(carrier: GraspCarrier) -> usize {
    match carrier {
        GraspCarrier::FirstContact => 4,
        GraspCarrier::Ground => 7,
    }
}

#[test]
fn three_points_leave_the_fingers_motions_but_not_the_objects() {
    // 20 hinges and the object's motions, three equations per contact; with fewer than three
    // contacts the object turns.
    let cases = [
        (GraspCarrier::FirstContact, [[23, 6, 6, 17], [23, 3, 3, 20], [23, 0, 0, 23]]),
        (GraspCarrier::Ground, [[26, 9, 9, 17], [26, 6, 6, 20], [26, 3, 3, 23]]),
    ];
    for (carrier, expected) in cases {
        for (contacts, expected) in [3, 2, 1].into_iter().zip(expected) {
            let (arm, grasp) = grasp(contacts, carrier);
            assert_eq!(counts(&arm.grasping(&grasp).unwrap()), expected, "{carrier:?} {contacts}");
        }
    }
    let (arm, mut grasp) = grasp(3, GraspCarrier::FirstContact);
    grasp.contacts.clear();
    let m = arm.grasping(&grasp).unwrap();
    assert_eq!(counts(&m), [26, 0, 0, 26]);
    let poses = m.link_poses(&m.start_positions());
    assert_eq!(poses.last(), Some(&grasp.world_from_object));
}

#[test]
fn joints_are_springless_balls_of_the_contacts() {
    let (arm, grasp) = grasp(3, GraspCarrier::FirstContact);
    let m = arm.grasping(&grasp).unwrap();
    for (i, (link, _)) in grasp.contacts.iter().enumerate() {
        let j: &Joint = m.joint(m.find_joint(&format!("object.grasp{i}")).unwrap());
        assert_eq!((&j.kind, j.parent), (&JointKind::Spherical, *link));
        assert!(j.spring.is_none() && j.damping.is_zero());
    }
    assert_eq!(m.forest().closures().len(), 2);
}

#[test]
fn keyframes_get_the_objects_start() {
    let (arm, grasp) = grasp(3, GraspCarrier::Ground);
    let mut b = MechanismBuilder::from_mechanism(&arm);
    b.add_keyframe(Keyframe { name: "k".into(), positions: vec![0.1; arm.tree_position_count()] });
    let m = b.build().unwrap().grasping(&grasp).unwrap();
    let k = &m.keyframes()[0].positions;
    assert_eq!(k[..20], [0.1; 20]);
    assert_eq!(k[20..23], grasp.world_from_object.translation.to_array());
}

#[test]
fn bad_grasps_are_refused_by_name() {
    let (arm, mut grasp) = grasp(2, GraspCarrier::FirstContact);
    grasp.contacts[1].0 = LinkId::new(1000);
    let e = arm.grasping(&grasp).unwrap_err();
    assert!(matches!(e, BuildError::UnknownElement { index: 1000, .. }), "{e}");
    assert!(e.to_string().contains("object.grasp1"), "{e}");
    grasp.contacts[1] = (LinkId::new(1), DVec3::NAN);
    assert!(arm.grasping(&grasp).unwrap_err().to_string().contains("object.grasp1"));
    grasp.contacts.clear();
    grasp.name = "arm0".into();
    assert!(arm.grasping(&grasp).unwrap_err().to_string().contains("'arm0'"));
}
