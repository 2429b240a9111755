//! Dragging and pinning, judged by forward kinematics and closed forms.

use std::sync::Arc;

use forks_control::ik::{Handle, IkError, IkStatus, InverseKinematics, Root};
use forks_dynamics::mechanism::{
    Joint, JointId, JointKind, Limit, Link, LinkId, Mechanism, MechanismBuilder,
    kinematics::loops::constraint_residual,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DQuat, DVec3},
        so3::log_rotation,
    },
};
use forks_testkit::{JointChoice, RandomMechanismOptions, Rng, random_mechanism};

fn body(name: &str) -> Link {
    let inertia = SpatialInertia::new(1.0, DVec3::X * 0.5, DMat3::IDENTITY * 0.01);
    Link::new(name).with_inertia(inertia)
}

/// A planar arm of links of 1 m, hinges about z, on the ground or on a base that floats.
fn arm(links: usize, floats: bool, limit: Option<Limit>) -> Arc<Mechanism> {
    let mut b = MechanismBuilder::new("arm");
    let mut at = LinkId::WORLD;
    if floats {
        let base = b.add_link(body("base"));
        b.add_joint(Joint::new("float", JointKind::Free, LinkId::WORLD, base));
        at = base;
    }
    for k in 0..links {
        let link = b.add_link(body(&format!("link{k}")));
        let kind = JointKind::Revolute { axis: DVec3::Z };
        let place = if k == 0 && !floats { DVec3::ZERO } else { DVec3::X };
        let mut joint =
            Joint::new(format!("hinge{k}"), kind, at, link).at(Pose::from_translation(place));
        joint.limits = vec![limit];
        b.add_joint(joint);
        at = link;
    }
    Arc::new(b.build().unwrap())
}

fn link(m: &Mechanism, name: &str) -> LinkId {
    m.find_link(name).unwrap()
}

fn tip(m: &Mechanism, name: &str, target: DVec3) -> Handle {
    Handle::point(name, link(m, name), DVec3::X, target)
}

#[test]
fn two_hinges_have_the_angles_of_the_law_of_cosines() {
    let m = arm(2, false, None);
    for target in
        [DVec3::new(1.0, 1.0, 0.0), DVec3::new(0.3, -0.9, 0.0), DVec3::new(-1.2, 0.5, 0.0)]
    {
        let mut ik = InverseKinematics::new(Arc::clone(&m), &[0.1, 0.3]).unwrap();
        ik.drag(0, tip(&m, "link1", target)).unwrap();
        let found = ik.follow().unwrap();
        assert_eq!(found.status, IkStatus::Reached, "{found:?}");
        // |p|² = 2 + 2 cos q₁
        let cosine = 0.5 * target.length_squared() - 1.0;
        assert!((found.positions[1].cos() - cosine).abs() < 1e-9);
        assert!(found.unmet.is_empty() && found.iterations < 40, "{}", found.iterations);
    }
}

#[test]
fn what_is_out_of_reach_is_approached_and_missed_by_the_rest() {
    let m = arm(3, false, None);
    let mut ik = InverseKinematics::new(Arc::clone(&m), &[0.3, 0.5, -0.2]).unwrap();
    let target = DVec3::new(3.0, 4.0, 0.0);
    ik.drag(0, tip(&m, "link2", target)).unwrap();
    let found = ik.follow().unwrap();
    assert_eq!(found.status, IkStatus::DragsUnmet);
    // The arm of 3 m points at the target 5 m away.
    let missing = DVec3::new(found.unmet[0].by, found.unmet[1].by, 0.0);
    assert!((missing - target * 0.4).length() < 1e-6, "{missing}");
    assert_eq!((found.unmet[0].name.as_str(), found.unmet[0].row.as_str()), ("link2", "x"));
    assert!((found.positions[0] - 4f64.atan2(3.0)).abs() < 1e-5, "{:?}", found.positions);
}

#[test]
fn a_stretched_arm_that_is_pushed_gives_way() {
    let m = arm(2, false, None);
    let mut ik = InverseKinematics::new(Arc::clone(&m), &[0.0, 0.0]).unwrap();
    ik.drag(0, tip(&m, "link1", DVec3::new(1.5, 0.0, 0.0))).unwrap();
    let found = ik.follow().unwrap();
    assert_eq!(found.status, IkStatus::Reached, "{found:?}");
}

#[test]
fn limits_hold_to_the_bit_and_are_named() {
    let m = arm(2, false, Some(Limit { lower: -0.5, upper: 0.5 }));
    let mut ik = InverseKinematics::new(Arc::clone(&m), &[0.0, 0.1]).unwrap();
    ik.drag(0, tip(&m, "link1", DVec3::new(0.0, 2.0, 0.0))).unwrap();
    let found = ik.follow().unwrap();
    assert_eq!(found.status, IkStatus::DragsUnmet);
    assert!(found.positions.iter().all(|q| (-0.5..=0.5).contains(q)));
    assert_eq!(found.limits.len(), 2, "{found:?}");
    assert_eq!((found.limits[0].joint, found.limits[0].limit), (JointId::new(0), 0.5));
}

/// Chains of hinges: where some pose within limits brings the tip is where it is brought.
#[test]
fn poses_that_exist_are_found() {
    let mut rng = Rng::new(7);
    let (mut reached, mut worst) = (0, 0.0f64);
    let count = 100;
    for seed in 0..count {
        let options = RandomMechanismOptions {
            links: 8,
            extra_loops: 0,
            joint_kinds: vec![JointChoice::Revolute],
            chain_fraction: 1.0,
            ..Default::default()
        };
        let m = Arc::new(random_mechanism(seed, &options));
        let last = LinkId::new(m.links().len() - 1);
        let goal: Vec<f64> =
            m.start_positions().iter().map(|q| q + 0.8 * rng.symmetric()).collect();
        let target = m.link_poses(&goal)[last.index()];
        let mut ik = InverseKinematics::new(Arc::clone(&m), &m.start_positions()).unwrap();
        ik.drag(0, Handle::pose("tip", last, Pose::IDENTITY, target)).unwrap();
        let found = ik.follow().unwrap();
        if found.status == IkStatus::Reached {
            reached += 1;
            let there = ik.link_poses()[last.index()];
            let r = m.bounding_radius(&ik.link_poses());
            worst = worst.max((there.translation - target.translation).length() / r);
            worst = worst.max(log_rotation(there.rotation.inverse() * target.rotation).length());
        }
    }
    println!("{reached} of {count}, worst {worst:e}");
    assert!(reached >= 95, "{reached} of {count}");
    assert!(worst < 4e-10, "{worst:e}");
}

#[test]
fn pins_hold_while_others_are_dragged_and_loops_stay_closed() {
    let mut rng = Rng::new(3);
    for seed in 0..30 {
        let options = RandomMechanismOptions {
            links: 12,
            extra_loops: 1,
            joint_kinds: vec![JointChoice::Spherical, JointChoice::Universal],
            ..Default::default()
        };
        let m = Arc::new(random_mechanism(seed, &options));
        let start = m.start_positions();
        let poses = m.link_poses(&start);
        let r = m.bounding_radius(&poses);
        let (pinned, dragged) =
            (LinkId::new(m.links().len() - 1), LinkId::new(m.links().len() / 2));
        let mut ik = InverseKinematics::new(Arc::clone(&m), &start).unwrap();
        let at = poses[pinned.index()].translation;
        ik.pin(Handle::point("pin", pinned, DVec3::ZERO, at)).unwrap();
        let by = DVec3::from_array(rng.direction()) * 0.05 * r;
        let to = poses[dragged.index()].translation + by;
        ik.drag(0, Handle::point("drag", dragged, DVec3::ZERO, to)).unwrap();
        let found = ik.follow().unwrap();
        assert!(
            matches!(found.status, IkStatus::Reached | IkStatus::DragsUnmet),
            "{seed}: {found:?}"
        );
        let now = ik.link_poses();
        assert!((now[pinned.index()].translation - at).length() < 2e-10 * r, "{seed}");
        for g in constraint_residual(&m, &found.positions, &now) {
            assert!(g.abs() < 1e-9 * (1.0 + r), "{seed}: {g:e}");
        }
    }
}

#[test]
fn bases_float_stand_still_or_balance() {
    let m = arm(3, true, None);
    let q = m.start_positions();
    let target = DVec3::new(2.0, 2.5, 0.0);
    let found = |root, pins: &[Handle]| {
        let mut ik = InverseKinematics::new(Arc::clone(&m), &q).unwrap();
        ik.set_root(root);
        pins.iter().for_each(|p| ik.pin(p.clone()).unwrap());
        ik.drag(0, tip(&m, "link2", target)).unwrap();
        let report = ik.follow().unwrap();
        (report, ik.link_poses())
    };
    let base = link(&m, "base");
    let (free, poses) = found(Root::Free, &[]);
    assert_eq!(free.status, IkStatus::Reached);
    assert!(poses[base.index()].translation.length() > 0.1, "it moves as a whole");
    let (pinned, poses) = found(Root::Pinned, &[]);
    assert_eq!(pinned.status, IkStatus::Reached);
    assert_eq!(poses[base.index()], Pose::IDENTITY);
    // Gravity is along −z; the base stands on a point below it and the rest leans the other way.
    let foot = Handle::pose("foot", base, Pose::IDENTITY, Pose::IDENTITY);
    let (balanced, poses) = found(Root::Balanced, &[foot]);
    assert_eq!(balanced.status, IkStatus::DragsUnmet, "{balanced:?}");
    let centre = m.moving_links().fold(DVec3::ZERO, |c, (id, l)| {
        c + poses[id.index()].transform_point(l.inertia.center_of_mass) * (l.inertia.mass / 4.0)
    });
    assert!(centre.truncate().length() < 1e-8, "{centre}");
    assert!(poses[base.index()].translation.length() < 1e-9);
}

#[test]
fn the_same_start_gives_the_same_bits_whatever_was_dragged_before() {
    let m = arm(4, false, None);
    let q = [0.1, 0.2, -0.3, 0.4];
    let mut ik = InverseKinematics::new(Arc::clone(&m), &q).unwrap();
    let goal = |x: f64| tip(&m, "link3", DVec3::new(x, 1.5, 0.0));
    ik.drag(0, goal(2.0)).unwrap();
    let first = ik.from_pose(&q).unwrap();
    ik.clear_drags();
    for x in [0.5, -1.0, 1.0] {
        ik.clear_drags();
        ik.drag(0, goal(x)).unwrap();
        assert_eq!(ik.follow().unwrap().status, IkStatus::Reached);
    }
    ik.clear_drags();
    ik.drag(0, goal(2.0)).unwrap();
    let path = ik.follow().unwrap();
    assert_ne!(path.positions, first.positions, "a hand's path is remembered");
    assert_eq!(ik.from_pose(&q).unwrap(), first);
}

#[test]
fn a_turn_about_one_axis_may_be_asked_for_alone() {
    let m = arm(3, false, None);
    let mut ik = InverseKinematics::new(Arc::clone(&m), &[0.1, 0.2, 0.3]).unwrap();
    let target = Pose::new(DQuat::from_rotation_z(1.2), DVec3::ZERO);
    let mut handle = Handle::pose("tip", link(&m, "link2"), Pose::IDENTITY, target);
    (handle.position, handle.rotation) = ([false; 3], [false, false, true]);
    ik.drag(0, handle).unwrap();
    // A second level takes what the first leaves free.
    ik.drag(1, tip(&m, "link2", DVec3::new(1.0, 1.5, 0.0))).unwrap();
    let found = ik.follow().unwrap();
    assert_eq!(found.status, IkStatus::Reached, "{found:?}");
    assert!((found.positions.iter().sum::<f64>() - 1.2).abs() < 1e-9);
}

#[test]
fn what_cannot_be_asked_for_is_refused_by_name_and_value() {
    let m = arm(2, false, None);
    let mut ik = InverseKinematics::new(Arc::clone(&m), &[0.0, 0.0]).unwrap();
    let text = |e: IkError| e.to_string();
    let far = Handle::point("tip", LinkId::new(9), DVec3::ZERO, DVec3::ZERO);
    assert_eq!(text(ik.drag(0, far).unwrap_err()), "tip: link 9 of 3");
    let none = tip(&m, "link1", DVec3::new(f64::NAN, 0.0, 0.0));
    assert_eq!(text(ik.pin(none).unwrap_err()), "link1: a number of its poses is NaN");
    let mut nothing = tip(&m, "link1", DVec3::ZERO);
    nothing.position = [false; 3];
    assert_eq!(text(ik.pin(nothing).unwrap_err()), "link1: none of its six directions counts");
    ik.set_root(Root::Balanced);
    assert_eq!(text(ik.follow().unwrap_err()), "balance takes a pin to stand on");
    let error = InverseKinematics::new(Arc::clone(&m), &[0.0, f64::INFINITY]).unwrap_err();
    assert_eq!(text(error), "position 1 is inf");
    let error = InverseKinematics::new(m, &[0.0]).unwrap_err();
    assert_eq!(text(error), "1 positions, expected 2");
}
