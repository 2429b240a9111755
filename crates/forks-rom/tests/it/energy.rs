//! The wrenches that hold a model: what they balance, and the work that they do around closed
//! paths.

use crate::random_model;

use std::f64::consts::TAU;

use forks_models::HelixJoints;
use forks_reduce::{Effector, Problem, ReduceOptions};
use forks_rom::{
    Elasticity, LoadFrame, ReducedModel, State, StaticStatus, data::ModelData, lie::Wrench,
    linalg::Matrix,
};
use forks_testkit::Rng;
use random_model::{data, load, numbers};

/// A closed path of reduced coordinates: a trigonometric polynomial of time, period 1.
struct Cycle {
    /// Per harmonic: cosine and sine amplitudes.
    harmonics: Vec<[Vec<f64>; 2]>,
}

impl Cycle {
    fn random(rng: &mut Rng, n: usize, size: f64) -> Self {
        let harmonic = |k: usize, rng: &mut Rng| {
            let size = size / (k as f64);
            [numbers(rng, n, size), numbers(rng, n, size)]
        };
        Self { harmonics: (1..=3).map(|k| harmonic(k, rng)).collect() }
    }

    fn at(&self, t: f64) -> (Vec<f64>, Vec<f64>) {
        let n = self.harmonics[0][0].len();
        let (mut x, mut v) = (vec![0.0; n], vec![0.0; n]);
        for (k, [a, b]) in self.harmonics.iter().enumerate() {
            let w = TAU * (k + 1) as f64;
            let (s, c) = (w * t).sin_cos();
            for i in 0..n {
                x[i] += a[i] * c + b[i] * s;
                v[i] += w * (b[i] * c - a[i] * s);
            }
        }
        (x, v)
    }
}

/// ∮ Σ_e w·φ dt and ∮ |Σ_e w·φ| dt by the trapezoidal rule, which for periodic functions converges
/// faster than any power; only public wrenches, poses and velocities are used.
fn work_around(
    m: &ReducedModel,
    cycle: &Cycle,
    elasticity: Elasticity,
    frame: LoadFrame,
    points: usize,
) -> [f64; 2] {
    let mut state = State::new(m);
    let mut sums = [0.0; 2];
    for i in 0..points {
        let (eta, rate) = cycle.at(i as f64 / points as f64);
        state.set(&eta, &rate).unwrap();
        let mut power = 0.0;
        for (e, w) in m.effector_wrenches(&state, elasticity, frame).enumerate() {
            let back = m.effector_pose(e, &eta).rotation.conjugate();
            let body = match frame {
                LoadFrame::Body => w,
                LoadFrame::World => Wrench::new(back * w.force, back * w.torque),
            };
            power += body.dot(m.effector_velocity(e, &state));
        }
        sums[0] += power / points as f64;
        sums[1] += power.abs() / points as f64;
    }
    sums
}

/// ∮ w·φ from poses alone: wrenches half way times the twists between neighbouring poses.
fn work_over_poses(m: &ReducedModel, cycle: &Cycle, points: usize) -> f64 {
    let mut state = State::new(m);
    let rate = vec![0.0; m.dof()];
    let mut sum = 0.0;
    for i in 0..points {
        let at = |s: f64| cycle.at((i as f64 + s) / points as f64).0;
        state.set(&at(0.5), &rate).unwrap();
        let wrenches = m.effector_wrenches(&state, Elasticity::Energy, LoadFrame::Body);
        for (e, w) in wrenches.enumerate() {
            let (from, to) = (m.effector_pose(e, &at(0.0)), m.effector_pose(e, &at(1.0)));
            sum += w.dot(from.twist_to(&to));
        }
    }
    sum
}

/// A helix of 20 links that hangs on a static wrench, moment included.
fn loaded_helix() -> ModelData {
    let p = forks_models::helix(20, HelixJoints::Hinge3);
    let m = &p.mechanism;
    let last = forks_mechanism::LinkId::new(m.links().len() - 1);
    let problem = Problem::unprepared(m.clone(), vec![Effector::of_link(m, last)]);
    let found = problem.reduce(problem.at_rest(), &ReduceOptions::default());
    let mut data = found.unwrap().model.data().clone();
    let mut rng = Rng::new(3);
    data.effectors[0].static_wrench = load(&mut rng, 0, 20.0, LoadFrame::Body).wrench;
    data
}

fn models() -> Vec<(&'static str, ReducedModel, f64)> {
    let mut rng = Rng::new(1);
    let mut out = vec![("helix", ReducedModel::new(loaded_helix()).unwrap(), 0.3)];
    for (name, e, n) in [("full rank", 2, 12), ("deficient", 2, 5), ("one", 1, 3)] {
        out.push((name, ReducedModel::new(data(&mut rng, e, n, 5.0)).unwrap(), 0.25));
    }
    out
}

#[test]
fn wrenches_do_no_work_around_closed_paths() {
    for (name, m, size) in models() {
        let mut rng = Rng::new(2);
        let (mut worst, mut linear, mut poses) = (0.0f64, 0.0f64, [0.0; 2]);
        for k in 0..100 {
            let cycle = Cycle::random(&mut rng, m.dof(), size / (m.dof() as f64).sqrt());
            let frame = if k % 2 == 0 { LoadFrame::Body } else { LoadFrame::World };
            let [work, path] = work_around(&m, &cycle, Elasticity::Energy, frame, 128);
            worst = worst.max(work.abs() / path);
            let [work, path] = work_around(&m, &cycle, Elasticity::Linear, frame, 128);
            linear = linear.max(work.abs() / path);
            for (sum, points) in poses.iter_mut().zip([256, 512]) {
                *sum += work_over_poses(&m, &cycle, points).abs() / path;
            }
        }
        let ratio = poses[1] / poses[0];
        println!("{name}: energy {worst:.1e}, linear {linear:.1e}, poses {poses:?}");
        // Quadrature error vanishes to rounding of 128 powers; [A16]'s form does work.
        assert!(worst < 1e-13, "{name}: {worst:e}");
        assert!(linear > 1e-3, "{name}: {linear:e}");
        // Second order: twice the points, a quarter of the error.
        assert!((0.2..0.3).contains(&ratio), "{name}: {ratio}");
    }
}

/// The wrenches as loads keep the model where it is.
#[test]
fn wrenches_hold_the_model() {
    for (name, m, size) in models() {
        let mut rng = Rng::new(4);
        for k in 0..10 {
            let eta = numbers(&mut rng, m.dof(), size);
            let target = numbers(&mut rng, m.data().servos.len(), 0.1);
            let mut state = State::new(&m);
            state.set(&eta, &vec![0.0; m.dof()]).unwrap();
            state.set_servo_targets(&m, &target).unwrap();
            let frame = if k % 2 == 0 { LoadFrame::Body } else { LoadFrame::World };
            let force = m.elastic_force(&eta, &target);
            let mut gap: Vec<f64> = force.clone();
            for (e, w) in m.effector_wrenches(&state, Elasticity::Energy, frame).enumerate() {
                assert_eq!(w, m.effector_wrench(e, &state, Elasticity::Energy, frame));
                let rotation = m.effector_pose(e, &eta).rotation.conjugate();
                let body = match frame {
                    LoadFrame::Body => w,
                    LoadFrame::World => Wrench::new(rotation * w.force, rotation * w.torque),
                };
                // Power per unit rate of every coordinate.
                for (j, gap) in gap.iter_mut().enumerate() {
                    let mut rate = vec![0.0; m.dof()];
                    rate[j] = 1.0;
                    let mut moving = state.clone();
                    moving.set(&eta, &rate).unwrap();
                    *gap -= body.dot(m.effector_velocity(e, &moving));
                }
            }
            let size = force.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let gap = gap.iter().fold(0.0f64, |m, x| m.max(x.abs())) / size;
            // Condition of the random bases: below 1e3.
            assert!(gap < 1e-12, "{name}: {gap:e}");
        }
    }
}

#[test]
fn at_the_linearisation_pose_it_is_the_static_wrench() {
    for (_, m, _) in models() {
        let state = State::new(&m);
        for elasticity in [Elasticity::Energy, Elasticity::Linear] {
            let found = m.effector_wrenches(&state, elasticity, LoadFrame::Body);
            for (w, e) in found.zip(&m.data().effectors) {
                assert_eq!(w, e.static_wrench);
            }
        }
        let loads: Vec<_> = m
            .effector_wrenches(&state, Elasticity::Energy, LoadFrame::World)
            .enumerate()
            .map(|(effector, wrench)| forks_rom::EffectorLoad {
                effector,
                wrench,
                frame: LoadFrame::World,
            })
            .collect();
        let s = m.solve_static(&loads, &[]).unwrap();
        assert_eq!(s.status, StaticStatus::Converged);
        assert!(s.coordinates.iter().all(|x| x.abs() < 1e-12));
    }
}

/// Both forms agree to first order: a hundredth of the displacement, a ten-thousandth of the
/// difference.
#[test]
fn both_forms_agree_to_first_order() {
    let mut rng = Rng::new(6);
    let m = ReducedModel::new(data(&mut rng, 2, 12, 3.0)).unwrap();
    let eta = numbers(&mut rng, 12, 0.3);
    let gap = |s: f64| {
        let mut state = State::new(&m);
        let eta: Vec<f64> = eta.iter().map(|x| s * x).collect();
        state.set(&eta, &[0.0; 12]).unwrap();
        let wrenches = |elasticity| {
            m.effector_wrenches(&state, elasticity, LoadFrame::World).collect::<Vec<_>>()
        };
        let (a, b) = (wrenches(Elasticity::Energy), wrenches(Elasticity::Linear));
        let square = |w: Wrench| w.force.length_squared() + w.torque.length_squared();
        a.iter().zip(&b).map(|(a, b)| square(*a - *b)).sum::<f64>().sqrt()
    };
    let ratio = gap(1e-2) / gap(1e-4);
    println!("ratio {ratio}");
    assert!((0.8e4..1.25e4).contains(&ratio), "{ratio}");
}

/// Coordinates that move no effector have no wrench, and take none from the others.
#[test]
fn modes_of_fixed_effectors_have_no_wrench() {
    let mut rng = Rng::new(5);
    let small = data(&mut rng, 2, 5, 2.0);
    let padded = |m: &Matrix, rows: usize, corner: f64| {
        Matrix::from_fn(rows, 8, |i, j| match (i < m.rows(), j < m.columns()) {
            (true, true) => m[(i, j)],
            _ => corner * f64::from(i == j),
        })
    };
    let mut large = small.clone();
    large.basis = padded(&small.basis, 12, 0.0);
    for (m, from) in [
        (&mut large.hessian, &small.hessian),
        (&mut large.mass, &small.mass),
        (&mut large.damping, &small.damping),
    ] {
        *m = padded(from, 8, 3.0);
    }
    large.servo_rest =
        Matrix::from_fn(8, 1, |i, _| if i < 5 { small.servo_rest[(i, 0)] } else { 0.0 });
    for l in &mut large.links {
        l.map = padded(&l.map.clone(), 6, 0.0);
    }
    let (small, large) = (ReducedModel::new(small).unwrap(), ReducedModel::new(large).unwrap());
    let eta = numbers(&mut rng, 8, 0.3);
    let (mut a, mut b) = (State::new(&small), State::new(&large));
    a.set(&eta[..5], &[0.0; 5]).unwrap();
    b.set(&eta, &[0.0; 8]).unwrap();
    for elasticity in [Elasticity::Energy, Elasticity::Linear] {
        let a = small.effector_wrenches(&a, elasticity, LoadFrame::Body);
        for (a, b) in a.zip(large.effector_wrenches(&b, elasticity, LoadFrame::Body)) {
            let (a, b) = (a.to_array(), b.to_array());
            assert!(
                (0..6).all(|i| (a[i] - b[i]).abs() < 1e-12 * (1.0 + a[i].abs())),
                "{a:?} {b:?}"
            );
        }
    }
}
