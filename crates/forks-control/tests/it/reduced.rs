//! Reduced models of all four kinds as plants, against their own steps.

use std::sync::Arc;

use forks_blend::{BlendedModel, BlendedStepper, FloatingBlend, FloatingBlendStepper, Weights};
use forks_control::{
    controller::Controller,
    objective::Objective,
    plant::{Kinematics, Plant, PlantError, ReducedCommand, ReducedPlant},
    task::{Frame, Goal, Task},
};
use forks_dynamics::{
    Loads, WrenchFrame,
    mechanism::{
        LinkId,
        lie::{Wrench, glam::DVec3},
        linalg::{Matrix, norm},
    },
    statics::{EquilibriumOptions, solve_equilibrium},
};
use forks_models::{HelixJoints, helix};
use forks_place::{Sample, blend_data, with_base};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_rom::{
    BaseCoupling, EffectorLoad, FloatingModel, FloatingStepper, LoadFrame, Stepper, System,
};
use forks_testkit::{Rng, floating::floating_hub};

const H: f64 = 1e-3;

/// How far steps that are not linear in the commands may be off their map.
const OFF: f64 = 1e-2;

/// A helix with two servos at its tip.
fn fixed() -> Problem {
    let p = helix(8, HelixJoints::Hinge3);
    let m = &p.mechanism;
    let joints: Vec<String> =
        m.joints().iter().filter(|j| j.dof() == 1).map(|j| j.name.clone()).collect();
    let servos = [(joints[1].as_str(), 900.0, 1.0), (joints[4].as_str(), 500.0, 0.5)];
    let driven = m.with_servos(&servos).unwrap();
    let tip = driven.link(p.effectors[0]).name.clone();
    Problem::new(&driven, &[&tip], &ProblemOptions::default()).unwrap()
}

fn hub() -> Problem {
    Problem::new(&floating_hub(), &["a5", "b5", "c5"], &ProblemOptions::default()).unwrap()
}

fn sample(p: &Problem, force: DVec3) -> Sample {
    let loads = Loads::none()
        .with(p.effectors[0].applied(Wrench::new(force, DVec3::ZERO), WrenchFrame::World));
    let at = solve_equilibrium(p.mechanism(), &p.start, &loads, &EquilibriumOptions::default());
    assert!(at.status.is_equilibrium());
    Sample::new(p, &at, &loads).unwrap()
}

fn blended(p: &Problem) -> BlendedModel {
    let samples = [DVec3::ZERO, DVec3::new(0.0, 5.0, -20.0)].map(|f| sample(p, f));
    let weights = Weights::Shepard { exponent: 6 };
    BlendedModel::new(blend_data(&samples[0].effector_poses(), &samples, weights).unwrap()).unwrap()
}

fn floating_blend(p: &Problem) -> FloatingBlendStepper {
    let model = with_base(p, &blended(p)).unwrap();
    FloatingBlendStepper::new(Arc::new(FloatingBlend::new(Arc::new(model)).unwrap()), H).unwrap()
}

fn floating(p: &Problem) -> FloatingStepper {
    let options = ReduceOptions { floating: true, ..ReduceOptions::default() };
    let model = Arc::new(p.reduce(p.at_rest(), &options).unwrap().model);
    FloatingStepper::new(Arc::new(FloatingModel::new(model, BaseCoupling::Full).unwrap()), H)
        .unwrap()
}

fn stepper(p: &Problem) -> Stepper {
    let model = p.reduce(p.at_rest(), &ReduceOptions::default()).unwrap().model;
    Stepper::new(Arc::new(model), H).unwrap()
}

/// All components of the first effector's wrench.
fn wrenches() -> Vec<ReducedCommand> {
    (0..6).map(|component| ReducedCommand::Wrench { effector: 0, component }).collect()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    let d: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    norm(&d) / norm(b).max(f64::MIN_POSITIVE)
}

/// Largest differences between what maps say and what plants do, and between plants and worlds,
/// over random steps.
fn against_steps<S: System>(system: S, commands: &[ReducedCommand]) -> [f64; 2] {
    let mut rng = Rng::new(4);
    let state = system.state();
    let mut plant = ReducedPlant::new(system, state, commands, DVec3::ZERO).unwrap();
    let [mut map, mut world] = [0.0f64; 2];
    for _ in 0..20 {
        let z: Vec<f64> = commands
            .iter()
            .map(|c| match c {
                ReducedCommand::Wrench { component, .. } if *component < 3 => rng.symmetric(),
                _ => 0.05 * rng.symmetric(),
            })
            .collect();
        let before = plant.state().clone();
        let said = plant.response().unwrap().rates(&z);
        plant.step(&z).unwrap();
        map = map.max(apart(plant.rates(), &said));
        // The same as worlds do it: targets, free velocity, impulses through Jacobians.
        let system = plant.system();
        let (mut other, mut work) = (before, system.workspace());
        let n = system.dof();
        let mut velocity = vec![0.0; n];
        system.velocity(&other, &mut velocity);
        let count = system.data().effectors.len();
        let mut effectors = vec![forks_rom::EffectorState::new(n); count];
        system.effectors(&other, &work, &velocity, &mut effectors);
        let mut targets = system.servo_targets(&other).to_vec();
        let mut wrench = [0.0; 6];
        for (c, z) in commands.iter().zip(&z) {
            match c {
                ReducedCommand::Servo(s) => targets[*s] = *z,
                ReducedCommand::Wrench { component, .. } => wrench[*component] = *z,
            }
        }
        if !targets.is_empty() {
            system.set_servo_targets(&mut other, &targets).unwrap();
        }
        let _ = system.respond(&mut other, &mut work, &[], DVec3::ZERO);
        let impulse = effectors[0].jacobian.transpose_mul_vec(&wrench);
        let change = system.inverse_system(&work).unwrap().mul_vec(&impulse);
        let change: Vec<f64> = change.iter().map(|c| H * c).collect();
        let _ = system.change_velocity(&mut other, &mut work, &change).unwrap();
        system.velocity(&other, &mut velocity);
        world = world.max(apart(plant.rates(), &velocity));
    }
    [map, world]
}

#[test]
fn plants_step_as_worlds_do_and_maps_say_so() {
    let (fixed, hub) = (fixed(), hub());
    let servos = [ReducedCommand::Servo(0), ReducedCommand::Servo(1)];
    let all = [&wrenches()[..], &servos].concat();
    let found = [
        against_steps(stepper(&fixed), &all),
        against_steps(BlendedStepper::new(Arc::new(blended(&fixed)), H).unwrap(), &all),
        against_steps(floating(&hub), &wrenches()),
        against_steps(floating_blend(&hub), &wrenches()),
    ];
    println!("single, blend, floating, floating blend: {found:?}");
    assert!(found.iter().all(|[_, world]| *world < 1e-11), "{found:?}");
    // Steps of the other kinds are not linear in the commands.
    let maps = found.map(|[map, _]| map);
    assert!(maps[0] < 1e-11 && maps[1..].iter().all(|m| *m < 1e-4), "{found:?}");
}

#[test]
fn wrenches_and_targets_are_the_loads_of_a_single_models_step() {
    let system = stepper(&fixed());
    let commands = [&wrenches()[..], &[ReducedCommand::Servo(1)]].concat();
    let state = system.state();
    let mut plant = ReducedPlant::new(system.clone(), state, &commands, DVec3::ZERO).unwrap();
    let (mut rival, mut work) = (system.state(), system.workspace());
    for k in 0..50 {
        let z: Vec<f64> =
            (0..7).map(|i| 0.1 * f64::sin(0.2 * f64::from(k) + f64::from(i))).collect();
        plant.step(&z).unwrap();
        system.set_servo_targets(&mut rival, &[0.0, z[6]]).unwrap();
        let wrench = Wrench::from_array(core::array::from_fn(|i| z[i]));
        let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::Body };
        let _ = system.step(&mut rival, &mut work, &[load]);
        let mut velocity = vec![0.0; system.dof()];
        System::velocity(&system, &rival, &mut velocity);
        assert!(apart(plant.rates(), &velocity) < 1e-10, "{k}");
    }
}

/// A tip that is dragged by 2 mm: what the rates are at the end of the first step, and where it is
/// at the end of the last one.
fn drag<S: System>(system: S, commands: &[ReducedCommand], objective: Objective, off: f64) {
    let state = system.state();
    let mut plant = ReducedPlant::new(system, state, commands, DVec3::ZERO).unwrap();
    let frame = Frame::of(LinkId::new(0));
    let mut rows = Matrix::zeros(6, plant.rates().len());
    let here = plant.frame(&frame, &mut rows);
    let target = here.translation + DVec3::new(0.002, -0.001, 0.001);
    let task = [Task::new("tip", Goal::Position(frame, target))];
    let free = (f64::NEG_INFINITY, f64::INFINITY);
    let mut controller = Controller::new(vec![free; commands.len()]).minimise(objective);
    for k in 0..2000 {
        let found = controller.solve(&mut plant, &task).unwrap();
        assert!(found.relaxed.is_empty() || found.relaxed[0].by.abs() < 1e-9, "{k}: {found:?}");
        let (commands, said) = (found.commands.clone(), found.rates.clone());
        plant.step(&commands).unwrap();
        assert!(apart(plant.rates(), &said) < off || norm(&said) < 1e-6, "{k}");
    }
    let end = plant.frame(&frame, &mut rows);
    assert!((end.translation - target).length() < 1e-6, "{}", end.translation - target);
}

#[test]
fn tips_of_reduced_models_are_dragged_to_where_they_shall_be() {
    let (fixed, hub) = (fixed(), hub());
    drag(stepper(&fixed), &wrenches()[..3], Objective::torque(), 1e-9);
    drag(stepper(&fixed), &wrenches(), Objective::kinetic_energy(), 1e-9);
    let blend = BlendedStepper::new(Arc::new(blended(&fixed)), H).unwrap();
    drag(blend, &wrenches()[..3], Objective::torque(), OFF);
    drag(floating(&hub), &wrenches()[..3], Objective::torque(), OFF);
    drag(floating_blend(&hub), &wrenches()[..3], Objective::torque(), OFF);
}

#[test]
fn commands_and_tasks_of_what_is_not_there_are_refused() {
    let system = stepper(&fixed());
    let new = |c: &[ReducedCommand]| {
        ReducedPlant::new(system.clone(), system.state(), c, DVec3::ZERO).map(|_| ())
    };
    let wrench = |effector, component| ReducedCommand::Wrench { effector, component };
    let refused = |coordinate, count| Err(PlantError::Coordinate { coordinate, count });
    assert_eq!(new(&[wrench(1, 0)]), refused(1, 1));
    assert_eq!(new(&[wrench(0, 6)]), refused(6, 6));
    assert_eq!(new(&[ReducedCommand::Servo(2)]), refused(2, 2));
    let twice = Err(PlantError::Twice { coordinate: 0 });
    assert_eq!(new(&[wrench(0, 1), wrench(0, 1)]), twice);
    let state = system.state();
    let mut plant = ReducedPlant::new(system, state, &[], DVec3::ZERO).unwrap();
    let mut said = |goal| {
        let task = [Task::new("t", goal)];
        Controller::new(vec![]).solve(&mut plant, &task).unwrap_err().to_string()
    };
    assert_eq!(said(Goal::CentreOfMass(DVec3::ZERO)), "task t: the plant knows no masses");
    assert_eq!(said(Goal::Still(Frame::of(LinkId::new(1)))), "task t: link 1; the plant has 1");
}
