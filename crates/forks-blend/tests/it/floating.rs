//! Steps of floating blends against their equations, from values alone: derivatives of the inertia
//! by differences; files, snapshots, bad input.

use std::sync::Arc;

use blend_support::{Sizes, bent::bend, blend, numbers, spd, twist};
use forks_blend::{
    BlendData, BlendedModel, FloatingBlend, FloatingBlendState, FloatingBlendStepper, Weights,
};
use forks_rom::{
    EffectorLoad, EffectorState, LoadFrame, ModelError, ReducedModel, StepStatus, System,
    data::{BaseRest, ModelData},
    lie::{
        Pose, Twist, Wrench,
        glam::{DMat3, DVec3},
        skew,
        so3::log_rotation,
    },
    linalg::Matrix,
};
use forks_testkit::Rng;

use crate::blend_support;

const MASS: f64 = 2.0;
const WEIGHTS: [Weights; 2] =
    [Weights::Shepard { exponent: 6 }, Weights::Metric { exponent: 4, energy: 3.0 }];

fn vector(rng: &mut Rng, size: f64) -> DVec3 {
    DVec3::from_slice(&numbers(rng, 3, size))
}

/// A base with random inertia, its ground.
fn base(rng: &mut Rng, n: usize) -> BaseRest {
    let small = |rng: &mut Rng| Matrix::from_fn(6, n, |_, _| 0.05 * rng.symmetric());
    let six = |moment: DVec3, about: &Matrix, mass: f64| {
        let lever = skew(moment);
        Matrix::from_fn(6, 6, |i, j| match (i < 3, j < 3) {
            (true, true) => mass * f64::from(i == j),
            (false, true) => lever.col(j)[i - 3],
            (true, false) => -lever.col(j - 3)[i],
            (false, false) => about[(i - 3, j - 3)],
        })
    };
    let slope = |rng: &mut Rng| six(vector(rng, 0.05), &spd(rng, 3, 0.01), 0.0);
    BaseRest {
        link: 0,
        inertia: six(vector(rng, 0.2) * MASS, &spd(rng, 3, 0.5), MASS),
        inertia_slopes: (0..n).map(|_| slope(rng)).collect(),
        coupling: small(rng),
        coupling_slopes: (0..n).map(|_| small(rng)).collect(),
        own_inertia: Matrix::identity(6),
        gravity: DVec3::new(0.0, 0.0, -9.81),
    }
}

fn changed(data: &mut BlendData, i: usize, change: impl FnOnce(&mut ModelData)) {
    let mut d = data.samples[i].model.data().clone();
    change(&mut d);
    data.samples[i].model = Arc::new(ReducedModel::held_by_loads(d).unwrap());
}

fn data(rng: &mut Rng, weights: Weights) -> BlendData {
    let mut out = blend(rng, Sizes { effectors: 1, samples: 3, links: 1, spread: 0.2 });
    out.weights = weights;
    bend(rng, &mut out, 2, 0.5);
    for i in 0..3 {
        let (base, mass) = (base(rng, 6), spd(rng, 6, 0.5));
        let damping = spd(rng, 6, 5.0);
        changed(&mut out, i, |d| {
            (d.base, d.mass, d.damping) = (Some(base), mass, damping);
        });
    }
    out
}

fn random(rng: &mut Rng, weights: Weights) -> Arc<FloatingBlend> {
    let model = Arc::new(BlendedModel::new(data(rng, weights)).unwrap());
    Arc::new(FloatingBlend::new(model).unwrap())
}

/// A stepper of a random floating blend.
pub(crate) fn stepper(rng: &mut Rng) -> FloatingBlendStepper {
    FloatingBlendStepper::new(random(rng, WEIGHTS[0]), 1e-3).unwrap()
}

/// J, Σ by columns and M̃ at x, from what states say.
struct Inertia {
    rotation: DMat3,
    coupling: Vec<DVec3>,
    mass: Matrix,
}

impl Inertia {
    fn at(model: &FloatingBlend, x: &[f64]) -> Self {
        let n = x.len();
        let state = |rate: &[f64], omega: DVec3| {
            let mut s = FloatingBlendState::new(model);
            s.set(model, x, rate, Pose::IDENTITY, Twist::new(DVec3::ZERO, omega)).unwrap();
            s
        };
        let unit = |k: usize| -> Vec<f64> { (0..n).map(|i| f64::from(i == k)).collect() };
        let spin = |rate: &[f64], omega: DVec3| state(rate, omega).spin();
        let energy = |rate: &[f64]| {
            let s = state(rate, DVec3::ZERO);
            model.kinetic_energy(&s) - 0.5 * model.mass() * s.center_velocity().length_squared()
        };
        let still = vec![0.0; n];
        let column = |axis: DVec3| spin(&still, axis);
        let mass = Matrix::from_fn(n, n, |i, j| {
            let both: Vec<f64> = unit(i).iter().zip(unit(j)).map(|(a, b)| a + b).collect();
            energy(&both) - energy(&unit(i)) - energy(&unit(j))
        });
        Self {
            rotation: DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z)),
            coupling: (0..n).map(|k| spin(&unit(k), DVec3::ZERO)).collect(),
            mass,
        }
    }
}

fn random_state(model: &FloatingBlend, rng: &mut Rng) -> FloatingBlendState {
    let mut s = FloatingBlendState::new(model);
    let (x, rate) = (numbers(rng, 6, 0.1), numbers(rng, 6, 0.3));
    s.set(model, &x, &rate, Pose::exp(twist(rng, 1.5)), twist(rng, 2.0)).unwrap();
    s
}

fn loads(rng: &mut Rng) -> Vec<EffectorLoad> {
    [LoadFrame::World, LoadFrame::Body]
        .map(|frame| {
            let wrench = Wrench::from_array(twist(rng, 2.0).to_array());
            EffectorLoad { effector: 0, wrench, frame }
        })
        .into()
}

/// The implicit equations of `forks_rom::FloatingModel` with J, Σ near the start, their derivatives
/// by central differences.
#[test]
fn a_step_solves_its_equations() {
    let mut rng = Rng::new(12);
    let h = 1e-3;
    for weights in WEIGHTS {
        for _ in 0..4 {
            let model = random(&mut rng, weights);
            let stepper = FloatingBlendStepper::new(model.clone(), h).unwrap();
            let before = random_state(&model, &mut rng);
            let (mut after, mut work) = (before.clone(), stepper.workspace());
            let status = stepper.step(&mut after, &mut work, &[]);
            assert_eq!(status, StepStatus::Completed);
            let (x, new) = (before.shape().coordinates(), after.shape().coordinates());
            let rate = after.shape().velocity();
            let rotations = [&before, &after].map(|s| s.world_from_base().rotation);
            let omega = log_rotation(rotations[0].conjugate() * rotations[1]) / h;
            let here = Inertia::at(&model, x);
            let sides = |k: usize| {
                [1e-5, -1e-5].map(|d| {
                    let mut y = x.to_vec();
                    y[k] += d;
                    Inertia::at(&model, &y)
                })
            };
            let sum = |c: &[DVec3], v: &[f64]| c.iter().zip(v).map(|(c, v)| *c * *v).sum::<DVec3>();
            let momentum = |c: DVec3, k: usize, omega: DVec3, v: &[f64]| {
                c.dot(omega) + here.mass.row(k).iter().zip(v).map(|(m, v)| m * v).sum::<f64>()
            };
            let start = before.base_velocity().angular;
            let damping = model.blend().damping(&model.blend().weights(x)).mul_vec(rate);
            let force = model.blend().elastic_force(new);
            // Σ_j near the start: Σ_j + Σ_k δ_k ∂_k Σ_j.
            let mut coupling = here.coupling.clone();
            let mut rotation = here.rotation;
            let mut turning = [0.0; 6];
            for k in 0..6 {
                let [plus, minus] = sides(k);
                let slope = (plus.rotation - minus.rotation) * (0.5e5);
                let moved: Vec<DVec3> =
                    (0..6).map(|j| (plus.coupling[j] - minus.coupling[j]) * 0.5e5).collect();
                rotation += slope * (new[k] - x[k]);
                coupling.iter_mut().zip(&moved).for_each(|(c, m)| *c += *m * (new[k] - x[k]));
                turning[k] = omega.dot(slope * omega * 0.5 + sum(&moved, rate));
            }
            for k in 0..6 {
                let old = momentum(here.coupling[k], k, start, before.shape().velocity());
                let now = momentum(coupling[k], k, omega, rate);
                let left = now - old + h * (damping[k] + force[k] - turning[k]);
                let size = h * (force[k].abs() + damping[k].abs() + turning[k].abs()) + 1e-3;
                assert!(left.abs() < 1e-6 * size, "{weights:?} {k}: {left:e} of {size:e}");
                // It would not hold without the derivatives.
                assert!(h * turning[k].abs() > 1e-4 * size, "{turning:?}");
            }
            let spin = rotation * omega + sum(&coupling, rate);
            let kept = rotations[1].conjugate() * before.spin();
            assert!((spin - kept).length() < 1e-8 * kept.length(), "{spin} {kept}");
        }
    }
}

/// Twists and Jacobians of base and effector against differences of poses, momentum against that of
/// the centre of mass.
#[test]
fn velocities_are_rates_of_poses() {
    let mut rng = Rng::new(3);
    for weights in WEIGHTS {
        let model = random(&mut rng, weights);
        let stepper = FloatingBlendStepper::new(model.clone(), 1e-3).unwrap();
        let s = random_state(&model, &mut rng);
        let work = stepper.workspace();
        let moved = |t: f64| {
            let mut other = s.clone();
            let pairs = s.shape().coordinates().iter().zip(s.shape().velocity());
            let x: Vec<f64> = pairs.map(|(x, v)| x + t * v).collect();
            let pose = s.world_from_base() * Pose::exp(s.base_velocity() * t);
            other.set(&model, &x, s.shape().velocity(), pose, s.base_velocity()).unwrap();
            other
        };
        let (plus, minus) = (moved(1e-5), moved(-1e-5));
        let mut out = [EffectorState::new(12)];
        let mut velocity = vec![0.0; 12];
        stepper.velocity(&s, &mut velocity);
        stepper.effectors(&s, &work, &velocity, &mut out);
        let poses = [&minus, &plus].map(|s| stepper.effector_pose(0, s));
        let found = poses[0].twist_to(&poses[1]) * 0.5e5;
        assert!((found - out[0].twist).norm() < 1e-8, "{found:?} {:?}", out[0].twist);
        let center = (plus.center_of_mass() - minus.center_of_mass()) * 0.5e5;
        assert!((center - s.center_velocity()).length() < 1e-8, "{weights:?}");
    }
}

/// Momentum by its definition: forces at their points, carried along by the centre of mass.
#[test]
fn momentum_changes_by_the_impulse() {
    let mut rng = Rng::new(6);
    let h = 1e-2;
    for weights in WEIGHTS {
        let model = random(&mut rng, weights);
        let stepper = FloatingBlendStepper::new(model.clone(), h).unwrap();
        let (mut s, mut work) = (random_state(&model, &mut rng), stepper.workspace());
        for _ in 0..100 {
            let loads = loads(&mut rng);
            let before = model.momentum(&s);
            let drift = s.center_velocity() * (0.5 * h);
            let weight = model.gravity() * model.mass();
            let pose = model.effector_pose(0, &s);
            let mut expected = before;
            expected.linear += weight * h;
            expected.angular += (s.center_of_mass() + drift).cross(weight) * h;
            for l in &loads {
                let world = |v: DVec3| match l.frame {
                    LoadFrame::World => v,
                    LoadFrame::Body => pose.rotation * v,
                };
                let (force, torque) = (world(l.wrench.force), world(l.wrench.torque));
                expected.linear += force * h;
                expected.angular += ((pose.translation + drift).cross(force) + torque) * h;
            }
            assert_ne!(stepper.step(&mut s, &mut work, &loads), StepStatus::NotFinite);
            let now = model.momentum(&s);
            let off = |a: DVec3, b: DVec3| (a - b).length() / (1.0 + a.length());
            assert!(off(now.linear, expected.linear) < 1e-12);
            assert!(off(now.angular, expected.angular) < 1e-11);
        }
    }
}

/// A turned and moved start gives a turned and moved result.
#[test]
fn it_does_not_matter_where_the_world_is() {
    let mut rng = Rng::new(9);
    for weights in WEIGHTS {
        let model = Arc::new((*random(&mut rng, weights)).clone().with_gravity(DVec3::ZERO));
        let stepper = FloatingBlendStepper::new(model.clone(), 1e-2).unwrap();
        let moved = Pose::exp(twist(&mut rng, 1.5));
        let mut one = random_state(&model, &mut rng);
        let mut other = FloatingBlendState::new(&model);
        let (x, rate) = (one.shape().coordinates(), one.shape().velocity());
        let pose = moved * one.world_from_base();
        other.set(&model, x, rate, pose, one.base_velocity()).unwrap();
        let (mut work, mut works) = (stepper.workspace(), stepper.workspace());
        for _ in 0..200 {
            let loads = loads(&mut rng);
            let turned: Vec<EffectorLoad> = loads
                .iter()
                .map(|l| match l.frame {
                    LoadFrame::Body => *l,
                    LoadFrame::World => {
                        let (q, w) = (moved.rotation, l.wrench);
                        EffectorLoad { wrench: Wrench::new(q * w.force, q * w.torque), ..*l }
                    }
                })
                .collect();
            let _ = stepper.step(&mut one, &mut work, &loads);
            let _ = stepper.step(&mut other, &mut works, &turned);
        }
        let gap = (moved * one.world_from_base()).twist_to(&other.world_from_base()).norm();
        let far = (one.base_velocity() - other.base_velocity()).norm();
        println!("{weights:?}: {gap:e} {far:e}");
        assert!(gap < 1e-9 && far < 1e-9 * (1.0 + one.base_velocity().norm()));
    }
}

/// A⁻¹ is what small changes of loads do; a step that was begun and ended is the step.
#[test]
fn it_answers_to_impulses_as_to_loads() {
    let mut rng = Rng::new(21);
    let h = 1e-3;
    for weights in WEIGHTS {
        let model = random(&mut rng, weights);
        let stepper = FloatingBlendStepper::new(model.clone(), h).unwrap();
        let s = random_state(&model, &mut rng);
        let first = loads(&mut rng);
        let more = EffectorLoad { frame: LoadFrame::Body, ..loads(&mut rng)[0] };
        let [mut with, mut without] = [stepper.workspace(), stepper.workspace()];
        let _ = stepper.respond(&s, &mut without, &first, model.gravity());
        let _ = stepper.respond(&s, &mut with, &[&first[..], &[more]].concat(), model.gravity());
        let mut out = [EffectorState::new(12)];
        stepper.effectors(&s, &with, &[0.0; 12], &mut out);
        let impulse = more.wrench.to_array().map(|w| h * w);
        let inverse = with.inverse_system().unwrap();
        let answer = inverse.mul_vec(&out[0].jacobian.transpose_mul_vec(&impulse));
        let pairs = with.free_velocity().iter().zip(without.free_velocity());
        let size = answer.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for ((a, b), c) in pairs.zip(&answer) {
            // The base turns by hω during the step.
            assert!((a - b - c).abs() < 4.0 * h * size, "{a} {b} {c}");
        }
        let (mut whole, mut begun) = (s.clone(), s.clone());
        let mut work = stepper.workspace();
        let _ = stepper.step(&mut whole, &mut work, &first);
        let _ = stepper.change_velocity(&mut begun, &mut without, &[0.0; 12]).unwrap();
        assert_eq!(whole, begun);
        // Impulses change momentum by themselves, and put in no more energy than their work.
        let change: Vec<f64> = answer.iter().map(|x| 3.0 * x).collect();
        let mut pushed = s.clone();
        let _ = stepper.respond(&s, &mut work, &first, model.gravity());
        let _ = stepper.change_velocity(&mut pushed, &mut work, &change).unwrap();
        let force = out[0].pose.rotation * (more.wrench.force * (3.0 * h));
        let gained = model.momentum(&pushed).linear - model.momentum(&whole).linear;
        assert!((gained - force).length() < 1e-11 * (1.0 + force.length()), "{gained} {force}");
        for bad in [vec![0.0; 11], vec![f64::NAN; 12]] {
            let before = pushed.clone();
            assert!(stepper.change_velocity(&mut pushed, &mut work, &bad).is_err());
            assert_eq!(pushed, before);
        }
    }
}

#[test]
fn files_and_snapshots_go_on_with_the_same_bits() {
    let mut rng = Rng::new(30);
    let model = random(&mut rng, WEIGHTS[1]);
    let read = BlendedModel::from_bytes(&model.blend().to_bytes()).unwrap();
    let read = Arc::new(FloatingBlend::new(Arc::new(read)).unwrap());
    let [one, other] = [&model, &read].map(|m| FloatingBlendStepper::new(m.clone(), 1e-3).unwrap());
    let mut a = random_state(&model, &mut rng);
    let mut work = one.workspace();
    for _ in 0..10 {
        let _ = one.step(&mut a, &mut work, &loads(&mut rng));
    }
    // Coordinates and velocities alone lose the last bits; the rest of the state keeps them.
    let mut numbers = [vec![0.0; 13], vec![0.0; 12], vec![]];
    one.coordinates(&a, &mut numbers[0]);
    one.velocity(&a, &mut numbers[1]);
    one.extra_state(&a, &mut numbers[2]);
    let mut b = other.state();
    other.set(&mut b, &numbers[0], &numbers[1]).unwrap();
    other.set_extra_state(&mut b, &numbers[2]).unwrap();
    assert_eq!(a, b);
    let mut works = other.workspace();
    for _ in 0..50 {
        let loads = loads(&mut rng);
        let _ = one.step(&mut a, &mut work, &loads);
        let _ = other.step(&mut b, &mut works, &loads);
        assert_eq!(a, b);
    }
    let mut spoiled = numbers[2].clone();
    spoiled[8] = f64::INFINITY;
    for bad in [&spoiled[..], &numbers[2][1..]] {
        assert!(other.set_extra_state(&mut b, bad).is_err());
        assert_eq!(a, b);
    }
}

#[test]
fn what_cannot_float_is_refused_by_name() {
    let mut rng = Rng::new(40);
    let refused = |data: BlendData| {
        FloatingBlend::new(Arc::new(BlendedModel::new(data).unwrap())).unwrap_err()
    };
    let good = data(&mut rng, WEIGHTS[0]);
    let with = |change: &dyn Fn(&mut ModelData)| {
        let mut d = good.clone();
        changed(&mut d, 2, |d| change(d));
        refused(d)
    };
    let bases = ModelError::UnlikeSamples { quantity: "bases" };
    assert_eq!(with(&|d| d.base = None), ModelError::NoBase);
    let other = Pose::exp(twist(&mut rng, 0.1));
    assert_eq!(with(&|d| d.links[0].rest = other), bases);
    assert_eq!(with(&|d| d.base.as_mut().unwrap().link = 1), bases);
    assert_eq!(with(&|d| d.base.as_mut().unwrap().gravity = DVec3::ZERO), bases);
    let heavier = |d: &mut ModelData| {
        let b = d.base.as_mut().unwrap();
        (0..3).for_each(|i| b.inertia[(i, i)] += 0.1);
    };
    assert_eq!(with(&heavier), bases);
    for (weights, what) in [
        (Weights::Printed, "weights as printed"),
        (Weights::Neighbours { exponent: 6, count: 2 }, "weights of neighbours"),
    ] {
        let d = BlendData { weights, ..good.clone() };
        assert_eq!(refused(d), ModelError::BlendCannotFloat { what });
    }
    let matrices =
        BlendedModel::new(good.clone()).unwrap().with_blend(forks_blend::Blend::SpdManifold);
    let what = "blended matrices";
    assert_eq!(
        FloatingBlend::new(Arc::new(matrices)).unwrap_err(),
        ModelError::BlendCannotFloat { what }
    );
    // Numbers that are none, of states and loads.
    let model = Arc::new(FloatingBlend::new(Arc::new(BlendedModel::new(good).unwrap())).unwrap());
    assert!(FloatingBlendStepper::new(model.clone(), 0.0).is_err());
    let stepper = FloatingBlendStepper::new(model.clone(), 1e-3).unwrap();
    let mut s = random_state(&model, &mut rng);
    let before = s.clone();
    let mut work = stepper.workspace();
    let nan = vec![f64::NAN; 6];
    let pose = Pose::IDENTITY;
    assert!(s.set(&model, &nan, &[0.0; 6], pose, Twist::ZERO).is_err());
    let far = Twist::new(DVec3::splat(f64::INFINITY), DVec3::ZERO);
    assert!(s.set(&model, &[0.0; 6], &[0.0; 6], pose, far).is_err());
    assert!(s.set_servo_targets(&model, &[1.0]).is_err());
    for x in [f64::NAN, f64::INFINITY] {
        let wrench = Wrench::new(DVec3::new(x, 0.0, 0.0), DVec3::ZERO);
        let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::World };
        assert_eq!(stepper.step(&mut s, &mut work, &[load]), StepStatus::NotFinite);
        assert_eq!(s, before);
    }
}
