//! Steps of small models against closed forms, balances of energy, and the statuses.

use crate::random_model;

use std::sync::Arc;

use forks_rom::{
    EffectorLoad, Elasticity, LoadFrame, ModelError, ReducedModel, Scheme, State, StaticStatus,
    StepStatus, Stepper, System,
    data::ModelData,
    lie::{Wrench, glam::DVec3, se3::right_jacobian},
    linalg::Matrix,
};
use forks_testkit::Rng;
use random_model::{data, load, model, numbers, positive, push, slider, started, stepper, vector};

const SCHEMES: [Scheme; 2] = [Scheme::ImplicitEuler, Scheme::Exponential];

fn largest_gap(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn implicit_euler_is_its_recursion() {
    let mut rng = Rng::new(1);
    for _ in 0..20 {
        let [m, d, k] = [0.3, 0.5, 40.0].map(|x| x * rng.range(0.5, 2.0));
        let h = 10f64.powf(rng.range(-4.0, 0.0));
        let model = model(slider(m, d, k));
        let s = stepper(&model, h, Scheme::ImplicitEuler);
        let (mut x, mut v) = (0.3, -0.2);
        let mut state = started(&model, &[x], &[v]);
        let mut work = s.workspace();
        for i in 0..1000 {
            let f = 5.0 * f64::from(i % 7) - 12.0;
            v = (m * v + h * (f - k * x)) / (m + h * d + h * h * k);
            x += h * v;
            assert_eq!(s.step(&mut state, &mut work, &[push(f)]), StepStatus::Completed);
            // A few roundings per step of a contraction; amplitudes up to 1.
            let gap = (state.coordinates()[0] - x).abs() + h * (state.velocity()[0] - v).abs();
            assert!(gap < 1e-13, "step {i}, h = {h}: {gap:e}");
        }
    }
}

/// Where a model gets from a state in a time under world-fixed loads.
fn reached(model: &Arc<ReducedModel>, scheme: Scheme, time: f64, steps: usize) -> Vec<f64> {
    let mut rng = Rng::new(30);
    let n = model.dof();
    let loads = [load(&mut rng, 0, 3.0, LoadFrame::World), load(&mut rng, 1, 3.0, LoadFrame::Body)];
    let mut state = started(model, &numbers(&mut rng, n, 0.1), &numbers(&mut rng, n, 0.1));
    let s = stepper(model, time / steps as f64, scheme);
    let mut work = s.workspace();
    for _ in 0..steps {
        assert_eq!(s.step(&mut state, &mut work, &loads), StepStatus::Completed);
    }
    state.coordinates().to_vec()
}

#[test]
fn both_schemes_converge_with_first_order_to_the_same_motion() {
    let mut rng = Rng::new(3);
    let model = model(data(&mut rng, 2, 5, 0.5));
    let exact = reached(&model, Scheme::Exponential, 0.5, 1 << 16);
    for scheme in SCHEMES {
        let gaps =
            [256, 512, 1024].map(|steps| largest_gap(&reached(&model, scheme, 0.5, steps), &exact));
        println!("{scheme:?}: {gaps:?}");
        for pair in gaps.windows(2) {
            let ratio = pair[0] / pair[1];
            assert!((1.8..2.2).contains(&ratio), "{scheme:?}: {gaps:?}");
        }
    }
}

#[test]
fn a_servo_target_is_where_the_model_settles() {
    let mut rng = Rng::new(4);
    for scheme in SCHEMES {
        let damping = positive(&mut rng, 5, 1.0, 10.0);
        let model = model(ModelData { damping, ..data(&mut rng, 2, 5, 0.0) });
        let mut state = State::new(&model);
        state.set_servo_targets(&model, &[0.1]).unwrap();
        let s = stepper(&model, 0.05, scheme);
        let mut work = s.workspace();
        for _ in 0..4000 {
            assert_eq!(s.step(&mut state, &mut work, &[]), StepStatus::Completed);
        }
        let gap = largest_gap(state.coordinates(), &model.rest_coordinates(&[0.1]));
        assert!(gap < 1e-14, "{gap:e}");
        assert!(state.velocity().iter().all(|v| v.abs() < 1e-12));
    }
}

#[test]
fn steps_settle_at_the_static_solution() {
    let mut found = 0;
    for seed in 0..10 {
        let mut rng = Rng::new(100 + seed);
        let damping = positive(&mut rng, 5, 1.0, 10.0);
        let model = model(ModelData { damping, ..data(&mut rng, 2, 5, 1.0) });
        let loads = [
            load(&mut rng, 0, 3.0, LoadFrame::World),
            load(&mut rng, 1, 2.0, LoadFrame::Body),
            load(&mut rng, 1, 1.0, LoadFrame::World),
        ];
        let statics = model.solve_static(&loads, &[0.1]).unwrap();
        if statics.status != StaticStatus::Converged {
            continue;
        }
        found += 1;
        for scheme in SCHEMES {
            let mut state = State::new(&model);
            state.set_servo_targets(&model, &[0.1]).unwrap();
            let s = stepper(&model, 0.02, scheme);
            let mut work = s.workspace();
            for _ in 0..20_000 {
                let _ = s.step(&mut state, &mut work, &loads);
            }
            let gap = largest_gap(state.coordinates(), &statics.coordinates);
            // Tolerance of the static solution 1e-12 of forces up to 10, stiffness above 20.
            assert!(gap < 2e-12, "seed {seed}, {scheme:?}: {gap:e}");
        }
    }
    assert!(found >= 8, "{found}");
}

#[test]
fn energy_never_grows_when_no_work_is_done() {
    let mut worst: f64 = 0.0;
    for seed in 0..100 {
        let mut rng = Rng::new(200 + seed);
        let n = 1 + rng.index(12);
        let mut d = data(&mut rng, 2, n, 1.0);
        let scale = 10f64.powf(rng.range(-3.0, 3.0));
        d.mass = positive(&mut rng, n, 1e-3, scale);
        d.damping = match seed % 3 {
            0 => Matrix::zeros(n, n),
            1 => positive(&mut rng, n, 0.0, 0.01 * scale),
            _ => positive(&mut rng, n, 0.0, 100.0 * scale),
        };
        let scale = 10f64.powf(rng.range(-1.0, 4.0));
        d.hessian = positive(&mut rng, n, 0.1, scale);
        let model = model(d);
        let h = 10f64.powf(rng.range(-4.0, 0.0));
        for scheme in SCHEMES {
            let s = stepper(&model, h, scheme);
            let mut state = started(&model, &numbers(&mut rng, n, 0.3), &numbers(&mut rng, n, 0.3));
            let mut work = s.workspace();
            state.set_servo_targets(&model, &[0.2]).unwrap();
            // Energy over its least value, where the elastic force vanishes.
            let rest = resting(&model, &[0.2]);
            let least = model.elastic_energy(&rest, &[0.2]);
            let mut before = model.energy(&state) - least;
            let start = before + least.abs();
            for i in 0..300 {
                let _ = s.step(&mut state, &mut work, &[]);
                let now = model.energy(&state) - least;
                let growth = (now - before) / start;
                worst = worst.max(growth);
                // Rounding of the energy and of a step with condition numbers up to 1e4.
                assert!(growth < 1e-12, "seed {seed}, {scheme:?}, h {h}, {i}: {growth:e}");
                before = now;
            }
        }
    }
    println!("largest growth {worst:e}");
}

/// The coordinates without elastic force, b_η + 𝓗 (η − η_s) = 0.
fn resting(model: &ReducedModel, targets: &[f64]) -> Vec<f64> {
    let n = model.dof();
    let force = Matrix::from_fn(n, 1, |i, _| -model.static_force()[i]);
    let moved = forks_mechanism::linalg::dense::lu_solve(&model.data().hessian, &force).column(0);
    moved.iter().zip(model.rest_coordinates(targets)).map(|(x, r)| x + r).collect()
}

#[test]
fn a_mass_that_is_missing_somewhere() {
    let mut rng = Rng::new(5);
    let mut d = data(&mut rng, 2, 5, 1.0);
    let a = random_model::random(&mut rng, 2, 5);
    d.mass = a.transpose_mul(&a).symmetric_part();
    d.damping = positive(&mut rng, 5, 1.0, 2.0);
    let model = model(d);
    let error = Stepper::with(model.clone(), 0.01, Scheme::Exponential, Elasticity::Energy);
    assert_eq!(error.unwrap_err(), ModelError::MassNotPositiveDefinite);
    let s = stepper(&model, 0.01, Scheme::ImplicitEuler);
    let mut state = started(&model, &[0.1; 5], &[0.0; 5]);
    let mut work = s.workspace();
    for _ in 0..10_000 {
        assert_eq!(s.step(&mut state, &mut work, &[]), StepStatus::Completed);
    }
    assert!(largest_gap(state.coordinates(), &resting(&model, &[])) < 1e-12);
}

/// Steps under random wrenches that change now and then; every state must be finite.
fn stays_finite(steps: usize) {
    for (k, h) in [1e-3, 1.0 / 60.0, 0.1].into_iter().enumerate() {
        for scheme in SCHEMES {
            let mut rng = Rng::new(600 + k as u64);
            let model = model(data(&mut rng, 2, 6, 1.0));
            let s = stepper(&model, h, scheme);
            let mut state = State::new(&model);
            let mut work = s.workspace();
            let (mut outside, mut top) = (0usize, 0.0f64);
            let mut loads = [push(0.0); 2];
            for i in 0..steps {
                if i % 10 == 0 {
                    loads = [
                        load(&mut rng, 0, 10.0, LoadFrame::World),
                        load(&mut rng, 1, 10.0, LoadFrame::Body),
                    ];
                }
                match s.step(&mut state, &mut work, &loads) {
                    StepStatus::Completed => {}
                    StepStatus::OutOfRange { .. } => outside += 1,
                    _ => panic!("step {i}, h {h}, {scheme:?}"),
                }
                top = top.max(model.energy(&state));
            }
            let finite = |x: &[f64]| x.iter().all(|x| x.is_finite());
            assert!(finite(state.coordinates()) && finite(state.velocity()) && top.is_finite());
            println!(
                "h {h:.4}, {scheme:?}: {steps} steps, {outside} out of range, energy ≤ {top:.1} J"
            );
            // Loads of 10 N on a damped model: energy of that order.
            assert!(top < 1e5, "h {h}, {scheme:?}: {top}");
        }
    }
}

#[test]
fn random_wrenches_keep_it_finite() {
    stays_finite(20_000);
}

#[test]
#[ignore = "a million steps at three step sizes"]
fn random_wrenches_keep_it_finite_for_a_million_steps() {
    stays_finite(1_000_000);
}

#[test]
fn leaving_the_range_and_turning_by_half_a_turn_are_said() {
    let at = |d: ModelData, x: f64| {
        let model = model(d);
        let mut state = started(&model, &[x], &[0.0]);
        let mut work = stepper(&model, 1e-3, Scheme::ImplicitEuler).workspace();
        stepper(&model, 1e-3, Scheme::ImplicitEuler).step(&mut state, &mut work, &[])
    };
    let out = StepStatus::OutOfRange { effector: 0 };
    let short = |range: f64| ModelData { range, ..slider(1.0, 0.0, 1.0) };
    assert_eq!(at(short(0.5), 0.499), StepStatus::Completed);
    assert_eq!(at(short(0.5), 0.501), out);
    // The same about an axis: within any range, up to π.
    let turn = || {
        let map = Matrix::from_fn(6, 1, |i, _| f64::from(i == 5));
        ModelData { basis: map, range: 100.0, ..slider(1.0, 0.0, 1.0) }
    };
    assert_eq!(at(turn(), std::f64::consts::PI - 1e-3), StepStatus::Completed);
    assert_eq!(at(turn(), std::f64::consts::PI + 1e-3), out);
}

#[test]
fn what_is_not_finite_leaves_the_state_as_it_was() {
    let mut rng = Rng::new(7);
    let model = model(data(&mut rng, 2, 5, 1.0));
    for scheme in SCHEMES {
        for bad in [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e308] {
            let mut state = started(&model, &numbers(&mut rng, 5, 0.1), &numbers(&mut rng, 5, 0.1));
            let before = state.clone();
            let wrench = Wrench::new(DVec3::new(0.0, bad, 0.0), DVec3::splat(bad));
            let s = stepper(&model, 0.1, scheme);
            let mut work = s.workspace();
            for frame in [LoadFrame::World, LoadFrame::Body] {
                let status =
                    s.step(&mut state, &mut work, &[EffectorLoad { effector: 1, wrench, frame }]);
                assert_eq!(status, StepStatus::NotFinite, "{bad}");
                assert_eq!(state, before);
            }
            assert_eq!(s.step(&mut state, &mut work, &[]), StepStatus::Completed);
        }
    }
    for h in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(Stepper::new(model.clone(), h), Err(ModelError::StepSize { .. })));
    }
}

/// One implicit step by the library of rigid motions and a dense solver.
fn rival_step(m: &ReducedModel, state: &State, loads: &[EffectorLoad], h: f64) -> Vec<f64> {
    let n = m.dof();
    let d = m.data();
    let mut right = m.data().mass.mul_vec(state.velocity());
    let mut force: Vec<f64> =
        m.elastic_force(state.coordinates(), state.servo_targets()).iter().map(|f| -f).collect();
    for l in loads {
        let rotation = m.effector_pose(l.effector, state.coordinates()).rotation.conjugate();
        let body = match l.frame {
            LoadFrame::Body => l.wrench,
            LoadFrame::World => Wrench::new(rotation * l.wrench.force, rotation * l.wrench.torque),
        };
        let xi = m.effector_twist(l.effector, state.coordinates());
        let hat = right_jacobian(xi).transpose_mul_vec(&body.to_array());
        let b = d.basis.block(6 * l.effector, 0, 6, n);
        force.iter_mut().zip(b.transpose_mul_vec(&hat)).for_each(|(f, g)| *f += g);
    }
    right.iter_mut().zip(&force).for_each(|(r, f)| *r += h * f);
    let system = Matrix::from_fn(n, n, |i, j| {
        d.mass[(i, j)] + h * d.damping[(i, j)] + h * h * d.hessian[(i, j)]
    });
    forks_mechanism::linalg::dense::lu_solve(&system, &Matrix::from_fn(n, 1, |i, _| right[i]))
        .column(0)
}

#[test]
fn loads_on_several_effectors_in_both_axes() {
    let mut rng = Rng::new(8);
    for n in 1..=12 {
        let model = model(data(&mut rng, 3, n, 1.0));
        let h = 0.01;
        let s = stepper(&model, h, Scheme::ImplicitEuler);
        let mut state = started(&model, &numbers(&mut rng, n, 0.3), &numbers(&mut rng, n, 0.3));
        let mut work = s.workspace();
        state.set_servo_targets(&model, &[0.1]).unwrap();
        let loads = [
            load(&mut rng, 2, 5.0, LoadFrame::World),
            load(&mut rng, 0, 5.0, LoadFrame::Body),
            load(&mut rng, 2, 5.0, LoadFrame::Body),
        ];
        let expected = rival_step(&model, &state, &loads, h);
        let before = state.coordinates().to_vec();
        let _ = s.step(&mut state, &mut work, &loads);
        // A solve with a condition below 1e3, forces below 50.
        let gap = largest_gap(state.velocity(), &expected);
        assert!(gap < 1e-12, "n = {n}: {gap:e}");
        let moved: Vec<f64> = before.iter().zip(&expected).map(|(x, v)| x + h * v).collect();
        assert!(largest_gap(state.coordinates(), &moved) < 1e-13);
    }
}

/// A tenth of displacement and load, a hundredth of the difference.
#[test]
fn the_linear_form_is_the_other_to_first_order() {
    let mut rng = Rng::new(9);
    for scheme in SCHEMES {
        // World-fixed static wrenches hold the pose, so that both forms are about the same
        // equilibrium.
        let model = model(data(&mut rng, 2, 6, 2.0));
        let (eta, more) = (numbers(&mut rng, 6, 1.0), [vector(&mut rng), vector(&mut rng)]);
        let gap = |s: f64| {
            let scaled: Vec<f64> = eta.iter().map(|x| s * x).collect();
            let loads: Vec<EffectorLoad> = (0..2)
                .map(|effector| {
                    let e = &model.data().effectors[effector];
                    let held = e.static_wrench;
                    let force = e.rest.rotation * held.force + more[effector] * s;
                    let wrench = Wrench::new(force, e.rest.rotation * held.torque);
                    EffectorLoad { effector, wrench, frame: LoadFrame::World }
                })
                .collect();
            let ends = [Elasticity::Energy, Elasticity::Linear].map(|elasticity| {
                let mut state = started(&model, &scaled, &[0.0; 6]);
                let s = Stepper::with(model.clone(), 1e-3, scheme, elasticity).unwrap();
                let mut work = s.workspace();
                let _ = s.step(&mut state, &mut work, &loads);
                state.velocity().to_vec()
            });
            largest_gap(&ends[0], &ends[1])
        };
        let ratio = gap(1e-2) / gap(1e-3);
        println!("{scheme:?}: {ratio}");
        assert!((80.0..125.0).contains(&ratio), "{scheme:?}: {ratio}");
    }
}

/// Σ w·φ of the loads at the pose of `at` with the rates of `moving`.
fn power(m: &ReducedModel, at: &State, moving: &State, loads: &[EffectorLoad]) -> f64 {
    let mut state = at.clone();
    state.set(at.coordinates(), moving.velocity()).unwrap();
    let of = |l: &EffectorLoad| {
        let rotation = m.effector_pose(l.effector, at.coordinates()).rotation.conjugate();
        let body = match l.frame {
            LoadFrame::Body => l.wrench,
            LoadFrame::World => Wrench::new(rotation * l.wrench.force, rotation * l.wrench.torque),
        };
        body.dot(m.effector_velocity(l.effector, &state))
    };
    loads.iter().map(of).sum()
}

/// What the loads put in is the change of energy and what the dampers take, to second order in the
/// step.
#[test]
fn power_of_loads_is_rate_of_energy_and_dissipation() {
    let mut rng = Rng::new(10);
    let model = model(data(&mut rng, 2, 6, 1.0));
    let loads = [load(&mut rng, 0, 5.0, LoadFrame::World), load(&mut rng, 1, 5.0, LoadFrame::Body)];
    let (eta, rate) = (numbers(&mut rng, 6, 0.2), numbers(&mut rng, 6, 0.3));
    let imbalance = |steps: usize| {
        let h = 0.25 / steps as f64;
        let s = stepper(&model, h, Scheme::Exponential);
        let mut state = started(&model, &eta, &rate);
        let start = model.energy(&state);
        let lost = |s: &State| -> f64 {
            model
                .data()
                .damping
                .mul_vec(s.velocity())
                .iter()
                .zip(s.velocity())
                .map(|(f, v)| f * v)
                .sum()
        };
        let (mut work, mut memory) = (0.0, s.workspace());
        for _ in 0..steps {
            let before = state.clone();
            let _ = s.step(&mut state, &mut memory, &loads);
            // The loads of a step are those at its start.
            let ends = [&before, &state].map(|at| power(&model, &before, at, &loads) - lost(at));
            work += 0.5 * h * (ends[0] + ends[1]);
        }
        (model.energy(&state) - start - work).abs()
    };
    let gaps = [200, 400, 800].map(imbalance);
    println!("{gaps:?}");
    for pair in gaps.windows(2) {
        assert!((3.8..4.2).contains(&(pair[0] / pair[1])), "{gaps:?}");
    }
}

#[test]
fn an_impulse_afterwards_is_a_force_during_the_step() {
    let mut rng = Rng::new(8);
    for n in [1, 5, 6, 11] {
        let model = model(data(&mut rng, 2, n, 1.0));
        let h = 10f64.powf(rng.range(-4.0, -1.0));
        let s = stepper(&model, h, Scheme::ImplicitEuler);
        let start = started(&model, &numbers(&mut rng, n, 0.1), &numbers(&mut rng, n, 0.1));
        let force = load(&mut rng, 0, 3.0, LoadFrame::Body);

        let (mut pushed, mut corrected) = (start.clone(), start.clone());
        let mut corrected_work = s.workspace();
        let mut pushed_work = s.workspace();
        assert_eq!(s.step(&mut pushed, &mut pushed_work, &[force]), StepStatus::Completed);
        assert_eq!(s.step(&mut corrected, &mut corrected_work, &[]), StepStatus::Completed);
        // j = h Bᵀ J_rᵀ w at the start of the step.
        let xi = model.effector_twist(0, start.coordinates());
        let hat = right_jacobian(xi).transpose_mul_vec(&force.wrench.to_array());
        let j = model.data().basis.block(0, 0, 6, n).transpose_mul_vec(&hat);
        let impulse: Vec<f64> = j.iter().map(|x| h * x).collect();
        let inverse = s.inverse_system().unwrap();
        assert_eq!(*inverse, inverse.transpose());
        let (change, mut ended) = (inverse.mul_vec(&impulse), corrected.clone());
        s.change_velocity(&mut corrected, &change).unwrap();
        let velocity: Vec<f64> = ended.velocity().iter().zip(&change).map(|(v, d)| v + d).collect();
        s.end_with(&mut ended, &velocity).unwrap();
        assert_eq!(ended.velocity(), corrected.velocity());

        let scale = pushed.velocity().iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        // Two ways through the same sums of n products, A conditioned below 1e4.
        let bound = 1e4 * f64::EPSILON * n as f64 * scale;
        let gap = largest_gap(pushed.velocity(), corrected.velocity());
        assert!(gap < bound, "n = {n}: {gap:e}");
        assert!(largest_gap(pushed.coordinates(), corrected.coordinates()) < bound);
        assert!(largest_gap(ended.coordinates(), corrected.coordinates()) < bound);
    }
    let model = model(slider(1.0, 0.1, 10.0));
    let s = stepper(&model, 1e-3, Scheme::Exponential);
    assert!(s.inverse_system().is_none());
    let mut state = started(&model, &[0.1], &[0.2]);
    let kept = state.clone();
    assert!(s.change_velocity(&mut state, &[f64::NAN]).is_err());
    assert!(s.change_velocity(&mut state, &[0.0, 0.0]).is_err());
    assert!(s.end_with(&mut state, &[f64::INFINITY]).is_err());
    assert!(s.end_with(&mut state, &[0.0, 0.0]).is_err());
    assert_eq!(state, kept);
}
