//! URDF files of robots: what they hold, what a gripper's mimics couple, what MJCF makes of them.

use crate::support;

use forks_import::mechanism::{JointId, JointKind, kinematics::loops};
use forks_import::{Effect, Import, ImportOptions, load_urdf, parse_mjcf, write::write_mjcf};
use support::{mass_matrix, models, pose_of};

fn load(name: &str) -> Import {
    load_urdf(&models().join(name), &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn five_joints_of_a_gripper_follow_one() {
    let i = load("kinova_robotiq_mimic/kinova_robotiq.nomesh.urdf");
    let m = &i.mechanism;
    assert_eq!((m.tree_velocity_count(), m.couplings().len()), (13, 5));
    let mut q = vec![0.0; 13];
    let at = |name: &str| {
        let j = m.joints().iter().position(|j| j.name == name).unwrap();
        m.position_range(JointId::new(j)).start
    };
    q[at("robotiq_85_left_knuckle_joint")] = 0.4;
    q[at("robotiq_85_mimic_right_knuckle_joint")] = -0.4;
    q[at("robotiq_85_mimic_left_inner_knuckle_joint")] = 0.4;
    q[at("robotiq_85_mimic_right_inner_knuckle_joint")] = -0.4;
    q[at("robotiq_85_mimic_left_finger_tip_joint")] = -0.4;
    q[at("robotiq_85_mimic_right_finger_tip_joint")] = 0.4;
    assert_eq!(loops::constraint_residual(m, &q, &m.link_poses(&q)), [0.0; 5]);
}

#[test]
fn model_files() {
    // Degrees of freedom and mass of the moving links, from MuJoCo 4.0.0 (human: Pinocchio 4.1.0).
    for (name, dof, moving) in [
        ("solo12/solo12.nomesh.urdf", 12, 1.33885188),
        ("kinova_robotiq_mimic/kinova_robotiq.nomesh.urdf", 13, 7.27576),
        ("human_urdf/human.nomesh.urdf", 36, 64.062),
    ] {
        let m = load(name).mechanism;
        assert_eq!(m.tree_velocity_count(), dof, "{name}");
        assert!((m.moving_mass() - moving).abs() < 5e-6 * moving, "{name}: {}", m.moving_mass());
    }
}

/// What MJCF makes of the same mechanism: massless ends aside, poses and couplings survive the
/// other format.
#[test]
fn urdf_goes_on_as_mjcf() {
    for name in ["solo12/solo12.nomesh.urdf", "kinova_robotiq_mimic/kinova_robotiq.nomesh.urdf"] {
        let m = load(name).mechanism;
        let (text, _) = write_mjcf(&m).unwrap();
        let b = parse_mjcf(&text, &ImportOptions::default()).unwrap().mechanism;
        assert_eq!(m.tree_position_count(), b.tree_position_count(), "{name}");
        assert_eq!(m.couplings(), b.couplings(), "{name}");
        let q: Vec<f64> = (0..m.tree_position_count()).map(|i| 0.1 * i as f64 - 0.5).collect();
        let r = m.bounding_radius(&m.link_poses(&q));
        for l in m.links() {
            let (x, y) = (pose_of(&m, &q, &l.name), pose_of(&b, &q, &l.name));
            let bound = 64.0 * f64::EPSILON;
            assert!(x.translation.distance(y.translation) <= bound * r, "{name} {}", l.name);
            let turn = (x.rotation * y.rotation.conjugate()).xyz().length();
            assert!(turn <= bound, "{name} {}: {turn}", l.name);
        }
        let (x, y) = (mass_matrix(&m, &q), mass_matrix(&b, &q));
        let scale = x.max_abs();
        assert!(x.sub(&y).max_abs() <= 64.0 * f64::EPSILON * scale, "{name}");
    }
}

/// Files of a physics engine that bends the format: the same axis twice; a NUL after the root,
/// capsules and ball joints; ranges from 1 to −1 and a body without inertia.
#[test]
fn malformed_model_files() {
    let i = load("bullet_urdf/spirit40newer.urdf");
    assert_eq!(i.mechanism.tree_velocity_count(), 12);
    assert!(i.notes.iter().any(|n| n.attribute == "axis" && n.effect == Effect::Ignored));
    let i = load("bullet_urdf/humanoid.urdf");
    let balls = i.mechanism.joints().iter().filter(|j| j.kind == JointKind::Spherical).count();
    assert_eq!((balls, i.mechanism.tree_velocity_count()), (8, 28));
    let i = load("bullet_urdf/cube_no_rotation.urdf");
    assert_eq!((i.mechanism.tree_velocity_count(), i.mechanism.moving_mass()), (4, 0.13));
    assert_eq!(i.notes.iter().filter(|n| n.attribute == "limit").count(), 3);
}
