//! What contact needs of a floating model's steps: responses against loads, momentum against
//! impulses, energy against work.

use std::sync::Arc;

use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_rom::{
    BaseCoupling, EffectorLoad, FloatingModel, FloatingState, FloatingStepper, FloatingWorkspace,
    LoadFrame, StepStatus, System,
    lie::{Pose, Twist, Wrench, glam::DVec3},
    linalg::Matrix,
};
use forks_testkit::{Rng, floating::floating_hub};

use crate::random_model::numbers;

fn twist(rng: &mut Rng, size: f64) -> Twist {
    Twist::from_array(core::array::from_fn(|_| size * rng.symmetric()))
}

fn load(rng: &mut Rng, effector: usize, size: f64) -> EffectorLoad {
    let wrench = Wrench::from_array(twist(rng, size).to_array());
    EffectorLoad { effector, wrench, frame: LoadFrame::Body }
}

fn size(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}

fn assert_near(found: &[f64], expected: &[f64], bound: f64) {
    let off = found.iter().zip(expected).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(off <= bound * size(expected), "{off:e}: {found:?} {expected:?}");
}

fn assert_positive(a: &Matrix, rng: &mut Rng) {
    assert_eq!(*a, a.transpose());
    for _ in 0..20 {
        let x = numbers(rng, a.rows(), 1.0);
        assert!(x.iter().zip(a.mul_vec(&x)).map(|(x, y)| x * y).sum::<f64>() > 0.0);
    }
}

fn floating(form: BaseCoupling) -> Arc<FloatingModel> {
    let effectors = &["a5", "b5", "c5"];
    let p = Problem::new(&floating_hub(), effectors, &ProblemOptions::default()).unwrap();
    let options = ReduceOptions { floating: true, ..ReduceOptions::default() };
    let model = p.reduce(p.at_rest(), &options).unwrap().model;
    Arc::new(FloatingModel::new(Arc::new(model), form).unwrap().with_gravity(DVec3::ZERO))
}

const FORMS: [BaseCoupling; 4] = [
    BaseCoupling::Full,
    BaseCoupling::Inertial,
    BaseCoupling::External,
    BaseCoupling::ExternalCorrected,
];

fn random_state(model: &FloatingModel, rng: &mut Rng, speed: f64) -> FloatingState {
    let mut out = FloatingState::new(model);
    let n = out.shape().coordinates().len();
    let (eta, rate) = (numbers(rng, n, 0.03), numbers(rng, n, speed));
    let (pose, velocity) = (Pose::exp(twist(rng, 1.0)), twist(rng, 2.0 * speed));
    out.set(model, &eta, &rate, pose, velocity).unwrap();
    out
}

/// φ_e per (v, ω, η̇) by the model's own velocities.
fn jacobian(model: &FloatingModel, e: usize, state: &FloatingState) -> Matrix {
    let n = state.shape().coordinates().len();
    let mut out = Matrix::zeros(6, 6 + n);
    for j in 0..6 + n {
        let unit = |i: usize| f64::from(i == j);
        let rate: Vec<f64> = (0..n).map(|k| unit(6 + k)).collect();
        let base = Twist::from_array(core::array::from_fn(unit));
        let mut s = state.clone();
        s.set(model, state.shape().coordinates(), &rate, state.world_from_base(), base).unwrap();
        for (i, x) in model.effector_velocity(e, &s).to_array().into_iter().enumerate() {
            out[(i, j)] = x;
        }
    }
    out
}

#[test]
fn a_floating_model_answers_to_impulses_as_to_loads() {
    let mut rng = Rng::new(5);
    for form in FORMS {
        let (model, h) = (floating(form), 1e-2);
        let stepper = FloatingStepper::new(model.clone(), h).unwrap();
        // At rest, where a step is linear in its loads.
        let state = random_state(&model, &mut rng, 0.0);
        let (first, further) = (load(&mut rng, 0, 3.0), load(&mut rng, 1, 5.0));
        let respond = |loads: &[EffectorLoad]| {
            let mut out = FloatingWorkspace::new(&model);
            let status = stepper.respond(&state, &mut out, loads, DVec3::ZERO);
            assert_ne!(status, StepStatus::NotFinite);
            out
        };
        let (without, with) = (respond(&[first]), respond(&[first, further]));
        assert_positive(with.inverse_system().unwrap(), &mut rng);
        let impulse = further.wrench.to_array().map(|w| h * w);
        let generalised = jacobian(&model, 1, &state).transpose_mul_vec(&impulse);
        let answer = with.inverse_system().unwrap().mul_vec(&generalised);
        let pairs = with.free_velocity().iter().zip(without.free_velocity());
        let found: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
        assert_near(&found, &answer, 1e-10);
    }
}

#[test]
fn momentum_changes_by_the_impulses_and_none_changes_no_bit() {
    let mut rng = Rng::new(6);
    for form in FORMS {
        let model = floating(form);
        for h in [1e-3, 1e-2] {
            let stepper = FloatingStepper::new(model.clone(), h).unwrap();
            let mut work = FloatingWorkspace::new(&model);
            for kick in [0.0, 0.01, 0.3] {
                let mut state = random_state(&model, &mut rng, 0.5);
                let base = state.world_from_base();
                let (before, energy) = (model.momentum(&state), model.energy(&state));
                let mut free = state.clone();
                assert_eq!(
                    stepper.step_under(&mut free, &mut work, &[], DVec3::ZERO),
                    StepStatus::Completed
                );
                assert_ne!(
                    stepper.respond(&state, &mut work, &[], DVec3::ZERO),
                    StepStatus::NotFinite
                );
                let impulse = numbers(&mut rng, 6 + state.shape().coordinates().len(), kick);
                let change = work.inverse_system().unwrap().mul_vec(&impulse);
                let status = stepper.change_velocity(&mut state, &mut work, &change).unwrap();
                assert_eq!(status, StepStatus::Completed);
                if kick == 0.0 {
                    assert_eq!(state, free);
                    continue;
                }
                // A wrench on the base link is what is conjugate to its twist.
                let part = |i: usize| DVec3::new(impulse[i], impulse[i + 1], impulse[i + 2]);
                let [push, turn] = [part(0), part(3)].map(|v| base.rotation * v);
                let after = model.momentum(&state);
                let linear = before.linear + push - after.linear;
                let angular = before.angular + turn + base.translation.cross(push) - after.angular;
                assert!(linear.length() < 1e-12 && angular.length() < 1e-12, "{linear} {angular}");
                // The energy grows by no more than the work: impulses times velocities at the end
                // of the step, those of the linear response up to the second order.
                let work: f64 = impulse
                    .iter()
                    .zip(work.free_velocity().iter().zip(&change))
                    .map(|(j, (v, d))| j * (v + d))
                    .sum();
                let gained = model.energy(&state) - energy;
                assert!(gained <= work + 10.0 * h * kick, "{form:?} {h} {kick}: {gained} {work}");
            }
        }
    }
}

#[test]
fn numbers_give_a_state_back_bit_by_bit() {
    let mut rng = Rng::new(7);
    let model = floating(BaseCoupling::Full);
    let stepper = FloatingStepper::new(model.clone(), 1e-3).unwrap();
    let mut state = random_state(&model, &mut rng, 1.0);
    let mut work = stepper.workspace();
    for _ in 0..50 {
        let _ = stepper.step(&mut state, &mut work, &[]);
    }
    let mut kept = Vec::new();
    state.extra_state(&mut kept);
    let mut other = FloatingState::new(&model);
    other.set_extra_state(&kept).unwrap();
    assert_eq!(other, state);
    kept.pop();
    assert!(other.set_extra_state(&kept).is_err());
    assert_eq!(other, state);
}
