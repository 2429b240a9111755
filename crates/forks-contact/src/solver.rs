//! Solvers, their settings and what they report.

use alloc::vec::Vec;

use forks_linalg::simd::{Isa, Portable};

use crate::{
    BodyId, ConstraintId, Contact, ContactError, ContactProblem, Friction,
    gauss_seidel::sweeps,
    goal::{Counters, Goal, Method},
    law::outer_impulse,
    problem::Kind,
    quad::Quad,
    robust::Robust,
    system::System,
};

/// Settings of a solver. With a tolerance that is NaN every solve ends as not converged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The method.
    pub method: Method,
    /// Largest residual over [`Report::speed`], dimensionless; 1e-10. Sensible: 1e-4 (sweeps in a
    /// running simulation) to 1e-12 (a few roundings).
    pub tolerance: f64,
    /// Residual that always suffices, m/s; 1e-14, so that bodies at rest are solved.
    pub absolute_tolerance: f64,
    /// Sweeps of Gauss–Seidel at least, also over impulses to start from that are within tolerance
    /// already; 0. In a running simulation a few make what the tolerance lets through die out over
    /// the steps.
    pub min_sweeps: usize,
    /// Sweeps of [`Method::GaussSeidel`] at most; 1000. A running simulation with warm starts needs
    /// 10 to 50.
    pub max_sweeps: usize,
    /// Iterations of ADMM in [`Method::Robust`] at most; 1000. Twenty times as many solve no
    /// further random problem.
    pub max_iterations: usize,
    /// Speed of approach below which restitution is 0, m/s; 1e-3. Above g h bodies come to rest
    /// instead of trembling.
    pub restitution_threshold: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            method: Method::default(),
            tolerance: 1e-10,
            absolute_tolerance: 1e-14,
            min_sweeps: 0,
            max_sweeps: 1000,
            max_iterations: 1000,
            restitution_threshold: 1e-3,
        }
    }
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Status {
    /// The residual is within tolerance.
    Converged,
    /// It is not, after all iterations; the best impulses found are kept. They are admissible.
    IterationLimit,
    /// Numbers overflowed: all impulses are zero, velocities the free ones.
    Overflow,
}

/// What a solve came to.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// Largest natural map residual of all constraints, m/s (rad/s).
    pub residual: f64,
    /// The same over [`Report::speed`], dimensionless.
    pub relative_residual: f64,
    /// Largest speed at the constraints if they did not act, rebounds and corrections included,
    /// m/s.
    pub speed: f64,
    /// Sweeps of Gauss–Seidel.
    pub sweeps: usize,
    /// Iterations of ADMM.
    pub admm_iterations: usize,
    /// Iterations of the interior point method.
    pub interior_iterations: usize,
    /// Iterations of Newton's method.
    pub newton_iterations: usize,
    /// Matrices factorised.
    pub factorisations: usize,
    /// Share of the restitution that was kept: 1; less where all of it would have created energy
    /// (Kane's paradox, \[KL85\]); 0 where rebounds contradicted each other in jammed bodies.
    pub restitution_share: f64,
    /// T(v) − T(v_free), J: energy that the impulses put in. Above 0 only by corrections of gaps.
    pub energy_gain: f64,
}

/// A solver with its workspace: once it has solved a problem of the same size it allocates nothing.
/// [`Solver::default`] uses the portable instruction set; [`Solver::new`] the fastest there is.
#[derive(Clone, Debug, Default)]
pub struct Solver {
    system: System,
    robust: Robust,
    /// Impulses of the largest share of restitution that creates no energy.
    accepted: Vec<f64>,
    /// Impulses of the last solve as users see them.
    impulses: Vec<Quad>,
    /// First velocity and size of every body.
    bodies: Vec<(usize, usize)>,
}

impl Solver {
    /// An empty solver on the fastest instruction set that this processor has.
    pub fn new() -> Self {
        let mut solver = Self::default();
        solver.system.isa = Isa::detect();
        solver
    }

    /// Impulses of all contacts and rows, and the velocities after them.
    pub fn solve(&mut self, problem: &ContactProblem, settings: &Settings) -> Report {
        self.system.prepare(problem, settings.restitution_threshold);
        self.robust.reset();
        let goal = Goal {
            tolerance: (settings.tolerance * self.system.speed).max(settings.absolute_tolerance),
            method: settings.method,
            min_sweeps: settings.min_sweeps,
            max_sweeps: settings.max_sweeps,
            max_iterations: settings.max_iterations,
        };
        let mut counters = Counters::default();
        let (share, met) = self.with_restitution(&goal, &mut counters);
        if !met && self.creates_energy() {
            // Only what did not converge comes here. Less of the same impulses is admissible and
            // takes energy away.
            self.system.shorten_impulses();
        }
        self.report(problem, &goal, (share, met), counters)
    }

    /// Solves with as much of the restitution as creates no energy and leaves a solution. Returns
    /// the share.
    ///
    /// Newton's law prescribes velocities. With friction these may ask for more energy than there
    /// was (Kane's paradox), and in a jammed body they may contradict each other. Without
    /// restitution neither is possible.
    fn with_restitution(&mut self, goal: &Goal, counters: &mut Counters) -> (f64, bool) {
        let met = self.iterate(goal, counters);
        if !self.system.has_rebound() {
            return (1.0, met);
        }
        if !met && goal.method != Method::GaussSeidel {
            // Contradicting targets drove the impulses far away.
            return (0.0, self.without_rebound(goal, counters));
        }
        if !self.creates_energy() {
            return (1.0, met);
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..BISECTIONS {
            let share = 0.5 * (low + high);
            self.system.set_rebound(share);
            self.iterate(goal, counters);
            if self.creates_energy() {
                high = share;
            } else {
                low = share;
                self.system.pack_impulses(&mut self.accepted);
            }
        }
        if low == 0.0 {
            return (0.0, self.without_rebound(goal, counters));
        }
        // The same solution, not another one of the same share.
        self.system.set_rebound(low);
        self.system.set_impulses(&self.accepted);
        (low, self.system.worst_residual(Portable) <= goal.tolerance)
    }

    /// Solves without restitution from no impulses.
    fn without_rebound(&mut self, goal: &Goal, counters: &mut Counters) -> bool {
        self.system.set_rebound(0.0);
        self.system.clear_impulses();
        self.iterate(goal, counters)
    }

    /// True if the impulses put in more energy than corrections of gaps and the residuals account
    /// for.
    fn creates_energy(&self) -> bool {
        let excess = self.system.energy_gain(Portable) - self.system.correction_work();
        excess > self.system.energy_rounding()
    }

    fn iterate(&mut self, goal: &Goal, counters: &mut Counters) -> bool {
        let sweeping = goal.method != Method::Robust && goal.min_sweeps > 0;
        let warm = !sweeping && self.system.has_impulses();
        if warm && self.system.worst_residual(Portable) <= goal.tolerance {
            return true;
        }
        let counts = goal.min_sweeps..goal.max_sweeps;
        match goal.method {
            Method::GaussSeidel => sweeps(&mut self.system, counts, goal.tolerance, counters),
            Method::Fallback => {
                sweeps(&mut self.system, counts, goal.tolerance, counters)
                    || self.fall_back(goal, counters)
            }
            Method::Robust => self.robust.solve(&mut self.system, goal, counters),
        }
    }

    /// The robust method, to more digits than asked: a few more iterations spare the next steps,
    /// which start from its impulses, from falling back again.
    fn fall_back(&mut self, goal: &Goal, counters: &mut Counters) -> bool {
        let finer = Goal { tolerance: FALLBACK_SHARE * goal.tolerance, ..*goal };
        self.robust.solve(&mut self.system, &finer, counters)
            || self.system.worst_residual(Portable) <= goal.tolerance
    }

    fn report(
        &mut self,
        problem: &ContactProblem,
        goal: &Goal,
        (share, met): (f64, bool),
        counters: Counters,
    ) -> Report {
        if !met {
            // Where all is well the last thing that was looked at are the residuals.
            self.system.recompute_velocity(Portable);
            self.system.worst_residual(Portable);
        }
        let mut fine = self.system.finish(problem);
        let mut residual = self.record(problem);
        let overflow = !fine || !residual.is_finite();
        if overflow {
            self.system.clear_impulses();
            fine = self.system.finish(problem);
            self.system.worst_residual(Portable);
            residual = self.record(problem);
            residual = if fine { finite(residual) } else { f64::MAX };
        }
        let speed = self.system.speed;
        let relative = if residual == 0.0 { 0.0 } else { residual / speed.max(f64::MIN_POSITIVE) };
        Report {
            status: match () {
                () if overflow => Status::Overflow,
                () if residual <= goal.tolerance => Status::Converged,
                () => Status::IterationLimit,
            },
            residual,
            relative_residual: relative.min(f64::MAX),
            speed: speed.min(f64::MAX),
            sweeps: counters.sweeps,
            admm_iterations: counters.admm,
            interior_iterations: counters.interior,
            newton_iterations: counters.newton,
            factorisations: counters.factorisations,
            restitution_share: share,
            energy_gain: finite(self.system.gain),
        }
    }

    /// Makes ready what users may ask for. Returns the largest residual; NaN if one is.
    fn record(&mut self, problem: &ContactProblem) -> f64 {
        let mut worst = 0.0;
        for residual in &mut self.system.residuals {
            if residual.is_nan() || *residual > worst {
                worst = *residual;
            }
            *residual = finite(*residual);
        }
        self.impulses.resize(self.system.lambda.len(), Quad::default());
        let inner = self.system.lambda.iter().zip(problem.constraints());
        for (out, (inner, constraint)) in self.impulses.iter_mut().zip(inner) {
            *out = match &constraint.kind {
                Kind::Contact(Contact { friction: Friction::EllipticCone { mu }, .. }) => {
                    outer_impulse(*mu, *inner)
                }
                _ => *inner,
            };
        }
        self.bodies.clear();
        self.bodies.extend(problem.bodies().iter().map(|b| (b.velocity, b.dof)));
        worst
    }

    /// λ of a constraint, N·s or N·m·s: three for a contact (normal, two tangents), one for a row.
    ///
    /// # Errors
    /// A constraint that the last solved problem did not have.
    pub fn impulse(&self, constraint: ConstraintId) -> Result<&[f64], ContactError> {
        let (at, count) = (constraint.0, self.impulses.len());
        match (self.impulses.get(at), self.system.blocks.get(at)) {
            (Some(impulse), Some(block)) => Ok(&impulse[..block.rows()]),
            _ => Err(ContactError::NoSuchConstraint { constraint: at, count }),
        }
    }

    /// v of a body after the impulses.
    ///
    /// # Errors
    /// A body that the last solved problem did not have.
    pub fn velocity(&self, body: BodyId) -> Result<&[f64], ContactError> {
        match self.bodies.get(body.0) {
            Some(&(start, dof)) => Ok(&self.system.outcome[start..start + dof]),
            None => Err(ContactError::NoSuchBody { body: body.0, count: self.bodies.len() }),
        }
    }

    /// The certificate: natural map residual of every constraint in the order of addition, m/s
    /// (rad/s).
    pub fn residuals(&self) -> &[f64] {
        &self.system.residuals
    }

    /// How far the impulses of any constraint are outside their set, relative to their size; 0 if
    /// none is.
    pub fn cone_violation(&self) -> f64 {
        let of = |b| self.system.impulse(b);
        self.system.blocks.iter().fold(0.0, |m, b| b.law.violation(of(b)).max(m))
    }
}

/// The number, or the largest one there is in place of NaN and infinity.
fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { f64::MAX }
}

/// Part of the tolerance that a fall back aims for.
const FALLBACK_SHARE: f64 = 1e-4;

/// Halvings in the search for the share of restitution.
const BISECTIONS: usize = 6;
