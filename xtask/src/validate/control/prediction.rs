//! Prediction: the problem of a horizon with bounds against another solver, what a budget leaves.

use std::{path::Path, sync::Arc, time::Duration};

use forks_import::{ImportOptions, load_mjcf};
use forks_mechanism::{
    Mechanism,
    lie::{Pose, glam::DVec3},
};
use forks_models::{HelixJoints, helix};
use forks_mpc::{Commands, Goal, Mpc, MpcSettings, MpcStatus};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_rom::{Stepper, System};
use forks_testkit::box_qp::polished;

use crate::validate::record::{Recorder, larger};

/// The step of horizon and commands, s.
const STEP: f64 = 5e-3;
const HORIZON: usize = 20;
const SOLVES: usize = 60;

pub(super) fn check(fixtures: &Path, out: &mut Recorder) -> Result<(), String> {
    let file = fixtures.join("models/shadow_hand_right/right_hand.nomesh.xml");
    let hand = load_mjcf(&file, &ImportOptions::default()).map_err(|e| e.to_string())?.mechanism;
    let tips: Vec<String> =
        hand.links().iter().map(|l| l.name.clone()).filter(|n| n.ends_with("distal")).collect();
    let tips: Vec<&str> = tips.iter().map(String::as_str).collect();
    let hand = stepper(&hand, &tips)?;
    against(out, "hand", &hand, Commands::Servos, 0.03, 2e-3)?;
    let p = helix(20, HelixJoints::Hinge3);
    let name = p.mechanism.link(p.effectors[0]).name.clone();
    let spring = stepper(&p.mechanism, &[&name])?;
    let way = 0.05 * spring.data().radius;
    against(out, "helix 20", &spring, Commands::Forces(vec![0]), 0.5, way)?;
    budget(out, &hand)
}

fn stepper(m: &Mechanism, effectors: &[&str]) -> Result<Stepper, String> {
    let problem = Problem::new(m, effectors, &ProblemOptions::default());
    let problem = problem.map_err(|e| e.to_string())?;
    let model = problem.reduce(problem.at_rest(), &ReduceOptions::default());
    let model = Arc::new(model.map_err(|e| e.to_string())?.model);
    Stepper::new(model, STEP).map_err(|e| e.to_string())
}

fn settings(system: &Stepper, commands: Commands, bound: f64) -> MpcSettings {
    let count = commands.count(system);
    MpcSettings {
        horizon: HORIZON,
        commands,
        bounds: vec![(-bound, bound); count],
        goals: (0..system.data().effectors.len()).map(Goal::position).collect(),
        effort: 1e-6,
        change: 1e-5,
        pivots: 200,
        budget: None,
    }
}

/// Solves along targets that move, every one against another solver.
fn against(
    out: &mut Recorder,
    name: &str,
    system: &Stepper,
    commands: Commands,
    bound: f64,
    way: f64,
) -> Result<(), String> {
    let mut mpc = Mpc::new(system.clone(), settings(system, commands.clone(), bound))
        .map_err(|e| e.to_string())?;
    let starts: Vec<Pose> = system.data().effectors.iter().map(|e| e.rest).collect();
    let n = system.dof();
    let (mut x, mut v) = (vec![0.0; n], vec![0.0; n]);
    let (mut state, mut work) = (system.state(), system.workspace());
    let (mut apart, mut bounded, mut unsolved) = (0.0f64, 0usize, 0usize);
    for k in 0..SOLVES {
        let target = |step: usize, goal: usize| {
            let s = (0.2 * (k + step) as f64 + goal as f64).sin();
            let start = starts[goal];
            Pose { translation: start.translation + way * DVec3::new(s, 0.5 * s, -s), ..start }
        };
        let report = mpc.solve((&x, &v), &[], target).map_err(|e| e.to_string())?;
        unsolved += usize::from(report.status != MpcStatus::Solved);
        bounded += usize::from(report.at_bounds > 0);
        if k % 3 == 0 {
            let ((h, found), (lower, upper)) = (mpc.problem(), mpc.step_bounds());
            let other = polished(h, mpc.slope(), lower, upper);
            let size = found.iter().chain(&other).fold(1e-9f64, |m, x| m.max(x.abs()));
            let d = found.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            apart = larger(apart, d / size);
        }
        let loads = match &commands {
            Commands::Servos => {
                system.set_servo_targets(&mut state, mpc.commands()).map_err(|e| e.to_string())?;
                vec![]
            }
            Commands::Forces(_) => vec![forks_rom::EffectorLoad {
                effector: 0,
                wrench: forks_mechanism::lie::Wrench::new(
                    DVec3::from_slice(mpc.commands()),
                    DVec3::ZERO,
                ),
                frame: forks_rom::LoadFrame::World,
            }],
        };
        let _ = system.step(&mut state, &mut work, &loads);
        system.coordinates(&state, &mut x);
        system.velocity(&state, &mut v);
    }
    let what = format!("{name}, {HORIZON} steps");
    out.at_most(&format!("prediction = dense reference, {what}, bounds active"), apart, 1e-8);
    out.equal(&format!("solves that do not end solved, {what}, {SOLVES}"), unsolved, 0);
    out.at_most(
        &format!("solves without a bound that is active, {what}"),
        (SOLVES - bounded) as f64,
        0.9 * SOLVES as f64,
    );
    Ok(())
}

/// Without time left.
fn budget(out: &mut Recorder, hand: &Stepper) -> Result<(), String> {
    let mut s = settings(hand, Commands::Servos, 0.03);
    s.budget = Some(Duration::ZERO);
    let mut mpc = Mpc::new(hand.clone(), s).map_err(|e| e.to_string())?;
    let still = vec![0.0; hand.dof()];
    let target = |_: usize, goal: usize| {
        let start = hand.data().effectors[goal].rest;
        Pose { translation: start.translation + DVec3::splat(0.02), ..start }
    };
    let report = mpc.solve((&still, &still), &[], target).map_err(|e| e.to_string())?;
    out.equal(
        "a budget of nothing is said to have cut",
        usize::from(report.status == MpcStatus::Cut),
        1,
    );
    let beyond = mpc.plan().iter().map(|u| (u.abs() - 0.03).max(0.0)).fold(0.0, f64::max);
    out.at_most("commands beyond bounds where it cut", beyond, 0.0);
    Ok(())
}
