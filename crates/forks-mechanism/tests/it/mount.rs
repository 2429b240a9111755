//! Carriages, servos on joints, and inertias that are balanced.

use crate::common;

use common::{positions, random_mechanism};
use forks_mechanism::{
    BuildError, Combination, CombinationSpring, Coordinate, Frame, Geometry, Joint, JointId,
    JointKind, Keyframe, Link, LinkId, Mechanism, MechanismBuilder, Mount, Shape, Slide,
    Transmission,
    kinematics::loops,
    lie::{
        Pose, SpatialInertia, SplitMix64,
        glam::{DMat3, DVec3},
        so3::exp_rotation,
    },
};

fn slides() -> Vec<Slide> {
    vec![
        Slide::new("slide-x", DVec3::X, 4e3, 60.0),
        Slide::new("slide-tilted", DVec3::new(0.0, 3.0, 4.0), 5e3, 70.0),
    ]
}

/// Links that nothing but a springless free joint ties to the ground.
fn is_free(m: &Mechanism, link: LinkId) -> bool {
    let root = m.forest().path_to_ground(link).last();
    root.is_some_and(|e| m.joint(e.joint).kind == JointKind::Free)
}

#[test]
fn a_carriage_takes_everything_along_but_free_bodies() {
    let mut r = SplitMix64::new(7);
    let (mut carried, mut left) = (0, 0);
    for case in 0..60 {
        let m = random_mechanism(&mut r, 2 + case % 7, case % 4);
        let mount = Mount::new(3.0, slides());
        let mounted = m.mounted(&mount).unwrap();
        assert_eq!(mounted.tree_position_count(), m.tree_position_count() + 2);
        assert_eq!(mounted.links().len(), m.links().len() + 2);
        let added = mounted.total_mass() - m.total_mass();
        assert!((added - 3.0).abs() <= 64.0 * f64::EPSILON);
        let mut q: Vec<f64> = m.start_positions();
        for (i, j) in m.joints().iter().enumerate() {
            let range = m.position_range(JointId::new(i));
            q[range].copy_from_slice(&positions(&mut r, &j.kind, 0.6));
        }
        let with_slides = |s: [f64; 2]| [&s[..], &q].concat();
        let residual =
            |m: &Mechanism, q: &[f64]| loops::constraint_residual(m, q, &m.link_poses(q));
        // Nothing is moved: the same residuals of loops and couplings.
        let (before, after) = (residual(&m, &q), residual(&mounted, &with_slides([0.0; 2])));
        assert_eq!(before.len(), after.len(), "case {case}");
        for (x, y) in before.iter().zip(&after) {
            assert!((x - y).abs() <= 64.0 * f64::EPSILON, "case {case}: {x} {y}");
        }
        let moved = DVec3::new(0.3, -0.12, -0.16);
        let (before, after) = (m.link_poses(&q), mounted.link_poses(&with_slides([0.3, -0.2])));
        for (id, l) in m.moving_links() {
            let shift = if is_free(&m, id) { DVec3::ZERO } else { moved };
            if is_free(&m, id) {
                left += 1
            } else {
                carried += 1
            }
            let to = mounted.find_link(&l.name).unwrap();
            assert_eq!(to.index(), id.index() + 2);
            let (a, b) = (before[id.index()], after[to.index()]);
            let depth = 64.0 * f64::EPSILON;
            assert!((a.translation + shift - b.translation).length() <= depth, "case {case}");
            assert!((a.rotation * b.rotation.conjugate()).xyz().length() <= depth, "case {case}");
        }
    }
    assert!(carried > 100 && left > 20, "{carried} {left}");
}

/// Two hinged links with everything that refers to links and joints.
fn furnished() -> Mechanism {
    let mut b = MechanismBuilder::new("furnished");
    let (one, two) = (b.add_link(Link::new("one")), b.add_link(Link::new("two")));
    let hinge = |name, a, c| {
        Joint::new(name, JointKind::Revolute { axis: DVec3::Y }, a, c).with_stiffness(2.0)
    };
    b.add_joint(hinge("first", LinkId::WORLD, one));
    let second = b.add_joint(hinge("second", one, two));
    for (name, link) in [("on-ground", LinkId::WORLD), ("on-two", two)] {
        b.add_frame(Frame { name: name.into(), link, link_from_frame: Pose::IDENTITY });
        b.add_shape(Shape {
            name: name.into(),
            link,
            link_from_shape: Pose::IDENTITY,
            geometry: Geometry::Sphere { radius: 0.1 },
            friction: 1.0,
            mask: forks_mechanism::ContactMask::default(),
        });
    }
    b.add_combination_spring(CombinationSpring {
        name: "tendon".into(),
        combination: Combination { terms: vec![(Coordinate::of(second), 2.0)], offset: 0.5 },
        stiffness: 3.0,
        damping: 0.0,
        rest: 0.0,
    });
    b.add_keyframe(Keyframe { name: "bent".into(), positions: vec![0.2, 0.4] });
    b.build().unwrap().with_servos(&[("second", 5.0, 0.1)]).unwrap()
}

#[test]
fn what_refers_to_links_and_joints_still_means_the_same() {
    let m = furnished().mounted(&Mount::new(1.0, slides())).unwrap();
    let (two, second) = (m.find_link("two").unwrap(), m.find_joint("second").unwrap());
    assert_eq!(m.joint(second).child, two);
    assert_eq!(m.joint(m.find_joint("first").unwrap()).parent, m.find_link("mount").unwrap());
    assert_eq!(m.frames().iter().map(|f| f.link).collect::<Vec<_>>(), [LinkId::WORLD, two]);
    assert_eq!(m.shapes().iter().map(|s| s.link).collect::<Vec<_>>(), [LinkId::WORLD, two]);
    assert_eq!(m.combination_springs()[0].combination.terms, [(Coordinate::of(second), 2.0)]);
    let servos: Vec<_> = m.servos().iter().map(|s| (s.name.as_str(), s.stiffness)).collect();
    assert_eq!(servos, [("slide-x", 4e3), ("slide-tilted", 5e3), ("second", 5.0)]);
    assert_eq!(m.servos()[2].combination, Combination::of(second));
    assert_eq!(m.keyframes()[0].positions, [0.0, 0.0, 0.2, 0.4]);
    assert!(m.link(m.find_link("mount/slide-x").unwrap()).auxiliary);
    assert_eq!(m.find_link("mount/slide-tilted"), None);
    // Without slides the carriage is welded.
    let welded = furnished().mounted(&Mount::new(1.0, vec![])).unwrap();
    assert_eq!((welded.tree_position_count(), welded.moving_mass()), (2, 0.0));
}

#[test]
fn bad_mounts_are_refused_by_name() {
    let m = furnished();
    let refuse = |slides: Vec<Slide>| m.mounted(&Mount::new(1.0, slides)).unwrap_err().to_string();
    assert!(refuse(vec![Slide::new("s", DVec3::ZERO, 1.0, 1.0)]).contains("joint 's'"));
    assert!(refuse(vec![Slide::new("s", DVec3::X, -1.0, 1.0)]).contains("servo 's'"));
    let mount = Mount { name: "two".into(), ..Mount::new(1.0, slides()) };
    assert!(m.mounted(&mount).unwrap_err().to_string().contains("'two'"));
    assert!(m.mounted(&Mount::new(-1.0, slides())).unwrap_err().to_string().contains("'mount'"));
}

#[test]
fn servos_are_put_on_named_joints() {
    let kinds = [
        ("hinge", JointKind::Revolute { axis: DVec3::X }),
        ("pair", JointKind::Universal { first: DVec3::X, second: DVec3::Y }),
        ("ball", JointKind::Spherical),
        ("weld", JointKind::Fixed),
    ];
    let mut b = MechanismBuilder::new("m");
    let mut at = LinkId::WORLD;
    for (name, kind) in kinds {
        let next = b.add_link(Link::new(name));
        b.add_joint(Joint::new(name, kind, at, next));
        at = next;
    }
    let m = b.build().unwrap();
    let driven = m.with_servos(&[("pair", 3.0, 0.3), ("hinge", 2.0, 0.0)]).unwrap();
    let found: Vec<_> = driven
        .servos()
        .iter()
        .map(|s| (s.name.as_str(), s.combination.terms.clone(), s.stiffness, s.damping))
        .collect();
    let c = |joint, index| vec![(Coordinate { joint: JointId::new(joint), index }, 1.0)];
    let expected = [
        ("pair.0", c(1, 0), 3.0, 0.3),
        ("pair.1", c(1, 1), 3.0, 0.3),
        ("hinge", c(0, 0), 2.0, 0.0),
    ];
    assert_eq!(found, expected);
    assert!(driven.servos().iter().all(|s| s.transmission == Transmission::Joint));
    for name in ["ball", "weld"] {
        let e = m.with_servos(&[(name, 1.0, 1.0)]).unwrap_err();
        assert!(matches!(e, BuildError::NoScalarCoordinate { .. }), "{e}");
        assert!(e.to_string().contains(name), "{e}");
    }
    let e = m.with_servos(&[("elbow", 1.0, 1.0)]).unwrap_err();
    assert!(e.to_string().contains("no joint called 'elbow'"), "{e}");
    let e = m.with_servos(&[("hinge", f64::NAN, 1.0)]).unwrap_err();
    assert!(e.to_string().contains("'hinge'"), "{e}");
}

#[test]
fn impossible_moments_change_as_little_as_possible() {
    let axes = DMat3::from_quat(exp_rotation(DVec3::new(0.3, -0.8, 0.5)));
    let tensor = |m: DVec3| axes * DMat3::from_diagonal(m) * axes.transpose();
    let norm = |m: DMat3| m.to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt();
    let given = tensor(DVec3::new(1.0, 2.0, 6.0));
    let good = SpatialInertia::new(2.0, DVec3::X, DMat3::from_diagonal(DVec3::new(1.0, 2.0, 3.0)));
    let mut b = MechanismBuilder::new("m");
    for (name, inertia) in [("bad", SpatialInertia { inertia: given, ..good }), ("good", good)] {
        b.add_link(Link::new(name).with_inertia(inertia));
    }
    assert!(matches!(b.clone().build(), Err(BuildError::BadInertia { .. })));
    let changes = b.balance_inertia();
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].link, "bad");
    for (x, y) in changes[0].after.iter().zip([2.0, 3.0, 5.0]) {
        assert!((x - y).abs() < 64.0 * f64::EPSILON, "{changes:?}");
    }
    assert!(changes[0].to_string().contains("'bad'"));
    let m = b.build().unwrap();
    let changed = m.links()[1].inertia;
    assert!(norm(changed.inertia - tensor(DVec3::new(2.0, 3.0, 5.0))) < 64.0 * f64::EPSILON);
    assert_eq!((changed.mass, changed.center_of_mass), (2.0, DVec3::X));
    assert_eq!(m.links()[2].inertia, good);
    // No other possible tensor is nearer: neither with other axes nor with other moments.
    let least = norm(changed.inertia - given);
    let mut r = SplitMix64::new(3);
    for _ in 0..2000 {
        let size = 10f64.powf(r.range(-4.0, 0.0));
        let turn = DMat3::from_quat(exp_rotation(r.direction() * size));
        let (x, y) = (2.0 + r.range(-size, size), 3.0 + r.range(-size, size));
        let z = (x + y) * (1.0 - size * r.range(0.0, 0.5));
        let near = turn * tensor(DVec3::new(x, y, z)) * turn.transpose();
        assert!(norm(near - given) >= least * (1.0 - 1e-14));
    }
    // What building lets pass as rounding is made exact.
    let mut b = MechanismBuilder::from_mechanism(&m);
    b.links_mut()[2].inertia.inertia.z_axis.z = 3.0 * (1.0 + 1e-7);
    let rounded = b.build().unwrap();
    let mut b = MechanismBuilder::from_mechanism(&rounded);
    let changes = b.balance_inertia();
    let m = b.build().unwrap();
    assert_eq!(changes.len(), 1);
    let [a, b, c] = m.links()[2].inertia.principal_moments();
    assert!(c - a - b <= 16.0 * f64::EPSILON * c);
    let arm = forks_models::arm20().mechanism;
    assert!(MechanismBuilder::from_mechanism(&arm).balance_inertia().is_empty());
}
