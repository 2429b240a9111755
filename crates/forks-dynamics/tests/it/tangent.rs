//! Forces and tangent stiffness against finite differences, on random mechanisms of all joint kinds
//! with open and closed loops, reversed joints, couplings and bushings.

use crate::common;

use common::Random;
use forks_dynamics::{
    Loads, body_axes_derivative, generalized_forces,
    mechanism::{Mechanism, kinematics::loops, linalg::Matrix},
    potential_energy, tangent_stiffness,
};

/// Step of the differences; Richardson's error is O(h⁴) and the rounding ε/h.
const STEP: f64 = 2e-3;
/// c h⁴ with c for fifth derivatives of size 100 relative to the function's.
const TOLERANCE: f64 = 2e-9;

struct Case {
    m: Mechanism,
    q: Vec<f64>,
    loads: Loads,
    multipliers: Vec<f64>,
}

fn case(seed: u64, torques: bool) -> Case {
    let mut r = Random::new(seed);
    loop {
        let c = any_case(&mut r, torques);
        if c.largest_angle() < 2.9 {
            return c;
        }
    }
}

fn any_case(r: &mut Random, torques: bool) -> Case {
    let (links, closing) = (1 + r.below(8), r.below(3));
    let m = r.mechanism(links, closing);
    let q = r.positions(&m);
    let loads = r.loads(&m, torques);
    let multipliers = (0..loops::constraint_rows(&m)).map(|_| 10.0 * r.number()).collect();
    Case { m, q, loads, multipliers }
}

impl Case {
    /// Largest rotation angle that a logarithm sees: at π the potential has a kink.
    fn largest_angle(&self) -> f64 {
        let poses = self.m.link_poses(&self.q);
        let gaps = self.m.forest().closures().iter();
        let gaps = gaps.map(|&id| loops::closure_gap(&self.m, &self.q, &poses, id));
        let bushings = self.m.bushings().iter().map(|b| {
            let a = poses[b.link_a.index()] * b.a_from_bushing;
            a.twist_to(&(poses[b.link_b.index()] * b.b_from_bushing))
        });
        gaps.chain(bushings).fold(0.0, |m, t| m.max(t.angular.length()))
    }

    fn displaced(&self, steps: &[(usize, f64)]) -> Vec<f64> {
        let mut v = vec![0.0; self.m.velocity_count()];
        steps.iter().for_each(|(i, s)| v[*i] += s);
        let mut q = self.q.clone();
        self.m.integrate(&mut q, &v);
        q
    }

    /// V − λ·g.
    fn potential(&self, q: &[f64]) -> f64 {
        let poses = self.m.link_poses(q);
        let g = loops::constraint_residual(&self.m, q, &poses);
        let work: f64 = g.iter().zip(&self.multipliers).map(|(g, l)| g * l).sum();
        potential_energy(&self.m, q, &poses, &self.loads) - work
    }

    /// f + Gᵀλ.
    fn force(&self, q: &[f64]) -> Vec<f64> {
        let poses = self.m.link_poses(q);
        let f = generalized_forces(&self.m, q, &poses, &self.loads);
        let carried =
            loops::constraint_jacobian(&self.m, q, &poses).transpose_mul_vec(&self.multipliers);
        f.iter().zip(carried).map(|(f, c)| f + c).collect()
    }

    fn tangent(&self) -> Matrix {
        tangent_stiffness(
            &self.m,
            &self.q,
            &self.m.link_poses(&self.q),
            &self.loads,
            &self.multipliers,
        )
    }
}

/// Richardson's central difference of a function of one number.
fn derivative(f: impl Fn(f64) -> f64) -> f64 {
    let central = |h: f64| (f(h) - f(-h)) / (2.0 * h);
    (4.0 * central(0.5 * STEP) - central(STEP)) / 3.0
}

#[test]
fn forces_are_the_gradient_of_the_potential() {
    for seed in 0..200 {
        let c = case(seed, false);
        let force = c.force(&c.q);
        let size = force.iter().fold(1.0f64, |m, x| m.max(x.abs()));
        for i in 0..force.len() {
            let slope = derivative(|h| c.potential(&c.displaced(&[(i, h)])));
            assert!(
                (slope + force[i]).abs() < TOLERANCE * size,
                "seed {seed} row {i}: {slope} {}",
                force[i]
            );
        }
    }
}

#[test]
fn tangent_is_the_derivative_of_the_forces() {
    let mut worst: f64 = 0.0;
    for seed in 0..300 {
        let c = case(1000 + seed, true);
        let n = c.m.velocity_count();
        let exact = body_axes_derivative(&c.m, &c.tangent(), &c.force(&c.q));
        let size = exact.max_abs().max(1.0);
        for j in 0..n {
            let at = |h: f64| c.force(&c.displaced(&[(j, h)]));
            let (a, b) = (at(STEP), at(-STEP));
            let (d, e) = (at(0.5 * STEP), at(-0.5 * STEP));
            for i in 0..n {
                let slope = (4.0 * (d[i] - e[i]) / STEP - (a[i] - b[i]) / (2.0 * STEP)) / 3.0;
                let error = (exact[(i, j)] + slope).abs() / size;
                worst = worst.max(error);
                assert!(error < TOLERANCE, "seed {seed} ({i}, {j}): {} {}", exact[(i, j)], -slope);
            }
        }
    }
    assert!(worst > 0.0);
    println!("worst {worst:e}");
}

#[test]
fn tangent_of_a_potential_is_its_symmetric_hessian() {
    for seed in 0..200 {
        let c = case(5000 + seed, false);
        let k = c.tangent();
        let size = k.max_abs().max(1.0);
        // Sums of n products of entries of that size.
        let rounding = 1e-13 * size;
        assert!(k.sub(&k.transpose()).max_abs() < rounding, "seed {seed}");
        let mut r = Random::new(seed);
        for _ in 0..4.min(k.rows()) {
            let (i, j) = (r.below(k.rows()), r.below(k.rows()));
            // Second difference along one chart: δ = a eᵢ + b eⱼ in a single displacement.
            let mixed = |h: f64| {
                let p = |a: f64, b: f64| c.potential(&c.displaced(&[(i, a * h), (j, b * h)]));
                (p(1.0, 1.0) - p(1.0, -1.0) - p(-1.0, 1.0) + p(-1.0, -1.0)) / (4.0 * h * h)
            };
            let h = 0.02;
            let second = (4.0 * mixed(0.5 * h) - mixed(h)) / 3.0;
            // h⁴ times sixth derivatives, and ε V/h².
            assert!(
                (second - k[(i, j)]).abs() < 3e-6 * size,
                "seed {seed}: {second} {}",
                k[(i, j)]
            );
        }
    }
}
