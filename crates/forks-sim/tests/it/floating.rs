//! Mechanisms whose base floats, in contact: momentum, weight, rest, free fall.

use crate::support;
use forks_rom::System;

use std::sync::Arc;

use forks_blend::{BlendedModel, FloatingBlend, FloatingBlendState, FloatingBlendStepper, Weights};
use forks_dynamics::{
    Loads, WrenchFrame,
    statics::{EquilibriumOptions, solve_equilibrium},
};
use forks_mechanism::{Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder};
use forks_place::{Sample, blend_data, with_base};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_sim::{
    BodyHandle, CollisionShape, Geometry, Material, MechanismHandle, Owner, RigidBody, World,
    WorldSettings, WorldStatus,
    lie::{
        Pose, SpatialInertia, Twist, Wrench,
        glam::{DMat3, DVec3},
    },
    rom::{
        BaseCoupling, EffectorLoad, FloatingModel, FloatingState, FloatingStepper, LoadFrame,
        PoseBuffer,
    },
};
use support::{at, box_inertia, run, smooth};

const LEGS: usize = 4;
const LINKS: usize = 4;
const LENGTH: f64 = 0.1;
const FOOT: f64 = 0.02;

fn rod() -> SpatialInertia {
    let across = 0.1 * LENGTH * LENGTH / 12.0 + 1e-5;
    let inertia = DMat3::from_diagonal(DVec3::new(2e-5, across, across));
    SpatialInertia::new(0.1, DVec3::new(0.5 * LENGTH, 0.0, 0.0), inertia)
}

/// A hub of 5 kg on four legs of four links of 0.1 m and 0.1 kg, hinges of 400 N·m/rad about y and
/// z in turn.
fn table() -> Mechanism {
    let mut builder = MechanismBuilder::new("table");
    let moments = DMat3::from_diagonal(DVec3::new(0.03, 0.035, 0.04));
    let inertia = SpatialInertia::new(5.0, DVec3::new(0.01, -0.005, 0.02), moments);
    let hub = builder.add_link(Link::new("hub").with_inertia(inertia));
    builder.add_joint(Joint::new("hub", JointKind::Free, LinkId::WORLD, hub));
    for leg in 0..LEGS {
        let angle = 0.3 + 1.5 * leg as f64;
        let turn = |v: DVec3| Pose::exp(Twist::new(DVec3::ZERO, v));
        let mut place = turn(DVec3::new(0.0, 0.0, angle)) * at(0.1, 0.0, 0.0);
        place = place * turn(DVec3::new(0.0, 0.9, 0.0));
        let mut parent = hub;
        for k in 0..LINKS {
            let name = format!("leg{leg}.{k}");
            let link = builder.add_link(Link::new(&name).with_inertia(rod()));
            let axis = if k % 2 == 0 { DVec3::Y } else { DVec3::Z };
            let hinge =
                Joint::new(format!("{name}.joint"), JointKind::Revolute { axis }, parent, link);
            builder.add_joint(hinge.at(place).with_stiffness(400.0).with_damping(0.8));
            (parent, place) = (link, at(LENGTH, 0.0, 0.0));
        }
    }
    builder.build().unwrap()
}

fn model(form: BaseCoupling) -> Arc<FloatingModel> {
    let feet: Vec<String> = (0..LEGS).map(|leg| format!("leg{leg}.{}", LINKS - 1)).collect();
    let names: Vec<&str> = feet.iter().map(String::as_str).collect();
    let p = Problem::new(&table(), &names, &ProblemOptions::default()).unwrap();
    let options = ReduceOptions { floating: true, ..ReduceOptions::default() };
    let model = p.reduce(p.at_rest(), &options).unwrap().model;
    Arc::new(FloatingModel::new(Arc::new(model), form).unwrap())
}

/// The table with balls as feet, its hub at `start`.
fn table_world(
    settings: WorldSettings,
    form: BaseCoupling,
    start: Pose,
    material: Material,
) -> (World, MechanismHandle) {
    let mut world = World::new(settings).unwrap();
    let m = world.add_floating("table", model(form), start).unwrap();
    for effector in 0..LEGS {
        let foot =
            CollisionShape::new(format!("foot {effector}"), Geometry::Sphere { radius: FOOT });
        let foot = foot.at(at(LENGTH, 0.0, 0.0)).of(material);
        world.add_shape(Owner::Effector { mechanism: m, effector }, &foot).unwrap();
    }
    (world, m)
}

fn steps(world: &mut World, count: usize) {
    for _ in 0..count {
        step(world);
    }
}

/// Steps; the energy that contact may have put in.
fn step(world: &mut World) -> f64 {
    let report = world.step();
    assert!(
        matches!(report.status, WorldStatus::Completed | WorldStatus::ContactInexact),
        "{report:?} at {}",
        world.time()
    );
    let pushed: f64 = world.contacts().iter().map(|c| c.impulse.length()).sum();
    // Parting penetrations, and what is left of the contact law.
    report.contact_energy.max(0.0) + report.residual * pushed
}

const FORMS: [BaseCoupling; 4] = [
    BaseCoupling::Full,
    BaseCoupling::Inertial,
    BaseCoupling::External,
    BaseCoupling::ExternalCorrected,
];

#[test]
fn momentum_of_mechanism_and_body_is_conserved_in_a_collision() {
    for form in FORMS {
        let settings = WorldSettings { gravity: DVec3::ZERO, ..WorldSettings::default() };
        let start = Pose::new(
            Pose::exp(Twist::new(DVec3::ZERO, DVec3::new(0.3, -0.2, 0.5))).rotation,
            DVec3::new(0.4, -0.3, 1.0),
        );
        let rough = Material { restitution: 0.3, ..Material::with_friction(0.6) };
        let (mut world, m) = table_world(settings, form, start, rough);
        let mut velocity = vec![0.0; world.velocities(m).unwrap().len()];
        velocity[..6].copy_from_slice(&[0.3, -0.2, 0.1, 1.0, -2.0, 1.5]);
        velocity[7] = 0.4;
        let coordinates = world.coordinates(m).unwrap().to_vec();
        world.set_mechanism(m, &coordinates, &velocity).unwrap();
        let foot = world.effector_pose(m, 0).unwrap() * at(LENGTH, 0.0, 0.0);
        let place = Pose::from_translation(foot.translation + DVec3::new(-0.2, 0.02, -0.25));
        let body = RigidBody::at_rest("box", box_inertia(2.0, DVec3::splat(0.1)), place);
        let body = world.add_body(&body).unwrap();
        let half_extents = DVec3::splat(0.1);
        let shape = CollisionShape::new("box", Geometry::Box { half_extents }).of(rough);
        world.add_shape(Owner::Body(body), &shape).unwrap();
        let toward = Twist::new(DVec3::new(1.8, -0.1, 2.0), DVec3::new(0.5, 1.0, -0.7));
        world.set_body(body, place, toward).unwrap();
        let before = momentum(&world, m, body);
        let energy = world.energy().total();
        let mut impulse = 0.0;
        let mut worst = [0.0f64; 2];
        for _ in 0..600 {
            step(&mut world);
            impulse += world.contacts().iter().map(|c| c.impulse.length()).sum::<f64>();
            let now = momentum(&world, m, body);
            worst[0] = worst[0].max((now.0 - before.0).length());
            worst[1] = worst[1].max((now.1 - before.1).length());
        }
        let gained = world.energy().total() - energy;
        println!("{form:?}: impulse {impulse}, off by {worst:?}, energy {gained:e} of {energy}");
        assert!(impulse > 0.25, "they met");
        assert!(worst[0] < 1e-9 && worst[1] < 1e-9, "{form:?}: {worst:?}");
        assert!(gained < 0.0);
    }
}

/// Of the mechanism and a body.
fn momentum(world: &World, m: MechanismHandle, body: BodyHandle) -> (DVec3, DVec3) {
    let (p, l) = world.mechanism_momentum(m).unwrap().unwrap();
    let (q, k) = world.body_momentum(body).unwrap();
    (p + q, l + k)
}

#[test]
fn a_table_falls_on_its_feet_and_stands() {
    for form in [BaseCoupling::Full, BaseCoupling::Inertial] {
        let rough = Material::with_friction(0.8);
        let settings = WorldSettings::default();
        let (mut world, m) = table_world(settings, form, at(0.0, 0.0, 0.5), rough);
        let ground = CollisionShape::new("ground", Geometry::Plane).of(rough);
        world.add_shape(Owner::World, &ground).unwrap();
        let mut before = world.energy().total();
        for _ in 0..10_000 {
            let given = step(&mut world);
            let now = world.energy().total();
            let rounding = 1e-11 * before.abs();
            assert!(now <= before + given + rounding, "{}: {now} {before}", world.time());
            before = now;
        }
        let force = world.contact_force(Owner::World);
        let weight = 9.81 * (5.0 + 0.1 * (LEGS * LINKS) as f64);
        let speed = world.velocities(m).unwrap().iter().fold(0.0f64, |m, v| m.max(v.abs()));
        println!("{form:?}: force {force} against {weight}, speed {speed:e}");
        assert!((force + DVec3::new(0.0, 0.0, weight)).length() < 1e-3 * weight, "{force}");
        let hub = world.coordinates(m).unwrap()[2];
        assert!(hub > 0.2, "it stands: {hub}");
        // Ten more seconds at rest.
        let start = world.energy().total();
        let mut worst = f64::MIN;
        for _ in 0..10_000 {
            step(&mut world);
            worst = worst.max(world.energy().total() - start);
        }
        let moved = (world.coordinates(m).unwrap()[2] - hub).abs();
        println!("at rest: energy grows by {worst:e} of {start}, hub moves {moved:e}");
        assert!(worst < 1e-12 * start.abs(), "{worst:e}");
        assert!(moved < 1e-9);
    }
}

/// Thrown in a tumble, loaded in its second effector's frame, for 0.4 s; where and how fast it
/// began, and the load.
fn tumble(world: &mut World, m: MechanismHandle) -> (Vec<f64>, Vec<f64>, EffectorLoad) {
    let mut velocity = vec![0.0; world.velocities(m).unwrap().len()];
    velocity[..6].copy_from_slice(&[0.3, -0.2, 0.1, 1.0, -2.0, 1.5]);
    velocity[8] = 0.4;
    let coordinates = world.coordinates(m).unwrap().to_vec();
    world.set_mechanism(m, &coordinates, &velocity).unwrap();
    let wrench = Wrench::new(DVec3::new(1.0, 2.0, -3.0), DVec3::new(0.1, 0.2, -0.3));
    let load = EffectorLoad { effector: 1, wrench, frame: LoadFrame::Body };
    world.set_effector_load(m, load.effector, load.wrench, load.frame).unwrap();
    run(world, 0.4);
    (coordinates, velocity, load)
}

#[test]
fn without_contact_a_world_steps_as_the_model_alone() {
    for form in FORMS {
        let settings = WorldSettings::default();
        let (mut world, m) = table_world(settings, form, at(0.1, 0.2, 5.0), smooth());
        let ground = CollisionShape::new("ground", Geometry::Plane);
        world.add_shape(Owner::World, &ground).unwrap();
        let (coordinates, velocity, load) = tumble(&mut world, m);

        let model = (*model(form)).clone().with_gravity(settings.gravity);
        let stepper = FloatingStepper::new(Arc::new(model), settings.step).unwrap();
        let model = stepper.model().clone();
        let mut state = FloatingState::new(&model);
        let mut work = stepper.workspace();
        let pose = Pose::from_array(core::array::from_fn(|i| coordinates[i]));
        let twist = Twist::from_array(core::array::from_fn(|i| velocity[i]));
        state.set(&model, &coordinates[7..], &velocity[6..], pose, twist).unwrap();
        for _ in 0..400 {
            let _ = stepper.step(&mut state, &mut work, &[load]);
        }
        let found = world.coordinates(m).unwrap();
        assert_eq!(found[..7], state.world_from_base().to_array());
        assert_eq!(&found[7..], state.shape().coordinates());
        assert_eq!(&world.velocities(m).unwrap()[6..], state.shape().velocity());
        let energy = world.energy().total();
        assert!((energy - model.energy(&state)).abs() < 1e-12 * energy.abs());
        let (mut ours, mut theirs) = (Vec::new(), PoseBuffer::new(model.reduced()));
        world.link_poses(m, &mut ours).unwrap();
        model.poses(&state, &mut theirs);
        assert_eq!(ours, theirs.iter().map(|(_, pose)| pose).collect::<Vec<_>>());
    }
}

#[test]
fn a_restored_snapshot_goes_on_with_the_same_bits() {
    let rough = Material::with_friction(0.8);
    let tilted = Pose::exp(Twist::new(DVec3::ZERO, DVec3::new(0.2, -0.1, 0.4))).rotation;
    let start = Pose::new(tilted, DVec3::new(0.0, 0.0, 0.45));
    let (mut world, m) = table_world(WorldSettings::default(), BaseCoupling::Full, start, rough);
    let ground = CollisionShape::new("ground", Geometry::Plane).of(rough);
    world.add_shape(Owner::World, &ground).unwrap();
    steps(&mut world, 300);
    let snapshot = world.snapshot();
    steps(&mut world, 300);
    let (x, v) = (world.coordinates(m).unwrap().to_vec(), world.velocities(m).unwrap().to_vec());
    world.restore(&snapshot).unwrap();
    steps(&mut world, 300);
    assert_eq!(world.coordinates(m).unwrap(), x);
    assert_eq!(world.velocities(m).unwrap(), v);
}

#[test]
fn effectors_move_as_their_jacobians_say() {
    let settings = WorldSettings { gravity: DVec3::ZERO, ..WorldSettings::default() };
    let (mut world, m) = table_world(settings, BaseCoupling::Full, at(0.0, 0.0, 1.0), smooth());
    let mut velocity = vec![0.0; world.velocities(m).unwrap().len()];
    velocity[..6].copy_from_slice(&[0.3, -0.2, 0.1, 1.0, -2.0, 1.5]);
    velocity[9] = 0.2;
    let coordinates = world.coordinates(m).unwrap().to_vec();
    world.set_mechanism(m, &coordinates, &velocity).unwrap();
    let before = world.effector_pose(m, 2).unwrap();
    let expected = world.effector_twist(m, 2).unwrap();
    step(&mut world);
    let found = before.twist_to(&world.effector_pose(m, 2).unwrap()) * 1e3;
    // First order in the step: accelerations of some 100 m/s² over 1 ms.
    assert!((found - expected).norm() < 0.2, "{found:?} {expected:?}");
    assert!(expected.norm() > 1.0);
}

/// The table about its rest and with its feet pushed up, as by its weight, and askew.
fn blend() -> Arc<FloatingBlend> {
    let feet: Vec<String> = (0..LEGS).map(|leg| format!("leg{leg}.{}", LINKS - 1)).collect();
    let names: Vec<&str> = feet.iter().map(String::as_str).collect();
    let p = Problem::new(&table(), &names, &ProblemOptions::default()).unwrap();
    let options = EquilibriumOptions::default();
    let sample = |force: DVec3| {
        let loads = p.effectors.iter().fold(Loads::none(), |loads, e| {
            loads.with(e.applied(Wrench::new(force, DVec3::ZERO), WrenchFrame::World))
        });
        let at = solve_equilibrium(p.mechanism(), &p.start, &loads, &options);
        Sample::new(&p, &at, &loads).unwrap()
    };
    let samples = [DVec3::ZERO, DVec3::Z * 16.0, DVec3::new(8.0, -5.0, 25.0)].map(sample);
    let weights = Weights::Shepard { exponent: 6 };
    let data = blend_data(&samples[0].effector_poses(), &samples, weights).unwrap();
    let model = with_base(&p, &BlendedModel::new(data).unwrap()).unwrap();
    Arc::new(FloatingBlend::new(Arc::new(model)).unwrap())
}

/// The blended table with balls as feet above the ground.
fn blend_world(start: Pose, material: Material) -> (World, MechanismHandle) {
    let mut world = World::new(WorldSettings::default()).unwrap();
    let m = world.add_floating_blend("table", blend(), start).unwrap();
    for effector in 0..LEGS {
        let form = Geometry::Sphere { radius: FOOT };
        let foot = CollisionShape::new(format!("foot {effector}"), form);
        let foot = foot.at(at(LENGTH, 0.0, 0.0)).of(material);
        world.add_shape(Owner::Effector { mechanism: m, effector }, &foot).unwrap();
    }
    let ground = CollisionShape::new("ground", Geometry::Plane).of(material);
    world.add_shape(Owner::World, &ground).unwrap();
    (world, m)
}

#[test]
fn a_blend_dropped_on_the_ground_comes_to_rest_with_its_weight_carried() {
    let tilted = Pose::exp(Twist::new(DVec3::ZERO, DVec3::new(0.1, -0.05, 0.4))).rotation;
    let start = Pose::new(tilted, DVec3::new(0.2, -0.1, 0.5));
    let (mut world, m) = blend_world(start, Material::with_friction(0.8));
    steps(&mut world, 6000);
    let weight = blend().mass() * 9.81;
    let mut carried = DVec3::ZERO;
    for effector in 0..LEGS {
        let force = world.contact_force(Owner::Effector { mechanism: m, effector });
        assert!(force.z > 0.0, "foot {effector}: {force}");
        carried += force;
    }
    let fastest = world.velocities(m).unwrap().iter().fold(0.0f64, |m, v| m.max(v.abs()));
    println!("carried {carried} of {weight}, fastest {fastest:e}");
    assert!((carried - DVec3::Z * weight).length() < 1e-6 * weight, "{carried} {weight}");
    assert!(fastest < 1e-6, "{fastest:e}");
    let before = world.coordinates(m).unwrap().to_vec();
    steps(&mut world, 1000);
    let now = world.coordinates(m).unwrap();
    let moved = before.iter().zip(now).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(moved < 1e-6, "{moved:e}");
}

#[test]
fn without_contact_a_world_steps_as_the_floating_blend_alone() {
    let (mut world, m) = blend_world(at(0.1, 0.2, 5.0), smooth());
    let (coordinates, velocity, load) = tumble(&mut world, m);

    let settings = WorldSettings::default();
    let model = Arc::new((*blend()).clone().with_gravity(settings.gravity));
    let stepper = FloatingBlendStepper::new(model.clone(), settings.step).unwrap();
    let mut state = FloatingBlendState::new(&model);
    let mut work = stepper.workspace();
    stepper.set(&mut state, &coordinates, &velocity).unwrap();
    for _ in 0..400 {
        let _ = stepper.step(&mut state, &mut work, &[load]);
    }
    let mut found = vec![0.0; stepper.coordinate_count()];
    stepper.coordinates(&state, &mut found);
    assert_eq!(world.coordinates(m).unwrap(), found);
    let energy = model.kinetic_energy(&state)
        + stepper.elastic_energy(&state, &work)
        + model.gravitational_energy(&state, settings.gravity);
    assert!((world.energy().total() - energy).abs() < 1e-12 * energy.abs());
    let (mut ours, mut theirs) = (Vec::new(), stepper.pose_buffer());
    world.link_poses(m, &mut ours).unwrap();
    stepper.poses(&state, &mut work, &mut theirs);
    assert_eq!(ours, theirs.iter().map(|(_, pose)| pose).collect::<Vec<_>>());
    let (linear, _) = world.mechanism_momentum(m).unwrap().unwrap();
    assert_eq!(linear, model.momentum(&state).linear);
}

#[test]
fn a_snapshot_of_a_floating_blend_goes_on_with_the_same_bits() {
    let (mut world, m) = blend_world(at(0.0, 0.0, 0.45), Material::with_friction(0.8));
    steps(&mut world, 300);
    let snapshot = world.snapshot();
    steps(&mut world, 300);
    let (x, v) = (world.coordinates(m).unwrap().to_vec(), world.velocities(m).unwrap().to_vec());
    world.restore(&snapshot).unwrap();
    steps(&mut world, 300);
    assert_eq!(world.coordinates(m).unwrap(), x);
    assert_eq!(world.velocities(m).unwrap(), v);
}
