//! A sample added where a running blend is, on another thread, and swapped in while it runs.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use forks_blend::{
    BlendedModel, BlendedState, BlendedStepper, BlendedWorkspace, Crossfade, LinkBlend, Weights,
};
use forks_dynamics::{
    Loads, WrenchFrame, generalized_forces,
    statics::{EquilibriumOptions, solve_equilibrium},
};
use forks_mechanism::{
    kinematics::loops,
    lie::{Pose, Wrench, glam::DVec3},
};
use forks_models::{HelixJoints, Parametric};
use forks_place::{
    BlendError, Sample, blend_data,
    live::{LiveOptions, add_sample_here, extended},
};
use forks_reduce::{Problem, ProblemOptions};
use forks_rom::{EffectorLoad, LoadFrame, PoseBuffer, Reconstruction, StaticStatus, StepStatus};

fn problem(p: &Parametric) -> Arc<Problem> {
    let tip = p.mechanism.link(p.effectors[0]).name.clone();
    Arc::new(Problem::new(&p.mechanism, &[&tip], &ProblemOptions::default()).unwrap())
}

fn sample(problem: &Problem, force: DVec3) -> Sample {
    let e = &problem.effectors[0];
    let loads = Loads::none().with(e.applied(Wrench::new(force, DVec3::ZERO), WrenchFrame::World));
    let found = solve_equilibrium(
        problem.mechanism(),
        &problem.start,
        &loads,
        &EquilibriumOptions::default(),
    );
    assert!(found.status.is_equilibrium());
    Sample::new(problem, &found, &loads).unwrap()
}

fn blend(problem: &Problem, forces: &[DVec3]) -> Arc<BlendedModel> {
    let poses = problem.mechanism().link_poses(&problem.start);
    let e = &problem.effectors[0];
    let reference = [poses[e.link.index()] * e.link_from_effector];
    let samples: Vec<Sample> = forces.iter().map(|f| sample(problem, *f)).collect();
    let data = blend_data(&reference, &samples, Weights::Shepard { exponent: 6 }).unwrap();
    Arc::new(BlendedModel::new(data).unwrap())
}

fn load(force: DVec3) -> [EffectorLoad; 1] {
    let wrench = Wrench::new(force, DVec3::ZERO);
    [EffectorLoad { effector: 0, wrench, frame: LoadFrame::World }]
}

fn at_rest_under(blend: &BlendedModel, force: DVec3) -> BlendedState {
    let found = blend.solve_static(&load(force), &[]).unwrap();
    assert_eq!(found.status, StaticStatus::Converged);
    BlendedState::new(blend, &found.coordinates).unwrap()
}

fn bits(p: &Pose) -> [u64; 7] {
    let (t, r) = (p.translation, p.rotation);
    [t.x, t.y, t.z, r.x, r.y, r.z, r.w].map(f64::to_bits)
}

/// Distance of two poses, lengths over r.
fn distance(a: &Pose, b: &Pose, radius: f64) -> f64 {
    a.twist_to(b).scale_linear(1.0 / radius).norm()
}

fn helix() -> (Arc<Problem>, Arc<BlendedModel>) {
    let problem = problem(&forks_models::helix(10, HelixJoints::Hinge3));
    let blend = blend(&problem, &[DVec3::ZERO, DVec3::new(0.0, 0.0, -60.0)]);
    (problem, blend)
}

#[test]
fn the_new_sample_is_an_equilibrium_with_the_effectors_where_they_were() {
    let (problem, blend) = helix();
    for force in [DVec3::new(50.0, 20.0, -40.0), DVec3::new(-30.0, 50.0, 10.0)] {
        let state = at_rest_under(&blend, force);
        let pose = blend.effector_pose(0, state.coordinates());
        let error = |model: &BlendedModel, state: &BlendedState| {
            let (mode, blend) = (Reconstruction::Twist, LinkBlend::default());
            let mut work = BlendedWorkspace::new(model);
            model.constraint_error(state, &mut work, mode, blend).position
        };
        let before = error(&blend, &state);
        let options = LiveOptions::default();
        let found = extended(&problem, &blend, &[pose], &options, &|| true).unwrap();
        assert!(found.distance < 1e-8, "{:e}", found.distance);
        let new = &found.model.data().samples[2];
        let effector = &new.model.data().effectors[0];
        // The wrench of the new sample balances the mechanism's own forces at that pose.
        let m = problem.mechanism();
        let e = &problem.effectors[0];
        let w = effector.static_wrench;
        let turn = effector.rest.rotation;
        let loads = Loads::none()
            .with(e.applied(Wrench::new(turn * w.force, turn * w.torque), WrenchFrame::World));
        let q = &found.equilibrium.q;
        let forces = generalized_forces(m, q, &m.link_poses(q), &loads);
        let size = 100.0;
        assert!(forces.iter().all(|f| f.abs() < 1e-9 * size), "{forces:?}");
        let expected = forks_dynamics::potential_energy(m, q, &m.link_poses(q), &Loads::none());
        assert!((new.potential - expected).abs() < 1e-12 * expected);
        // There the new blend is the sample.
        let (x, _, _) = found.model.coordinates_of(&[pose], &[Default::default()]).unwrap();
        let there = BlendedState::new(&found.model, &x).unwrap();
        assert!(found.model.evaluated_at(&there).weights()[2] > 1.0 - 1e-9);
        let after = error(&found.model, &there);
        println!("constraint error {before:.2e}, then {after:.2e}");
        assert!(before > 1e-4 && after < 1e-7, "{before:e} {after:e}");
    }
}

#[test]
fn a_mechanism_with_loops_gets_samples_too() {
    let problem = problem(&forks_models::irregular_ladder(6));
    let forces = [DVec3::new(10.0, 0.0, 0.0), DVec3::new(50.0, 0.0, -20.0)];
    let blend = blend(&problem, &forces);
    // Where some load has the effector: between two poses there is no other one, the ladder hardly
    // gives along itself.
    let there = sample(&problem, DVec3::new(30.0, 0.0, -8.0)).effector_poses();
    let (x, _, lost) = blend.coordinates_of(&there, &[Default::default()]).unwrap();
    assert!(lost < 1e-9);
    let state = BlendedState::new(&blend, &x).unwrap();
    let pose = blend.effector_pose(0, state.coordinates());
    let options = LiveOptions::default();
    let found = extended(&problem, &blend, &[pose], &options, &|| true).unwrap();
    let m = problem.mechanism();
    let q = &found.equilibrium.q;
    let gap = loops::constraint_residual(m, q, &m.link_poses(q));
    assert!(gap.iter().all(|g| g.abs() < 1e-10));
    println!("distance {:e}", found.distance);
    assert!(found.distance < 1e-8);
    // The chart goes on where it was.
    let (fade, new_state) = Crossfade::new(blend.clone(), &state, &found.model, 10).unwrap();
    assert_eq!(fade.lost(), 0.0);
    let shown = found.model.effector_pose(0, new_state.coordinates());
    assert_eq!(bits(&shown), bits(&pose));
    assert!(found.model.dof() >= blend.dof());
}

#[test]
fn a_sample_that_moves_in_new_directions_adds_coordinates_and_keeps_the_others() {
    // The ladder's rest pose is singular: one direction there, three off it.
    let problem = problem(&forks_models::ladder(6));
    let blend = blend(&problem, &[DVec3::ZERO]);
    assert_eq!(blend.dof(), 1);
    let x = [0.2];
    let state = BlendedState::new(&blend, &x).unwrap();
    let pose = blend.effector_pose(0, &x);
    let options = LiveOptions::default();
    let found = extended(&problem, &blend, &[pose], &options, &|| true).unwrap();
    println!("distance {:e}, coordinates {}", found.distance, found.model.dof());
    assert!(found.model.dof() > 1);
    let (_, new_state) = Crossfade::new(blend.clone(), &state, &found.model, 10).unwrap();
    assert_eq!(bits(&found.model.effector_pose(0, new_state.coordinates())), bits(&pose));
}

/// Largest moves of the links in a step.
struct Moves {
    last: Option<Vec<Pose>>,
    each: Vec<f64>,
    radius: f64,
}

impl Moves {
    fn see(&mut self, buffer: &PoseBuffer) {
        let now: Vec<Pose> = buffer.iter().map(|(_, p)| p).collect();
        if let Some(last) = &self.last {
            let pairs = last.iter().zip(&now);
            self.each.push(pairs.map(|(a, b)| distance(a, b, self.radius)).fold(0.0, f64::max));
        }
        self.last = Some(now);
    }

    fn mean(&self) -> f64 {
        self.each.iter().sum::<f64>() / self.each.len() as f64
    }

    fn largest(&self) -> f64 {
        self.each.iter().copied().fold(0.0, f64::max)
    }
}

#[test]
fn swapped_in_while_it_runs_nothing_jumps() {
    const FADE: usize = 200;
    let (problem, blend) = helix();
    let h = 1e-3;
    // A slow pull to the side, where no sample is.
    let pull = |step: usize| {
        let t = step as f64 * h;
        load(DVec3::new(45.0, 30.0, -30.0) * (1.0 - (0.6 * t).cos()))
    };
    for mode in [LinkBlend::Average, LinkBlend::Logarithm] {
        let old_stepper = BlendedStepper::new(blend.clone(), h).unwrap();
        let mut state = BlendedState::new(&blend, &vec![0.0; blend.dof()]).unwrap();
        let mut work = BlendedWorkspace::new(&blend);
        let mut moves = Moves { last: None, each: vec![], radius: blend.data().radius };
        let mut buffer = blend.pose_buffer();
        let mut step = 0;
        let run = |state: &mut BlendedState,
                   work: &mut BlendedWorkspace,
                   stepper: &BlendedStepper,
                   more: &[EffectorLoad],
                   step: &mut usize| {
            let loads = [&pull(*step), more].concat();
            assert_eq!(stepper.step(state, work, &loads), StepStatus::Completed);
            *step += 1;
        };
        while step < 2500 {
            run(&mut state, &mut work, &old_stepper, &[], &mut step);
            blend.poses(&state, &mut work, mode, &mut buffer);
            moves.see(&buffer);
        }
        let mut pending = add_sample_here(&problem, &blend, &state, &LiveOptions::default());
        // The old blend runs on until the new one is there.
        let started = Instant::now();
        let found = loop {
            if let Some(found) = pending.poll() {
                break found.unwrap();
            }
            assert!(started.elapsed() < Duration::from_secs(120));
            std::thread::sleep(Duration::from_millis(1));
        };
        assert!(matches!(pending.poll(), Some(Err(BlendError::WorkerLost))));
        for _ in 0..20 {
            run(&mut state, &mut work, &old_stepper, &[], &mut step);
            blend.poses(&state, &mut work, mode, &mut buffer);
            moves.see(&buffer);
        }
        let before = blend.effector_pose(0, state.coordinates());
        let velocity = blend.effector_velocity(0, &state);
        let energies =
            (blend.evaluated_at(&state).potential_energy(), blend.kinetic_energy(&state));
        let last = moves.last.clone().unwrap();
        let new = found.model;
        let (mut fade, mut state) = Crossfade::new(blend.clone(), &state, &new, FADE).unwrap();
        let mut work = BlendedWorkspace::new(&new);
        // Effectors: equal in every bit; their velocity too, and what energy does is said.
        assert_eq!(bits(&new.effector_pose(0, state.coordinates())), bits(&before));
        assert_eq!(new.effector_velocity(0, &state), velocity);
        assert_eq!(
            new.evaluated_at(&state).potential_energy() - energies.0,
            fade.energy_jump().potential
        );
        assert_eq!(new.kinetic_energy(&state) - energies.1, fade.energy_jump().kinetic);
        fade.poses(&new, &state, &mut work, mode, &mut buffer);
        for ((_, p), before) in buffer.iter().zip(&last) {
            assert_eq!(bits(&p), bits(before));
        }
        // Without the fade the links would jump.
        let mut at_once = new.pose_buffer();
        new.poses(&state, &mut work, mode, &mut at_once);
        let pairs = at_once.iter().zip(&last);
        let jump = pairs.map(|((_, p), q)| distance(&p, q, new.data().radius)).fold(0.0, f64::max);
        assert!(jump > 10.0 * moves.mean(), "{jump:e} {:e}", moves.mean());

        let stepper = BlendedStepper::new(new.clone(), h).unwrap();
        let mut mixed = true;
        for k in 0..600 {
            run(&mut state, &mut work, &stepper, fade.loads(), &mut step);
            mixed = fade.advance();
            assert_eq!(mixed, k + 1 < FADE);
            fade.poses(&new, &state, &mut work, mode, &mut buffer);
            moves.see(&buffer);
        }
        assert!(!mixed && fade.weight() == 1.0);
        new.poses(&state, &mut work, mode, &mut at_once);
        assert_eq!(at_once, buffer);
        println!(
            "{mode:?}: largest move {:.2e}, mean {:.2e}, jump without fade {jump:.2e}, energy {:?}",
            moves.largest(),
            moves.mean(),
            fade.energy_jump()
        );
        assert!(moves.largest() < 10.0 * moves.mean());
    }
}

#[test]
fn work_can_be_cancelled_and_failures_leave_the_blend_alone() {
    let (problem, blend) = helix();
    let state = at_rest_under(&blend, DVec3::new(50.0, 20.0, -40.0));
    let pose = blend.effector_pose(0, state.coordinates());
    let options = LiveOptions::default();
    // At every question in turn.
    let asked = std::cell::Cell::new(0);
    let count = |limit: usize| {
        asked.set(0);
        extended(&problem, &blend, &[pose], &options, &|| {
            asked.set(asked.get() + 1);
            asked.get() <= limit
        })
    };
    assert!(count(usize::MAX).is_ok());
    let questions = asked.get();
    assert!(questions >= 5);
    for limit in 0..questions {
        assert_eq!(count(limit).err(), Some(BlendError::Cancelled), "{limit}");
        assert_eq!(asked.get(), limit + 1);
    }
    let pending = add_sample_here(&problem, &blend, &state, &options);
    pending.cancel();
    assert_eq!(pending.wait().err(), Some(BlendError::Cancelled));
    assert!(add_sample_here(&problem, &blend, &state, &options).wait().is_ok());
    // Another problem, numbers that are none.
    let two = forks_models::y_mechanism();
    let names: Vec<String> =
        two.effectors.iter().map(|&l| two.mechanism.link(l).name.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let other = Problem::new(&two.mechanism, &names, &ProblemOptions::default()).unwrap();
    assert_eq!(
        extended(&other, &blend, &[pose], &options, &|| true).err(),
        Some(BlendError::AnotherProblem { found: 1, expected: 2 })
    );
    let nowhere = Pose { translation: DVec3::splat(f64::NAN), ..pose };
    assert!(extended(&problem, &blend, &[nowhere], &options, &|| true).is_err());
}
