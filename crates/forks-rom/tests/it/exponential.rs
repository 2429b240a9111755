//! The exact step: closed forms, kept energy, consistency over stiff, soft and overdamped models.

use crate::random_model;

use forks_rom::{
    EffectorLoad, LoadFrame, Scheme, State, StepStatus, System,
    lie::{Wrench, glam::DVec3},
    linalg::Matrix,
};
use forks_testkit::Rng;
use random_model::{data, model, numbers, positive, push, slider, started, stepper, vector};

/// x(t) and ẋ(t) of m ẍ + d ẋ + k x = f, d below critical.
fn oscillation(m: f64, d: f64, k: f64, f: f64, [x, v]: [f64; 2], t: f64) -> [f64; 2] {
    let gamma = 0.5 * d / m;
    let w = (k / m - gamma * gamma).sqrt();
    let (a, decay) = (x - f / k, (-gamma * t).exp());
    let b = (v + gamma * a) / w;
    let (s, c) = (w * t).sin_cos();
    let y = decay * (a * c + b * s);
    [f / k + y, decay * w * (b * c - a * s) - gamma * y]
}

#[test]
fn the_exponential_step_is_the_exact_solution() {
    let mut rng = Rng::new(2);
    let mut worst: f64 = 0.0;
    for _ in 0..50 {
        let [m, k] = [0.3, 40.0].map(|x| x * rng.range(0.5, 2.0));
        let d = rng.range(0.0, 1.8) * (m * k).sqrt();
        let h = 10f64.powf(rng.range(-4.0, 0.0));
        let f = rng.range(-30.0, 30.0);
        let start = [rng.symmetric(), 3.0 * rng.symmetric()];
        let model = model(slider(m, d, k));
        let s = stepper(&model, h, Scheme::Exponential);
        let mut state = started(&model, &start[..1], &start[1..]);
        let mut work = s.workspace();
        for i in 1..=50 {
            assert_eq!(s.step(&mut state, &mut work, &[push(f)]), StepStatus::Completed);
            let exact = oscillation(m, d, k, f, start, h * f64::from(i));
            let w = (k / m).sqrt();
            let size = start[0].abs() + start[1].abs() / w + f.abs() / k;
            let gap = (state.coordinates()[0] - exact[0]).abs()
                + (state.velocity()[0] - exact[1]).abs() / w;
            worst = worst.max(gap / size);
            assert!(gap < 1e-12 * size, "step {i}, h {h}, d {d}: {gap:e}");
        }
    }
    println!("worst {worst:e}");
}

/// Without damping the exact step keeps the energy, but for the rounding of its matrix: 2 n ε
/// κ(M)^½ per step at most, with κ(M) below 10.
#[test]
fn the_exponential_step_keeps_energy_without_damping() {
    const STEPS: usize = 100_000;
    for (seed, n) in [1, 1, 1, 3, 3, 3, 6, 6, 6].into_iter().enumerate() {
        let mut rng = Rng::new(400 + seed as u64);
        let h = [1e-3, 1.0 / 60.0, 0.1][seed % 3];
        let mut d = data(&mut rng, 1, n, 0.0);
        d.damping = Matrix::zeros(n, n);
        d.mass = positive(&mut rng, n, 1.0, 1.0);
        let model = model(d);
        let s = stepper(&model, h, Scheme::Exponential);
        let mut state = started(&model, &numbers(&mut rng, n, 0.1), &numbers(&mut rng, n, 0.1));
        let mut work = s.workspace();
        let start = model.energy(&state);
        for _ in 0..STEPS {
            let _ = s.step(&mut state, &mut work, &[]);
        }
        let drift = (model.energy(&state) / start - 1.0).abs();
        println!("n {n}, h {h:.4}: {drift:e}");
        let tolerance = STEPS as f64 * 2.0 * n as f64 * f64::EPSILON * 10f64.sqrt();
        assert!(drift < tolerance, "n {n}, h {h}: {drift:e}");
    }
}

/// Stiff, soft, overdamped, undamped, of very different scales: a step is two half steps, in units
/// of the energy.
#[test]
fn the_exponential_of_a_step_is_the_square_of_that_of_its_half() {
    let mut worst = 0.0f64;
    for seed in 0..60 {
        let mut rng = Rng::new(500 + seed);
        let n = 6;
        let mut d = data(&mut rng, 1, n, 0.0);
        // Stiffness over six decades; h ω from 1e-3 to 1e4.
        let spread = Matrix::from_fn(n, n, |i, j| {
            if i == j { 10f64.powf(0.5 * (seed % 7) as f64 * (i as f64 / 5.0)) } else { 0.0 }
        });
        d.hessian = spread.mul(&d.hessian).mul(&spread).symmetric_part();
        d.damping = match seed % 3 {
            0 => Matrix::zeros(n, n),
            1 => positive(&mut rng, n, 0.01, 1.0),
            _ => positive(&mut rng, n, 0.01, 1e4),
        };
        let stiffest = (d.hessian.norm() * 10.0).sqrt();
        let h = 10f64.powf(rng.range(-3.0, 4.0)) / stiffest;
        let model = model(d);
        let (whole, half) = (
            stepper(&model, h, Scheme::Exponential),
            stepper(&model, 0.5 * h, Scheme::Exponential),
        );
        for loaded in [false, true] {
            let f = if loaded { 5.0 } else { 0.0 };
            // The slope of the load is left out: the body-fixed load of both halves is taken at
            // rest.
            let wrench = Wrench::new(vector(&mut rng) * f, DVec3::ZERO);
            let load = [EffectorLoad { effector: 0, wrench, frame: LoadFrame::Body }];
            let tiny = 1e-6;
            let scaled = EffectorLoad { wrench: wrench * tiny, ..load[0] };
            let eta = numbers(&mut rng, n, 0.1 * tiny);
            let rate = numbers(&mut rng, n, tiny);
            let mut a = started(&model, &eta, &rate);
            let mut a_work = whole.workspace();
            let mut b = a.clone();
            let mut b_work = half.workspace();
            let energy = model.energy(&a) + 25.0 * tiny * tiny / 20.0;
            let _ = whole.step(&mut a, &mut a_work, &[scaled]);
            let _ = half.step(&mut b, &mut b_work, &[scaled]);
            let _ = half.step(&mut b, &mut b_work, &[scaled]);
            let difference =
                |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x - y).collect::<Vec<_>>();
            let mut gap = State::new(&model);
            gap.set(
                &difference(a.coordinates(), b.coordinates()),
                &difference(a.velocity(), b.velocity()),
            )
            .unwrap();
            let off = (model.energy(&gap) / energy).sqrt();
            // The phase h ω is known to ε h ω; loads at displacements of 1e-6 turn by as little.
            let tolerance =
                64.0 * f64::EPSILON * (1.0 + h * stiffest) + if loaded { 1e-5 } else { 0.0 };
            worst = worst.max(off / tolerance);
            assert!(off < tolerance, "seed {seed}, hω {}: {off:e}, {tolerance:e}", h * stiffest);
        }
    }
    println!("worst over tolerance {worst}");
}
