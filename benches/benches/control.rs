//! Prediction on the Shadow hand with five fingertips: one solve of twenty steps, warm, under
//! targets that move, and on a helix driven by forces, whose steps are taken to first order anew.

use std::{path::Path, sync::Arc};

use criterion::{Criterion, criterion_group, criterion_main};
use forks_import::{ImportOptions, load_mjcf};
use forks_mechanism::Mechanism;
use forks_models::{HelixJoints, helix};
use forks_mpc::{Commands, Goal, Mpc, MpcSettings, MpcStatus};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_rom::{
    Stepper, System,
    lie::{Pose, glam::DVec3},
};

/// The step of horizon and commands, s.
const STEP: f64 = 5e-3;

fn stepper(m: &Mechanism, effectors: &[&str]) -> Stepper {
    let problem = Problem::new(m, effectors, &ProblemOptions::default()).expect("effectors");
    let model = problem.reduce(problem.at_rest(), &ReduceOptions::default()).expect("a model");
    Stepper::new(Arc::new(model.model), STEP).expect("a step above 0")
}

fn predict(
    c: &mut Criterion,
    name: &str,
    stepper: Stepper,
    commands: Commands,
    bound: f64,
    way: f64,
) {
    let count = commands.count(&stepper);
    let effectors = stepper.data().effectors.len();
    let starts: Vec<Pose> = stepper.data().effectors.iter().map(|e| e.rest).collect();
    let settings = MpcSettings {
        horizon: 20,
        commands,
        bounds: vec![(-bound, bound); count],
        goals: (0..effectors).map(Goal::position).collect(),
        effort: 1e-6,
        change: 1e-5,
        pivots: 100,
        budget: None,
    };
    let mut mpc = Mpc::new(stepper.clone(), settings).expect("a problem");
    let n = stepper.dof();
    let (mut x, mut v) = (vec![0.0; n], vec![0.0; n]);
    let (mut state, mut work) = (stepper.state(), stepper.workspace());
    let (mut k, mut bounds, mut pivots, mut most) = (0usize, 0usize, 0usize, 0usize);
    let servos = mpc.settings().commands == Commands::Servos;
    let mut turn = || {
        let target = |step: usize, goal: usize| {
            let s = (0.05 * (k + step) as f64 + goal as f64).sin();
            let start = starts[goal];
            Pose { translation: start.translation + way * DVec3::new(s, 0.5 * s, -s), ..start }
        };
        let report = mpc.solve((&x, &v), &[], target).expect("finite numbers");
        assert_eq!(report.status, MpcStatus::Solved);
        bounds += usize::from(report.at_bounds > 0);
        pivots += report.pivots;
        most = most.max(report.pivots);
        if servos {
            stepper.set_servo_targets(&mut state, mpc.commands()).expect("targets");
            let _ = stepper.step(&mut state, &mut work, &[]);
            stepper.coordinates(&state, &mut x);
            stepper.velocity(&state, &mut v);
        }
        k += 1;
    };
    (0..200).for_each(|_| turn());
    c.bench_function(name, |b| b.iter(&mut turn));
    let per = pivots as f64 / k as f64;
    println!(
        "{name}: {n} coordinates, {count} commands, at bounds in {bounds} of {k} solves, \
         {per:.2} pivots a solve, {most} at most"
    );
}

fn prediction(c: &mut Criterion) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let file = fixtures.join("models/shadow_hand_right/right_hand.nomesh.xml");
    let hand = load_mjcf(&file, &ImportOptions::default()).expect("the hand").mechanism;
    let tips: Vec<String> =
        hand.links().iter().map(|l| l.name.clone()).filter(|n| n.ends_with("distal")).collect();
    let tips: Vec<&str> = tips.iter().map(String::as_str).collect();
    predict(c, "control/mpc-hand", stepper(&hand, &tips), Commands::Servos, 0.03, 2e-3);
    let p = helix(20, HelixJoints::Hinge3);
    let name = p.mechanism.link(p.effectors[0]).name.clone();
    let stepper = stepper(&p.mechanism, &[&name]);
    let way = 0.01 * stepper.data().radius;
    predict(c, "control/mpc-helix-20", stepper, Commands::Forces(vec![0]), 10.0, way);
}

criterion_group!(benches, prediction);
criterion_main!(benches);
