//! Equal worlds, snapshots and steps that fail: bit by bit.

use crate::support;

use std::sync::Arc;

use forks_models::{HelixJoints, helix};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_sim::{
    BodyHandle, CollisionShape, Geometry, Material, Owner, SimError, World, WorldSettings,
    WorldStatus,
    contact_solver::Method,
    lie::{
        Pose, Twist, Wrench,
        glam::{DQuat, DVec2, DVec3},
    },
};
use support::{add_ball, add_box, at, smooth, tilted};

/// Boxes, balls and a helix that fall on each other over uneven ground.
fn busy(method: Method) -> (World, Vec<BodyHandle>) {
    let mut settings = WorldSettings { substeps: 2, ..WorldSettings::default() };
    settings.contact.method = method;
    let mut world = World::new(settings).unwrap();
    let heights = (0..81).map(|i| 0.05 * f64::from(i % 9 * 7 % 5) / 5.0).collect();
    let ground = Geometry::HeightField { size: DVec2::splat(4.0), columns: 9, heights };
    let rough = Material { friction: 0.6, restitution: 0.2, ..Material::default() };
    world.add_shape(Owner::World, &CollisionShape::new("ground", ground).of(rough)).unwrap();
    let mut bodies = Vec::new();
    for i in 0..4 {
        let x = 0.07 * f64::from(i);
        let turned = DQuat::from_rotation_x(0.3 * f64::from(i)) * DQuat::from_rotation_y(0.2);
        let pose = Pose::new(turned, DVec3::new(x, 0.02, 0.4 + 0.3 * f64::from(i)));
        bodies.push(add_box(&mut world, DVec3::new(0.1, 0.07, 0.05), pose, smooth()));
        bodies.push(add_ball(
            &mut world,
            0.06,
            at(-0.3 - x, 0.1, 0.2 + 0.2 * f64::from(i)),
            smooth(),
        ));
    }
    let helix = helix(6, HelixJoints::Hinge3);
    let tip = helix.mechanism.link(helix.effectors[0]).name.clone();
    let problem = Problem::new(&helix.mechanism, &[&tip], &ProblemOptions::default()).unwrap();
    let model =
        Arc::new(problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap().model);
    let at_tip = model.data().effectors[0].rest.translation;
    let placement = Pose::from_translation(DVec3::new(0.0, 0.0, 0.2) - at_tip);
    let m = world.add_mechanism("helix", model, placement).unwrap();
    let tip = Owner::Effector { mechanism: m, effector: 0 };
    world.add_shape(tip, &CollisionShape::new("tip", Geometry::Sphere { radius: 0.1 })).unwrap();
    (world, bodies)
}

fn numbers(world: &World, bodies: &[BodyHandle]) -> Vec<u64> {
    let of = |b: &BodyHandle| {
        let pose = world.body_pose(*b).unwrap().to_array();
        pose.into_iter().chain(world.body_twist(*b).unwrap().to_array())
    };
    bodies.iter().flat_map(of).map(f64::to_bits).collect()
}

#[test]
fn equal_worlds_and_restored_ones_give_equal_bits() {
    for method in [Method::GaussSeidel, Method::Robust] {
        let steps = if method == Method::Robust { 40 } else { 300 };
        let go = |world: &mut World| {
            let mut touching = 0;
            for _ in 0..steps {
                touching += world.step().touching;
            }
            touching
        };
        let ((mut a, bodies), (mut b, _)) = (busy(method), busy(method));
        let touched = go(&mut a);
        go(&mut b);
        assert_eq!(numbers(&a, &bodies), numbers(&b, &bodies));
        let snapshot = a.snapshot();
        let more = go(&mut a);
        let end = numbers(&a, &bodies);
        assert!(method == Method::Robust || (touched > 100 && more > 100), "{touched}, {more}");
        a.restore(&snapshot).unwrap();
        assert_eq!(a.snapshot(), snapshot);
        go(&mut a);
        assert_eq!(numbers(&a, &bodies), end);
        // In another world too.
        let (mut c, _) = busy(method);
        c.restore(&snapshot).unwrap();
        go(&mut c);
        assert_eq!(numbers(&c, &bodies), end);
        // Nothing fell through.
        for body in &bodies {
            let p = a.body_pose(*body).unwrap().translation;
            assert!(p.z > 0.0 && p.abs().max_element() < 2.0, "{p}");
        }
    }
}

#[test]
fn a_step_that_overflows_leaves_the_world_as_it_was() {
    let mut world = tilted(WorldSettings::default(), 0.0, Material::default());
    let fine = add_ball(&mut world, 0.1, at(0.0, 0.0, 0.1), smooth());
    let body = add_ball(&mut world, 0.1, at(5.0, 0.0, 1.0), smooth());
    let huge = Twist::new(DVec3::new(1e308, 0.0, 0.0), DVec3::ZERO);
    world.set_body(body, at(5.0, 0.0, 1.0), huge).unwrap();
    world.set_body_load(body, Wrench::new(DVec3::X * 1e308 * 1.7, DVec3::ZERO)).unwrap();
    let before = world.snapshot();
    for _ in 0..5000 {
        let kept = world.snapshot();
        let report = world.step();
        assert!(world.energy().total().is_finite() || world.body_pose(fine).is_ok());
        if let WorldStatus::NotFinite { .. } = report.status {
            assert_eq!(world.snapshot(), kept);
            return;
        }
    }
    panic!("it never overflowed: {before:?}");
}

#[test]
fn snapshots_of_other_worlds_are_refused() {
    let (world, _) = busy(Method::GaussSeidel);
    let mut other = tilted(WorldSettings::default(), 0.0, Material::default());
    let error = other.restore(&world.snapshot()).unwrap_err();
    assert_eq!(error, SimError::Snapshot { kind: "bodies", found: 8, expected: 0 });
}
