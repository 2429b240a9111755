//! What makes random blends less plain: samples that bend, fewer coordinates, servos; and their
//! energy from its definition.

use std::sync::Arc;

use forks_blend::{BlendData, BlendedModel, SampleData, Weights};
use forks_rom::{ReducedModel, ServoTerms, lie::Pose, linalg::Matrix};
use forks_testkit::{Rng, linear::symmetric_eigen};

use super::{RADIUS, numbers};

/// Gives every `each`-th sample, the second at least, a random q.
pub(crate) fn bend(rng: &mut Rng, data: &mut BlendData, each: usize, size: f64) {
    let n = data.basis.columns();
    for (i, s) in data.samples.iter_mut().enumerate() {
        if i % each == each - 1 {
            s.curvature = Matrix::from_fn(n, n * (n + 1) / 2, |_, _| size * rng.symmetric());
        }
    }
}

fn replaced(s: &SampleData, change: impl Fn(&mut forks_rom::data::ModelData)) -> Arc<ReducedModel> {
    let mut d = s.model.data().clone();
    change(&mut d);
    Arc::new(ReducedModel::held_by_loads(d).unwrap())
}

/// The first `n` coordinates only.
pub(crate) fn narrow(data: &mut BlendData, n: usize) {
    let columns = |m: &Matrix| m.block(0, 0, m.rows(), n);
    let square = |m: &Matrix| m.block(0, 0, n, n);
    data.basis = columns(&data.basis);
    for s in &mut data.samples {
        s.model = replaced(s, |d| {
            d.basis = columns(&d.basis);
            (d.hessian, d.mass) = (square(&d.hessian), square(&d.mass));
            d.damping = square(&d.damping);
            d.servo_rest = Matrix::zeros(n, 0);
            d.links.iter_mut().for_each(|l| l.map = columns(&l.map));
        });
    }
}

/// Two servos.
pub(crate) fn drive(rng: &mut Rng, data: &mut BlendData) {
    let n = data.basis.columns();
    for s in &mut data.samples {
        let rest = Matrix::from_fn(n, 2, |_, _| 0.3 * rng.symmetric());
        s.model = replaced(s, |d| {
            d.servos = vec!["a".into(), "b".into()];
            d.servo_rest = rest.clone();
            d.links.iter_mut().for_each(|l| l.servo_map = Matrix::zeros(6, 2));
        });
        let e = Matrix::from_fn(2, 2, |_, _| rng.symmetric()).symmetric_part();
        s.servos = ServoTerms { force: numbers(rng, 2, 1.0), stiffness: e };
    }
}

/// Takes so much from the stiffness along the first coordinate that it is below 0.
pub(crate) fn weaken(data: &mut BlendData) {
    for s in &mut data.samples {
        s.model = replaced(s, |d| d.hessian[(0, 0)] = -5.0);
    }
}

/// q(η).
fn quadratic(c: &Matrix, eta: &[f64]) -> Vec<f64> {
    let pairs = (0..eta.len()).flat_map(|i| (i..eta.len()).map(move |j| eta[i] * eta[j]));
    c.mul_vec(&pairs.collect::<Vec<_>>())
}

/// One sample at one place, from the definitions.
pub(crate) struct Rival {
    pub(crate) energy: f64,
    /// d².
    pub(crate) distance: f64,
}

/// S² times a matrix of 6E rows.
fn metric(m: &Matrix) -> Matrix {
    let scale = |i: usize| if i % 6 < 3 { 1.0 / (RADIUS * RADIUS) } else { 1.0 };
    Matrix::from_fn(m.rows(), m.columns(), |i, j| scale(i) * m[(i, j)])
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Rival {
    pub(crate) fn new(data: &BlendData, s: &SampleData, poses: &[Pose], targets: &[f64]) -> Self {
        let d = s.model.data();
        let pairs = d.effectors.iter().zip(poses);
        let xi: Vec<f64> = pairs.flat_map(|(e, p)| e.rest.twist_to(p).to_array()).collect();
        let wrench: Vec<f64> =
            d.effectors.iter().flat_map(|e| e.static_wrench.to_array()).collect();
        let dual = metric(&d.basis);
        let n = d.basis.columns();
        let eta = dual.transpose_mul_vec(&xi);
        let (mut bent, mut hessian) = (xi.clone(), d.hessian.clone());
        if s.curvature.rows() > 0 {
            let q = quadratic(&s.curvature, &eta);
            let moved = d.basis.mul_vec(&q);
            bent.iter_mut().zip(moved).for_each(|(x, b)| *x -= 0.5 * b);
            // q″ by differences: exact for a quadratic map.
            let force = d.basis.transpose_mul_vec(&wrench);
            let along = |a: &[f64]| dot(&force, &quadratic(&s.curvature, a));
            for i in 0..n {
                for j in 0..n {
                    let unit = |s: f64| {
                        let mut e = vec![0.0; n];
                        e[i] += 1.0;
                        e[j] += s;
                        e
                    };
                    // (|eᵢ + eⱼ|² − |eᵢ − eⱼ|²) / 4 is the bilinear form of q, twice that q″, and
                    // half of it counts.
                    hessian[(i, j)] += 0.25 * (along(&unit(1.0)) - along(&unit(-1.0)));
                }
            }
        }
        let eta_bent = dual.transpose_mul_vec(&bent);
        let held = dot(&wrench, &bent);
        let mut energy = s.potential + held + 0.5 * dot(&eta_bent, &hessian.mul_vec(&eta_bent));
        if !targets.is_empty() {
            let e = s.servos.stiffness.mul_vec(targets);
            energy += dot(targets, &s.servos.force) + 0.5 * dot(targets, &e);
            energy -= dot(&eta_bent, &d.hessian.mul_vec(&d.servo_rest.mul_vec(targets)));
        }
        let column = Matrix::from_fn(xi.len(), 1, |i, _| xi[i]);
        let mut distance = metric(&column).transpose_mul_vec(&xi)[0];
        if let Weights::Metric { energy, .. } = data.weights {
            distance += stretched(&hessian, &eta_bent, energy);
        }
        Self { energy, distance }
    }
}

/// η̂ᵀ K⁺/ε η̂, no direction more than 30: in the basis the columns of which are orthonormal.
fn stretched(k: &Matrix, eta: &[f64], energy: f64) -> f64 {
    let (values, vectors) = symmetric_eigen(k);
    let part = |i: usize| {
        let along: f64 = (0..eta.len()).map(|j| vectors[(j, i)] * eta[j]).sum();
        let s = values[i].max(0.0) / energy;
        s / (1.0 + s / 30.0) * along * along
    };
    (0..eta.len()).map(part).sum()
}

/// Energy and weights of Shepard's kind at `x`.
pub(crate) fn rival(m: &BlendedModel, x: &[f64], targets: &[f64]) -> (f64, Vec<f64>) {
    let data = m.data();
    let poses: Vec<Pose> = (0..m.effector_count()).map(|e| m.effector_pose(e, x)).collect();
    let all: Vec<Rival> =
        data.samples.iter().map(|s| Rival::new(data, s, &poses, targets)).collect();
    let (Weights::Shepard { exponent } | Weights::Metric { exponent, .. }) = data.weights else {
        panic!("other weights")
    };
    let raw: Vec<f64> = all.iter().map(|r| r.distance.powf(-0.5 * f64::from(exponent))).collect();
    let sum: f64 = raw.iter().sum();
    let weights: Vec<f64> = raw.iter().map(|w| w / sum).collect();
    (all.iter().zip(&weights).map(|(r, w)| w * r.energy).sum(), weights)
}
