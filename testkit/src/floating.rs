//! Mechanisms with a base that floats: a hub with compliant arms.

use forks_mechanism::{
    Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
    },
};

const HUB_MASS: f64 = 5.0;
const HUB_RADIUS: f64 = 0.12;
const LINK_LENGTH: f64 = 0.1;
const LINK_MASS: f64 = 0.1;
const ARM_LINKS: usize = 6;
const STIFFNESS: f64 = 50.0;
const DAMPING: f64 = 0.1;

/// A rod along x from its frame's origin, round enough to have inertia about its own axis.
fn rod(length: f64) -> SpatialInertia {
    let across = LINK_MASS * length * length / 12.0 + 1e-5;
    let inertia = DMat3::from_diagonal(DVec3::new(2e-5, across, across));
    SpatialInertia::new(LINK_MASS, DVec3::new(0.5 * length, 0.0, 0.0), inertia)
}

struct Hub {
    builder: MechanismBuilder,
    hub: LinkId,
}

impl Hub {
    fn new(name: &str) -> Self {
        Self::with(name, HUB_MASS, DVec3::new(0.03, 0.035, 0.04))
    }

    fn with(name: &str, mass: f64, moments: DVec3) -> Self {
        let mut builder = MechanismBuilder::new(name);
        let center = DVec3::new(0.01, -0.005, 0.02);
        let inertia = SpatialInertia::new(mass, center, DMat3::from_diagonal(moments));
        let hub = builder.add_link(Link::new("hub").with_inertia(inertia));
        builder.add_joint(Joint::new("hub", JointKind::Free, LinkId::WORLD, hub));
        Self { builder, hub }
    }

    fn hinge(&mut self, name: String, axis: DVec3, parent: LinkId, child: LinkId, at: Pose) {
        let hinge = Joint::new(name, JointKind::Revolute { axis }, parent, child);
        self.builder.add_joint(hinge.at(at).with_stiffness(STIFFNESS).with_damping(DAMPING));
    }

    /// Links along the x axis of `at` (in the hub), hinged about y and z in turn; the last link.
    fn arm(&mut self, label: &str, at: Pose) -> LinkId {
        let (mut parent, mut at) = (self.hub, at);
        for k in 0..ARM_LINKS {
            let name = format!("{label}{k}");
            let link = self.builder.add_link(Link::new(&name).with_inertia(rod(LINK_LENGTH)));
            let axis = if k % 2 == 0 { DVec3::Y } else { DVec3::Z };
            self.hinge(format!("{name}.joint"), axis, parent, link, at);
            (parent, at) = (link, Pose::from_translation(DVec3::new(LINK_LENGTH, 0.0, 0.0)));
        }
        parent
    }
}

fn spoke(angle: f64, tilt: f64) -> Pose {
    let turn =
        Pose::exp(forks_mechanism::lie::Twist::new(DVec3::ZERO, DVec3::new(0.0, 0.0, angle)));
    let down = Pose::exp(forks_mechanism::lie::Twist::new(DVec3::ZERO, DVec3::new(0.0, tilt, 0.0)));
    turn * Pose::from_translation(DVec3::new(HUB_RADIUS, 0.0, 0.0)) * down
}

/// A hub of 5 kg that floats, with three arms of six links of 0.1 m and 0.1 kg, hinges of 50
/// N·m/rad and 0.1 N·m·s/rad about y and z in turn. Effectors: the last links, `a5`, `b5`, `c5`.
pub fn floating_hub() -> Mechanism {
    let mut h = Hub::new("floating hub");
    for (label, angle, tilt) in [("a", 0.0, 0.2), ("b", 2.2, 0.4), ("c", -2.0, 0.3)] {
        h.arm(label, spoke(angle, tilt));
    }
    h.builder.build().expect("the numbers above are valid")
}

/// A hub of 100 kg that turns little while its one arm, as those of [`floating_hub`], is bent far.
/// Effector: `a5`.
pub fn floating_boom() -> Mechanism {
    let mut h = Hub::with("floating boom", 100.0, DVec3::new(30.0, 35.0, 40.0));
    h.arm("a", spoke(0.0, 0.2));
    h.builder.build().expect("the numbers above are valid")
}

/// The hub of [`floating_hub`] with two parallel arms whose ends are joined by a bar (a sprung
/// hinge at one end, a ball without spring at the other), and a third arm. Effectors: `bar` and
/// `c5`.
pub fn floating_loop() -> Mechanism {
    let mut h = Hub::new("floating loop");
    let width = 0.2;
    let base = spoke(0.0, 0.3);
    let shifted = |y: f64| base * Pose::from_translation(DVec3::new(0.0, y, 0.0));
    let a = h.arm("a", shifted(-0.5 * width));
    let b = h.arm("b", shifted(0.5 * width));
    h.arm("c", spoke(2.6, 0.1));
    // Along y of the arms.
    let across = Pose::exp(forks_mechanism::lie::Twist::new(
        DVec3::ZERO,
        DVec3::new(0.0, 0.0, core::f64::consts::FRAC_PI_2),
    ));
    let end = Pose::from_translation(DVec3::new(LINK_LENGTH, 0.0, 0.0));
    let bar = h.builder.add_link(Link::new("bar").with_inertia(rod(width)));
    h.hinge("bar.joint".into(), DVec3::Z, a, bar, end * across);
    let ball = Joint::new("bar.end", JointKind::Spherical, bar, b)
        .at(Pose::from_translation(DVec3::new(width, 0.0, 0.0)))
        .child_at(end);
    // The ball's start is the rotation between the two.
    let mut ball = ball;
    ball.parent_from_joint = ball.parent_from_joint * across.inverse();
    h.builder.add_joint(ball);
    h.builder.build().expect("the numbers above are valid")
}
