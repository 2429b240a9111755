//! Ways to force and matrices, and weights of neighbours only.

use std::sync::Arc;

use blend_support::{Sizes, blend, numbers};
use forks_blend::{
    Blend, BlendedModel, BlendedState, BlendedStepper, BlendedWorkspace, LinkBlend, Weights,
};
use forks_rom::{State, Stepper, System, lie::Pose, linalg::Matrix};
use forks_testkit::{Rng, linear::symmetric_eigen};
use proptest::prelude::*;

use crate::blend_support;

const BLENDS: [Blend; 3] = [Blend::Energy, Blend::Eigenvectors, Blend::SpdManifold];

fn sizes(effectors: usize, samples: usize) -> Sizes {
    Sizes { effectors, samples, links: 4, spread: 0.3 }
}

fn model(rng: &mut Rng, s: Sizes, way: Blend) -> BlendedModel {
    BlendedModel::new(blend(rng, s)).unwrap().with_blend(way)
}

fn matrices(m: &BlendedModel, w: &[f64]) -> [Matrix; 3] {
    [m.mass(w), m.damping(w), m.stiffness(w)]
}

fn relative(a: &Matrix, b: &Matrix) -> f64 {
    a.sub(b).max_abs() / b.max_abs()
}

fn random_weights(rng: &mut Rng, n: usize) -> Vec<f64> {
    let all: Vec<f64> = (0..n).map(|_| rng.unit()).collect();
    let sum: f64 = all.iter().sum();
    all.iter().map(|w| w / sum).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn matrices_are_symmetric_and_positive(seed in 0u64..1_000_000, samples in 1usize..6) {
        let mut rng = Rng::new(seed);
        let effectors = 1 + rng.index(2);
        for way in BLENDS {
            let m = model(&mut rng, sizes(effectors, samples), way);
            for a in matrices(&m, &random_weights(&mut rng, samples)) {
                prop_assert!(a.sub(&a.transpose()).max_abs() == 0.0);
                let (values, _) = symmetric_eigen(&a);
                let largest = values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
                prop_assert!(values.iter().all(|x| *x > -1e-13 * largest), "{way:?}: {values:?}");
            }
        }
    }

    #[test]
    fn samples_are_reproduced(seed in 0u64..1_000_000, samples in 1usize..6) {
        let mut rng = Rng::new(seed);
        let effectors = 1 + rng.index(2);
        let data = blend(&mut rng, sizes(effectors, samples));
        let energy = BlendedModel::new(data).unwrap();
        for way in BLENDS {
            let m = energy.clone().with_blend(way);
            for i in 0..samples {
                let mut w = vec![0.0; samples];
                w[i] = 1.0;
                for (a, b) in matrices(&m, &w).iter().zip(matrices(&energy, &w)) {
                    // Eigenvalues down to 1e-3 of the largest; logarithms and exponentials of 10.
                    prop_assert!(relative(a, &b) < 1e-13, "{way:?}: {:e}", relative(a, &b));
                }
                let found = m.effector_wrenches(m.place(i));
                for (f, e) in found.iter().zip(&m.data().samples[i].model.data().effectors) {
                    let d = *f - e.static_wrench;
                    let size = d.force.length() + d.torque.length();
                    // Stiffness 100 times a displacement of rounding of the logarithms.
                    prop_assert!(size < 1e-11, "{way:?}: {size:e}");
                }
            }
        }
    }

    #[test]
    fn the_order_of_the_samples_does_not_matter(seed in 0u64..1_000_000, samples in 2usize..6) {
        let mut rng = Rng::new(seed);
        let data = blend(&mut rng, sizes(1, samples));
        let mut turned = data.clone();
        turned.samples.reverse();
        let x = numbers(&mut rng, 6, 0.3);
        for way in BLENDS {
            let a = BlendedModel::new(data.clone()).unwrap().with_blend(way);
            let b = BlendedModel::new(turned.clone()).unwrap().with_blend(way);
            let (fa, fb) = (a.elastic_force(&x), b.elastic_force(&x));
            let size = fa.iter().fold(1.0f64, |m, f| m.max(f.abs()));
            for (p, q) in fa.iter().zip(&fb) {
                prop_assert!((p - q).abs() < 1e-12 * size, "{way:?}: {p} {q}");
            }
            let (wa, wb) = (a.weights(&x), b.weights(&x));
            for (p, q) in matrices(&a, &wa).iter().zip(matrices(&b, &wb)) {
                prop_assert!(relative(p, &q) < 1e-12);
            }
        }
    }
}

/// Equal matrices with repeated eigenvalues stay what they are, whatever eigenvectors were found.
#[test]
fn repeated_eigenvalues_are_one_subspace() {
    let mut rng = Rng::new(31);
    let mut data = blend(&mut rng, sizes(1, 3));
    for s in &mut data.samples {
        let mut d = s.model.data().clone();
        // The places differ a little, so that the congruences turn the subspaces.
        d.mass = Matrix::from_fn(6, 6, |i, j| if i == j { [2.0, 1.0][i / 3] } else { 0.0 });
        d.hessian = Matrix::from_fn(6, 6, |i, j| if i == j { [30.0, 10.0][i % 2] } else { 0.0 });
        s.model = Arc::new(forks_rom::ReducedModel::new(d).unwrap());
    }
    for way in BLENDS {
        let m = BlendedModel::new(data.clone()).unwrap().with_blend(way);
        for i in 0..3 {
            let mut w = vec![0.0; 3];
            w[i] = 1.0;
            let energy = BlendedModel::new(data.clone()).unwrap();
            for (a, b) in matrices(&m, &w).iter().zip(matrices(&energy, &w)) {
                assert!(relative(a, &b) < 1e-9, "{way:?}: {:e}", relative(a, &b));
            }
        }
        let w = [0.4, 0.3, 0.3];
        for a in matrices(&m, &w) {
            let (values, _) = symmetric_eigen(&a);
            // Between equal matrices nothing may vanish: eigenvalues stay near those of the
            // samples.
            let least = values.iter().fold(f64::INFINITY, |m, x| m.min(*x));
            assert!(least > 0.02, "{way:?}: {values:?}");
        }
    }
}

/// Work along a closed path of chart coordinates: trapezoids of effector wrenches over twists
/// between poses.
fn circulation(m: &BlendedModel, path: &dyn Fn(f64) -> Vec<f64>, pieces: usize) -> (f64, f64) {
    // Gauss's points and weights of two per piece.
    let (mut sum, mut size) = (0.0, 0.0);
    let g = 0.5 / 3f64.sqrt();
    for k in 0..pieces {
        for s in [0.5 - g, 0.5 + g] {
            let t = (k as f64 + s) / pieces as f64;
            let h = 1e-5;
            let (x, before, after) = (path(t), path(t - h), path(t + h));
            for (e, w) in m.effector_wrenches(&x).iter().enumerate() {
                let here = m.effector_pose(e, &x);
                let (a, b) = (m.effector_pose(e, &before), m.effector_pose(e, &after));
                let rate = (here.twist_to(&b) - here.twist_to(&a)) * (0.5 / h);
                let power = rate.dot(*w) * 0.5 / pieces as f64;
                sum += power;
                size += power.abs();
            }
        }
    }
    (sum, size)
}

#[test]
fn work_around_closed_cycles() {
    let mut rng = Rng::new(32);
    let data = blend(&mut rng, sizes(1, 5));
    let mut near = data.clone();
    near.weights = Weights::Neighbours { exponent: 4, count: 3 };
    let mut worst = [0.0f64; 4];
    let mut models: Vec<BlendedModel> =
        BLENDS.map(|way| BlendedModel::new(data.clone()).unwrap().with_blend(way)).into();
    models.push(BlendedModel::new(near).unwrap());
    for _ in 0..100 {
        let center = numbers(&mut rng, 6, 0.15);
        let (a, b) = (numbers(&mut rng, 6, 0.15), numbers(&mut rng, 6, 0.15));
        let path = |t: f64| -> Vec<f64> {
            let (s, c) = (std::f64::consts::TAU * t).sin_cos();
            (0..6).map(|i| center[i] + a[i] * c + b[i] * s).collect()
        };
        for (m, worst) in models.iter().zip(&mut worst) {
            let (sum, size) = circulation(m, &path, 128);
            *worst = worst.max(sum.abs() / size);
        }
    }
    println!(
        "∮ w·φ / ∮ |w·φ|: energy {:e}, eigenvectors {:e}, log-Euclidean {:e}, energy of neighbours \
        {:e}",
        worst[0], worst[1], worst[2], worst[3]
    );
    // Quadrature of a periodic function with 256 points, and differences with h² = 1e-10.
    assert!(worst[0] < 1e-6, "{:e}", worst[0]);
    assert!(worst[3] < 1e-5, "{:e}", worst[3]);
    assert!(worst[1] > 1e-4 && worst[2] > 1e-4);
}

#[test]
fn a_blend_of_one_sample_is_that_model() {
    let mut rng = Rng::new(33);
    for way in BLENDS {
        let data = blend(&mut rng, sizes(2, 1));
        let single = data.samples[0].model.clone();
        let m = Arc::new(BlendedModel::new(data).unwrap().with_blend(way));
        let x = numbers(&mut rng, 12, 0.2);
        let stepper = Stepper::new(single.clone(), 1e-3).unwrap();
        let blended = BlendedStepper::new(m.clone(), 1e-3).unwrap();
        let mut a = State::new(&single);
        let mut a_work = stepper.workspace();
        a.set(&x, &[0.0; 12]).unwrap();
        let mut b = BlendedState::new(&m, &x).unwrap();
        let mut b_work = blended.workspace();
        for _ in 0..200 {
            let _ =
                (stepper.step(&mut a, &mut a_work, &[]), blended.step(&mut b, &mut b_work, &[]));
        }
        for (a, b) in a.coordinates().iter().zip(b.coordinates()) {
            assert!((a - b).abs() < 1e-9, "{way:?}: {a} {b}");
        }
    }
}

#[test]
fn long_runs_stay_bounded() {
    let mut rng = Rng::new(34);
    for way in BLENDS {
        for h in [1e-3, 1.0 / 60.0, 0.1] {
            let m = Arc::new(model(&mut rng, sizes(1, 4), way));
            let stepper = BlendedStepper::new(m.clone(), h).unwrap();
            let mut state = BlendedState::new(&m, &numbers(&mut rng, 6, 0.3)).unwrap();
            let mut work = stepper.workspace();
            let mut last = f64::INFINITY;
            for _ in 0..100_000 {
                let _ = stepper.step(&mut state, &mut work, &[]);
                if way == Blend::Energy {
                    let now = m.evaluated_at(&state).potential_energy() + m.kinetic_energy(&state);
                    assert!(now <= last + 1e-12 * (1.0 + last.abs()), "{h}: {last} to {now}");
                    last = now;
                }
            }
            let reach = state.coordinates().iter().fold(0.0f64, |m, x| m.max(x.abs()));
            assert!(reach < 2.0, "{way:?}, {h}: {reach}");
        }
    }
}

/// A path through a large set: weights by walking are those of a model that sees all samples,
/// gradients are those of the energy, and nothing jumps.
#[test]
fn neighbours_enter_and_leave_without_a_jump() {
    let mut rng = Rng::new(35);
    let mut data = blend(&mut rng, Sizes { effectors: 1, samples: 60, links: 6, spread: 0.4 });
    data.weights = Weights::Neighbours { exponent: 4, count: 4 };
    let m = BlendedModel::new(data).unwrap();
    let (from, to) = (numbers(&mut rng, 6, 0.5), numbers(&mut rng, 6, 0.5));
    let at = |t: f64| -> Vec<f64> { from.iter().zip(&to).map(|(a, b)| a + t * (b - a)).collect() };
    let mut state = BlendedState::new(&m, &at(0.0)).unwrap();
    let mut work = BlendedWorkspace::new(&m);
    let mut buffer = m.pose_buffer();
    let (mut changes, mut last): (Vec<f64>, Vec<Pose>) = (vec![], vec![]);
    let mut fewest = usize::MAX;
    let zero = vec![0.0; 6];
    for k in 0..=10_000 {
        let x = at(k as f64 * 1e-4);
        state.set(&x, &zero).unwrap();
        let active = m.evaluated_at(&state).weights().iter().filter(|w| **w > 0.0).count();
        fewest = fewest.min(active);
        if k % 500 == 0 {
            // A fresh evaluation walks from the first sample.
            let fresh = m.weights(&x);
            for (a, b) in m.evaluated_at(&state).weights().iter().zip(&fresh) {
                assert!((a - b).abs() < 1e-12, "{a} {b}");
            }
            let force = m.elastic_force(&x);
            for j in 0..6 {
                let side = |h: f64| {
                    let mut y = x.clone();
                    y[j] += h;
                    m.potential_energy(&y)
                };
                let central = |h: f64| (side(h) - side(-h)) / (2.0 * h);
                let derivative = (4.0 * central(5e-4) - central(1e-3)) / 3.0;
                let size = force.iter().fold(1.0f64, |m, f| m.max(f.abs()));
                assert!((force[j] - derivative).abs() < 1e-6 * size, "{} {derivative}", force[j]);
            }
        }
        m.poses(&state, &mut work, LinkBlend::Average, &mut buffer);
        let now: Vec<Pose> = buffer.iter().map(|(_, p)| p).collect();
        let change = last.iter().zip(&now).map(|(a, b)| a.twist_to(b).norm()).fold(0.0, f64::max);
        changes.push(change);
        last = now;
    }
    let (mean, largest) = (
        changes.iter().sum::<f64>() / changes.len() as f64,
        changes.iter().fold(0.0f64, |m, c| m.max(*c)),
    );
    println!("largest change {largest:e}, mean {mean:e}, fewest samples {fewest}");
    assert!(largest < 10.0 * mean);
    assert!((4..60).contains(&fewest), "{fewest}");
}

#[test]
fn nothing_jumps_along_a_path() {
    let mut rng = Rng::new(36);
    for round in 0..5 {
        let m = model(&mut rng, sizes(1, 6), Blend::Energy);
        let through = m.place(1 + round).to_vec();
        let from = numbers(&mut rng, 6, 0.4);
        for link_blend in [LinkBlend::Average, LinkBlend::Logarithm] {
            let mut state = BlendedState::new(&m, &from).unwrap();
            let mut work = BlendedWorkspace::new(&m);
            let mut buffer = m.pose_buffer();
            let (mut changes, mut last): (Vec<f64>, Vec<Pose>) = (vec![], vec![]);
            for k in 0..=20_000 {
                // Through a sample and beyond.
                let t = k as f64 * 1e-4;
                let x: Vec<f64> = from.iter().zip(&through).map(|(a, b)| a + t * (b - a)).collect();
                state.set(&x, &[0.0; 6]).unwrap();
                m.poses(&state, &mut work, link_blend, &mut buffer);
                let now: Vec<Pose> = buffer.iter().map(|(_, p)| p).collect();
                let moved = last.iter().zip(&now).map(|(a, b)| a.twist_to(b).norm());
                changes.push(moved.fold(0.0, f64::max));
                last = now;
            }
            let mean = changes.iter().sum::<f64>() / changes.len() as f64;
            let largest = changes.iter().fold(0.0f64, |m, c| m.max(*c));
            println!("{link_blend:?}: largest {:.2} of the mean", largest / mean);
            assert!(largest < 10.0 * mean);
        }
    }
}

#[test]
fn states_of_other_models() {
    let mut rng = Rng::new(37);
    let m = model(&mut rng, sizes(2, 3), Blend::Energy);
    let mut state = BlendedState::new(&m, &numbers(&mut rng, 12, 0.3)).unwrap();
    let (x, rate) = (state.coordinates().to_vec(), numbers(&mut rng, 12, 0.5));
    state.set(&x, &rate).unwrap();
    for s in &m.data().samples {
        let single = m.leave(&state, &s.model).unwrap();
        for e in 0..2 {
            let gap =
                m.effector_pose(e, &x).twist_to(&s.model.effector_pose(e, single.coordinates()));
            let slip = m.effector_velocity(e, &state) - s.model.effector_velocity(e, &single);
            // Poses of size 1 and rates of size 1, some Jacobians of condition below 10.
            assert!(gap.norm() < 1e-13 && slip.norm() < 1e-12, "{} {}", gap.norm(), slip.norm());
        }
        let back = m.enter(&s.model, &single).unwrap();
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close(back.coordinates(), &x) && close(back.velocity(), &rate));
    }
    let poses: Vec<Pose> = (0..2).map(|e| m.effector_pose(e, &x)).collect();
    let twists: Vec<_> = (0..2).map(|e| m.effector_velocity(e, &state)).collect();
    let (_, _, lost) = m.coordinates_of(&poses, &twists).unwrap();
    assert!(lost < 1e-12);
    assert!(m.coordinates_of(&poses[..1], &twists).is_err());
}
