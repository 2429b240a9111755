//! The robust solver: several ways to come near a solution, one to finish it, and the best impulses
//! of all.
//!
//! 1. Gauss–Seidel sweeps, then Newton's method: small and well-conditioned problems need no more.
//! 2. The interior point method from six starts, each finished by Newton's method.
//! 3. ADMM in rounds of growing length, each finished by Newton's method.
//! 4. Newton's method once more from the best impulses of all.
//!
//! Coulomb's law is not a convex problem: none of them finds a solution every time (README, "Which
//! solver, by measurement").

use alloc::vec::Vec;

use forks_linalg::{simd::Portable, sqrt};

use crate::{
    admm::Admm,
    delassus::Delassus,
    dense::reset,
    gauss_seidel::sweeps,
    goal::{Counters, Goal},
    interior::{Interior, Start},
    newton::{NewtonWork, newton},
    scalar::max_abs,
    system::System,
};

/// Sweeps before matrices are built.
const FIRST_SWEEPS: usize = 20;
/// Iterations of ADMM in the first round; twice as many in every further one.
const FIRST_ITERATIONS: usize = 20;
/// Iterations of one attempt of the interior point method, and how far it goes.
const INTERIOR_ITERATIONS: usize = 80;
const INTERIOR_TARGET: f64 = 1e-9;
/// Iterations of one attempt of Newton's method.
const NEWTON_ITERATIONS: usize = 30;
/// Share of the tolerance that scaled iterations aim for.
const TIGHTER: f64 = 0.1;
/// Attempts of Newton's method on the best impulses at the end.
const LAST_ATTEMPTS: usize = 2;

/// Starts of the interior point method, the most successful one first.
const STARTS: [Start; 6] = [
    Start { impulse: 100.0, velocity: 10.0, follow: 0.0 },
    Start { impulse: 100.0, velocity: 10.0, follow: 1.0 },
    Start { impulse: 1.0, velocity: 1.0, follow: 1.0 },
    Start { impulse: 1.0, velocity: 1.0, follow: 0.5 },
    Start { impulse: 100.0, velocity: 10.0, follow: 0.5 },
    Start { impulse: 1.0, velocity: 1.0, follow: 0.0 },
];

/// Memory of the robust solver.
#[derive(Clone, Debug, Default)]
pub(crate) struct Robust {
    dense: Delassus,
    assembled: bool,
    interior: Interior,
    admm: Admm,
    newton: NewtonWork,
    /// Where Newton's method starts, scaled.
    start: Vec<f64>,
    trial: Vec<f64>,
    best: Vec<f64>,
    best_residual: f64,
}

impl Robust {
    /// Forgets the matrices of the last problem.
    pub(crate) fn reset(&mut self) {
        self.assembled = false;
    }

    /// Solves from the system's impulses; leaves the best ones found. True if they are within
    /// tolerance.
    pub(crate) fn solve(
        &mut self,
        system: &mut System,
        goal: &Goal,
        counters: &mut Counters,
    ) -> bool {
        if sweeps(system, 0..FIRST_SWEEPS, goal.tolerance, counters) {
            return true;
        }
        system.pack_impulses(&mut self.best);
        self.best_residual = system.worst_residual(Portable);
        if !self.best_residual.is_finite() {
            return false;
        }
        if !self.assembled {
            self.dense.assemble(system);
            self.assembled = true;
        }
        self.dense.offsets(system);
        if self.by_best(system, goal, counters, 1)
            || self.by_interior_points(system, goal, counters)
            || self.by_admm(system, goal, counters)
            || self.by_best(system, goal, counters, LAST_ATTEMPTS)
        {
            return true;
        }
        system.set_impulses(&self.best);
        false
    }

    fn by_interior_points(
        &mut self,
        system: &mut System,
        goal: &Goal,
        counters: &mut Counters,
    ) -> bool {
        for start in &STARTS {
            let (dense, y) = (&self.dense, &mut self.start);
            let interior = &mut self.interior;
            let done =
                interior.solve(dense, system, start, INTERIOR_ITERATIONS, INTERIOR_TARGET, y);
            counters.interior += done;
            counters.factorisations += done;
            if self.finish(system, goal, counters) {
                return true;
            }
        }
        false
    }

    fn by_admm(&mut self, system: &mut System, goal: &Goal, counters: &mut Counters) -> bool {
        self.admm.start(&self.dense, system, &self.best);
        let (mut count, mut left) = (FIRST_ITERATIONS, goal.max_iterations);
        while left > 0 {
            let tight = TIGHTER * goal.tolerance;
            let done = self.admm.iterate(&self.dense, system, count.min(left), tight);
            counters.admm += done.iterations;
            counters.factorisations += done.factorisations;
            self.start.clear();
            self.start.extend_from_slice(&self.admm.z);
            if self.finish(system, goal, counters) {
                return true;
            }
            left = left.saturating_sub(count);
            count *= 2;
        }
        false
    }

    /// Newton's method from the best impulses so far.
    fn by_best(
        &mut self,
        system: &mut System,
        goal: &Goal,
        counters: &mut Counters,
        attempts: usize,
    ) -> bool {
        for _ in 0..attempts {
            reset(&mut self.start, self.best.len());
            self.dense.scale(&self.best, &mut self.start);
            if self.finish(system, goal, counters) {
                return true;
            }
        }
        false
    }

    /// Newton's method from `start`, with velocities weighted in three ways: by 1, by the ratio of
    /// impulses to velocities, which is large where heavy bodies rest on light ones, and between
    /// the two. True if one is within tolerance.
    fn finish(&mut self, system: &mut System, goal: &Goal, counters: &mut Counters) -> bool {
        self.trial.clear();
        self.trial.extend_from_slice(&self.start);
        if self.judge(system) <= goal.tolerance {
            return true;
        }
        let ratio = max_abs(&self.start) / max_abs(&self.dense.p).max(f64::MIN_POSITIVE);
        for (k, weight) in [1.0, ratio, sqrt(ratio)].into_iter().enumerate() {
            let useful = weight > 1e-12 && weight < 1e12;
            let new = k == 0 || !(0.1..10.0).contains(&weight);
            if !useful || !new {
                continue;
            }
            let tight = TIGHTER * goal.tolerance;
            let (dense, work) = (&self.dense, &mut self.newton);
            let done = newton(system, dense, work, &self.start, weight, NEWTON_ITERATIONS, tight);
            counters.newton += done.iterations;
            counters.factorisations += done.factorisations;
            self.trial.clear();
            self.trial.extend_from_slice(&self.newton.y);
            if self.judge(system) <= goal.tolerance {
                return true;
            }
        }
        false
    }

    /// Takes the scaled impulses of `trial` and keeps them if they are the best so far. Returns
    /// their residual.
    fn judge(&mut self, system: &mut System) -> f64 {
        self.dense.unscale(&mut self.trial);
        system.set_impulses(&self.trial);
        let residual = system.worst_residual(Portable);
        if residual < self.best_residual {
            self.best_residual = residual;
            system.pack_impulses(&mut self.best);
        }
        residual
    }
}
