//! What contact needs of a blend's steps: responses against loads, energy against work.

use std::sync::Arc;

use blend_support::{Sizes, bent::bend, blend, numbers, twist};
use forks_blend::{BlendedModel, BlendedState, BlendedStepper, Weights};
use forks_rom::{EffectorLoad, LoadFrame, StepStatus, System, lie::Wrench, linalg::Matrix};
use forks_testkit::Rng;

use crate::blend_support;

const WEIGHTS: [Weights; 3] = [
    Weights::Shepard { exponent: 4 },
    Weights::Neighbours { exponent: 6, count: 2 },
    Weights::Metric { exponent: 6, energy: 3.0 },
];

fn random_blend(rng: &mut Rng, weights: Weights) -> Arc<BlendedModel> {
    let mut data = blend(rng, Sizes { effectors: 2, samples: 4, links: 1, spread: 0.3 });
    data.weights = weights;
    bend(rng, &mut data, 2, 0.8);
    Arc::new(BlendedModel::new(data).unwrap())
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

#[test]
fn a_blend_answers_to_impulses_as_to_loads() {
    let mut rng = Rng::new(3);
    for weights in WEIGHTS {
        let model = random_blend(&mut rng, weights);
        let (n, h) = (model.dof(), 1e-2);
        let stepper = BlendedStepper::new(model.clone(), h).unwrap();
        let mut state = BlendedState::new(&model, &numbers(&mut rng, n, 0.2)).unwrap();
        let rate = numbers(&mut rng, n, 0.5);
        let x = state.coordinates().to_vec();
        state.set(&x, &rate).unwrap();
        let (first, further) = (load(&mut rng, 0, 3.0), load(&mut rng, 1, 5.0));
        let [mut with, mut without] = [stepper.workspace(), stepper.workspace()];
        assert!(stepper.respond(&state, &mut without, &[first]));
        assert!(stepper.respond(&state, &mut with, &[first, further]));
        assert_eq!(with.inverse_system().unwrap(), without.inverse_system().unwrap());
        assert_positive(with.inverse_system().unwrap(), &mut rng);
        let mut jacobian = Matrix::zeros(6, n);
        model.effector_jacobian(1, &x, &mut jacobian);
        let impulse = further.wrench.to_array().map(|w| h * w);
        let answer = with.inverse_system().unwrap().mul_vec(&jacobian.transpose_mul_vec(&impulse));
        let pairs = with.free_velocity().iter().zip(without.free_velocity());
        let found: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
        // Condition numbers below 1e4.
        assert_near(&found, &answer, 1e-11);
        // The Jacobian against a difference of poses.
        for (k, row) in (0..n).map(|k| (k, jacobian.column(k))) {
            let side = |d: f64| {
                let mut y = x.clone();
                y[k] += d;
                model.effector_pose(1, &y)
            };
            let moved = side(-1e-5).twist_to(&side(1e-5)) * 0.5e5;
            let off =
                moved.to_array().iter().zip(&row).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(off < 1e-9, "{off:e}");
        }
    }
}

#[test]
fn impulses_on_a_blend_create_no_energy_and_none_changes_no_bit() {
    let mut rng = Rng::new(4);
    for weights in WEIGHTS {
        let model = random_blend(&mut rng, weights);
        let n = model.dof();
        for h in [1e-3, 1e-2, 0.1] {
            let stepper = BlendedStepper::new(model.clone(), h).unwrap();
            let mut response = stepper.workspace();
            for kick in [0.0, 1e-3, 0.1, 1.0] {
                let mut state = BlendedState::new(&model, &numbers(&mut rng, n, 0.2)).unwrap();
                let x = state.coordinates().to_vec();
                state.set(&x, &numbers(&mut rng, n, 1.0)).unwrap();
                let before =
                    model.evaluated_at(&state).potential_energy() + model.kinetic_energy(&state);
                let mut free = state.clone();
                assert_ne!(stepper.step(&mut free, &mut response, &[]), StepStatus::NotFinite);
                assert!(stepper.respond(&state, &mut response, &[]));
                let impulse = numbers(&mut rng, n, kick);
                let change = response.inverse_system().unwrap().mul_vec(&impulse);
                let _ = stepper.change_velocity(&mut state, &mut response, &change).unwrap();
                if kick == 0.0 {
                    assert_eq!(state, free);
                    continue;
                }
                let moved = state.coordinates().iter().zip(&x).map(|(a, b)| (a - b) / h);
                let work: f64 = impulse.iter().zip(moved).map(|(j, v)| j * v).sum();
                let after =
                    model.evaluated_at(&state).potential_energy() + model.kinetic_energy(&state);
                let rounding = 1e-12 * (before.abs() + work.abs() + after.abs());
                assert!(after <= before + work + rounding, "{h} {kick}: {after} {before} {work}");
            }
        }
    }
}
