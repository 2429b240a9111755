//! Blended mechanisms in contact, against their statics with a unilateral constraint and against
//! their steppers.

use std::sync::Arc;

use forks_blend::BlendedWorkspace;
use forks_dynamics::statics::EquilibriumOptions;
use forks_models::{HelixJoints, helix};
use forks_place::{Sample, blend_data};
use forks_reduce::{Problem, ProblemOptions};
use forks_sim::{
    CollisionShape, Geometry, MechanismHandle, Owner, World, WorldStatus,
    blend::{BlendedModel, BlendedState, BlendedStepper, LinkBlend, Weights},
    lie::{
        Pose, Twist, Wrench,
        glam::{DQuat, DVec3},
    },
    rom::{EffectorLoad, LoadFrame},
};
use support::{add_box, at, ball_at_tip, force_that_holds, pulled, run, settle, smooth};

use crate::support;

const RADIUS: f64 = 0.03;

/// Rest pose, bent and straight samples on the way down and to a side.
fn helix_blend(weights: Weights) -> Arc<BlendedModel> {
    let helix = helix(12, HelixJoints::Hinge3);
    let tip = helix.mechanism.link(helix.effectors[0]).name.clone();
    let problem = Problem::new(&helix.mechanism, &[&tip], &ProblemOptions::default()).unwrap();
    let sample = |(force, bent): (DVec3, bool)| {
        let (at, loads) = pulled(&problem, force);
        match bent {
            true => Sample::bent(&problem, &at, &loads, &EquilibriumOptions::default()).unwrap(),
            false => Sample::new(&problem, &at, &loads).unwrap(),
        }
    };
    let forces = [
        (DVec3::ZERO, true),
        (DVec3::new(0.0, 0.0, -100.0), true),
        (DVec3::new(0.0, 60.0, -60.0), false),
    ];
    let samples = forces.map(sample);
    let data = blend_data(&samples[0].effector_poses(), &samples, weights).unwrap();
    Arc::new(BlendedModel::new(data).unwrap())
}

const WEIGHTS: [Weights; 3] = [
    Weights::Metric { exponent: 6, energy: 2.0 },
    Weights::Shepard { exponent: 6 },
    Weights::Neighbours { exponent: 4, count: 2 },
];

/// A blend with a ball at its tip, placed somewhere, without gravity.
fn blend_world(model: &Arc<BlendedModel>, placement: Pose, step: f64) -> (World, MechanismHandle) {
    ball_at_tip(RADIUS, step, |w| w.add_blended("helix", model.clone(), placement).unwrap())
}

/// Static solution with the tip held at `height` by a force along z.
fn held(model: &BlendedModel, pull: f64, height: f64) -> (f64, Vec<f64>) {
    let height_of = |x: &[f64]| model.effector_pose(0, x).translation.z;
    force_that_holds(pull, height, |load| model.solve_static(&[load], &[]).unwrap(), height_of)
}

/// A blend pulled down by `pull` onto a plane that it rests on, at the model's own height.
fn pressed(model: &Arc<BlendedModel>, pull: f64, depth: f64) -> (World, MechanismHandle, f64) {
    // Anywhere: turned about z and moved.
    let placement = Pose::new(DQuat::from_rotation_z(0.7), DVec3::new(1.0, -2.0, 0.5));
    let (mut world, m) = blend_world(model, placement, 0.01);
    let height = model.effector_pose(0, &vec![0.0; model.dof()]).translation.z - depth;
    let ground = at(0.0, 0.0, height - RADIUS + 0.5);
    let plane = CollisionShape::new("ground", Geometry::Plane).at(ground).of(smooth());
    world.add_shape(Owner::World, &plane).unwrap();
    let down = Wrench::new(DVec3::new(0.0, 0.0, -pull), DVec3::ZERO);
    world.set_effector_load(m, 0, down, LoadFrame::World).unwrap();
    (world, m, height)
}

#[test]
fn a_tip_pushed_against_a_plane_is_the_static_solution_with_a_unilateral_constraint() {
    for weights in WEIGHTS {
        let model = helix_blend(weights);
        let pull = 80.0;
        let (mut world, m, height) = pressed(&model, pull, 0.08);
        settle(&mut world, m, 100.0);

        let (force, x) = held(&model, pull, height);
        assert!(force > 0.1 * pull && force < 0.9 * pull, "the plane carries a part: {force}");
        let found = world.contact_force(Owner::Effector { mechanism: m, effector: 0 });
        let gap = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        };
        let off = gap(world.coordinates(m).unwrap(), &x) / gap(&x, &vec![0.0; x.len()]);
        println!("{weights:?}: force {found} against {force}; x differs by {off:e}");
        // Rates below 1e-8 against damping of the order of h K: what is left is next to nothing.
        assert!((found - DVec3::new(0.0, 0.0, force)).length() < 1e-7 * force);
        assert!(off < 1e-7);
    }
}

#[test]
fn at_rest_in_contact_energy_does_not_grow() {
    let model = helix_blend(WEIGHTS[0]);
    let (mut world, m, _) = pressed(&model, 80.0, 0.08);
    settle(&mut world, m, 100.0);
    let start = world.energy().total();
    // The load's work is not part of the energy: the tip stays where it is.
    let pose = world.effector_pose(m, 0).unwrap();
    let mut worst = f64::MIN;
    for _ in 0..1000 {
        let _ = world.step();
        worst = worst.max(world.energy().total() - start);
    }
    let moved = (world.effector_pose(m, 0).unwrap().translation - pose.translation).length();
    println!("energy grows by {worst:e} J of {start:e} J at most, moved {moved:e} m");
    // Moves of 1e-8 m/s × 10 s against 80 N, and rounding.
    assert!(worst < 1e-9 * start.abs() + 80.0 * moved, "{worst:e}");
    assert!(moved < 1e-6);
}

#[test]
fn without_contact_a_world_steps_as_the_model_alone() {
    for weights in WEIGHTS {
        let model = helix_blend(weights);
        let (mut world, m) = blend_world(&model, Pose::IDENTITY, 1e-3);
        let plane = CollisionShape::new("far", Geometry::Plane).at(at(0.0, 0.0, -10.0));
        world.add_shape(Owner::World, &plane).unwrap();
        let wrench = Wrench::new(DVec3::new(3.0, 15.0, -30.0), DVec3::new(0.1, 0.2, -0.3));
        world.set_effector_load(m, 0, wrench, LoadFrame::Body).unwrap();
        run(&mut world, 0.3);

        let stepper = BlendedStepper::new(model.clone(), world.settings().step).unwrap();
        let mut state = BlendedState::new(&model, &vec![0.0; model.dof()]).unwrap();
        let mut work = BlendedWorkspace::new(&model);
        let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::Body };
        for _ in 0..300 {
            let _ = stepper.step(&mut state, &mut work, &[load]);
        }
        assert_eq!(world.coordinates(m).unwrap(), state.coordinates());
        assert_eq!(world.velocities(m).unwrap(), state.velocity());
        let (mut ours, mut theirs) = (Vec::new(), model.pose_buffer());
        world.link_poses(m, &mut ours).unwrap();
        model.poses(&state, &mut work, LinkBlend::Average, &mut theirs);
        assert_eq!(ours, theirs.iter().map(|(_, pose)| pose).collect::<Vec<_>>());
        assert_eq!(world.link_names(m).unwrap().len(), ours.len());
        let energy = world.energy();
        assert!(
            energy.elastic == model.evaluated_at(&state).potential_energy() && energy.kinetic > 0.0
        );
    }
}

#[test]
fn a_restored_snapshot_goes_on_with_the_same_bits() {
    for weights in WEIGHTS {
        let model = helix_blend(weights);
        let (mut world, m) = blend_world(&model, Pose::IDENTITY, 1e-3);
        let tip = world.effector_pose(m, 0).unwrap().translation;
        let place = Pose::from_translation(tip + DVec3::new(0.0, 0.0, -0.1));
        let cube = add_box(&mut world, DVec3::splat(0.05), place, smooth());
        let down = Wrench::new(DVec3::new(0.0, 0.0, -60.0), DVec3::ZERO);
        world.set_effector_load(m, 0, down, LoadFrame::World).unwrap();
        run(&mut world, 0.05);
        let snapshot = world.snapshot();
        run(&mut world, 0.1);
        let (x, pose) = (world.coordinates(m).unwrap().to_vec(), world.body_pose(cube).unwrap());
        assert!(world.body_twist(cube).unwrap().linear.length() > 0.1, "it was hit");
        world.restore(&snapshot).unwrap();
        run(&mut world, 0.1);
        assert_eq!(world.coordinates(m).unwrap(), x);
        assert_eq!(world.body_pose(cube).unwrap(), pose);
    }
}

#[test]
fn a_box_that_hits_a_tip_creates_no_energy() {
    for weights in WEIGHTS {
        let model = helix_blend(weights);
        let (mut world, m) = blend_world(&model, Pose::IDENTITY, 1e-3);
        let tip = world.effector_pose(m, 0).unwrap().translation;
        let place = Pose::from_translation(tip + DVec3::new(0.02, 0.01, -0.1));
        let cube = add_box(&mut world, DVec3::splat(0.05), place, smooth());
        let up = Twist::new(DVec3::new(0.0, 0.0, 3.0), DVec3::new(1.0, -2.0, 0.5));
        world.set_body(cube, place, up).unwrap();
        let mut before = world.energy().total();
        let mut hit = 0;
        for i in 0..500 {
            let report = world.step();
            assert!(matches!(report.status, WorldStatus::Completed | WorldStatus::ContactInexact));
            let now = world.energy().total();
            // Penetrations, none deeper than a step's second order, are parted.
            let rounding = 1e-12 * before.abs();
            assert!(
                now <= before + report.contact_energy.max(0.0) + rounding,
                "{i}: {now} {before}"
            );
            (before, hit) = (now, hit + report.touching);
        }
        println!("{weights:?}: {hit} touches, {before} J left");
        assert!(hit > 0 && world.body_twist(cube).unwrap().linear.z < 2.0);
    }
}
