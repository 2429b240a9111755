//! A primal-dual interior point method with Nesterov–Todd scaling, De Saxcé's term carried along.
//!
//! A Coulomb cone becomes the Lorentz cone of x = (μ y_n, y_t) and s = (w_n/μ, w_t); every other row is scalar. With
//! M̂ and p̂ in these coordinates and δ = ‖s_t‖ in normal rows (De Saxcé's term):
//!
//! ```text
//! s = M̂ x + p̂ + δ,   x ∘ s = σ,   σ → 0                                                                (1)
//! (M̂ + H) Δx = σ x⁻¹ − (M̂ x + p̂ + δ),   H x = s                                                      (2)
//! H = √(det s/det x) (2 w wᵀ − J),   w = (s̄ + J x̄)/(2γ),   2γ² = 1 + x̄·s̄,   J = diag(1, −1, −1)            (3)
//! ```
//!
//! x̄, s̄ have determinant 1. δ lags by one iteration, so that (2) stays symmetric positive definite; what the lag leaves, Newton's
//! method ([`crate::newton`]) removes. Redundant contacts end at the analytic centre of their impulses.

use alloc::vec::Vec;

use crate::{
    delassus::Delassus,
    dense::{cholesky_pivot, cholesky_solve, reset},
    law::Law,
    scalar::{dot, hypot, max_abs, sqrt},
    system::System,
};

/// Share of the way to the boundary.
const STEP: f64 = 0.95;
/// Added to the mean diagonal 1 of M: only bilateral rows have no H.
const PROXIMAL: f64 = 1e-12;

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
    /// Lower and upper bound.
    Bounded(f64, f64),
}

/// State of the iteration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interior {
    cones: Vec<(usize, Cone)>,
    /// Factor of every row: y = x / f, s = u / f... f = μ for the normal row of a cone.
    factor: Vec<f64>,
    x: Vec<f64>,
    s: Vec<f64>,
    /// Second multiplier of bounded rows.
    t: Vec<f64>,
    gradient: Vec<f64>,
    dx: Vec<f64>,
    ds: Vec<f64>,
    matrix: Vec<f64>,
    hatted: Vec<f64>,
}

/// What a call did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    pub(crate) iterations: usize,
}

impl Interior {
    /// Iterates until σ and the residual of (1) are below `target` times their first size; leaves scaled impulses in `y`.
    pub(crate) fn solve(
        &mut self,
        dense: &Delassus,
        system: &System,
        iterations: usize,
        target: f64,
        y: &mut Vec<f64>,
    ) -> Work {
        let n = dense.n;
        self.embed(dense, system);
        let scale = max_abs(&dense.p).max(f64::MIN_POSITIVE);
        self.begin(scale);
        let mut work = Work::default();
        for _ in 0..iterations {
            work.iterations += 1;
            let gap = self.complementarity();
            let residual = self.residuals(dense);
            if gap <= target * scale * scale && residual <= target * scale {
                break;
            }
            let sigma = 0.1 * gap;
            if !self.direction(n, sigma) {
                break;
            }
            let step = (STEP * self.longest()).min(1.0);
            for i in 0..n {
                self.x[i] += step * self.dx[i];
                self.s[i] += step * self.ds[i];
            }
            self.step_bounded(step, sigma);
        }
        reset(y, n);
        for i in 0..n {
            y[i] = self.x[i] / self.factor[i];
        }
        work
    }

    fn embed(&mut self, dense: &Delassus, system: &System) {
        let n = dense.n;
        self.cones.clear();
        for x in
            [&mut self.factor, &mut self.x, &mut self.s, &mut self.t, &mut self.gradient, &mut self.dx, &mut self.ds]
        {
            reset(x, n);
        }
        self.factor.fill(1.0);
        for b in &system.blocks {
            let (row, d) = (b.row, dense.d[b.row]);
            if b.rho <= 0.0 {
                self.cones.extend((row..row + b.rows()).map(|r| (r, Cone::Zero)));
                continue;
            }
            match b.law.scaled(d) {
                Law::Interval { lower, upper } => {
                    self.cones.push((row, interval(lower, upper)));
                }
                Law::Box { limit } => {
                    self.cones.push((row, Cone::Ray));
                    self.cones.push((row + 1, interval(-limit[0], limit[0])));
                    self.cones.push((row + 2, interval(-limit[1], limit[1])));
                }
                law => {
                    // A pyramid is replaced by a cone here; Newton's method solves the true law.
                    let mu = match law {
                        Law::Pyramid { mu } => 0.5 * (mu[0] + mu[1]),
                        Law::Cone { mu } => mu,
                        _ => 0.0,
                    };
                    if mu > 0.0 {
                        self.cones.push((row, Cone::Lorentz));
                        self.factor[row] = mu;
                    } else {
                        self.cones.push((row, Cone::Ray));
                        self.cones.push((row + 1, Cone::Zero));
                        self.cones.push((row + 2, Cone::Zero));
                    }
                }
            }
        }
        self.hatted.clear();
        self.hatted.extend_from_slice(&dense.m);
        for i in 0..n {
            for j in 0..n {
                self.hatted[i * n + j] /= self.factor[i] * self.factor[j];
            }
        }
    }

    fn begin(&mut self, scale: f64) {
        for &(row, cone) in &self.cones {
            match cone {
                Cone::Lorentz | Cone::Ray => {
                    self.x[row] = scale;
                    self.s[row] = scale;
                }
                Cone::Bounded(lower, upper) => {
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
                Cone::Bounded(lower, upper) => {
                    ((self.x[r] - lower) * self.s[r] + (upper - self.x[r]) * self.t[r], 2.0)
                }
                Cone::Zero | Cone::Free => (0.0, 0.0),
            };
            sum += add;
            count += cones;
        }
        if count > 0.0 { sum / count } else { 0.0 }
    }

    /// M̂ x + p̂ + δ into `gradient`, minus s into `ds`; returns the largest entry of the latter.
    fn residuals(&mut self, dense: &Delassus) -> f64 {
        let n = dense.n;
        for i in 0..n {
            self.gradient[i] =
                dot(&self.hatted[i * n..(i + 1) * n], &self.x) + dense.p[i] / self.factor[i];
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

    /// (2)
    fn direction(&mut self, n: usize, sigma: f64) -> bool {
        self.matrix.clear();
        self.matrix.extend_from_slice(&self.hatted);
        for i in 0..n {
            self.matrix[i * n + i] += PROXIMAL;
            self.dx[i] = -self.gradient[i];
        }
        for &(r, cone) in &self.cones {
            match cone {
                Cone::Lorentz => {
                    let x = [self.x[r], self.x[r + 1], self.x[r + 2]];
                    let s = [self.s[r], self.s[r + 1], self.s[r + 2]];
                    let h = scaling(x, s);
                    let det = determinant(x);
                    for i in 0..3 {
                        for j in 0..3 {
                            self.matrix[(r + i) * n + r + j] += h[i][j];
                        }
                        let sign = if i == 0 { 1.0 } else { -1.0 };
                        self.dx[r + i] += sigma * sign * x[i] / det;
                    }
                }
                Cone::Ray => {
                    self.matrix[r * n + r] += self.s[r] / self.x[r];
                    self.dx[r] += sigma / self.x[r];
                }
                Cone::Bounded(lower, upper) => {
                    let (a, b) = (self.x[r] - lower, upper - self.x[r]);
                    self.matrix[r * n + r] += self.s[r] / a + self.t[r] / b;
                    self.dx[r] += sigma / a - sigma / b;
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
        if cholesky_pivot(n, &mut self.matrix).is_err() {
            return false;
        }
        cholesky_solve(n, &self.matrix, &mut self.dx);
        for i in 0..n {
            self.ds[i] += dot(&self.hatted[i * n..(i + 1) * n], &self.dx);
        }
        // Bounded rows: s from its own complementarity; t follows in `step_bounded`.
        for &(r, cone) in &self.cones {
            match cone {
                Cone::Bounded(lower, _) => {
                    let a = self.x[r] - lower;
                    self.ds[r] = sigma / a - self.s[r] - self.s[r] / a * self.dx[r];
                }
                Cone::Free | Cone::Zero => self.ds[r] = 0.0,
                _ => {}
            }
        }
        true
    }

    /// Longest step that stays inside all cones.
    fn longest(&self) -> f64 {
        let mut step = f64::INFINITY;
        for &(r, cone) in &self.cones {
            let one = match cone {
                Cone::Lorentz => lorentz_step(&self.x[r..], &self.dx[r..])
                    .min(lorentz_step(&self.s[r..], &self.ds[r..])),
                Cone::Ray => ray_step(self.x[r], self.dx[r]).min(ray_step(self.s[r], self.ds[r])),
                Cone::Bounded(lower, upper) => ray_step(self.x[r] - lower, self.dx[r])
                    .min(ray_step(upper - self.x[r], -self.dx[r]))
                    .min(ray_step(self.s[r], self.ds[r])),
                Cone::Zero | Cone::Free => f64::INFINITY,
            };
            step = step.min(one);
        }
        step
    }

    /// The second multipliers of bounded rows, kept at their complementarity.
    fn step_bounded(&mut self, _step: f64, sigma: f64) {
        for &(r, cone) in &self.cones {
            if let Cone::Bounded(_, upper) = cone {
                self.t[r] = sigma / (upper - self.x[r]);
            }
        }
    }
}

fn interval(lower: f64, upper: f64) -> Cone {
    match (lower.is_finite(), upper.is_finite()) {
        (false, false) => Cone::Free,
        (true, true) if upper > lower => Cone::Bounded(lower, upper),
        (true, true) => Cone::Zero,
        // One-sided rows start at 0, or nearly so for what this method is for.
        (true, false) => Cone::Ray,
        (false, true) => Cone::Free,
    }
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
    let sign = [1.0, -1.0, -1.0];
    let w: [f64; 3] = core::array::from_fn(|i| (s[i] + sign[i] * x[i]) / (2.0 * gamma));
    let eta = rs / rx;
    core::array::from_fn(|i| {
        core::array::from_fn(|j| {
            eta * (2.0 * w[i] * w[j] - if i == j { sign[i] } else { 0.0 })
        })
    })
}

fn ray_step(x: f64, d: f64) -> f64 {
    if d < 0.0 { -x / d } else { f64::INFINITY }
}

/// Largest a with x + a d in the Lorentz cone.
fn lorentz_step(x: &[f64], d: &[f64]) -> f64 {
    let a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2];
    let b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2];
    let c = determinant([x[0], x[1], x[2]]);
    let root = b * b - a * c;
    let first = if a < 0.0 || (b < 0.0 && root >= 0.0) {
        // The smaller positive root of a t² + 2 b t + c.
        let q = sqrt(root.max(0.0));
        if b < 0.0 { c / (q - b) } else { (-b - q) / a }
    } else {
        f64::INFINITY
    };
    first.min(ray_step(x[0], d[0]))
}
