//! Prediction on blends: steps are taken to first order anew along the horizon.

use std::sync::Arc;

use forks_blend::{BlendedModel, BlendedStepper, Weights};
use forks_dynamics::{
    Loads, WrenchFrame,
    statics::{EquilibriumOptions, solve_equilibrium},
};
use forks_models::{HelixJoints, helix};
use forks_mpc::{Commands, Goal, Mpc, MpcSettings, MpcStatus};
use forks_place::{Sample, blend_data};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_rom::{
    EffectorLoad, EffectorState, LoadFrame, StaticStatus, Stepper, System,
    lie::{Pose, Wrench, glam::DVec3},
    linalg::dense::min_norm_solve,
};

const H: f64 = 2e-3;
const STEPS: usize = 300;
/// What bends the helix far, N.
const FAR: DVec3 = DVec3::new(0.0, 15.0, -60.0);

fn load(force: DVec3) -> EffectorLoad {
    let wrench = Wrench::new(force, DVec3::ZERO);
    EffectorLoad { effector: 0, wrench, frame: LoadFrame::World }
}

fn problem() -> Problem {
    let p = helix(8, HelixJoints::Hinge3);
    let tip = p.mechanism.link(p.effectors[0]).name.clone();
    Problem::new(&p.mechanism, &[&tip], &ProblemOptions::default()).unwrap()
}

fn blended(p: &Problem) -> BlendedStepper {
    let sample = |force: DVec3| {
        let loads = Loads::none()
            .with(p.effectors[0].applied(Wrench::new(force, DVec3::ZERO), WrenchFrame::World));
        let at = solve_equilibrium(p.mechanism(), &p.start, &loads, &EquilibriumOptions::default());
        assert!(at.status.is_equilibrium());
        Sample::new(p, &at, &loads).unwrap()
    };
    let samples = [DVec3::ZERO, FAR].map(sample);
    let weights = Weights::Shepard { exponent: 6 };
    let data = blend_data(&samples[0].effector_poses(), &samples, weights).unwrap();
    BlendedStepper::new(Arc::new(BlendedModel::new(data).unwrap()), H).unwrap()
}

fn tip<S: System>(system: &S, state: &S::State) -> Pose {
    let n = system.dof();
    let mut out = vec![EffectorState::new(n)];
    system.effectors(state, &system.workspace(), &vec![0.0; n], &mut out);
    out[0].pose
}

/// Distance from the target after a while, driven by forces that a model predicts, from what is
/// seen of the blend.
fn left<S: System>(
    plant: &BlendedStepper,
    model: S,
    target: Pose,
    seen: impl Fn(&[f64], &Pose) -> Vec<f64>,
) -> f64 {
    let settings = MpcSettings {
        horizon: 15,
        commands: Commands::Forces(vec![0]),
        bounds: vec![(-120.0, 120.0); 3],
        goals: vec![Goal::position(0)],
        effort: 1e-12,
        change: 1e-9,
        pivots: 100,
        budget: None,
    };
    let mut mpc = Mpc::new(model, settings).unwrap();
    let (mut state, mut work) = (plant.state(), plant.workspace());
    let mut x = vec![0.0; plant.dof()];
    let mut before: Option<Vec<f64>> = None;
    for _ in 0..STEPS {
        plant.coordinates(&state, &mut x);
        let here = seen(&x, &tip(plant, &state));
        let last = before.replace(here.clone()).unwrap_or_else(|| here.clone());
        let v: Vec<f64> = here.iter().zip(&last).map(|(a, b)| (a - b) / H).collect();
        let report = mpc.solve((&here, &v), &[], |_, _| target).unwrap();
        assert_eq!(report.status, MpcStatus::Solved);
        let force = DVec3::from_slice(mpc.commands());
        let _ = plant.step(&mut state, &mut work, &[load(force)]);
    }
    tip(plant, &state).translation.distance(target.translation)
}

#[test]
fn a_horizon_that_is_linearised_anew_ends_where_one_linearisation_does_not() {
    let p = problem();
    let plant = blended(&p);
    let rest = plant.solve_static(&[load(0.8 * FAR)], &[]).unwrap();
    assert_eq!(rest.status, StaticStatus::Converged);
    let mut state = plant.state();
    plant.set(&mut state, &rest.coordinates, &vec![0.0; plant.dof()]).unwrap();
    let target = tip(&plant, &state);
    let start = tip(&plant, &plant.state());
    let way = start.translation.distance(target.translation);
    assert!(way > 0.1 * plant.data().radius, "{way}");

    let anew = left(&plant, plant.clone(), target, |x, _| x.to_vec());
    let model = p.reduce(p.at_rest(), &ReduceOptions::default()).unwrap().model;
    let data = model.data().clone();
    let single = Stepper::new(Arc::new(model), H).unwrap();
    let once = left(&plant, single, target, |_, pose| {
        let xi = (data.effectors[0].rest.inverse() * *pose).log().to_array();
        min_norm_solve(&data.basis, &xi, 1e-12)
    });
    println!("way {way:e} m; linearised anew {anew:e} m, once {once:e} m");
    assert!(anew < 1e-3 * way, "{anew} of {way}");
    assert!(once > 10.0 * anew, "{once} {anew}");
}
