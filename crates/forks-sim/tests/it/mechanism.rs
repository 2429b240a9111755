//! Reduced mechanisms in contact, against their statics with a unilateral constraint.

use crate::support;
use forks_rom::System;

use std::sync::Arc;

use forks_dynamics::Loads;
use forks_mechanism::{Joint, JointKind, Link, LinkId, MechanismBuilder};
use forks_models::{HelixJoints, helix};
use forks_reduce::{Linearisation, Problem, ProblemOptions, ReduceOptions};
use forks_sim::{
    CollisionShape, Geometry, Material, MechanismHandle, Owner, RigidBody, World, WorldSettings,
    WorldStatus,
    lie::{
        Pose, SpatialInertia, Twist, Wrench,
        glam::{DMat3, DQuat, DVec3},
    },
    rom::{EffectorLoad, LoadFrame, ReducedModel},
};
use support::{add_ball, at, ball_at_tip, ball_inertia, force_that_holds, run, settle, smooth};

const RADIUS: f64 = 0.03;

fn helix_model() -> Arc<ReducedModel> {
    let helix = helix(20, HelixJoints::Hinge3);
    let tip = helix.mechanism.link(helix.effectors[0]).name.clone();
    let problem = Problem::new(&helix.mechanism, &[&tip], &ProblemOptions::default()).unwrap();
    Arc::new(problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap().model)
}

/// A helix with a ball at its tip, placed somewhere, without gravity.
fn helix_world(model: &Arc<ReducedModel>, placement: Pose, step: f64) -> (World, MechanismHandle) {
    ball_at_tip(RADIUS, step, |w| w.add_mechanism("helix", model.clone(), placement).unwrap())
}

/// Static solution with the tip held at `height` by a force along z.
fn held(model: &ReducedModel, pull: f64, height: f64) -> (f64, Vec<f64>) {
    let height_of = |eta: &[f64]| model.effector_pose(0, eta).translation.z;
    force_that_holds(pull, height, |load| model.solve_static(&[load], &[]).unwrap(), height_of)
}

#[test]
fn a_tip_pushed_against_a_plane_is_the_static_solution_with_a_unilateral_constraint() {
    let model = helix_model();
    // Anywhere: turned about z and moved.
    let placement = Pose::new(DQuat::from_rotation_z(0.7), DVec3::new(1.0, -2.0, 0.5));
    let (mut world, m) = helix_world(&model, placement, 0.01);
    let rest = model.data().effectors[0].rest.translation.z;
    let ground = rest - RADIUS - 0.01;
    let plane =
        CollisionShape::new("ground", Geometry::Plane).at(at(0.0, 0.0, ground + 0.5)).of(smooth());
    world.add_shape(Owner::World, &plane).unwrap();
    let pull = 40.0;
    let down = Wrench::new(DVec3::new(0.0, 0.0, -pull), DVec3::ZERO);
    world.set_effector_load(m, 0, down, LoadFrame::World).unwrap();
    // Steps of 10 ms damp the slowest mode by h ω²/2 = 0.6 per second; the springs' own damping
    // alone would take an hour.
    settle(&mut world, m, 100.0);

    let (force, eta) = held(&model, pull, ground + RADIUS);
    assert!(force > 0.1 * pull, "the plane carries something: {force}");
    let tip = Owner::Effector { mechanism: m, effector: 0 };
    let found = world.contact_force(tip);
    let found_eta = world.coordinates(m).unwrap();
    let gap = |a: &[f64]| a.iter().zip(&eta).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    println!("force {found} against {force}; eta differs by {:e}", gap(found_eta));
    assert!((found - DVec3::new(0.0, 0.0, force)).length() < 1e-3 * force);
    assert!(gap(found_eta) < 1e-4 * gap(&[0.0; 6]));
}

#[test]
fn without_contact_a_world_steps_as_the_model_alone() {
    let model = helix_model();
    let (mut world, m) = helix_world(&model, Pose::IDENTITY, 1e-3);
    let plane = CollisionShape::new("far", Geometry::Plane).at(at(0.0, 0.0, -10.0));
    world.add_shape(Owner::World, &plane).unwrap();
    let wrench = Wrench::new(DVec3::new(3.0, 5.0, -20.0), DVec3::new(0.1, 0.2, -0.3));
    world.set_effector_load(m, 0, wrench, LoadFrame::Body).unwrap();
    run(&mut world, 0.5);

    let h = world.settings().step;
    let stepper = forks_sim::rom::Stepper::new(model.clone(), h).unwrap();
    let mut state = forks_sim::rom::State::new(&model);
    let mut work = stepper.workspace();
    let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::Body };
    for _ in 0..500 {
        let _ = stepper.step(&mut state, &mut work, &[load]);
    }
    assert_eq!(world.coordinates(m).unwrap(), state.coordinates());
    assert_eq!(world.velocities(m).unwrap(), state.velocity());
}

#[test]
fn a_ball_dropped_on_a_tip_is_carried_by_it() {
    let model = helix_model();
    let mut world = World::new(WorldSettings::default()).unwrap();
    let m = world.add_mechanism("helix", model.clone(), Pose::IDENTITY).unwrap();
    let tip = Owner::Effector { mechanism: m, effector: 0 };
    // A dish: a box with a ball of great friction on it.
    let half = DVec3::new(0.3, 0.3, 0.01);
    let dish = CollisionShape::new("dish", Geometry::Box { half_extents: half });
    world.add_shape(tip, &dish.of(Material::with_friction(0.9))).unwrap();
    let rest = model.data().effectors[0].rest.translation;
    let start = Pose::from_translation(rest + DVec3::new(0.0, 0.0, 0.1));
    let cube = support::add_box(&mut world, DVec3::splat(0.05), start, smooth());
    let before = world.energy().total();
    let mut highest = f64::MIN;
    for _ in 0..3000 {
        let report = world.step();
        assert!(
            matches!(report.status, WorldStatus::Completed | WorldStatus::ContactInexact),
            "{report:?}"
        );
        highest = highest.max(world.energy().total());
    }
    let weight = support::G;
    // Energy is never created.
    assert!(highest <= before + 1e-9 * weight, "{highest} after {before}");
    let pose = world.body_pose(cube).unwrap();
    let dish = world.effector_pose(m, 0).unwrap();
    let local = dish.inverse() * pose;
    println!("in the dish: {local:?}");
    assert!((local.translation.z - 0.06).abs() < 1e-3);
}

#[test]
fn impulses_between_a_tip_and_a_ball_are_opposite() {
    let model = helix_model();
    let (mut world, m) = helix_world(&model, Pose::IDENTITY, 1e-3);
    let rest = model.data().effectors[0].rest.translation;
    let ball = add_ball(&mut world, 0.05, Pose::from_translation(rest + DVec3::X * 0.2), smooth());
    let toward = Twist::new(DVec3::new(-1.0, 0.0, 0.0), DVec3::ZERO);
    let start = Pose::from_translation(rest + DVec3::X * 0.2);
    world.set_body(ball, start, toward).unwrap();
    let tip = Owner::Effector { mechanism: m, effector: 0 };
    let mut hit = false;
    for _ in 0..300 {
        let _ = world.step();
        let [on_tip, on_ball] = [tip, Owner::Body(ball)].map(|o| world.contact_force(o));
        assert_eq!(on_tip, -on_ball);
        hit |= on_tip.length() > 0.0;
    }
    assert!(hit);
    assert!(world.body_twist(ball).unwrap().linear.x > -0.9);
}

#[test]
fn what_is_missing_is_named() {
    let model = helix_model();
    let (mut world, m) = helix_world(&model, Pose::IDENTITY, 1e-3);
    let wrong = Owner::Effector { mechanism: m, effector: 3 };
    let error = world.add_shape(wrong, &CollisionShape::new("x", Geometry::Sphere { radius: 1.0 }));
    assert_eq!(error.unwrap_err().to_string(), "there is no effector 3; there are 1");
    let body = RigidBody::at_rest("b", ball_inertia(-1.0, 1.0), Pose::IDENTITY);
    let error = world.add_body(&body).unwrap_err().to_string();
    assert!(error.contains("\"b\"") && error.contains("-1"), "{error}");
}

#[test]
fn a_servo_target_that_jumps_does_its_spring_s_work() {
    // A rod that gravity pulls aside, on a servo: ½ k (ℓ − s)² with k ℓ the torque of its weight.
    let (k, mass, arm, target) = (20.0, 0.5, 0.3, 0.1);
    let mut b = MechanismBuilder::new("rod");
    b.set_gravity(DVec3::new(0.0, 0.0, -9.81));
    let moments = DMat3::from_diagonal(DVec3::splat(0.01));
    let inertia = SpatialInertia::new(mass, DVec3::new(arm, 0.0, 0.0), moments);
    let rod = b.add_link(Link::new("rod").with_inertia(inertia));
    b.add_joint(Joint::new("hinge", JointKind::Revolute { axis: DVec3::Y }, LinkId::WORLD, rod));
    let m = b.build().unwrap().with_servos(&[("hinge", k, 0.1)]).unwrap();
    let problem = Problem::new(&m, &["rod"], &ProblemOptions::default()).unwrap();
    let loads = Loads::gravity();
    let at = problem.equilibrium(&loads, &Default::default());
    let model = Arc::new(
        problem
            .reduce(Linearisation::equilibrium(&at, &loads), &ReduceOptions::default())
            .unwrap()
            .model,
    );
    let mut world = World::new(WorldSettings::default()).unwrap();
    let m = world.add_mechanism("rod", model.clone(), Pose::IDENTITY).unwrap();
    let mut terms = problem.servo_terms(&at.q, model.data());
    world.set_servo_terms(m, &terms).unwrap();
    let torque = mass * 9.81 * arm * at.q[0].cos();
    let jump = |s: f64| 0.5 * k * s * s - torque * s;
    let start = world.energy().total();
    world.set_servo_targets(m, &[target]).unwrap();
    let moved = world.energy().total() - start;
    // The equilibrium is found to 1e-9 of the torques.
    assert!((moved - jump(target)).abs() < 1e-8 * torque, "{moved} {}", jump(target));
    // Once it rests again the jump and the servo's work are what gravity gained: the weight's
    // height to second order.
    settle(&mut world, m, 30.0);
    let height = mass * 9.81 * arm * ((at.q[0] + target).sin() - at.q[0].sin());
    let gained = world.energy().total() - start;
    assert!((gained + height).abs() < target * target * torque, "{gained} {height}");
    world.set_servo_targets(m, &[0.0]).unwrap();

    terms.force.push(0.0);
    let message = world.set_servo_terms(m, &terms).unwrap_err().to_string();
    assert!(message.contains("\"rod\"") && message.contains("servo terms"), "{message}");
    terms.force = vec![f64::NAN];
    assert!(world.set_servo_terms(m, &terms).is_err());
}
