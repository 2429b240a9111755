//! Queries on a finished mechanism: masses, size, names, couplings.

use forks_mechanism::{
    Combination, CouplingTerm, Joint, JointId, JointKind, Link, LinkId, MechanismBuilder,
    kinematics::loops,
    lie::{
        Pose, SpatialInertia, SplitMix64,
        glam::{DMat3, DVec3},
    },
};

fn ball(mass: f64, center: DVec3) -> SpatialInertia {
    SpatialInertia::new(mass, center, DMat3::from_diagonal(DVec3::splat(0.01)))
}

/// Links welded to the ground, directly or through others, do not move.
#[test]
fn masses() {
    let mut b = MechanismBuilder::new("m");
    let names = ["table", "lamp", "arm", "hand"];
    let links = names.map(|n| b.add_link(Link::new(n).with_inertia(ball(2.0, DVec3::ZERO))));
    let hinge = JointKind::Revolute { axis: DVec3::X };
    b.add_joint(Joint::new("a", JointKind::Fixed, LinkId::WORLD, links[0]));
    // The lamp carries the table in the graph's sense: a reversed weld.
    b.add_joint(Joint::new("b", JointKind::Fixed, links[1], links[0]));
    b.add_joint(Joint::new("c", hinge, links[1], links[2]));
    b.add_joint(Joint::new("d", JointKind::Fixed, links[2], links[3]));
    let m = b.build().unwrap();
    assert_eq!((m.total_mass(), m.moving_mass()), (8.0, 4.0));
    assert_eq!(m.find_link("arm"), Some(links[2]));
    assert_eq!(m.find_joint("d"), Some(JointId::new(3)));
    assert_eq!((m.find_link("leg"), m.find_joint("e"), m.find_frame("f")), (None, None, None));
}

/// Two frames a metre apart: 0.5 from their mean; anchors and centres of mass can be farther.
#[test]
fn bounding_radius() {
    let radius = |center: DVec3, anchor: DVec3, gap: f64| {
        let mut b = MechanismBuilder::new("m");
        let first = b.add_link(Link::new("first").with_inertia(ball(1.0, center)));
        let second = b.add_link(Link::new("second"));
        let hinge = || JointKind::Revolute { axis: DVec3::Z };
        b.add_joint(Joint::new("a", hinge(), LinkId::WORLD, first));
        let at = |p| Pose::from_translation(p);
        b.add_joint(
            Joint::new("b", hinge(), first, second)
                .at(at(anchor))
                .child_at(at(anchor - DVec3::X * gap)),
        );
        let m = b.build().unwrap();
        m.bounding_radius(&m.link_poses(&m.start_positions()))
    };
    assert_eq!(radius(DVec3::ZERO, DVec3::X, 1.0), 0.5);
    assert_eq!(radius(DVec3::X * 2.0, DVec3::X, 1.0), 1.5);
    assert_eq!(radius(DVec3::ZERO, DVec3::X * -3.0, 1.0), 3.5);
    // Everything in one point.
    assert_eq!(radius(DVec3::ZERO, DVec3::ZERO, 0.0), 1.0);
    let empty = MechanismBuilder::new("empty").build().unwrap();
    assert_eq!(empty.bounding_radius(&empty.link_poses(&[])), 1.0);
}

/// p, p′ and p″ of 1 − 2ℓ + 3ℓ² + ℓ³ at ℓ = 2.
#[test]
fn coupling_polynomials() {
    let polynomial = vec![1.0, -2.0, 3.0, 1.0];
    let combination = Combination { terms: vec![], offset: 0.0 };
    let term = CouplingTerm { combination, polynomial };
    assert_eq!(term.evaluate(2.0), (17.0, 22.0, 18.0));
}

#[test]
fn combinations_of_coordinates() {
    let m = forks_models::four_bar().mechanism;
    let mut q = m.start_positions();
    q[0] = 0.5;
    let mut c = Combination::of(JointId::new(0));
    c.terms.push((c.terms[0].0, 3.0));
    c.offset = 0.25;
    assert_eq!(loops::combination_value(&m, &c, &q), 2.25);
}

/// q ⊟ (q ⊞ v) = v on whole mechanisms.
#[test]
fn integration_and_difference() {
    let mut r = SplitMix64::new(1);
    let m = forks_models::octahedral_truss().mechanism;
    let from = m.start_positions();
    let v: Vec<f64> = (0..m.velocity_count()).map(|_| r.range(-0.5, 0.5)).collect();
    let mut to = from.clone();
    m.integrate(&mut to, &v);
    for (a, b) in m.difference(&from, &to).iter().zip(&v) {
        assert!((a - b).abs() < 16.0 * f64::EPSILON);
    }
}
