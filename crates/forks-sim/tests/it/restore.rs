//! A snapshot that a mechanism refuses leaves the world as it was.

use std::f64::consts::FRAC_PI_3;

use forks_mechanism::{
    Joint, JointKind, JointMatrix, Link, LinkId, Mechanism, MechanismBuilder, Preparation,
};
use forks_models::{HelixJoints, four_bar, helix};
use forks_sim::{
    CollisionShape, Geometry, MechanismHandle, Owner, RigidBody, SimError, World, WorldSettings,
    WorldStatus,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
    },
    twin::FullMechanism,
};

/// Equal bars on hinges about z that lie on each other where all coordinates are 0: there it can
/// move in two ways.
fn folded() -> Mechanism {
    let inertia = SpatialInertia::new(
        0.2,
        DVec3::new(0.25, 0.0, 0.0),
        DMat3::from_diagonal(DVec3::splat(0.01)),
    );
    let mut b = MechanismBuilder::new("folded");
    let [crank, coupler, rocker] =
        ["crank", "coupler", "rocker"].map(|n| b.add_link(Link::new(n).with_inertia(inertia)));
    let at = |x: f64| Pose::from_translation(DVec3::new(x, 0.0, 0.0));
    for (name, [parent, child], parent_from, child_from) in [
        ("crank", [LinkId::WORLD, crank], at(0.0), at(0.0)),
        ("coupler", [crank, coupler], at(0.5), at(0.0)),
        ("rocker", [LinkId::WORLD, rocker], at(1.0), at(0.0)),
        ("closure", [coupler, rocker], at(1.0), at(0.5)),
    ] {
        let hinge = JointKind::Revolute { axis: DVec3::Z };
        let joint = Joint::new(name, hinge, parent, child).with_damping(0.1);
        let joint = joint.with_spring(JointMatrix::isotropic(1, 10.0));
        b.add_joint(joint.at(parent_from).child_at(child_from));
    }
    b.build().unwrap()
}

fn full(m: &Mechanism, effector: &str) -> FullMechanism {
    FullMechanism::new(m, &Preparation::default(), &[effector]).unwrap()
}

/// A helix, then a mechanism with one loop, and a ball that falls.
fn world(second: &FullMechanism) -> (World, [MechanismHandle; 2]) {
    let mut world = World::new(WorldSettings::default()).unwrap();
    let helix = helix(4, HelixJoints::Alternating).mechanism;
    let helix = world.add_full("helix", &full(&helix, "link3"), Pose::IDENTITY).unwrap();
    let looped = world.add_full("loop", second, Pose::IDENTITY).unwrap();
    let inertia = SpatialInertia::new(1.0, DVec3::ZERO, DMat3::from_diagonal(DVec3::splat(0.01)));
    let ball = RigidBody::at_rest("ball", inertia, Pose::from_translation(DVec3::Z));
    let ball = world.add_body(&ball).unwrap();
    world
        .add_shape(
            Owner::Body(ball),
            &CollisionShape::new("ball", Geometry::Sphere { radius: 0.1 }),
        )
        .unwrap();
    (world, [helix, looped])
}

#[test]
fn a_snapshot_that_a_mechanism_refuses_changes_nothing() {
    let (mut first, _) = world(&full(&four_bar().mechanism, "coupler"));
    let a = FRAC_PI_3;
    let open = full(&folded(), "coupler").from_positions(&[a, -a, a]);
    let (mut second, mechanisms) = world(&open);
    // Where the first one's loop has all coordinates 0 the second one's is folded.
    let there = first.snapshot();
    for _ in 0..20 {
        let _ = second.step();
    }
    let before = second.snapshot();
    let bits = |w: &World| {
        let poses = mechanisms.map(|m| w.effector_pose(m, 0).unwrap().to_array().map(f64::to_bits));
        (poses, w.energy().total().to_bits())
    };
    let now = bits(&second);
    let error = second.restore(&there).unwrap_err();
    assert!(matches!(&error, SimError::Model { mechanism, .. } if mechanism == "loop"), "{error}");
    assert!(second.snapshot() == before && bits(&second) == now);
    // And it goes on as if nobody had asked.
    let mut twin = second.clone();
    twin.restore(&before).unwrap();
    for w in [&mut second, &mut twin] {
        (0..20).for_each(|_| assert!(w.step().status == WorldStatus::Completed));
    }
    assert!(second.snapshot() == twin.snapshot());
    // The other way round there is nothing to refuse.
    first.restore(&before).unwrap();
}
