//! A primal-dual interior point method with Nesterov–Todd scaling \[NT97\], De
//! Saxcé's term \[DSF98\] carried along.
//!
//! A Coulomb cone becomes the Lorentz cone of x = (μ y_n, y_t) and s = (w_n/μ, w_t); every other
//! row is scalar. With M̂ and p̂ in these coordinates and δ = ‖s_t‖ in normal rows (De Saxcé's
//! term):
//!
//! ```text
//! s = M̂ x + p̂ + δ,   x ∘ s = σ,   σ → 0                                                        (1)
//! (M̂ + H + θ dδ) Δx = σ x⁻¹ − (M̂ x + p̂ + δ),   H x = s                                         (2)
//! H = √(det s/det x) (2 w wᵀ − J),  w = (s̄ + J x̄)/(2γ),  2γ² = 1 + x̄·s̄,  J = diag(1, −1, −1)   (3)
//! ```
//!
//! x̄, s̄ have determinant 1. With θ = 0 the term δ lags by one iteration and (2) is positive
//! definite; with θ = 1 it is Newton's direction for (1). Redundant contacts end at the analytic
//! centre of their impulses.

use alloc::vec::Vec;

use forks_linalg::{Pivots, axpy, dot, solve_lu, sqrt};

use crate::{
    delassus::Delassus,
    dense::reset,
    law::Law,
    scalar::{hypot, max_abs},
    system::System,
};

/// Share of the way to the boundary.
const STEP: f64 = 0.9;
/// Added to the mean diagonal 1 of M: only bilateral rows have no H.
const PROXIMAL: f64 = 1e-12;
/// So many steps shorter than this in a row end an attempt.
const SHORT: (usize, f64) = (8, 0.02);

/// Where to start, relative to the largest entry of p, and θ in (2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) impulse: f64,
    pub(crate) velocity: f64,
    pub(crate) follow: f64,
}

/// A cone of the embedded problem.
#[derive(Clone, Copy, Debug)]
enum Cone {
    /// Three rows.
    Lorentz,
    /// Tangents of a frictionless contact, rows where nothing can move: x = 0.
    Zero,
    /// x ≥ 0.
    Ray,
    /// No bound, s = 0.
    Free,
    /// lower − μ x_n ≤ x ≤ upper + μ x_n with the normal row n.
    Bounded { lower: f64, upper: f64, mu: f64, normal: usize },
}

/// State of the iteration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interior {
    cones: Vec<(usize, Cone)>,
    /// x = f y, row by row: μ for the normal of a cone, else 1.
    factor: Vec<f64>,
    x: Vec<f64>,
    /// Velocity; of bounded rows the multiplier of the lower bound.
    s: Vec<f64>,
    /// Multiplier of the upper bound of bounded rows.
    t: Vec<f64>,
    gradient: Vec<f64>,
    dx: Vec<f64>,
    ds: Vec<f64>,
    dt: Vec<f64>,
    hatted: Vec<f64>,
    matrix: Vec<f64>,
}

impl Interior {
    /// Iterates until σ and the residual of (1) are below `target` in units of p; leaves scaled
    /// impulses in `y` and returns the iterations, one factorisation each.
    pub(crate) fn solve(
        &mut self,
        dense: &Delassus,
        system: &System,
        start: &Start,
        limit: usize,
        target: f64,
        y: &mut Vec<f64>,
    ) -> usize {
        let scale = max_abs(&dense.p).max(f64::MIN_POSITIVE);
        self.embed(dense, system);
        self.begin(start, scale);
        let (mut iterations, mut last, mut short) = (0, 1.0, 0);
        while iterations < limit && short <= SHORT.0 {
            iterations += 1;
            let gap = self.complementarity();
            let residual = self.residuals(dense);
            if gap <= target * scale * scale && residual <= target * scale {
                break;
            }
            let ahead = residual * scale > gap;
            let sigma = if ahead { gap } else { centring(last) * gap };
            if !self.direction(dense.n, sigma, start.follow) {
                break;
            }
            last = (STEP * self.longest()).min(1.0);
            axpy(last, &self.dx, &mut self.x);
            axpy(last, &self.ds, &mut self.s);
            axpy(last, &self.dt, &mut self.t);
            short = if last < SHORT.1 { short + 1 } else { 0 };
        }
        reset(y, dense.n);
        y.iter_mut().zip(self.x.iter().zip(&self.factor)).for_each(|(y, (x, f))| *y = x / f);
        iterations
    }

    /// Cones and M̂.
    fn embed(&mut self, dense: &Delassus, system: &System) {
        let n = dense.n;
        self.cones.clear();
        reset(&mut self.factor, n);
        self.factor.fill(1.0);
        for b in &system.blocks {
            let row = b.row;
            if b.rho <= 0.0 {
                self.cones.extend((row..row + b.rows()).map(|r| (r, Cone::Zero)));
                continue;
            }
            match b.law.scaled(dense.d[row]) {
                Law::Interval { lower, upper } => self.cones.push((row, interval(lower, upper))),
                Law::Cone { mu } if mu > 0.0 => {
                    self.cones.push((row, Cone::Lorentz));
                    self.factor[row] = mu;
                }
                Law::Cone { .. } => {
                    let tangents = [Cone::Zero; 2];
                    self.push_contact(row, tangents);
                }
                Law::Box { limit } => self.push_contact(row, limit.map(|l| interval(-l, l))),
                Law::Pyramid { mu } => self.push_contact(row, mu.map(|mu| side(mu, row))),
            }
        }
        self.hatted.clear();
        self.hatted.extend_from_slice(&dense.m);
        for (i, line) in self.hatted.chunks_exact_mut(n.max(1)).enumerate() {
            let f = self.factor[i];
            line.iter_mut().zip(&self.factor).for_each(|(m, g)| *m /= f * g);
        }
    }

    fn push_contact(&mut self, row: usize, tangents: [Cone; 2]) {
        self.cones.extend([(row, Cone::Ray), (row + 1, tangents[0]), (row + 2, tangents[1])]);
    }

    fn begin(&mut self, start: &Start, scale: f64) {
        let n = self.factor.len();
        let state = [&mut self.x, &mut self.s, &mut self.t, &mut self.gradient];
        state.into_iter().for_each(|x| reset(x, n));
        [&mut self.dx, &mut self.ds, &mut self.dt].into_iter().for_each(|x| reset(x, n));
        for &(row, cone) in &self.cones {
            match cone {
                Cone::Lorentz | Cone::Ray => {
                    self.x[row] = scale * start.impulse;
                    self.s[row] = scale * start.velocity;
                }
                Cone::Bounded { lower, upper, .. } => {
                    self.x[row] = 0.5 * (lower + upper);
                    self.s[row] = scale;
                    self.t[row] = scale;
                }
                Cone::Zero | Cone::Free => {}
            }
        }
    }

    /// Mean of x∘s per cone.
    fn complementarity(&self) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for &(r, cone) in &self.cones {
            let (add, cones) = match cone {
                Cone::Lorentz => (dot(&self.x[r..r + 3], &self.s[r..r + 3]), 1.0),
                Cone::Ray => (self.x[r] * self.s[r], 1.0),
                Cone::Bounded { .. } => {
                    let (above, below) = self.distances(r, cone);
                    (above * self.s[r] + below * self.t[r], 2.0)
                }
                Cone::Zero | Cone::Free => (0.0, 0.0),
            };
            sum += add;
            count += cones;
        }
        if count > 0.0 { sum / count } else { 0.0 }
    }

    /// M̂ x + p̂ + δ into `gradient`, that minus s into `ds`; returns the largest entry of the
    /// latter.
    fn residuals(&mut self, dense: &Delassus) -> f64 {
        let n = dense.n;
        for i in 0..n {
            let product = dot(&self.hatted[i * n..(i + 1) * n], &self.x);
            self.gradient[i] = product + dense.p[i] / self.factor[i];
        }
        let mut worst = 0.0_f64;
        for &(r, cone) in &self.cones {
            let rows = match cone {
                Cone::Lorentz => {
                    self.gradient[r] += hypot(self.s[r + 1], self.s[r + 2]);
                    3
                }
                Cone::Zero => {
                    self.ds[r] = 0.0;
                    continue;
                }
                _ => 1,
            };
            for i in r..r + rows {
                self.ds[i] = self.gradient[i] - (self.s[i] - self.t[i]);
                worst = worst.max(self.ds[i].abs());
            }
        }
        worst
    }

    /// (2), and the changes of s and t that belong to it.
    fn direction(&mut self, n: usize, sigma: f64, follow: f64) -> bool {
        self.matrix.clear();
        self.matrix.extend_from_slice(&self.hatted);
        for i in 0..n {
            self.matrix[i * n + i] += PROXIMAL;
            self.dx[i] = -self.gradient[i];
        }
        for k in 0..self.cones.len() {
            let (r, cone) = self.cones[k];
            self.add_cone(n, r, cone, sigma, follow);
        }
        if !solve_lu(n, &mut self.matrix, &mut self.dx, 1, Pivots::AboveZero) {
            return false;
        }
        for i in 0..n {
            self.ds[i] += dot(&self.hatted[i * n..(i + 1) * n], &self.dx);
        }
        for k in 0..self.cones.len() {
            let (r, cone) = self.cones[k];
            match cone {
                Cone::Lorentz => {
                    let e = self.sliding(r);
                    self.ds[r] += follow * (e[0] * self.ds[r + 1] + e[1] * self.ds[r + 2]);
                }
                Cone::Bounded { .. } => {
                    let (above, below) = self.distances(r, cone);
                    let (up, down) = self.changes(r, cone);
                    self.ds[r] = (sigma - self.s[r] * up) / above - self.s[r];
                    self.dt[r] = (sigma - self.t[r] * down) / below - self.t[r];
                }
                Cone::Free | Cone::Zero => self.ds[r] = 0.0,
                Cone::Ray => {}
            }
        }
        true
    }

    /// A cone's part of the matrix and of the right-hand side.
    fn add_cone(&mut self, n: usize, r: usize, cone: Cone, sigma: f64, follow: f64) {
        match cone {
            Cone::Lorentz => {
                let (x, s) = (triple(&self.x, r), triple(&self.s, r));
                let (h, det) = (scaling(x, s), determinant(x));
                let e = self.sliding(r);
                for t in 0..2 {
                    let (e, row) = (follow * e[t], (r + 1 + t) * n);
                    axpy(e, &self.hatted[row..row + n], &mut self.matrix[r * n..(r + 1) * n]);
                    self.dx[r] -= e * self.ds[r + 1 + t];
                }
                for i in 0..3 {
                    axpy(1.0, &h[i], &mut self.matrix[(r + i) * n + r..(r + i) * n + r + 3]);
                    self.dx[r + i] += sigma * SIGN[i] * x[i] / det;
                }
            }
            Cone::Ray => {
                self.matrix[r * n + r] += self.s[r] / self.x[r];
                self.dx[r] += sigma / self.x[r];
            }
            Cone::Bounded { mu, normal, .. } => {
                let (above, below) = self.distances(r, cone);
                let (low, high) = (self.s[r] / above, self.t[r] / below);
                self.matrix[r * n + r] += low + high;
                self.matrix[r * n + normal] += mu * (low - high);
                self.dx[r] += sigma / above - sigma / below;
            }
            Cone::Free => {}
            Cone::Zero => {
                for i in 0..n {
                    self.matrix[r * n + i] = 0.0;
                    self.matrix[i * n + r] = 0.0;
                }
                self.matrix[r * n + r] = 1.0;
                self.dx[r] = 0.0;
            }
        }
    }

    /// Direction of sliding: the derivative of δ.
    fn sliding(&self, r: usize) -> [f64; 2] {
        let length = hypot(self.s[r + 1], self.s[r + 2]).max(f64::MIN_POSITIVE);
        [self.s[r + 1] / length, self.s[r + 2] / length]
    }

    /// Longest step that stays inside all cones.
    fn longest(&self) -> f64 {
        let of = |&(r, cone): &(usize, Cone)| match cone {
            Cone::Lorentz => lorentz_step(triple(&self.x, r), triple(&self.dx, r))
                .min(lorentz_step(triple(&self.s, r), triple(&self.ds, r))),
            Cone::Ray => ray_step(self.x[r], self.dx[r]).min(ray_step(self.s[r], self.ds[r])),
            Cone::Bounded { .. } => {
                let (above, below) = self.distances(r, cone);
                let (up, down) = self.changes(r, cone);
                ray_step(above, up)
                    .min(ray_step(below, down))
                    .min(ray_step(self.s[r], self.ds[r]))
                    .min(ray_step(self.t[r], self.dt[r]))
            }
            Cone::Zero | Cone::Free => f64::INFINITY,
        };
        self.cones.iter().map(of).fold(f64::INFINITY, f64::min)
    }

    /// Distances of a bounded row from its lower and upper bound.
    fn distances(&self, r: usize, cone: Cone) -> (f64, f64) {
        let Cone::Bounded { lower, upper, mu, normal } = cone else { return (1.0, 1.0) };
        let wider = mu * self.x[normal];
        (self.x[r] - lower + wider, upper + wider - self.x[r])
    }

    /// Their changes along the direction.
    fn changes(&self, r: usize, cone: Cone) -> (f64, f64) {
        let Cone::Bounded { mu, normal, .. } = cone else { return (0.0, 0.0) };
        let wider = mu * self.dx[normal];
        (self.dx[r] + wider, wider - self.dx[r])
    }
}

const SIGN: [f64; 3] = [1.0, -1.0, -1.0];

/// σ over the present complementarity: bold after long steps, careful after short ones.
fn centring(last: f64) -> f64 {
    match last {
        x if x > 0.9 => 0.1,
        x if x > 0.5 => 0.2,
        x if x > 0.2 => 0.5,
        _ => 0.8,
    }
}

fn interval(lower: f64, upper: f64) -> Cone {
    match (lower.is_finite(), upper.is_finite()) {
        (true, true) if upper > lower => Cone::Bounded { lower, upper, mu: 0.0, normal: 0 },
        (true, true) => Cone::Zero,
        // Rows bounded on one side by something else than 0 are left to Newton's method.
        (true, false) => Cone::Ray,
        (false, _) => Cone::Free,
    }
}

/// A tangent of a pyramid.
fn side(mu: f64, normal: usize) -> Cone {
    if mu > 0.0 { Cone::Bounded { lower: 0.0, upper: 0.0, mu, normal } } else { Cone::Zero }
}

fn triple(x: &[f64], r: usize) -> [f64; 3] {
    [x[r], x[r + 1], x[r + 2]]
}

fn determinant(x: [f64; 3]) -> f64 {
    let t = hypot(x[1], x[2]);
    ((x[0] - t) * (x[0] + t)).max(f64::MIN_POSITIVE)
}

/// (3)
fn scaling(x: [f64; 3], s: [f64; 3]) -> [[f64; 3]; 3] {
    let (rx, rs) = (sqrt(determinant(x)), sqrt(determinant(s)));
    let (x, s) = (x.map(|v| v / rx), s.map(|v| v / rs));
    let gamma = sqrt(0.5 * (1.0 + dot(&x, &s)));
    let w: [f64; 3] = core::array::from_fn(|i| (s[i] + SIGN[i] * x[i]) / (2.0 * gamma));
    let eta = rs / rx;
    core::array::from_fn(|i| {
        core::array::from_fn(|j| eta * (2.0 * w[i] * w[j] - if i == j { SIGN[i] } else { 0.0 }))
    })
}

fn ray_step(x: f64, d: f64) -> f64 {
    if d < 0.0 { -x / d } else { f64::INFINITY }
}

/// Largest a with x + a d in the Lorentz cone: the smaller positive root of det(x + a d).
fn lorentz_step(x: [f64; 3], d: [f64; 3]) -> f64 {
    let a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2];
    let b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2];
    let c = determinant(x);
    let inside = b * b - a * c;
    let first = if a < 0.0 || (b < 0.0 && inside >= 0.0) {
        let root = sqrt(inside.max(0.0));
        if b < 0.0 { c / (root - b) } else { (-b - root) / a }
    } else {
        f64::INFINITY
    };
    first.min(ray_step(x[0], d[0]))
}
