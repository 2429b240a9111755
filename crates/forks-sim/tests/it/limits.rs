//! Joint limits: servos that drive joints into them, forces there, release, momentum.

use std::sync::Arc;

use forks_dynamics::statics::EquilibriumOptions;
use forks_mechanism::{Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder};
use forks_place::{Sample, blend_data};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_sim::{
    LimitHandle, MechanismHandle, SimError, World, WorldSettings, WorldStatus,
    blend::{BlendedModel, BlendedState, Weights},
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
    },
    rom::{BaseCoupling, FloatingModel, ReducedModel},
};
use support::{at, pulled};

use crate::support;

const SPRING: f64 = 20.0;
const SERVO: f64 = 60.0;
/// Angles of the linearisation pose.
const START: [f64; 3] = [0.3, -0.5, 0.2];

/// Three links of 0.3 m in a row on hinges about z, y and x, the middle one's child given first if
/// `reversed`; driven.
fn arm(floating: bool, reversed: bool) -> Mechanism {
    let mut b = MechanismBuilder::new("arm");
    let inertia = |m: f64| {
        SpatialInertia::new(m, DVec3::new(0.1, 0.02, 0.0), DMat3::from_diagonal(DVec3::splat(0.02)))
    };
    let mut parent = LinkId::WORLD;
    if floating {
        parent = b.add_link(Link::new("hub").with_inertia(inertia(3.0)));
        b.add_joint(Joint::new("hub", JointKind::Free, LinkId::WORLD, parent));
    }
    for (k, axis) in [DVec3::Z, DVec3::Y, DVec3::X].into_iter().enumerate() {
        let link = b.add_link(Link::new(format!("l{k}")).with_inertia(inertia(0.5)));
        let (kind, there) = (JointKind::Revolute { axis }, at(0.3, 0.0, 0.1 * k as f64));
        let name = format!("j{k}");
        let mut joint = match reversed && k == 1 {
            false => Joint::new(name, kind, parent, link).at(there),
            true => Joint::new(name, kind, link, parent).child_at(there),
        };
        joint.start = vec![START[k]];
        b.add_joint(joint.with_stiffness(SPRING).with_damping(1.0));
        parent = link;
    }
    let m = b.build().unwrap();
    let servo = |name| (name, SERVO, 2.0);
    m.with_servos(&[servo("j0"), servo("j1"), servo("j2")]).unwrap()
}

fn single(reversed: bool) -> Arc<ReducedModel> {
    let m = arm(false, reversed);
    let problem = Problem::new(&m, &["l2"], &ProblemOptions::default()).unwrap();
    Arc::new(problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap().model)
}

fn floating() -> Arc<FloatingModel> {
    let p = Problem::new(&arm(true, false), &["l2"], &ProblemOptions::default()).unwrap();
    let options = ReduceOptions { floating: true, ..ReduceOptions::default() };
    let model = p.reduce(p.at_rest(), &options).unwrap().model;
    Arc::new(FloatingModel::new(Arc::new(model), BaseCoupling::Full).unwrap())
}

fn empty() -> World {
    let mut settings = WorldSettings { gravity: DVec3::ZERO, ..WorldSettings::default() };
    settings.contact.tolerance = 1e-12;
    World::new(settings).unwrap()
}

/// Steps for a time; the smallest and largest coordinate on the way.
fn run(world: &mut World, m: MechanismHandle, joint: &str, time: f64) -> (f64, f64) {
    let mut range = (f64::MAX, f64::MIN);
    for _ in 0..(time / world.settings().step).round() as usize {
        let report = world.step();
        assert_eq!(report.status, WorldStatus::Completed, "{report:?}");
        let theta = world.joint_coordinate(m, joint, 0).unwrap();
        range = (range.0.min(theta), range.1.max(theta));
    }
    range
}

/// Drives a joint by `target` from its start into a limit `room` away, and back. On the way it may
/// be beyond it by `slack`.
fn drive(world: &mut World, m: MechanismHandle, joint: usize, target: f64, room: f64, slack: f64) {
    let name = format!("j{joint}");
    let start = world.joint_coordinate(m, &name, 0).unwrap();
    let (lower, upper) = (start - room, start + room);
    let limit = world.add_limit(m, &name, 0, lower, upper).unwrap();
    let force = |w: &World, l: LimitHandle| w.limit_force(l).unwrap();
    let mut targets = vec![0.0; 3];
    targets[joint] = target;
    world.set_servo_targets(m, &targets).unwrap();
    let (least, most) = run(world, m, &name, 4.0);
    assert!(least >= lower - slack && most <= upper + slack, "{lower} {least} {most} {upper}");
    let theta = world.joint_coordinate(m, &name, 0).unwrap();
    let end = if target > 0.0 { upper } else { lower };
    assert!((theta - end).abs() < 1e-9, "{theta} {end}");
    // The servo pulls towards its target, the spring back to the start: both of the joint alone.
    let balance = SPRING * (theta - start) - SERVO * (start + target - theta);
    let found = force(world, limit);
    println!("joint {joint}: {found} N·m against {balance}; on the way {least} to {most}");
    assert!((found - balance).abs() < 1e-6 * balance.abs(), "{found} {balance}");
    assert!(found.signum() == -target.signum());
    // A smaller target lets it go.
    targets[joint] = 0.5 * room * target.signum();
    world.set_servo_targets(m, &targets).unwrap();
    let _ = run(world, m, &name, 4.0);
    let theta = world.joint_coordinate(m, &name, 0).unwrap();
    let rest = start + SERVO * targets[joint] / (SERVO + SPRING);
    assert!((theta - rest).abs() < 1e-6 && force(world, limit) == 0.0, "{theta} {rest}");
    world.set_servo_targets(m, &[0.0; 3]).unwrap();
    let _ = run(world, m, &name, 4.0);
}

#[test]
fn a_driven_joint_stops_at_its_limit_and_comes_back() {
    for reversed in [false, true] {
        let mut world = empty();
        let m = world.add_mechanism("arm", single(reversed), at(1.0, 2.0, 3.0)).unwrap();
        for (joint, start) in START.iter().enumerate() {
            let found = world.joint_coordinate(m, &format!("j{joint}"), 0).unwrap();
            assert!((found - start).abs() < 1e-14, "{found} {start}");
        }
        // Linear: a step ends at the limit to rounding.
        (0..3).for_each(|joint| drive(&mut world, m, joint, 0.8, 0.15, 1e-12));
        let mut world = empty();
        let m = world.add_mechanism("arm", single(reversed), Pose::IDENTITY).unwrap();
        drive(&mut world, m, 1, -0.8, 0.1, 1e-12);
    }
}

#[test]
fn limits_of_a_mechanism_that_floats_keep_its_momentum() {
    let mut world = empty();
    let m = world.add_floating("arm", floating(), at(0.5, -0.5, 1.0)).unwrap();
    for joint in 0..3 {
        // The step's equations are not linear: the stop within 1 ms at some rad/s leaves h² times
        // its acceleration.
        drive(&mut world, m, joint, if joint == 1 { -0.6 } else { 0.6 }, 0.1, 1e-4);
    }
    let (linear, angular) = world.mechanism_momentum(m).unwrap().unwrap();
    assert!(linear.length() < 1e-11 && angular.length() < 1e-11, "{linear} {angular}");
}

/// The arm at rest and under two loads.
fn blend() -> Arc<BlendedModel> {
    let problem = Problem::new(&arm(false, false), &["l2"], &ProblemOptions::default()).unwrap();
    let sample = |force: DVec3| {
        let (at, loads) = pulled(&problem, force);
        Sample::bent(&problem, &at, &loads, &EquilibriumOptions::default()).unwrap()
    };
    let forces = [DVec3::ZERO, DVec3::new(0.0, 15.0, 0.0), DVec3::new(0.0, 5.0, -15.0)];
    let samples = forces.map(sample);
    let weights = Weights::Metric { exponent: 6, energy: 2.0 };
    let data = blend_data(&samples[0].effector_poses(), &samples, weights).unwrap();
    Arc::new(BlendedModel::new(data).unwrap())
}

#[test]
fn a_blend_rests_at_its_limit_with_the_torque_that_holds_it() {
    let (mut world, model) = (empty(), blend());
    let m = world.add_blended("arm", model.clone(), at(1.0, 2.0, 3.0)).unwrap();
    let name = "j0";
    let start = world.joint_coordinate(m, name, 0).unwrap();
    assert!((start - START[0]).abs() < 1e-9, "{start}");
    let upper = start + 0.1;
    let limit = world.add_limit(m, name, 0, f64::NEG_INFINITY, upper).unwrap();
    let targets = [0.5, 0.1, -0.1];
    world.set_servo_targets(m, &targets).unwrap();
    let (_, most) = run(&mut world, m, name, 6.0);
    let theta = world.joint_coordinate(m, name, 0).unwrap();
    println!("most {most}, at rest {theta} of {upper}");
    // Stops within 1 ms at some rad/s.
    assert!(most < upper + 1e-4 && (theta - upper).abs() < 1e-9, "{most} {theta} {upper}");
    let torque = world.limit_force(limit).unwrap();
    let mut state = BlendedState::new(&model, world.coordinates(m).unwrap()).unwrap();
    state.set_servo_targets(&model, &targets).unwrap();
    let mut row = vec![0.0; model.dof()];
    let found = model.joint_coordinate(model.find_joint(name).unwrap(), 0, &state, &mut row);
    assert_eq!(found, theta);
    // ∇U = τ ∂θ/∂x
    let size = row.iter().fold(0.0f64, |s, z| s.max((torque * z).abs()));
    for (g, z) in model.evaluated_at(&state).elastic_force().iter().zip(&row) {
        assert!((g - torque * z).abs() < 1e-6 * size, "{g} {}", torque * z);
    }
    assert!(torque < -10.0, "{torque}");
    world.set_servo_targets(m, &[0.0; 3]).unwrap();
    let _ = run(&mut world, m, name, 6.0);
    let theta = world.joint_coordinate(m, name, 0).unwrap();
    assert!((theta - start).abs() < 1e-6 && world.limit_force(limit).unwrap() == 0.0, "{theta}");
}

#[test]
fn a_joint_beyond_its_limit_comes_back_and_snapshots_know_impulses() {
    let mut world = empty();
    let m = world.add_mechanism("arm", single(false), Pose::IDENTITY).unwrap();
    let limit = world.add_limit(m, "j0", 0, 0.5, f64::INFINITY).unwrap();
    let _ = run(&mut world, m, "j0", 0.2);
    let theta = world.joint_coordinate(m, "j0", 0).unwrap();
    assert!((theta - 0.5).abs() < 1e-6, "{theta}");
    assert!(world.limit_force(limit).unwrap() > 0.0);
    let snapshot = world.snapshot();
    let _ = run(&mut world, m, "j0", 0.1);
    let (x, f) = (world.coordinates(m).unwrap().to_vec(), world.limit_force(limit).unwrap());
    world.restore(&snapshot).unwrap();
    let _ = run(&mut world, m, "j0", 0.1);
    assert_eq!((world.coordinates(m).unwrap(), world.limit_force(limit).unwrap()), (&x[..], f));
    let mut other = empty();
    other.add_mechanism("arm", single(false), Pose::IDENTITY).unwrap();
    let error = other.restore(&snapshot).unwrap_err();
    assert_eq!(error, SimError::Snapshot { kind: "forces in joints", found: 1, expected: 0 });
}

#[test]
fn what_is_wrong_with_a_limit_is_named() {
    let mut world = empty();
    let m = world.add_mechanism("arm", single(false), Pose::IDENTITY).unwrap();
    let error = world.add_limit(m, "elbow", 0, 0.0, 1.0).unwrap_err();
    let (mechanism, joint) = ("arm".into(), "elbow".into());
    assert_eq!(error, SimError::NoJoint { mechanism, joint, count: 3 });
    let error = world.add_limit(m, "j1", 1, 0.0, 1.0).unwrap_err();
    assert_eq!(error, SimError::Missing { kind: "coordinate", index: 1, count: 1 });
    let error = world.add_limit(m, "j1", 0, 1.0, 0.0).unwrap_err().to_string();
    assert!(
        error.contains("\"arm\"") && error.contains("\"j1\"") && error.contains("is 0"),
        "{error}"
    );
    assert!(world.add_limit(m, "j1", 0, f64::NAN, 0.0).is_err());
    // A model without joints.
    let mut data = single(false).data().clone();
    data.joints.clear();
    let bare = Arc::new(ReducedModel::new(data).unwrap());
    let m = world.add_mechanism("bare", bare, Pose::IDENTITY).unwrap();
    let error = world.add_limit(m, "j1", 0, 0.0, 1.0).unwrap_err().to_string();
    assert!(error.contains("\"bare\"") && error.contains("0 joints"), "{error}");
}
