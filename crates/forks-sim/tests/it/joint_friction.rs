//! Dry friction in joints: closed forms of swings, thresholds and braking; joints of loops.

use std::sync::Arc;

use forks_mechanism::{Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder};
use forks_models::four_bar;
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_rom::LoadFrame;
use forks_sim::{
    MechanismHandle, SimError, World, WorldSettings, WorldStatus,
    lie::{
        Pose, SpatialInertia, Wrench,
        glam::{DMat3, DVec3},
    },
    twin::{FullMechanism, Gravity},
};

const STIFFNESS: f64 = 2.0;
const FRICTION: f64 = 0.05;
/// About the hinge.
const INERTIA: f64 = 0.05;

/// A wheel on a hinge with a spring and a servo of the same stiffness.
fn wheel(kind: JointKind) -> Mechanism {
    let mut b = MechanismBuilder::new("wheel");
    let inertia =
        SpatialInertia::new(1.0, DVec3::ZERO, DMat3::from_diagonal(DVec3::splat(INERTIA)));
    let link = b.add_link(Link::new("wheel").with_inertia(inertia));
    let hinge = Joint::new("hinge", kind, LinkId::WORLD, link);
    b.add_joint(hinge.with_stiffness(STIFFNESS));
    b.build().unwrap()
}

fn hinge() -> JointKind {
    JointKind::Revolute { axis: DVec3::Y }
}

fn world(step: f64) -> World {
    let mut settings = WorldSettings { step, gravity: DVec3::ZERO, ..WorldSettings::default() };
    settings.contact.tolerance = 1e-12;
    World::new(settings).unwrap()
}

fn problem(m: &Mechanism) -> Problem {
    Problem::new(m, &["wheel"], &ProblemOptions::default()).unwrap()
}

fn reduced(world: &mut World, p: &Problem) -> MechanismHandle {
    let model = p.reduce(p.at_rest(), &ReduceOptions::default()).unwrap().model;
    world.add_mechanism("reduced", Arc::new(model), Pose::IDENTITY).unwrap()
}

fn full(world: &mut World, p: &Problem) -> MechanismHandle {
    let full = FullMechanism::of(p).under(Gravity::Off);
    world.add_full("full", &full, Pose::IDENTITY).unwrap()
}

fn step(world: &mut World) {
    let report = world.step();
    assert_eq!(report.status, WorldStatus::Completed, "{report:?}");
}

fn angle(world: &World, m: MechanismHandle) -> f64 {
    world.joint_coordinate(m, "hinge", 0).unwrap()
}

/// Steps until the joint turns back once more; where it turned.
fn next_turn(world: &mut World, m: MechanismHandle) -> f64 {
    let mut last = angle(world, m);
    step(world);
    let mut now = angle(world, m);
    let way = (now - last).signum();
    while (now - last) * way > 0.0 {
        step(world);
        (last, now) = (now, angle(world, m));
    }
    last
}

/// Every swing loses 2 f / k of its width; what is left within f / k of the spring's rest sticks.
fn swings(step_length: f64, add: fn(&mut World, &Problem) -> MechanismHandle) -> f64 {
    let p = problem(&wheel(hinge()));
    let mut world = world(step_length);
    let m = add(&mut world, &p);
    // Pulled aside, and let go.
    let aside = 0.22;
    let pull = Wrench::new(DVec3::ZERO, DVec3::new(0.0, STIFFNESS * aside, 0.0));
    world.set_effector_load(m, 0, pull, LoadFrame::World).unwrap();
    let start = world.coordinates(m).unwrap().to_vec();
    let scale = {
        // Coordinates of reduced models have a scale of their own.
        let mut probe = world.clone();
        let moved: Vec<f64> = start.iter().map(|x| x + 0.1).collect();
        probe.set_mechanism(m, &moved, &[0.0]).unwrap();
        (angle(&probe, m) - angle(&world, m)) / 0.1
    };
    world.set_mechanism(m, &[start[0] + aside / scale], &[0.0]).unwrap();
    world.set_effector_load(m, 0, Wrench::ZERO, LoadFrame::World).unwrap();
    let friction = world.add_joint_friction(m, "hinge", 0, FRICTION).unwrap();
    let drop = 2.0 * FRICTION / STIFFNESS;
    let (mut worst, mut width) = (0.0f64, aside);
    while width > FRICTION / STIFFNESS {
        let turned = next_turn(&mut world, m);
        width -= drop;
        worst = worst.max((turned.abs() - width.abs()).abs());
    }
    (0..1000).for_each(|_| step(&mut world));
    let end = angle(&world, m);
    step(&mut world);
    assert!((angle(&world, m) - end).abs() < 1e-12, "it sticks");
    let held = world.joint_friction_force(friction).unwrap();
    assert!((held - STIFFNESS * end).abs() < 1e-9, "{held} {end}");
    worst.max((end.abs() - width.abs()).abs())
}

#[test]
fn a_spring_swings_out_against_friction() {
    for (name, add) in [("full", full as fn(&mut World, &Problem) -> _), ("reduced", reduced)] {
        let errors = [4e-4, 2e-4, 1e-4].map(|h| swings(h, add));
        println!("{name}: {errors:?}");
        // The scheme damps by its first order: half of it with half of the step.
        assert!(errors[0] < 2e-3 && errors[2] < 0.3 * errors[0], "{errors:?}");
    }
}

#[test]
fn a_joint_holds_up_to_its_friction_and_not_beyond() {
    for add in [full as fn(&mut World, &Problem) -> _, reduced] {
        for part in [0.999, -0.999, 1.001, -1.001] {
            let mut world = world(1e-3);
            let m = add(&mut world, &problem(&wheel(hinge())));
            let friction = world.add_joint_friction(m, "hinge", 0, FRICTION).unwrap();
            let pull = Wrench::new(DVec3::ZERO, DVec3::new(0.0, part * FRICTION, 0.0));
            world.set_effector_load(m, 0, pull, LoadFrame::World).unwrap();
            (0..200).for_each(|_| step(&mut world));
            let (moved, force) = (angle(&world, m), world.joint_friction_force(friction).unwrap());
            let held = part.abs() < 1.0;
            let expected = -part.clamp(-1.0, 1.0) * FRICTION;
            assert!((force - expected).abs() < 1e-9, "{part}: {force} {expected}");
            assert_eq!(moved.abs() < 1e-12, held, "{part}: {moved}");
            assert!(held || moved * part > 0.0);
        }
    }
}

#[test]
fn a_turning_ball_is_braked_by_the_friction_of_its_axes() {
    let mut b = MechanismBuilder::from_mechanism(&wheel(JointKind::Spherical));
    b.joints_mut()[0].spring = None;
    let m = b.build().unwrap();
    let still = FullMechanism {
        velocity: vec![0.0, 0.0, 2.0],
        ..FullMechanism::of(&problem(&wheel(JointKind::Spherical)))
    };
    let ball = FullMechanism { mechanism: Arc::new(m), ..still }.under(Gravity::Off);
    let h = 1e-3;
    let mut world = world(h);
    let m = world.add_full("ball", &ball, Pose::IDENTITY).unwrap();
    for k in 0..3 {
        world.add_joint_friction(m, "hinge", k, FRICTION).unwrap();
    }
    // I ω̇ = −f: exact in every step, beyond half a turn too.
    for k in 1..=2500 {
        step(&mut world);
        let expected = (2.0 - FRICTION / INERTIA * h * f64::from(k)).max(0.0);
        let v = world.velocities(m).unwrap();
        assert!((v[2] - expected).abs() < 1e-9 && v[0].hypot(v[1]) < 1e-9, "{k}: {v:?}");
    }
}

#[test]
fn friction_in_loops_is_that_of_the_whole_mechanism() {
    let p = four_bar();
    let name = p.mechanism.link(p.effectors[0]).name.clone();
    let problem = Problem::new(&p.mechanism, &[&name], &ProblemOptions::default()).unwrap();
    let push = Wrench::new(DVec3::new(0.5, 0.0, 0.3), DVec3::ZERO);
    for joint in ["crank", "coupler", "rocker", "closure"] {
        let ends = [0.0, 0.02].map(|friction| {
            let mut world = world(1e-3);
            let handles = [reduced(&mut world, &problem), full(&mut world, &problem)];
            for m in handles {
                world.set_effector_load(m, 0, push, LoadFrame::World).unwrap();
                world.add_joint_friction(m, joint, 0, friction).unwrap();
            }
            let start = handles.map(|m| world.joint_coordinate(m, joint, 0).unwrap());
            (0..300).for_each(|_| step(&mut world));
            let end = handles.map(|m| world.joint_coordinate(m, joint, 0).unwrap());
            [end[0] - start[0], end[1] - start[1]]
        });
        println!("{joint}: without {:?}, with {:?}", ends[0], ends[1]);
        let [free, braked] = ends;
        let change = [0, 1].map(|k| braked[k] - free[k]);
        assert!(change[0].abs() > 1e-3 * free[0].abs(), "it acts");
        assert!((change[0] - change[1]).abs() < 0.05 * change[0].abs(), "{change:?}");
    }
}

#[test]
fn what_cannot_rub_is_refused() {
    let mut world = world(1e-3);
    let m = reduced(&mut world, &problem(&wheel(hinge())));
    let error = world.add_joint_friction(m, "elbow", 0, 1.0).unwrap_err();
    assert!(matches!(error, SimError::NoJoint { .. }), "{error}");
    assert!(world.add_joint_friction(m, "hinge", 1, 1.0).is_err());
    for most in [-1.0, f64::NAN, f64::INFINITY] {
        let error = world.add_joint_friction(m, "hinge", 0, most).unwrap_err().to_string();
        assert!(error.contains("hinge") && error.contains("the dry friction"), "{error}");
    }
}
