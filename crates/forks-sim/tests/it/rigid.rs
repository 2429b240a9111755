//! Rigid bodies against closed forms.

use crate::support;

use forks_sim::{
    Material, Owner, RigidBody, World, WorldSettings,
    lie::{
        Pose, SpatialInertia, Twist,
        glam::{DMat3, DQuat, DVec3},
    },
};
use support::{G, add_ball, add_box, at, run, run_watched, smooth, tilted};

const HALF: DVec3 = DVec3::new(0.1, 0.08, 0.05);

#[test]
fn a_box_on_a_plane_rests() {
    let mut world = tilted(WorldSettings::default(), 0.0, Material::with_friction(0.6));
    let body = add_box(&mut world, HALF, at(0.3, 0.1, HALF.z), smooth());
    let mut record = Vec::new();
    run_watched(&mut world, 2.0, |world| record.push((world.time(), world.energy().total())));
    let pose = world.body_pose(body).unwrap();
    // Contact is solved to 1e-5 of the speed g h, 2000 times.
    let drift = 2000.0 * 1e-5 * G * 1e-3 * 1e-3;
    assert!((pose.translation - DVec3::new(0.3, 0.1, HALF.z)).length() < drift, "{pose:?}");
    assert!(pose.log().angular.length() < drift / HALF.z);
    let force = world.contact_force(Owner::Body(body));
    assert!((force - DVec3::new(0.0, 0.0, G)).length() < 1e-4 * G, "{force}");
    assert_eq!(world.contacts().len(), 4);
    // Energy does not grow at rest.
    let first = record[0].1;
    for (t, e) in record {
        assert!(e <= first + G * drift, "{t}: {:e}", e - first);
    }
}

#[test]
fn a_box_on_an_incline_sticks_below_the_angle_of_friction_and_slides_above() {
    let mu: f64 = 0.5;
    for (share, time) in [(0.98, 1.0), (1.02, 1.0), (1.3, 0.5)] {
        let angle = share * mu.atan();
        let mut world = tilted(WorldSettings::default(), angle, Material::with_friction(mu));
        let turn = DQuat::from_rotation_y(angle);
        let start = turn * DVec3::new(0.0, 0.0, HALF.z);
        let body = add_box(&mut world, HALF, Pose::new(turn, start), smooth());
        run(&mut world, time);
        let pose = world.body_pose(body).unwrap();
        let speed = (turn.conjugate() * (pose.rotation * world.body_twist(body).unwrap().linear)).x;
        let expected = (G * (angle.sin() - mu * angle.cos())).max(0.0);
        let acceleration = speed / time;
        if share < 1.0 {
            let moved = (pose.translation - start).length();
            assert!(moved < 1e-6 && acceleration.abs() < 1e-4, "moved {moved:e}");
        } else {
            let gap = (acceleration / expected - 1.0).abs();
            assert!(gap < 0.01, "share {share}: {acceleration} instead of {expected}");
        }
    }
}

#[test]
fn a_ball_bounces_with_its_restitution() {
    for e in [0.0, 0.5, 0.8, 1.0] {
        let mut world = tilted(WorldSettings::default(), 0.0, smooth());
        let material = Material { restitution: e, friction: 0.0, ..Material::default() };
        let radius = 0.05;
        let height = 0.5;
        let body = add_ball(&mut world, radius, at(0.0, 0.0, radius + height), material);
        let (mut down, mut highest): (f64, f64) = (0.0, 0.0);
        let mut hit = false;
        for _ in 0..1000 {
            let _ = world.step();
            let v = world.body_twist(body).unwrap().linear.z;
            if !hit && world.contacts().iter().any(|c| c.is_touching()) {
                hit = true;
                // Restitution acts on the velocity before the step of impact; without it the step
                // closes the gap.
                assert!(
                    e == 0.0 || (v + e * down).abs() <= 0.01 * down.abs(),
                    "e = {e}: {down} to {v}"
                );
            }
            down = v;
            if hit {
                let z = world.body_pose(body).unwrap().translation.z - radius;
                highest = highest.max(z);
                if v < 0.0 && e > 0.0 {
                    break;
                }
            }
        }
        assert!(hit);
        // Height e² of the first within 1 % of it; a step at the speed of impact is 3 mm.
        assert!((highest - e * e * height).abs() < 0.01 * height, "e = {e}: {highest}");
    }
}

#[test]
fn a_sliding_ball_ends_up_rolling_at_five_sevenths() {
    let mut world = tilted(WorldSettings::default(), 0.0, Material::with_friction(0.3));
    let radius = 0.1;
    let body = add_ball(&mut world, radius, at(0.0, 0.0, radius), smooth());
    world.set_body(body, at(0.0, 0.0, radius), Twist::new(DVec3::X, DVec3::ZERO)).unwrap();
    run(&mut world, 1.0);
    let pose = world.body_pose(body).unwrap();
    let twist = world.body_twist(body).unwrap();
    let velocity = pose.rotation * twist.linear;
    let omega = pose.rotation * twist.angular;
    assert!((velocity.x - 5.0 / 7.0).abs() < 1e-3, "{velocity}");
    assert!((omega.y * radius - velocity.x).abs() < 1e-4, "{omega}");
}

#[test]
fn a_ball_spinning_on_the_spot_rolls_away_at_two_sevenths_and_a_top_spins_on() {
    let radius = 0.1;
    for (spin, speed, kept) in [(DVec3::Y, 2.0 / 7.0, 2.0 / 7.0), (DVec3::Z, 0.0, 1.0)] {
        let mut world = tilted(WorldSettings::default(), 0.0, Material::with_friction(0.3));
        let body = add_ball(&mut world, radius, at(0.0, 0.0, radius), smooth());
        let start = Twist::new(DVec3::ZERO, spin * (1.0 / radius));
        world.set_body(body, at(0.0, 0.0, radius), start).unwrap();
        run(&mut world, 1.0);
        let pose = world.body_pose(body).unwrap();
        let twist = world.body_twist(body).unwrap();
        let (velocity, omega) = (pose.rotation * twist.linear, pose.rotation * twist.angular);
        assert!((velocity.x - speed).abs() < 1e-3, "{velocity}");
        // A point contact has no torsional friction.
        assert!((omega.dot(spin) * radius - kept).abs() < 1e-3, "{omega}");
    }
}

#[test]
fn a_sliding_box_stops_where_friction_says() {
    let mu = 0.4;
    let mut world = tilted(WorldSettings::default(), 0.0, Material::with_friction(mu));
    let body = add_box(&mut world, HALF, at(0.0, 0.0, HALF.z), smooth());
    let start = Twist::new(DVec3::X, DVec3::ZERO);
    world.set_body(body, at(0.0, 0.0, HALF.z), start).unwrap();
    run(&mut world, 1.0);
    let distance = world.body_pose(body).unwrap().translation.x;
    let expected = 1.0 / (2.0 * mu * G);
    assert!((distance / expected - 1.0).abs() < 0.01, "{distance} instead of {expected}");
}

#[test]
fn a_stack_of_five_boxes_stays_for_ten_seconds() {
    let mut world = tilted(WorldSettings::default(), 0.0, Material::with_friction(0.5));
    let bodies: Vec<_> = (0..5)
        .map(|i| {
            let z = HALF.z * (2 * i + 1) as f64;
            add_box(&mut world, HALF, at(0.0, 0.0, z), Material::with_friction(0.5))
        })
        .collect();
    run(&mut world, 10.0);
    for (i, body) in bodies.iter().enumerate() {
        let pose = world.body_pose(*body).unwrap();
        let z = HALF.z * (2 * i + 1) as f64;
        let moved = (pose.translation - DVec3::new(0.0, 0.0, z)).length();
        println!("box {i}: moved {moved:e}, turned {:e}", pose.log().angular.length());
        assert!(moved < 1e-5 && pose.log().angular.length() < 1e-4, "box {i}: {moved:e}");
    }
}

/// A body with three different moments and its frame away from the centre of mass.
fn tumbler() -> RigidBody {
    let moments = DVec3::new(0.02, 0.05, 0.06);
    let turn = DMat3::from_quat(DQuat::from_rotation_x(0.4) * DQuat::from_rotation_z(0.7));
    let inertia = turn * DMat3::from_diagonal(moments) * turn.transpose();
    RigidBody {
        name: "tumbler".into(),
        inertia: SpatialInertia::new(2.0, DVec3::new(0.1, -0.2, 0.05), inertia),
        pose: at(0.3, 0.2, 0.1),
        twist: Twist::new(DVec3::new(0.5, -0.3, 0.2), DVec3::new(3.0, 8.0, -2.0)),
    }
}

#[test]
fn momentum_and_energy_are_conserved_in_free_flight() {
    let settings = WorldSettings { gravity: DVec3::ZERO, ..WorldSettings::default() };
    let mut world = World::new(settings).unwrap();
    let body = world.add_body(&tumbler()).unwrap();
    let (linear, angular) = world.body_momentum(body).unwrap();
    let energy = world.energy().total();
    run(&mut world, 5.0);
    let (l, a) = world.body_momentum(body).unwrap();
    // A few roundings in each of 5000 steps.
    let bound = 5000.0 * 16.0 * f64::EPSILON;
    assert!((l - linear).length() < bound * linear.length());
    assert!((a - angular).length() < bound * angular.length(), "{:e}", (a - angular).length());
    let gain = world.energy().total() / energy - 1.0;
    assert!(gain.abs() < bound, "{gain:e}");
}

#[test]
fn tumbling_converges_with_second_order() {
    let reached = |h: f64| {
        let settings = WorldSettings { gravity: DVec3::ZERO, step: h, ..WorldSettings::default() };
        let mut world = World::new(settings).unwrap();
        let body = world.add_body(&tumbler()).unwrap();
        run(&mut world, 0.5);
        world.body_twist(body).unwrap().angular
    };
    let exact = reached(1e-5);
    let [coarse, fine] = [4e-3, 2e-3].map(|h| (reached(h) - exact).length());
    let ratio = coarse / fine;
    assert!((3.6..4.4).contains(&ratio), "{coarse:e} / {fine:e} = {ratio}");
}

#[test]
fn momentum_is_conserved_in_a_collision_of_bodies() {
    let settings = WorldSettings { gravity: DVec3::ZERO, ..WorldSettings::default() };
    let mut world = World::new(settings).unwrap();
    let rough = Material { friction: 0.7, restitution: 0.4, ..Material::default() };
    let a = add_box(&mut world, HALF, at(0.0, 0.0, 0.0), rough);
    let b = add_ball(&mut world, 0.06, at(0.3, 0.05, 0.02), rough);
    let toward = Twist::new(DVec3::new(-2.0, 0.1, 0.0), DVec3::new(3.0, 9.0, -4.0));
    world.set_body(b, at(0.3, 0.05, 0.02), toward).unwrap();
    let total = |w: &World| {
        let [p, q] = [a, b].map(|x| w.body_momentum(x).unwrap());
        (p.0 + q.0, p.1 + q.1)
    };
    let (before, energy) = (total(&world), world.energy().total());
    run(&mut world, 0.3);
    let after = total(&world);
    assert!(world.body_momentum(a).unwrap().0.length() > 0.1, "they met");
    assert!((after.0 - before.0).length() < 1e-12, "{:e}", (after.0 - before.0).length());
    assert!((after.1 - before.1).length() < 1e-12, "{:e}", (after.1 - before.1).length());
    assert!(world.energy().total() <= energy * (1.0 + 1e-12));
}

#[test]
fn fast_bodies_do_not_pass_through_thin_ones() {
    let mut world = tilted(WorldSettings::default(), 0.0, smooth());
    let wall = forks_sim::CollisionShape::new(
        "wall",
        forks_sim::Geometry::Box { half_extents: DVec3::new(0.001, 1.0, 1.0) },
    );
    world.add_shape(Owner::World, &wall.at(at(0.0, 0.0, 1.0))).unwrap();
    let ball = add_ball(&mut world, 0.02, at(-0.5, 0.0, 0.5), smooth());
    let fast = Twist::new(DVec3::new(150.0, 0.0, 0.0), DVec3::ZERO);
    world.set_body(ball, at(-0.5, 0.0, 0.5), fast).unwrap();
    run(&mut world, 0.5);
    let pose = world.body_pose(ball).unwrap();
    assert!(pose.translation.x < -0.02, "{pose:?}");
    assert!(pose.translation.z > 0.02 - 1e-4, "{pose:?}");
}
