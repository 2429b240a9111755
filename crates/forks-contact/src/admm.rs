//! ADMM \[B11\] on the cone-constrained quadratic problem of the impulses, with De Saxcé's term
//! carried along.
//!
//! In scaled impulses ([`Delassus`]): y = z ∈ K, with the multiplier w of y = z, a velocity in K*:
//!
//! ```text
//! (M + ρ + ε) y⁺ = ρ z + w + ε y − p − μ‖w_t‖ n                                                (1)
//! ŷ = α y⁺ + (1 − α) z,   z⁺ = P_K(ŷ − w/ρ),   w⁺ = w − ρ (ŷ − z⁺)                             (2)
//! ```
//!
//! At rest y = z, w = M y + p + μ‖u_t‖ n with w_t = u_t, and z ⊥ w: Coulomb's law. ρ follows the
//! ratio of the primal residual y − z and the dual one ρ (z⁺ − z), each relative to its own
//! quantities, so that impulses that are large beside velocities (heavy bodies on light ones) are
//! reached soon.

use alloc::vec::Vec;

use forks_linalg::{Pivots, cholesky, solve_cholesky, sqrt};

use crate::{
    delassus::Delassus,
    dense::reset,
    law::Law,
    scalar::{hypot, max_abs},
    system::{System, read},
};

/// ε in (1), relative to the mean diagonal 1 of M: proximal, without influence on the solution.
const PROXIMAL: f64 = 1e-10;
/// α in (2).
const RELAXATION: f64 = 1.6;
/// ρ to start with, relative to the mean diagonal of M.
const FIRST_PENALTY: f64 = 1e-2;
const PENALTIES: (f64, f64) = (1e-9, 1e4);
/// Iterations between looks at the residuals.
const CHECK: usize = 10;
/// Imbalance of the residuals from which on ρ changes.
const IMBALANCE: f64 = 5.0;

/// State of the iteration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Admm {
    /// Impulses in their sets, scaled.
    pub(crate) z: Vec<f64>,
    y: Vec<f64>,
    w: Vec<f64>,
    /// u at z, scratch.
    u: Vec<f64>,
    factor: Vec<f64>,
    penalty: f64,
}

/// What a call did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    pub(crate) iterations: usize,
    pub(crate) factorisations: usize,
}

impl Admm {
    /// Begins at given impulses, with the velocities that they cause.
    pub(crate) fn start(&mut self, dense: &Delassus, system: &System, lambda: &[f64]) {
        for x in [&mut self.z, &mut self.y, &mut self.w, &mut self.u] {
            reset(x, dense.n);
        }
        dense.scale(lambda, &mut self.z);
        self.y.copy_from_slice(&self.z);
        dense.velocity(&self.z, &mut self.w);
        for (row, mu) in cones(system) {
            self.w[row] += mu * hypot(self.w[row + 1], self.w[row + 2]);
        }
        self.penalty = FIRST_PENALTY;
    }

    /// Goes on for some iterations, or until the residual is within tolerance (m/s).
    pub(crate) fn iterate(
        &mut self,
        dense: &Delassus,
        system: &System,
        iterations: usize,
        tolerance: f64,
    ) -> Work {
        let mut work = Work::default();
        if !self.factor(dense, &mut work) {
            return work;
        }
        while work.iterations < iterations {
            self.solve_smooth(dense, system);
            let (primal, dual) = self.project(dense, system);
            work.iterations += 1;
            if work.iterations % CHECK != 0 {
                continue;
            }
            dense.velocity(&self.z, &mut self.u);
            if dense.residual(system, &self.z, &self.u) <= tolerance {
                break;
            }
            if self.balance(dense, primal, dual) && !self.factor(dense, &mut work) {
                break;
            }
        }
        work
    }

    /// (1)
    fn solve_smooth(&mut self, dense: &Delassus, system: &System) {
        let pairs = self.z.iter().zip(&self.w).zip(&dense.p);
        for (y, ((z, w), p)) in self.y.iter_mut().zip(pairs) {
            *y = PROXIMAL * *y + self.penalty * z + w - p;
        }
        for (row, mu) in cones(system) {
            self.y[row] -= mu * hypot(self.w[row + 1], self.w[row + 2]);
        }
        solve_cholesky(&self.factor, dense.n, &mut self.y);
    }

    /// (2); returns the largest primal and dual residual.
    fn project(&mut self, dense: &Delassus, system: &System) -> (f64, f64) {
        let rho = self.penalty;
        let (mut primal, mut dual) = (0.0_f64, 0.0_f64);
        for b in system.blocks.iter().filter(|b| b.rho > 0.0) {
            let law = b.law.scaled(dense.d[b.row]);
            let (y, z, w) = (read(&self.y, b), read(&self.z, b), read(&self.w, b));
            let relaxed: [f64; 3] =
                core::array::from_fn(|r| RELAXATION * y[r] + (1.0 - RELAXATION) * z[r]);
            let next = law.project(core::array::from_fn(|r| relaxed[r] - w[r] / rho));
            for r in 0..b.rows() {
                self.w[b.row + r] = w[r] - rho * (relaxed[r] - next[r]);
                self.z[b.row + r] = next[r];
                primal = primal.max((y[r] - next[r]).abs());
                dual = dual.max(rho * (next[r] - z[r]).abs());
            }
        }
        (primal, dual)
    }

    /// Changes ρ where one residual is far ahead of the other. True if it did.
    fn balance(&mut self, dense: &Delassus, primal: f64, dual: f64) -> bool {
        let impulse = max_abs(&self.z).max(f64::MIN_POSITIVE);
        let velocity = max_abs(&self.w).max(max_abs(&dense.p)).max(f64::MIN_POSITIVE);
        let ratio = (primal / impulse) / (dual / velocity).max(f64::MIN_POSITIVE);
        if (1.0 / IMBALANCE..=IMBALANCE).contains(&ratio) || ratio.is_nan() {
            return false;
        }
        let next = (self.penalty * sqrt(ratio).clamp(0.1, 10.0)).clamp(PENALTIES.0, PENALTIES.1);
        let changed = next != self.penalty;
        self.penalty = next;
        changed
    }

    fn factor(&mut self, dense: &Delassus, work: &mut Work) -> bool {
        let n = dense.n;
        work.factorisations += 1;
        self.factor.clear();
        self.factor.extend_from_slice(&dense.m);
        for i in 0..n {
            self.factor[i * n + i] += self.penalty + PROXIMAL;
        }
        cholesky(n, &mut self.factor, n, Pivots::AboveZero).is_ok()
    }
}

/// First rows and coefficients of the Coulomb cones.
fn cones(system: &System) -> impl Iterator<Item = (usize, f64)> + '_ {
    system.blocks.iter().filter_map(|b| match b.law {
        Law::Cone { mu } => Some((b.row, mu)),
        _ => None,
    })
}
