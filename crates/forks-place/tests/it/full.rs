//! Errors of a blend seen at run time, and the way to the full solver and back.

use forks_blend::{
    Advice, BlendedModel, BlendedState, BlendedStepper, BlendedWorkspace, Monitor, MonitorSettings,
    Weights,
};
use forks_dynamics::{
    Loads, WrenchFrame,
    integrate::{Simulation, SimulationOptions, SimulationStatus},
    statics::{EquilibriumOptions, solve_equilibrium},
};
use forks_mechanism::lie::{Pose, Twist, Wrench, glam::DVec3};
use forks_models::{HelixJoints, Parametric};
use forks_place::{
    BlendError, Sample, blend_data,
    live::{LiveOptions, extended, hand_over, take_back},
};
use forks_reduce::{Problem, ProblemOptions};
use forks_rom::{EffectorLoad, LoadFrame, StaticStatus, System};

fn problem(p: &Parametric) -> Problem {
    let names: Vec<String> =
        p.effectors.iter().map(|&l| p.mechanism.link(l).name.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Problem::new(&p.mechanism, &names, &ProblemOptions::default()).unwrap()
}

fn loads(problem: &Problem, force: DVec3) -> Loads {
    problem.effectors.iter().fold(Loads::none(), |loads, e| {
        loads.with(e.applied(Wrench::new(force, DVec3::ZERO), WrenchFrame::World))
    })
}

fn equilibrium(problem: &Problem, force: DVec3) -> forks_dynamics::statics::Equilibrium {
    let (start, options) = (&problem.start, EquilibriumOptions::default());
    let e = solve_equilibrium(problem.mechanism(), start, &loads(problem, force), &options);
    assert!(e.status.is_equilibrium());
    e
}

fn blend(problem: &Problem, forces: &[DVec3]) -> BlendedModel {
    let samples: Vec<Sample> = forces
        .iter()
        .map(|&f| Sample::new(problem, &equilibrium(problem, f), &loads(problem, f)).unwrap())
        .collect();
    let poses = problem.mechanism().link_poses(&problem.start);
    let reference: Vec<Pose> =
        problem.effectors.iter().map(|e| poses[e.link.index()] * e.link_from_effector).collect();
    let weights = Weights::Shepard { exponent: 6 };
    BlendedModel::new(blend_data(&reference, &samples, weights).unwrap()).unwrap()
}

fn effector_loads(count: usize, force: DVec3) -> Vec<EffectorLoad> {
    let wrench = Wrench::new(force, DVec3::ZERO);
    (0..count).map(|effector| EffectorLoad { effector, wrench, frame: LoadFrame::World }).collect()
}

#[test]
fn blend_to_full_solver_and_back_with_continuous_effectors() {
    let cases = [
        (
            "helix",
            forks_models::helix(8, HelixJoints::Hinge3),
            vec![DVec3::ZERO, DVec3::new(0.0, 0.0, -60.0), DVec3::new(40.0, 10.0, -20.0)],
            DVec3::new(12.0, 6.0, -20.0),
        ),
        (
            "helix with one hinge per joint",
            forks_models::helix(14, HelixJoints::Alternating),
            vec![DVec3::ZERO, DVec3::new(0.0, 0.0, -40.0), DVec3::new(30.0, 10.0, -20.0)],
            DVec3::new(8.0, 4.0, -14.0),
        ),
    ];
    for (name, p, forces, pull) in cases {
        let problem = problem(&p);
        let model = std::sync::Arc::new(blend(&problem, &forces));
        let count = model.effector_count();
        let radius = model.data().radius;
        let h = 1e-3;
        let pull = effector_loads(count, pull);
        let stepper = BlendedStepper::new(model.clone(), h).unwrap();
        let mut state = BlendedState::new(&model, &vec![0.0; model.dof()]).unwrap();
        let mut work = stepper.workspace();
        for _ in 0..150 {
            assert_eq!(
                stepper.step(&mut state, &mut work, &pull),
                forks_rom::StepStatus::Completed
            );
        }
        let speed: f64 = (0..count).map(|e| model.effector_velocity(e, &state).norm()).sum();
        assert!(speed > 1e-2, "{name}: {speed}");

        let full = hand_over(&problem, &model, &state, &LiveOptions::default()).unwrap();
        println!("{name}: {:e} {:e} of {speed:e}", full.distance, full.velocity_distance);
        assert!(full.distance < 1e-8, "{name}: {:e}", full.distance);
        assert!(full.velocity_distance < 1e-7 * speed, "{name}: {:e}", full.velocity_distance);
        let m = problem.mechanism();
        let options = SimulationOptions { gravity: false, ..Default::default() };
        let mut simulation = Simulation::new(m, &full.q, &full.v, options);
        let shown = |simulation: &Simulation<'_>, e: usize| {
            let effector = &problem.effectors[e];
            simulation.link_poses()[effector.link.index()] * effector.link_from_effector
        };
        // The potential is the blend's up to its error, and the kinetic energy is that of the
        // static shapes.
        let energy = simulation.energy();
        let (potential, kinetic) =
            (model.evaluated_at(&state).potential_energy(), model.kinetic_energy(&state));
        println!("{name}: {} {potential}; {} {kinetic}", energy.elastic, energy.kinetic);
        let bound = if name == "helix" { 0.01 } else { 0.2 };
        assert!((energy.elastic - potential).abs() < bound * potential, "{name}");
        assert!((energy.kinetic - kinetic).abs() < bound * kinetic, "{name}");

        // On under the same loads: both solvers go the same way for a while.
        let mut last: Vec<Pose> = (0..count).map(|e| shown(&simulation, e)).collect();
        let mut largest: f64 = 0.0;
        for _ in 0..40 {
            let mut external = vec![Wrench::ZERO; m.links().len()];
            for e in 0..count {
                let effector = &problem.effectors[e];
                let turn = shown(&simulation, e).rotation.conjugate();
                let w = Wrench::new(turn * pull[e].wrench.force, DVec3::ZERO);
                external[effector.link.index()] +=
                    effector.link_from_effector.adjoint().apply_to_wrench(w);
            }
            simulation.set_loads(&vec![0.0; full.v.len()], &external);
            assert_eq!(simulation.step(h), SimulationStatus::Completed);
            assert_eq!(
                stepper.step(&mut state, &mut work, &pull),
                forks_rom::StepStatus::Completed
            );
            for (e, last) in last.iter_mut().enumerate() {
                let now = shown(&simulation, e);
                let moved = last.twist_to(&now).scale_linear(1.0 / radius).norm();
                largest = largest.max(moved);
                *last = now;
            }
        }
        let apart = |e: usize| {
            let blended = model.effector_pose(e, state.coordinates());
            blended.twist_to(&shown(&simulation, e)).scale_linear(1.0 / radius).norm()
        };
        let apart = (0..count).map(apart).fold(0.0, f64::max);
        println!("{name}: apart {apart:e} after 40 steps, largest step {largest:e}");
        assert!(apart < 0.2 * 40.0 * largest, "{name}: {apart:e} {largest:e}");

        let end = simulation.state();
        let (back, lost) = take_back(&problem, &model, &end.q, &end.v).unwrap();
        assert!(lost < 1e-9, "{name}: {lost:e}");
        let (mut again, mut speed) = (Simulation::new(m, &end.q, &end.v, options), 0.0f64);
        for e in 0..count {
            let gap = model.effector_pose(e, back.coordinates()).twist_to(&shown(&simulation, e));
            assert!(gap.norm() < 1e-12, "{name}: {:e}", gap.norm());
            // Velocity by central differences of the full solver's free motion over a tiny time.
            let before = shown(&again, e);
            let tiny = 1e-7;
            assert_eq!(again.step(tiny), SimulationStatus::Completed);
            let expected: Twist = before.twist_to(&shown(&again, e)) * (1.0 / tiny);
            let found = model.effector_velocity(e, &back);
            speed = speed.max(found.norm());
            assert!(
                (found - expected).norm() < 1e-3 * (1.0 + speed),
                "{name}: {found:?} {expected:?}"
            );
            again = Simulation::new(m, &end.q, &end.v, options);
        }
        // And once more: what comes back is what left.
        let over = hand_over(&problem, &model, &back, &LiveOptions::default()).unwrap();
        assert!(over.distance < 1e-8, "{name}: {:e}", over.distance);
    }
}

#[test]
fn gaps_tell_where_a_blend_is_wrong() {
    let problem = problem(&forks_models::helix(10, HelixJoints::Hinge3));
    let model = blend(&problem, &[DVec3::ZERO, DVec3::new(0.0, 0.0, -60.0)]);
    let radius = model.data().radius;
    let mut seen: Vec<(f64, f64)> = vec![];
    for k in 0..16 {
        let angle = 0.4 * f64::from(k);
        let size = 10.0 + 3.5 * f64::from(k % 7) + f64::from(k);
        let force = size * DVec3::new(angle.cos(), angle.sin(), -1.2);
        let found = model.solve_static(&effector_loads(1, force), &[]).unwrap();
        assert_eq!(found.status, StaticStatus::Converged);
        let state = BlendedState::new(&model, &found.coordinates).unwrap();
        let mut monitor = Monitor::new(MonitorSettings::default());
        monitor.see(&model, &state, &mut BlendedWorkspace::new(&model));
        let e = equilibrium(&problem, force);
        let effector = &problem.effectors[0];
        let full = e.world_from_link[effector.link.index()] * effector.link_from_effector;
        let error =
            model.effector_pose(0, &found.coordinates).translation.distance(full.translation);
        seen.push((monitor.error().0, error / radius));
    }
    // Ranks go together (Spearman).
    let rank = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
        (0..seen.len()).map(|i| (0..seen.len()).filter(|&j| of(j) < of(i)).count() as f64).collect()
    };
    let (a, b) = (rank(&|i| seen[i].0), rank(&|i| seen[i].1));
    let n = seen.len() as f64;
    let apart: f64 = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum();
    let correlation = 1.0 - 6.0 * apart / (n * (n * n - 1.0));
    println!("rank correlation of gaps and static error: {correlation:.3}");
    assert!(correlation > 0.8, "{correlation} {seen:?}");
}

#[test]
fn advice_follows_the_gaps_without_flickering() {
    let problem = problem(&forks_models::helix(10, HelixJoints::Hinge3));
    let model = blend(&problem, &[DVec3::ZERO, DVec3::new(0.0, 0.0, -60.0)]);
    let direction: Vec<f64> = (0..model.dof()).map(|i| (1.0 + i as f64).sin()).collect();
    let at = |s: f64| {
        let x: Vec<f64> = direction.iter().map(|d| s * d).collect();
        BlendedState::new(&model, &x).unwrap()
    };
    let gap = |s: f64| {
        let mut monitor = Monitor::new(MonitorSettings::default());
        monitor.see(&model, &at(s), &mut BlendedWorkspace::new(&model));
        monitor.error().0
    };
    assert!(gap(0.0) < 1e-12);
    let settings =
        MonitorSettings { add_sample: gap(0.1), hand_over: gap(0.2), release: 0.9, every: 1 };
    assert!(settings.add_sample < settings.hand_over);
    let mut monitor = Monitor::new(settings);
    let mut see = |s: f64| monitor.see(&model, &at(s), &mut BlendedWorkspace::new(&model));
    assert_eq!(see(0.05), Advice::GoOn);
    assert_eq!(see(0.12), Advice::AddSample);
    // A little below is not enough to say otherwise, half is.
    assert_eq!(see(0.0999), Advice::AddSample);
    assert_eq!(see(0.05), Advice::GoOn);
    assert_eq!(see(0.0999), Advice::GoOn);
    assert_eq!(see(0.21), Advice::HandOver);
    assert_eq!(see(0.1999), Advice::HandOver);
    assert_eq!(see(0.12), Advice::AddSample);
    // Out of range, whatever the gaps are.
    let mut short = model.data().clone();
    short.range = 1e-3;
    let short = BlendedModel::new(short).unwrap();
    let mut generous =
        Monitor::new(MonitorSettings { add_sample: 1e3, hand_over: 1e3, ..settings });
    let there = BlendedState::new(&short, at(0.1).coordinates()).unwrap();
    assert_eq!(generous.see(&short, &there, &mut BlendedWorkspace::new(&short)), Advice::HandOver);
    // Between looks the last advice stands.
    let mut seldom = Monitor::new(MonitorSettings { every: 3, ..settings });
    assert_eq!(
        seldom.see(&model, &at(0.12), &mut BlendedWorkspace::new(&model)),
        Advice::AddSample
    );
    assert_eq!(seldom.see(&model, &at(0.0), &mut BlendedWorkspace::new(&model)), Advice::AddSample);
    assert_eq!(seldom.see(&model, &at(0.0), &mut BlendedWorkspace::new(&model)), Advice::AddSample);
    assert_eq!(seldom.see(&model, &at(0.0), &mut BlendedWorkspace::new(&model)), Advice::GoOn);
    // A sample there is what helps.
    let pose = model.effector_pose(0, at(0.12).coordinates());
    let found = extended(&problem, &model, &[pose], &LiveOptions::default(), &|| true).unwrap();
    let mut monitor = Monitor::new(settings);
    let there = BlendedState::new(&found.model, at(0.12).coordinates()).unwrap();
    assert_eq!(
        monitor.see(&found.model, &there, &mut BlendedWorkspace::new(&found.model)),
        Advice::GoOn
    );
}

#[test]
fn driven_states_are_not_handed_over() {
    use forks_mechanism::{Combination, JointId, MechanismBuilder, Servo, Transmission};
    let p = forks_models::helix(5, HelixJoints::Hinge3);
    let mut b = MechanismBuilder::from_mechanism(&p.mechanism);
    b.add_servo(Servo {
        name: "motor".into(),
        transmission: Transmission::Joint,
        combination: Combination::of(JointId::new(2)),
        stiffness: 500.0,
        damping: 0.0,
    });
    let p = Parametric { mechanism: b.build().unwrap(), effectors: p.effectors };
    let problem = problem(&p);
    let model = blend(&problem, &[DVec3::ZERO]);
    let mut state = BlendedState::new(&model, &vec![0.0; model.dof()]).unwrap();
    assert!(hand_over(&problem, &model, &state, &LiveOptions::default()).is_ok());
    state.set_servo_targets(&model, &[0.1]).unwrap();
    assert_eq!(
        hand_over(&problem, &model, &state, &LiveOptions::default()).err(),
        Some(BlendError::Driven { servo: "motor".into(), value: 0.1 })
    );
}
