//! Blends in charts of joint displacements: gradients against differences, samples reproduced,
//! energy that cannot grow, coordinates from poses, files.

use std::sync::Arc;

use blend_support::{Sizes, bent::drive, blend, numbers, spd, twist};
use forks_blend::{
    Blend, BlendData, BlendedModel, BlendedState, BlendedStepper, BlendedWorkspace, ChartSample,
    Guard, LinkBlend, Weights,
};
use forks_rom::{
    EffectorLoad, LoadFrame, ModelError, Reconstruction, ReducedModel, StaticStatus, StepStatus,
    System,
    lie::{Twist, Wrench},
    linalg::Matrix,
};
use forks_testkit::Rng;

use crate::blend_support;

const EXPONENTS: [u32; 3] = [4, 6, 8];

/// Samples around x = 0 with random higher orders.
fn data(rng: &mut Rng, effectors: usize, samples: usize, exponent: u32) -> BlendData {
    let mut data = blend(rng, Sizes { effectors, samples, links: 3, spread: 0.1 });
    drive(rng, &mut data);
    data.weights = Weights::Shepard { exponent };
    let n = data.basis.columns();
    let (two, three) = (n * (n + 1) / 2, n * (n + 1) * (n + 2) / 6);
    let random = |rng: &mut Rng, rows, columns, size: f64| {
        Matrix::from_fn(rows, columns, |_, _| size * rng.symmetric())
    };
    let chart = |rng: &mut Rng, i: usize| ChartSample {
        place: if i == 0 { vec![0.0; n] } else { numbers(rng, n, 0.3) },
        rate: Matrix::from_fn(n, n, |i, j| f64::from(i == j) + 0.1 * rng.symmetric()),
        stiffness: spd(rng, n, 20.0),
        cubic: numbers(rng, three, 1.0),
        twists: random(rng, 6 * effectors, two + three, 0.1),
        links: (0..data.samples[0].model.data().links.len())
            .map(|_| random(rng, 6, two, 0.1))
            .collect(),
        joints: vec![],
        servos: random(rng, data.samples[0].model.data().servos.len(), n + two, 1.0),
    };
    data.chart = (0..samples).map(|i| chart(rng, i)).collect();
    data
}

/// The same with a guard that some places are beyond.
fn guarded(rng: &mut Rng, mut data: BlendData) -> BlendData {
    let n = data.basis.columns();
    data.guard = Some(Guard { metric: spd(rng, n, 12.0), stiffness: 3.0 });
    data
}

/// The same with effectors that move alike in all samples, nearly.
fn consistent(mut data: BlendData) -> BlendData {
    let rate = data.chart[0].rate.clone();
    for (s, c) in data.samples.iter_mut().zip(&mut data.chart) {
        c.rate = rate.clone();
        c.twists.row_mut(0).iter_mut().for_each(|x| *x *= 0.1);
        let mut model = s.model.data().clone();
        let twists = model.basis.mul_vec(&rate.mul_vec(&c.place));
        for (e, f) in model.effectors.iter_mut().enumerate() {
            let xi = Twist::from_array(core::array::from_fn(|i| twists[6 * e + i]));
            f.rest = data.reference[e].displaced(xi);
        }
        s.model = Arc::new(ReducedModel::new(model).unwrap());
    }
    data
}

fn random_load(rng: &mut Rng, effector: usize, frame: LoadFrame) -> EffectorLoad {
    EffectorLoad { effector, wrench: Wrench::from_array(twist(rng, 3.0).to_array()), frame }
}

/// Central differences of a function of x.
fn slopes(x: &[f64], h: f64, f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let side = |k: usize, h: f64| {
        let mut y = x.to_vec();
        y[k] += h;
        f(&y)
    };
    (0..x.len()).map(|k| (side(k, h) - side(k, -h)) / (2.0 * h)).collect()
}

fn assert_near(found: &[f64], expected: &[f64], bound: f64) {
    let size = expected.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    let off = found.iter().zip(expected).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(off <= bound * size, "{off:e}: {found:?} {expected:?}");
}

/// Step and error of central differences of functions of size 10: ε·10/h and h² times third
/// derivatives of weights that change over a tenth.
const STEP: f64 = 1e-5;
const DIFFERENCE: f64 = 1e-6;

#[test]
fn forces_are_the_energy_s_slopes() {
    let mut rng = Rng::new(1);
    for (effectors, exponent) in [(1, 4), (1, 6), (2, 8)] {
        let m = BlendedModel::new(data(&mut rng, effectors, 4, exponent)).unwrap();
        for _ in 0..5 {
            let x = numbers(&mut rng, m.dof(), 0.25);
            let expected = slopes(&x, STEP, |x| m.potential_energy(x));
            assert_near(&m.elastic_force(&x), &expected, DIFFERENCE);
        }
    }
}

/// Servo targets, the guard and both: the force stays the energy's slope, and loads work along what
/// effectors do.
#[test]
fn targets_and_the_guard_keep_forces_slopes() {
    let mut rng = Rng::new(11);
    let (mut beyond, mut within) = (0, 0);
    for driven in [false, true] {
        let plain = data(&mut rng, 2, 3, 6);
        let m = BlendedModel::new(guarded(&mut rng, plain)).unwrap();
        let targets = numbers(&mut rng, m.servo_count(), if driven { 0.5 } else { 0.0 });
        assert!(!targets.is_empty());
        let at = |x: &[f64]| {
            let mut state = BlendedState::new(&m, x).unwrap();
            state.set_servo_targets(&m, &targets).unwrap();
            m.evaluated_at(&state)
        };
        for size in [0.05, 0.15, 0.5, 5.0] {
            let x = numbers(&mut rng, m.dof(), size);
            let here = at(&x);
            match here.is_out_of_range() {
                true => beyond += 1,
                false => within += 1,
            }
            let expected = slopes(&x, STEP, |x| at(x).potential_energy());
            assert_near(here.elastic_force(), &expected, 10.0 * DIFFERENCE);
            let load = random_load(&mut rng, 1, LoadFrame::World);
            let work = |x: &[f64]| m.effector_pose(1, x).translation.dot(load.wrench.force);
            let force =
                EffectorLoad { wrench: Wrench::new(load.wrench.force, Default::default()), ..load };
            assert_near(&m.generalised_force(&x, &[force]), &slopes(&x, STEP, work), DIFFERENCE);
        }
    }
    assert!(beyond > 2 && within > 0, "{beyond} {within}");
}

/// Forces and energy cross the guard's edge without a jump, and lead back from beyond it.
#[test]
fn beyond_the_guard_nothing_overflows() {
    let mut rng = Rng::new(12);
    let plain = data(&mut rng, 1, 3, 6);
    let m = Arc::new(BlendedModel::new(guarded(&mut rng, plain)).unwrap());
    let metric = m.data().guard.as_ref().unwrap().metric.clone();
    let direction = numbers(&mut rng, 6, 1.0);
    let s = |x: &[f64]| -> f64 {
        metric.mul_vec(x).iter().zip(x).map(|(g, x)| g * x).sum::<f64>().sqrt()
    };
    let size = s(&direction);
    let along = |t: f64| -> Vec<f64> { direction.iter().map(|d| t * d / size).collect() };
    let (inside, outside) = (along(1.0 - 1e-9), along(1.0 + 1e-9));
    assert_near(&m.elastic_force(&inside), &m.elastic_force(&outside), 1e-6);
    let jump = m.potential_energy(&inside) - m.potential_energy(&outside);
    assert!(jump.abs() < 1e-7, "{jump:e}");
    // Far out the force pulls back, and grows no faster than in a line.
    for t in [1e2, 1e6] {
        let x = along(t);
        let back: f64 = m.elastic_force(&x).iter().zip(&x).map(|(f, x)| f * x / t).sum();
        assert!(back > 0.5 * 3.0 * t && back < 2.0 * 3.0 * t, "{back} at {t}");
    }
    // From far outside, fast: numbers stay finite, the status says where it is, and it comes back.
    let stepper = BlendedStepper::new(m.clone(), 1e-2).unwrap();
    let mut state = BlendedState::new(&m, &along(30.0)).unwrap();
    let x = state.coordinates().to_vec();
    state.set(&x, &numbers(&mut rng, 6, 50.0)).unwrap();
    let mut work = stepper.workspace();
    let mut said = 0;
    for _ in 0..20_000 {
        match stepper.step(&mut state, &mut work, &[]) {
            StepStatus::OutOfRange { .. } => said += 1,
            StepStatus::Completed => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(said > 3, "{said}");
    assert!(s(state.coordinates()) < 2.0, "{}", s(state.coordinates()));
}

#[test]
fn loads_work_along_the_effectors_motions() {
    let mut rng = Rng::new(2);
    for exponent in EXPONENTS {
        let m = BlendedModel::new(data(&mut rng, 2, 3, exponent)).unwrap();
        let x = numbers(&mut rng, m.dof(), 0.25);
        let rate = numbers(&mut rng, m.dof(), 0.5);
        let mut state = BlendedState::new(&m, &x).unwrap();
        state.set(&x, &rate).unwrap();
        for e in 0..2 {
            // Body twists from differences of poses.
            let at = |t: f64| {
                let y: Vec<f64> = x.iter().zip(&rate).map(|(x, r)| x + t * r).collect();
                m.effector_pose(e, &y)
            };
            let here = at(0.0);
            let expected = (here.twist_to(&at(STEP)) - here.twist_to(&at(-STEP))) * (0.5 / STEP);
            let velocity = m.effector_velocity(e, &state);
            assert_near(&velocity.to_array(), &expected.to_array(), DIFFERENCE);
            // A body wrench's power is the same in both ways.
            let load = random_load(&mut rng, e, LoadFrame::Body);
            let force = m.generalised_force(&x, &[load]);
            let power: f64 = force.iter().zip(&rate).map(|(f, r)| f * r).sum();
            let pairs = load.wrench.to_array().into_iter().zip(velocity.to_array());
            let own: f64 = pairs.map(|(w, v)| w * v).sum();
            assert!((power - own).abs() < 1e-12 * 100.0, "{power} {own}");
            // The same wrench in world axes.
            let (f, t) = (load.wrench.force, load.wrench.torque);
            let wrench = Wrench::new(here.rotation * f, here.rotation * t);
            let world = EffectorLoad { wrench, frame: LoadFrame::World, ..load };
            assert_near(&m.generalised_force(&x, &[world]), &force, 1e-13 * 100.0);
        }
        // What holds the effectors is the force.
        let held = m.effector_wrenches(&x);
        let loads: Vec<EffectorLoad> = held
            .iter()
            .enumerate()
            .map(|(effector, &wrench)| EffectorLoad { effector, wrench, frame: LoadFrame::Body })
            .collect();
        assert_near(&m.generalised_force(&x, &loads), &m.elastic_force(&x), 1e-9);
    }
}

#[test]
fn a_sample_is_reproduced() {
    let mut rng = Rng::new(3);
    let data = data(&mut rng, 1, 4, 4);
    let m = BlendedModel::new(data.clone()).unwrap();
    for (i, (s, c)) in data.samples.iter().zip(&data.chart).enumerate() {
        let x = m.place(i).to_vec();
        assert_eq!(x, c.place);
        assert_eq!(m.weights(&x)[i], 1.0);
        assert_eq!(m.potential_energy(&x), s.potential);
        let model = s.model.data();
        let gap = m.effector_pose(0, &x).twist_to(&model.effectors[0].rest).norm();
        assert!(gap < 1e-14, "{gap:e}");
        let force = c.rate.transpose_mul_vec(s.model.static_force());
        assert_near(&m.elastic_force(&x), &force, 1e-13);
        // To second order, p ≥ 4: forces change as the stiffness says.
        let stiffness: Vec<Vec<f64>> =
            (0..m.dof()).map(|k| slopes(&x, 1e-4, |x| m.elastic_force(x)[k])).collect();
        for (row, expected) in stiffness.iter().enumerate() {
            // Weights are of order (h/0.3)⁴ there, cubic terms cancel.
            assert_near(expected, c.stiffness.row(row), 1e-5);
        }
        let state = BlendedState::new(&m, &x).unwrap();
        let mut work = BlendedWorkspace::new(&m);
        let mut poses = vec![Default::default(); model.links.len()];
        for mode in [Reconstruction::Twist, Reconstruction::JointSpace] {
            m.link_poses_into(&state, &mut work, mode, LinkBlend::Average, &mut poses);
            for (p, l) in poses.iter().zip(&model.links) {
                assert!(p.twist_to(&l.rest).norm() < 1e-14);
            }
        }
    }
}

#[test]
fn links_are_the_same_in_both_ways_and_follow_second_orders() {
    let mut rng = Rng::new(4);
    let mut data = data(&mut rng, 1, 1, 6);
    data.chart[0].place = vec![0.0; 6];
    let m = BlendedModel::new(data.clone()).unwrap();
    let x = numbers(&mut rng, 6, 0.2);
    let state = BlendedState::new(&m, &x).unwrap();
    let mut work = BlendedWorkspace::new(&m);
    let mut buffer = m.pose_buffer();
    m.poses(&state, &mut work, LinkBlend::Average, &mut buffer);
    let model = data.samples[0].model.data();
    let pairs: Vec<f64> =
        (0..6).flat_map(|i| (i..6).map(move |j| (i, j))).map(|(i, j)| x[i] * x[j]).collect();
    let eta = data.chart[0].rate.mul_vec(&x);
    for (l, pose) in buffer.iter() {
        let first = model.links[l].map.mul_vec(&eta);
        let second = data.chart[0].links[l].mul_vec(&pairs);
        let twist = core::array::from_fn(|i| first[i] + second[i]);
        let expected = model.links[l].rest.displaced(Twist::from_array(twist));
        assert!(pose.twist_to(&expected).norm() < 1e-13);
    }
    let mut poses = vec![Default::default(); model.links.len()];
    m.link_poses_into(&state, &mut work, Reconstruction::Twist, LinkBlend::Average, &mut poses);
    for (l, pose) in buffer.iter() {
        assert!(pose.twist_to(&poses[l]).norm() < 1e-13);
    }
}

#[test]
fn coordinates_follow_from_poses() {
    let mut rng = Rng::new(5);
    for effectors in [1, 2] {
        let m = BlendedModel::new(consistent(data(&mut rng, effectors, 3, 6))).unwrap();
        for _ in 0..10 {
            let x = numbers(&mut rng, m.dof(), 0.15);
            let rate = numbers(&mut rng, m.dof(), 0.5);
            let mut state = BlendedState::new(&m, &x).unwrap();
            state.set(&x, &rate).unwrap();
            let all = 0..effectors;
            let poses: Vec<_> = all.clone().map(|e| m.effector_pose(e, &x)).collect();
            let twists: Vec<_> = all.map(|e| m.effector_velocity(e, &state)).collect();
            let (found, found_rate, lost) = m.coordinates_of(&poses, &twists).unwrap();
            // Condition numbers below 1e3.
            assert!(lost < 1e-10, "{lost:e}");
            assert_near(&found, &x, 1e-9);
            assert_near(&found_rate, &rate, 1e-8);
        }
    }
}

#[test]
fn energy_does_not_grow() {
    let mut rng = Rng::new(6);
    for exponent in EXPONENTS {
        let m = Arc::new(BlendedModel::new(data(&mut rng, 1, 3, exponent)).unwrap());
        for h in [1e-3, 1e-2] {
            let stepper = BlendedStepper::new(m.clone(), h).unwrap();
            let mut state = BlendedState::new(&m, &numbers(&mut rng, 6, 0.1)).unwrap();
            let mut work = stepper.workspace();
            let x = state.coordinates().to_vec();
            state.set(&x, &numbers(&mut rng, 6, 1.0)).unwrap();
            let energy =
                |s: &BlendedState| m.evaluated_at(s).potential_energy() + m.kinetic_energy(s);
            let start = energy(&state);
            let mut last = start;
            for _ in 0..300 {
                let status = stepper.step(&mut state, &mut work, &[]);
                assert!(!matches!(status, StepStatus::NotFinite));
                let now = energy(&state);
                assert!(now <= last + 1e-12 * (start.abs() + last.abs() + 10.0), "{last} {now}");
                last = now;
            }
            assert!(last < start);
        }
    }
}

#[test]
fn a_body_at_rest_balances_its_loads() {
    let mut rng = Rng::new(7);
    let m = BlendedModel::new(data(&mut rng, 2, 4, 6)).unwrap();
    let rest = m.solve_static(&[], &[]).unwrap();
    assert_eq!(rest.status, StaticStatus::Converged);
    let loads =
        [random_load(&mut rng, 0, LoadFrame::World), random_load(&mut rng, 1, LoadFrame::Body)];
    let found = m.solve_static(&loads, &[]).unwrap();
    assert_eq!(found.status, StaticStatus::Converged);
    let force = m.generalised_force(&found.coordinates, &loads);
    // Where energies show no difference any more steps of 1e-7 are left, of stiffnesses of some
    // hundred.
    assert_near(&m.elastic_force(&found.coordinates), &force, 1e-7 * 300.0);
}

#[test]
fn the_order_of_samples_does_not_matter() {
    let mut rng = Rng::new(8);
    let one = data(&mut rng, 2, 4, 6);
    let mut other = one.clone();
    other.samples.reverse();
    other.chart.reverse();
    let [one, other] = [one, other].map(|d| BlendedModel::new(d).unwrap());
    for _ in 0..10 {
        let x = numbers(&mut rng, 12, 0.3);
        assert!((one.potential_energy(&x) - other.potential_energy(&x)).abs() < 1e-12 * 10.0);
        for e in 0..2 {
            let gap = one.effector_pose(e, &x).twist_to(&other.effector_pose(e, &x)).norm();
            assert!(gap < 1e-12, "{gap:e}");
        }
    }
}

#[test]
fn files_keep_every_bit() {
    let mut rng = Rng::new(9);
    let plain = data(&mut rng, 2, 3, 6);
    let m = BlendedModel::new(guarded(&mut rng, plain)).unwrap();
    let bytes = m.to_bytes();
    let read = BlendedModel::from_bytes(&bytes).unwrap();
    assert_eq!(read.data(), m.data());
    assert_eq!(read.to_bytes(), bytes);
    assert!(m.to_json().contains("\"cubic\":["));
    // As all matrices: rows.
    assert!(m.to_json().contains("\"metric\":[["));
    for end in (0..bytes.len()).step_by(97) {
        assert!(BlendedModel::from_bytes(&bytes[..end]).is_err());
    }
}

#[test]
fn what_a_chart_cannot_do_is_refused() {
    let mut rng = Rng::new(10);
    let good = data(&mut rng, 1, 2, 6);
    let mut wrong = good.clone();
    wrong.weights = Weights::Printed;
    assert_eq!(BlendedModel::new(wrong).unwrap_err(), ModelError::WeightsOfChart);
    let mut wrong = good.clone();
    wrong.chart.pop();
    assert!(matches!(BlendedModel::new(wrong), Err(ModelError::WrongSize { .. })));
    let mut wrong = good.clone();
    wrong.chart[1].cubic[3] = f64::NAN;
    assert!(matches!(BlendedModel::new(wrong), Err(ModelError::NotFinite { .. })));
    let mut wrong = good.clone();
    wrong.chart[0].twists = Matrix::zeros(6, 20);
    assert!(matches!(BlendedModel::new(wrong), Err(ModelError::WrongSize { .. })));
    let mut wrong = guarded(&mut rng, good.clone());
    wrong.guard.as_mut().unwrap().metric[(2, 2)] = -1.0;
    assert!(matches!(BlendedModel::new(wrong), Err(ModelError::NotFinite { .. })));
    // A chart that does not say what targets do refuses them.
    let mut silent = good.clone();
    silent.chart.iter_mut().for_each(|c| c.servos = Matrix::zeros(0, 0));
    let m = BlendedModel::new(silent).unwrap();
    let targets = vec![0.1; m.servo_count()];
    let mut state = BlendedState::reference(&m);
    assert_eq!(state.set_servo_targets(&m, &targets), Err(ModelError::DrivenChart));
    let m = BlendedModel::new(good).unwrap().with_blend(Blend::Eigenvectors);
    assert_eq!(m.blend(), Blend::Energy);
}
