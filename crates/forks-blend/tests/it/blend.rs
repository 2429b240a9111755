//! Blended models: energy and force, samples, one model, steps.

use std::sync::Arc;

use forks_blend::{BlendData, BlendedModel, BlendedState, BlendedStepper, SampleData, Weights};
use forks_rom::{
    EffectorLoad, LoadFrame, ReducedModel, ServoTerms, State, StepStatus, Stepper, System,
    data::{DEFAULT_RANGE, EffectorRest, LinkRest, ModelData},
    lie::{Pose, Twist, Wrench, glam::DVec3, so3::exp_rotation},
    linalg::Matrix,
};
use forks_testkit::Rng;

const RADIUS: f64 = 0.7;

fn pose(rng: &mut Rng, size: f64) -> Pose {
    let t = Twist::from_array(core::array::from_fn(|_| size * rng.symmetric()));
    Pose::exp(t)
}

fn spd(rng: &mut Rng, n: usize, size: f64) -> Matrix {
    let a = Matrix::from_fn(n, n, |_, _| rng.symmetric());
    let b = a.transpose_mul(&a);
    Matrix::from_fn(n, n, |i, j| size * (b[(i, j)] + if i == j { 1.0 } else { 0.0 }))
        .symmetric_part()
}

/// Columns S⁻¹ e_i: every motion of every effector.
fn full_basis(effectors: usize) -> Matrix {
    let n = 6 * effectors;
    Matrix::from_fn(n, n, |i, j| match (i == j, i % 6 < 3) {
        (false, _) => 0.0,
        (true, true) => RADIUS,
        (true, false) => 1.0,
    })
}

fn sample(rng: &mut Rng, rests: &[Pose]) -> SampleData {
    let n = 6 * rests.len();
    let wrench =
        |rng: &mut Rng| Wrench::from_array(core::array::from_fn(|_| 2.0 * rng.symmetric()));
    let effectors = rests
        .iter()
        .enumerate()
        .map(|(e, rest)| EffectorRest {
            name: format!("effector{e}"),
            link: e + 1,
            link_from_effector: Pose::IDENTITY,
            rest: *rest,
            static_wrench: wrench(rng),
        })
        .collect();
    let link = |name: String, rest: Pose| LinkRest {
        name,
        auxiliary: false,
        rest,
        map: Matrix::zeros(6, n),
        servo_map: Matrix::zeros(6, 0),
    };
    let links = std::iter::once(link("world".into(), Pose::IDENTITY))
        .chain(rests.iter().enumerate().map(|(e, r)| link(format!("link{e}"), *r)))
        .collect();
    let model = ReducedModel::new(ModelData {
        radius: RADIUS,
        range: DEFAULT_RANGE,
        effectors,
        basis: full_basis(rests.len()),
        hessian: spd(rng, n, 20.0),
        mass: spd(rng, n, 0.1),
        damping: spd(rng, n, 0.05),
        servo_rest: Matrix::zeros(n, 0),
        servos: vec![],
        links,
        joints: vec![],
        base: None,
    })
    .unwrap();
    SampleData {
        model: Arc::new(model),
        potential: rng.symmetric(),
        servos: ServoTerms::default(),
        curvature: Matrix::zeros(0, 0),
    }
}

fn data(rng: &mut Rng, effectors: usize, samples: usize) -> BlendData {
    let reference: Vec<Pose> = (0..effectors).map(|_| pose(rng, 1.0)).collect();
    let samples = (0..samples)
        .map(|i| {
            let rests: Vec<Pose> =
                reference.iter().map(|r| if i == 0 { *r } else { *r * pose(rng, 0.4) }).collect();
            sample(rng, &rests)
        })
        .collect();
    BlendData {
        reference,
        basis: full_basis(effectors),
        radius: RADIUS,
        range: DEFAULT_RANGE,
        weights: Weights::Shepard { exponent: 4 },
        samples,
        chart: vec![],
        guard: None,
        kinematics: Default::default(),
        link_forces: vec![],
    }
}

fn random(rng: &mut Rng, n: usize, size: f64) -> Vec<f64> {
    (0..n).map(|_| size * rng.symmetric()).collect()
}

#[test]
fn the_force_is_the_gradient_of_the_energy() {
    let mut rng = Rng::new(11);
    for (effectors, samples) in [(1, 1), (1, 2), (1, 5), (2, 3)] {
        let m = BlendedModel::new(data(&mut rng, effectors, samples)).unwrap();
        let n = m.dof();
        for _ in 0..5 {
            let x = random(&mut rng, n, 0.3);
            let force = m.elastic_force(&x);
            let scale = force.iter().fold(1.0f64, |s, f| s.max(f.abs()));
            for k in 0..n {
                let central = |h: f64| {
                    let side = |h: f64| {
                        let mut y = x.clone();
                        y[k] += h;
                        m.potential_energy(&y)
                    };
                    (side(h) - side(-h)) / (2.0 * h)
                };
                let h = 1e-3;
                let derivative = (4.0 * central(0.5 * h) - central(h)) / 3.0;
                let error = (force[k] - derivative).abs() / scale;
                assert!(error < 1e-9, "{effectors} effectors, {samples} samples: {error:e}");
            }
        }
    }
}

#[test]
fn a_sample_is_reproduced() {
    let mut rng = Rng::new(12);
    let d = data(&mut rng, 2, 4);
    let m = BlendedModel::new(d.clone()).unwrap();
    for (i, s) in d.samples.iter().enumerate() {
        let x = m.place(i).to_vec();
        let weight = m.weights(&x)[i];
        assert!(weight > 1.0 - 1e-12, "{weight}");
        assert!((m.potential_energy(&x) - s.potential).abs() < 1e-12);
        for (e, effector) in s.model.data().effectors.iter().enumerate() {
            assert!(m.effector_pose(e, &x).twist_to(&effector.rest).norm() < 1e-12);
        }
    }
}

#[test]
fn a_blend_of_one_model_at_its_own_pose_is_that_model() {
    let mut rng = Rng::new(13);
    let d = data(&mut rng, 2, 1);
    let single = d.samples[0].model.clone();
    let blend = Arc::new(BlendedModel::new(d.clone()).unwrap());
    let x = random(&mut rng, blend.dof(), 0.2);
    let difference =
        blend.potential_energy(&x) - d.samples[0].potential - single.elastic_energy(&x, &[]);
    assert!(difference.abs() < 1e-12);
    let h = 1e-3;
    let stepper = Stepper::new(single.clone(), h).unwrap();
    let blended = BlendedStepper::new(blend.clone(), h).unwrap();
    let mut a = State::new(&single);
    let mut a_work = stepper.workspace();
    a.set(&x, &vec![0.0; x.len()]).unwrap();
    let mut b = BlendedState::new(&blend, &x).unwrap();
    let mut b_work = blended.workspace();
    let load = EffectorLoad {
        effector: 1,
        wrench: Wrench::new(DVec3::new(1.0, 2.0, -1.0), DVec3::new(0.1, -0.3, 0.2)),
        frame: LoadFrame::Body,
    };
    for _ in 0..200 {
        assert_eq!(stepper.step(&mut a, &mut a_work, &[load]), StepStatus::Completed);
        assert_eq!(blended.step(&mut b, &mut b_work, &[load]), StepStatus::Completed);
    }
    for (a, b) in a.coordinates().iter().zip(b.coordinates()) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn energy_never_grows_without_work() {
    let mut rng = Rng::new(14);
    for h in [1e-3, 1.0 / 60.0, 0.1] {
        for round in 0..10 {
            let m = Arc::new(BlendedModel::new(data(&mut rng, 1 + round % 2, 4)).unwrap());
            let stepper = BlendedStepper::new(m.clone(), h).unwrap();
            let x = random(&mut rng, m.dof(), 0.4);
            let mut state = BlendedState::new(&m, &x).unwrap();
            let mut work = stepper.workspace();
            let mut last = m.evaluated_at(&state).potential_energy() + m.kinetic_energy(&state);
            for _ in 0..500 {
                let _ = stepper.step(&mut state, &mut work, &[]);
                let now = m.evaluated_at(&state).potential_energy() + m.kinetic_energy(&state);
                assert!(now <= last + 1e-12 * (1.0 + last.abs()), "{h}: {last} to {now}");
                last = now;
            }
        }
    }
}

/// Next to singular poses samples are 10¹⁰ times as stiff in some directions as in others; far from
/// them their energies are differences of large terms. A step then shortened its move to nothing
/// where only rounding made the energy grow, and stood still before forces were balanced.
#[test]
fn very_stiff_samples_come_to_rest_where_forces_balance() {
    let mut rng = Rng::new(18);
    for (stiff, h) in [(1e5, 1e-2), (1e6, 0.1), (1e6, 1e-2), (1e7, 1e-2), (1e7, 0.1)] {
        let mut d = data(&mut rng, 1, 3);
        let common = random(&mut rng, 6, 1.0);
        for s in &mut d.samples {
            let mut own = s.model.data().clone();
            let turned = random(&mut rng, 6, 0.02);
            let v: Vec<f64> = common.iter().zip(turned).map(|(a, b)| a + b).collect();
            own.hessian = Matrix::from_fn(6, 6, |i, j| own.hessian[(i, j)] + stiff * (v[i] * v[j]))
                .symmetric_part();
            s.model = Arc::new(ReducedModel::new(own).unwrap());
        }
        let m = Arc::new(BlendedModel::new(d).unwrap());
        let stepper = BlendedStepper::new(m.clone(), h).unwrap();
        let mut state = BlendedState::new(&m, &random(&mut rng, 6, 0.2)).unwrap();
        let mut work = stepper.workspace();
        for _ in 0..4000 {
            assert!(matches!(
                stepper.step(&mut state, &mut work, &[]),
                StepStatus::Completed | StepStatus::OutOfRange { .. }
            ));
        }
        // Energies are known to some 10 ε of the samples', stiff d²/2 with d up to about 0.3: a
        // minimum to δ = d √(10 ε) along the stiff direction, and forces to stiff δ.
        let left_over = stiff * 0.3 * (10.0 * f64::EPSILON).sqrt();
        let left =
            m.evaluated_at(&state).elastic_force().iter().fold(0.0f64, |m, f| m.max(f.abs()));
        println!("{stiff:e}, {h}: {left:e}");
        assert!(left < left_over, "{stiff:e}, {h}: {left:e}");
    }
}

#[test]
fn rotations_of_samples_do_not_matter() {
    let _ = exp_rotation(DVec3::ZERO);
    let mut rng = Rng::new(15);
    let d = data(&mut rng, 1, 5);
    let mut reversed = d.clone();
    reversed.samples.reverse();
    let (a, b) = (BlendedModel::new(d).unwrap(), BlendedModel::new(reversed).unwrap());
    for _ in 0..20 {
        let x = random(&mut rng, 6, 0.4);
        let difference = (a.potential_energy(&x) - b.potential_energy(&x)).abs();
        assert!(difference < 1e-12 * (1.0 + a.potential_energy(&x).abs()));
    }
}
