//! Which links of a mechanism may touch each other.

use forks_mechanism::{
    ContactMask, Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder, lie::glam::DVec3,
};

/// World, welded foot, turning `a`, on two joints `b`, welded to it `tip`, on that `c`.
fn chain() -> Mechanism {
    let mut m = MechanismBuilder::new("chain");
    let hinge = || JointKind::Revolute { axis: DVec3::Y };
    let steps = [
        ("foot", JointKind::Fixed, false),
        ("a", hinge(), false),
        ("between", hinge(), true),
        ("b", hinge(), false),
        ("tip", JointKind::Fixed, false),
        ("c", hinge(), false),
        ("d", hinge(), false),
    ];
    let mut parent = LinkId::WORLD;
    for (name, kind, auxiliary) in steps {
        let link = Link::new(name);
        let link = m.add_link(if auxiliary { link.auxiliary() } else { link });
        m.add_joint(Joint::new(name, kind, parent, link));
        parent = link;
    }
    let [c, a] = [6, 2].map(LinkId::new);
    m.exclude_contact(c, a);
    m.build().unwrap()
}

#[test]
fn neighbours_and_excluded_links_do_not_touch() {
    let m = chain();
    let link = |name: &str| m.find_link(name).unwrap();
    // MuJoCo 4.0.0 has contacts for the same pairs where spheres of 1 m are on all bodies.
    let expected = [
        ("world", "foot", false),
        ("world", "a", true),
        ("foot", "a", true),
        ("a", "b", false),
        ("a", "tip", false),
        ("b", "tip", false),
        ("tip", "c", false),
        ("b", "c", false),
        ("a", "c", false),
        ("a", "d", true),
        ("b", "d", true),
        ("c", "d", false),
    ];
    for (a, b, may) in expected {
        let [i, j] = [link(a), link(b)];
        assert_eq!(m.links_may_touch(i, j), may, "{a}, {b}");
        assert_eq!(m.links_may_touch(j, i), may, "{b}, {a}");
    }
}

#[test]
fn masks_meet_one_way_or_the_other() {
    let mask = |own, touches| ContactMask { own, touches };
    assert!(ContactMask::default().meets(ContactMask::default()));
    assert!(mask(2, 0).meets(mask(0, 2)) && mask(0, 2).meets(mask(2, 0)));
    assert!(!mask(1, 0).meets(mask(1, 0)) && !mask(1, 2).meets(mask(1, 4)));
}
