//! Samples that bend and weights in the samples' metrics: energy against its definition, force
//! against differences of the energy, second derivatives, rules that every blend keeps.

use std::sync::Arc;

use blend_support::{
    Sizes,
    bent::{bend, drive, narrow, rival, weaken},
    blend, numbers,
};
use forks_blend::{Blend, BlendData, BlendedModel, BlendedState, BlendedStepper, Weights};
use forks_rom::{
    EffectorLoad, LoadFrame, System,
    lie::{Wrench, glam::DVec3},
    linalg::Matrix,
};
use forks_testkit::Rng;
use proptest::prelude::*;

use crate::blend_support;

fn sizes(effectors: usize, samples: usize) -> Sizes {
    Sizes { effectors, samples, links: 2, spread: 0.3 }
}

const WEIGHTS: [Weights; 6] = [
    Weights::Shepard { exponent: 4 },
    Weights::Shepard { exponent: 8 },
    Weights::Neighbours { exponent: 6, count: 2 },
    Weights::Metric { exponent: 4, energy: 0.3 },
    Weights::Metric { exponent: 6, energy: 3.0 },
    Weights::Metric { exponent: 8, energy: 300.0 },
];

/// A random blend of the kind of a number.
fn random(rng: &mut Rng, kind: usize, samples: usize) -> BlendData {
    let effectors = 1 + kind % 2;
    let mut data = blend(rng, sizes(effectors, samples));
    data.weights = WEIGHTS[kind % WEIGHTS.len()];
    if kind.is_multiple_of(3) {
        narrow(&mut data, 2 + rng.index(4));
    }
    if kind % 4 == 1 {
        weaken(&mut data);
    }
    if kind % 5 < 2 {
        drive(rng, &mut data);
    }
    // All samples, every other one, or one.
    bend(rng, &mut data, 1 + kind % 3, 0.8);
    data
}

fn targets(rng: &mut Rng, m: &BlendedModel) -> Vec<f64> {
    numbers(rng, m.servo_count(), 0.7)
}

/// Energy and force.
fn at(m: &BlendedModel, x: &[f64], targets: &[f64]) -> (f64, Vec<f64>) {
    let mut state = BlendedState::new(m, x).unwrap();
    state.set_servo_targets(m, targets).unwrap();
    (m.evaluated_at(&state).potential_energy(), m.evaluated_at(&state).elastic_force().to_vec())
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0f64, |m, x| m.max(x.abs()))
}

/// Central differences of sixth order.
fn derivative(f: impl Fn(f64) -> f64, h: f64) -> f64 {
    let d = |k: f64| f(k * h) - f(-k * h);
    (45.0 * d(1.0) - 9.0 * d(2.0) + d(3.0)) / (60.0 * h)
}

fn moved(x: &[f64], k: usize, h: f64) -> Vec<f64> {
    let mut y = x.to_vec();
    y[k] += h;
    y
}

#[test]
fn the_energy_is_as_defined() {
    let mut rng = Rng::new(51);
    let mut worst = 0.0f64;
    for kind in 0..60 {
        let data = random(&mut rng, kind, 1 + kind % 5);
        if matches!(data.weights, Weights::Neighbours { .. }) {
            continue;
        }
        let m = BlendedModel::new(data).unwrap();
        let x = numbers(&mut rng, m.dof(), 0.3);
        let s = targets(&mut rng, &m);
        let (energy, weights) = rival(&m, &x, &s);
        let (found, _) = at(&m, &x, &s);
        worst = worst.max((found - energy).abs() / (1.0 + energy.abs()));
        for (a, b) in m.weights(&x).iter().zip(weights) {
            worst = worst.max((a - b).abs());
        }
    }
    println!("{worst:e}");
    // Powers up to 8 of sums of twelve terms.
    assert!(worst < 1e-13, "{worst:e}");
}

#[test]
fn the_force_is_the_gradient_of_the_energy() {
    let mut rng = Rng::new(52);
    let mut worst = 0.0f64;
    for kind in 0..60 {
        let m = BlendedModel::new(random(&mut rng, kind, 1 + kind % 5)).unwrap();
        let x = numbers(&mut rng, m.dof(), 0.3);
        let s = targets(&mut rng, &m);
        let (_, force) = at(&m, &x, &s);
        let scale = 1.0 + largest(&force);
        for (k, force) in force.iter().enumerate() {
            let slope = derivative(|h| at(&m, &moved(&x, k, h), &s).0, 2e-3);
            let error = (force - slope).abs() / scale;
            worst = worst.max(error);
            // The neighbours' cutoff is smooth to second order only.
            let bound = match m.data().weights {
                Weights::Neighbours { .. } => 1e-6,
                _ => 1e-9,
            };
            assert!(error < bound, "{kind}, {:?}: {error:e}", m.data().weights);
        }
    }
    println!("{worst:e}");
}

/// As printed, weights have no part in the force: it is the weighted sum of what the samples say
/// alone.
#[test]
fn printed_weights_sum_the_forces_of_bent_samples() {
    let mut rng = Rng::new(53);
    for effectors in [1, 2] {
        let mut data = blend(&mut rng, sizes(effectors, 4));
        bend(&mut rng, &mut data, 2, 0.8);
        data.weights = Weights::Printed;
        let m = BlendedModel::new(data.clone()).unwrap();
        let x = numbers(&mut rng, m.dof(), 0.3);
        let weights = m.weights(&x);
        let mut sum = vec![0.0; m.dof()];
        for (w, s) in weights.iter().zip(&data.samples) {
            let alone = BlendData { samples: vec![s.clone()], ..data.clone() };
            let force = BlendedModel::new(alone).unwrap().elastic_force(&x);
            sum.iter_mut().zip(force).for_each(|(s, f)| *s += w * f);
        }
        let force = m.elastic_force(&x);
        for (a, b) in force.iter().zip(&sum) {
            assert!((a - b).abs() < 1e-12 * (1.0 + largest(&sum)), "{a} {b}");
        }
    }
}

/// Derivative of the force.
fn second(m: &BlendedModel, x: &[f64]) -> Matrix {
    let n = m.dof();
    let side = |k: usize, h: f64| m.elastic_force(&moved(x, k, h));
    Matrix::from_fn(n, n, |i, j| derivative(|h| side(j, h)[i], 1e-3))
}

#[test]
fn second_derivatives_do_not_depend_on_the_bending() {
    let mut rng = Rng::new(54);
    let mut worst = 0.0f64;
    for kind in 0..12 {
        let samples = if kind % 2 == 0 { 1 } else { 3 };
        let bent = BlendedModel::new(random(&mut rng, kind, samples)).unwrap();
        let mut data = bent.data().clone();
        data.samples.iter_mut().for_each(|s| s.curvature = Matrix::zeros(0, 0));
        let straight = BlendedModel::new(data).unwrap();
        let model = bent.data();
        // With fewer coordinates than motions the chart need not reach the other samples.
        let reached = if model.basis.columns() == model.basis.rows() { samples } else { 1 };
        for i in 0..reached {
            let x = bent.place(i);
            let (a, b) = (second(&bent, x), second(&straight, x));
            let model = bent.data().samples[i].model.data();
            worst = worst.max(a.sub(&b).max_abs() / model.hessian.max_abs());
            if i == 0 {
                // The chart of the first sample is its own.
                let e = a.sub(&model.hessian).max_abs() / model.hessian.max_abs();
                assert!(e < 1e-10, "{kind}: {e:e}");
            }
        }
    }
    println!("{worst:e}");
    // Rounding over a step of 10⁻³, and its sixth power.
    assert!(worst < 1e-10, "{worst:e}");
}

#[test]
fn nothing_bends_where_q_is_0() {
    let mut rng = Rng::new(55);
    for kind in 0..24 {
        let mut data = random(&mut rng, kind, 4);
        let n = data.basis.columns();
        for s in &mut data.samples {
            s.curvature = Matrix::zeros(n, n * (n + 1) / 2);
        }
        let bent = BlendedModel::new(data.clone()).unwrap();
        data.samples.iter_mut().for_each(|s| s.curvature = Matrix::zeros(0, 0));
        let straight = BlendedModel::new(data).unwrap();
        let (x, s) = (numbers(&mut rng, n, 0.3), targets(&mut rng, &bent));
        let ((a, f), (b, g)) = (at(&bent, &x, &s), at(&straight, &x, &s));
        assert!((a - b).abs() <= 1e-14 * (1.0 + b.abs()), "{a} {b}");
        for (f, h) in f.iter().zip(&g) {
            assert!((f - h).abs() <= 1e-14 * (1.0 + largest(&g)), "{f} {h}");
        }
    }
}

/// Blended matrices know of no bending: q changes nothing there.
#[test]
fn other_blends_are_those_of_straight_samples() {
    let mut rng = Rng::new(56);
    for way in [Blend::Eigenvectors, Blend::SpdManifold] {
        let mut data = blend(&mut rng, sizes(1, 3));
        let straight = BlendedModel::new(data.clone()).unwrap().with_blend(way);
        bend(&mut rng, &mut data, 1, 0.8);
        let bent = BlendedModel::new(data).unwrap().with_blend(way);
        let x = numbers(&mut rng, 6, 0.3);
        let (a, b) = (bent.elastic_force(&x), straight.elastic_force(&x));
        for (a, c) in a.iter().zip(&b) {
            assert!((a - c).abs() < 1e-12 * largest(&b), "{way:?}: {a} {c}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_order_of_samples_does_not_matter(
        seed in 0u64..1_000_000,
        kind in 0usize..60,
        samples in 2usize..6,
    ) {
        let mut rng = Rng::new(seed);
        let data = random(&mut rng, kind, samples);
        let mut turned = data.clone();
        turned.samples.reverse();
        let (a, b) = (BlendedModel::new(data).unwrap(), BlendedModel::new(turned).unwrap());
        let (x, s) = (numbers(&mut rng, a.dof(), 0.3), targets(&mut rng, &a));
        let ((u, f), (v, g)) = (at(&a, &x, &s), at(&b, &x, &s));
        prop_assert!((u - v).abs() < 1e-12 * (1.0 + u.abs()), "{} {}", u, v);
        for (f, h) in f.iter().zip(&g) {
            prop_assert!((f - h).abs() < 1e-12 * (1.0 + largest(&g)), "{} {}", f, h);
        }
    }

    #[test]
    fn samples_are_reproduced(seed in 0u64..1_000_000, kind in 0usize..60, samples in 1usize..6) {
        let mut rng = Rng::new(seed);
        let m = BlendedModel::new(random(&mut rng, kind, samples)).unwrap();
        for (i, s) in m.data().samples.iter().enumerate() {
            let x = m.place(i);
            let data = BlendData { samples: vec![s.clone()], ..m.data().clone() };
            let alone = BlendedModel::new(data).unwrap();
            // Fewer coordinates than motions: the sample is not quite where the chart can be.
            if m.dof() == 6 * m.effector_count() {
                let off = m.potential_energy(x) - s.potential;
                prop_assert!(off.abs() < 1e-12 * (1.0 + s.potential.abs()));
                prop_assert!(m.weights(x)[i] > 1.0 - 1e-12);
                let (f, g) = (m.elastic_force(x), alone.elastic_force(x));
                for (f, h) in f.iter().zip(&g) {
                    // Stiffness 10³ times a displacement of rounding.
                    prop_assert!((f - h).abs() < 1e-11, "{} {}", f, h);
                }
            }
            for _ in 0..4 {
                let weights = m.weights(&numbers(&mut rng, m.dof(), 0.4));
                prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-14);
                prop_assert!(weights.iter().all(|w| (0.0..=1.0).contains(w)));
            }
        }
    }
}

/// Through a sample and beyond: energy, force and weights change little from one place to the next.
#[test]
fn nothing_jumps_along_a_path() {
    let mut rng = Rng::new(57);
    for kind in [0, 1, 2, 3, 4, 5, 10, 11] {
        let m = BlendedModel::new(random(&mut rng, kind, 5)).unwrap();
        let (from, through) = (numbers(&mut rng, m.dof(), 0.3), m.place(1 + kind % 4));
        let mut state = BlendedState::new(&m, &from).unwrap();
        let zero = vec![0.0; m.dof()];
        let mut changes: Vec<[f64; 3]> = vec![];
        let mut last: Option<(f64, Vec<f64>, Vec<f64>)> = None;
        for k in 0..=20_000 {
            let t = k as f64 * 1e-4;
            let x: Vec<f64> = from.iter().zip(through).map(|(a, b)| a + t * (b - a)).collect();
            state.set(&x, &zero).unwrap();
            let here = m.evaluated_at(&state);
            let now = (here.potential_energy(), here.elastic_force(), here.weights());
            if let Some((u, f, w)) = &last {
                let far = |a: &[f64], b: &[f64]| {
                    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
                };
                changes.push([(u - now.0).abs(), far(f, now.1), far(w, now.2)]);
            }
            last = Some((now.0, now.1.to_vec(), now.2.to_vec()));
        }
        for c in 0..3 {
            let all = changes.iter().map(|x| x[c]);
            let mean = all.clone().sum::<f64>() / changes.len() as f64;
            let worst = all.fold(0.0, f64::max);
            println!("{kind} {c}: largest {:.1} of the mean", worst / mean);
            // Slopes vary; a jump would be thousands of means.
            assert!(worst < 20.0 * mean + 1e-12, "{kind} {c}: {worst:e} {mean:e}");
        }
    }
}

#[test]
fn energy_never_grows_without_work() {
    let mut rng = Rng::new(58);
    for h in [1e-3, 1.0 / 60.0, 0.1] {
        for kind in 0..12 {
            let m = Arc::new(BlendedModel::new(random(&mut rng, kind, 4)).unwrap());
            let stepper = BlendedStepper::new(m.clone(), h).unwrap();
            let mut state = BlendedState::new(&m, &numbers(&mut rng, m.dof(), 0.3)).unwrap();
            let mut work = stepper.workspace();
            let s = targets(&mut rng, &m);
            state.set_servo_targets(&m, &s).unwrap();
            let push = EffectorLoad {
                effector: 0,
                wrench: Wrench::new(DVec3::new(1.0, -2.0, 1.0), DVec3::new(0.2, 0.1, -0.3)),
                frame: LoadFrame::World,
            };
            for _ in 0..20 {
                let _ = stepper.step(&mut state, &mut work, &[push]);
            }
            let mut last = m.evaluated_at(&state).potential_energy() + m.kinetic_energy(&state);
            for _ in 0..300 {
                let _ = stepper.step(&mut state, &mut work, &[]);
                let now = m.evaluated_at(&state).potential_energy() + m.kinetic_energy(&state);
                assert!(now <= last + 1e-12 * (1.0 + last.abs()), "{kind}, {h}: {last} to {now}");
                last = now;
            }
        }
    }
}

/// Instruction sets agree.
#[test]
fn portable_and_native_kernels_agree() {
    let mut rng = Rng::new(59);
    for kind in 0..12 {
        let m = BlendedModel::new(random(&mut rng, kind, 4)).unwrap();
        let x = numbers(&mut rng, m.dof(), 0.3);
        let portable = m.clone().with_isa(forks_rom::Isa::Portable);
        let (f, g) = (m.elastic_force(&x), portable.elastic_force(&x));
        for (f, h) in f.iter().zip(&g) {
            assert!((f - h).abs() < 1e-12 * (1.0 + largest(&g)), "{f} {h}");
        }
    }
}
