//! The implicit equations of a step, for (ω, η̇) after it.
//!
//! Vectors of them have a zero before ω, so that η̇ begins with a lane group of its own; matrices
//! have a 1 there in the diagonal.

use alloc::{vec, vec::Vec};

use forks_lie::{
    glam::{DMat3, DVec3},
    skew,
    so3::{exp_rotation, rotation_right_jacobian},
};
use forks_linalg::simd::{Arithmetic, Factors, LANES, Lanes, Rows, WideVectors};

use super::inertia::{BaseInertia, contract, entry, vectors};

/// Corrections after which Newton's method is given up.
const MAX_CORRECTIONS: usize = 20;
/// Relative size of the last correction by a derivative at the trial itself: the next one would be
/// its square.
const LAST_CORRECTION: f64 = 1e-9;
/// Relative size of a correction that rounding hides.
const HIDDEN_CORRECTION: f64 = 1e-16;
/// Ratio of corrections up to which the derivative at an earlier trial is kept.
const CONTRACTION: f64 = 1e-2;

/// Scratch memory of a step; holds nothing between steps.
#[derive(Clone, Debug, Default)]
pub struct FloatingWork {
    /// Generalised force, then the constant part of the equations of η, padded.
    pub force: Vec<Lanes>,
    /// η times what holds the changes of the inertia back, padded.
    pub held_eta: Vec<f64>,
    /// η − η_s, padded.
    pub stretch: Vec<f64>,
    /// 0, ω, η̇: trial, padded.
    pub trial: Vec<f64>,
    /// Residual, then correction, in the same order.
    pub residual: Vec<Lanes>,
    /// The correction as numbers.
    pub correction: Vec<f64>,
    /// M̃η̇ and the like, padded.
    pub momentum: Vec<Lanes>,
    /// (4 + n)²: derivative of Newton's method.
    pub factors: Factors,
    /// Field of n: Σ.
    pub coupling: Vec<Lanes>,
    /// Field of n: how Σ and J bend.
    pub bent: Vec<Lanes>,
    /// Field of n: G.
    pub slope: Vec<Lanes>,
}

impl FloatingWork {
    /// Of n coordinates.
    pub fn new(n: usize) -> Self {
        let (groups, all) = (n.div_ceil(LANES), FIRST_RATE + n.next_multiple_of(LANES));
        let lanes = |groups: usize| vec![Lanes::default(); groups];
        Self {
            force: lanes(groups),
            held_eta: vec![0.0; LANES * groups],
            stretch: vec![0.0; LANES * groups],
            trial: vec![0.0; all],
            residual: lanes(1 + groups),
            correction: vec![0.0; all],
            momentum: lanes(groups),
            factors: Factors::zeros(FIRST_RATE + n),
            coupling: lanes(3 * groups),
            bent: lanes(3 * groups),
            slope: lanes(3 * groups),
        }
    }
}

/// What does not change during a step.
pub struct Equations<'a> {
    /// Inertia and its slopes.
    pub inertia: &'a BaseInertia,
    /// M̃ + hD + h²𝓗.
    pub matrix: &'a Rows,
    /// The step, s.
    pub h: f64,
    /// Factor on the changes of the inertia.
    pub held: f64,
    /// L + hτ in the base's axes before the step.
    pub spin: DVec3,
    /// Padded.
    pub eta: &'a [f64],
}

/// What the derivative at a trial needs beside the scratch memory.
pub struct Trial {
    omega: DVec3,
    /// J.
    rotation: DMat3,
    /// Angular momentum in the axes after the step.
    spin: DVec3,
    /// Size of the trial in the mass norm of the step, squared.
    square: f64,
}

/// Solves for `work.trial`, which holds the start; false if inertia and axes of the start had to be
/// used.
///
/// Newton's method, which keeps a factored derivative as long as it serves: the residual is always
/// the trial's own.
#[inline(always)]
pub fn solve<L: Arithmetic>(l: L, e: &Equations<'_>, work: &mut FloatingWork) -> bool {
    let size = FIRST_RATE + e.inertia.n;
    let (mut kept, mut last) = (false, None);
    for _ in 0..MAX_CORRECTIONS {
        let trial = e.residual(l, work);
        if !kept {
            e.derivative(l, &trial, work);
            if !work.factors.factor(l, size) {
                break;
            }
        }
        let correction = e.correct(l, work);
        let whole = forks_linalg::sqrt(trial.square);
        if !(correction + whole).is_finite() {
            break;
        }
        let ratio = last.map(|last| correction / last);
        let next_is_hidden = ratio.is_some_and(|r| correction * r <= HIDDEN_CORRECTION * whole);
        if next_is_hidden || (!kept && correction <= LAST_CORRECTION * whole) {
            return true;
        }
        kept = ratio.is_none_or(|r| r <= CONTRACTION);
        last = Some(correction);
    }
    // Without changes of inertia and axes the equations are linear and never singular.
    e.linearise_at_rest(l, work);
    if !work.factors.factor(l, size) || !e.correct(l, work).is_finite() {
        work.trial.fill(f64::NAN);
    }
    false
}

/// Place of the first entry of η̇.
pub const FIRST_RATE: usize = LANES;

/// A vector as the last three of four lanes; the first is zero.
#[inline(always)]
pub fn zero_padded(a: DVec3) -> Lanes {
    Lanes([0.0, a.x, a.y, a.z])
}

/// ω of a vector of the equations.
#[inline(always)]
pub fn angular(x: &[f64]) -> DVec3 {
    DVec3::new(x[1], x[2], x[3])
}

impl Equations<'_> {
    /// Residual at the trial.
    ///
    /// r_L = Jω + Ση̇ − exp(−hω)(L + hτ), r_k = Σ_kᵀω + (M̃ + hD + h²𝓗)η̇ − constant − h ω·(½J_kω +
    /// Σ_kη̇), J and Σ at η + hη̇. Leaves h (J_kω + Σ_kη̇) for the derivative.
    #[inline(always)]
    pub fn residual<L: Arithmetic>(&self, l: L, work: &mut FloatingWork) -> Trial {
        let (i, n) = (self.inertia, self.inertia.n);
        let (h, held, half) = (l.splat(self.h), l.splat(self.held), l.splat(0.5));
        let omega = angular(&work.trial);
        let rate = &work.trial[FIRST_RATE..];
        let rates = rate.as_chunks::<LANES>().0;
        let starts = self.eta.as_chunks::<LANES>().0;
        let etas = work.held_eta.as_chunks_mut::<LANES>().0;
        for (out, (x, y)) in etas.iter_mut().zip(starts.iter().zip(rates)) {
            *out = (held * (h * l.read(y) + l.read(x))).store().0;
        }
        let rotation = i.rotation_at(l, &work.held_eta);
        i.coupling_at(l, &work.held_eta, &mut work.coupling);
        i.coupled_slopes(l, rate, &mut work.bent);
        let (turning, shape) = work.residual.split_at_mut(1);
        shape.fill(Lanes::default());
        self.matrix.add_to(l, &rate[..n], shape);
        let w = WideVectors::splat(l, omega);
        let (mut square, h) = (l.splat(0.0), (h * held).rounded());
        for (group, (r, y)) in shape.iter_mut().zip(rates).enumerate() {
            square += l.load(r) * l.read(y);
            let (turned, coupled) = (i.turned(l, group, w), vectors(l, &work.bent, group));
            let halfway = coupled.plus_scaled(turned, half);
            let force = h * halfway.dot(w) + l.load(&work.force[group]);
            let momentum = vectors(l, &work.coupling, group).dot(w) + l.load(r);
            *r = (momentum - force).store();
            for k in 0..3 {
                work.bent[3 * group + k] = (h * (turned[k] + coupled[k])).store();
            }
        }
        let spin = exp_rotation(omega * -self.h) * self.spin;
        let residual = rotation * omega + contract(l, &work.coupling, rate) - spin;
        turning[0] = zero_padded(residual);
        let square = square.total() + omega.dot(i.rotation * omega);
        Trial { omega, rotation, spin, square }
    }

    /// Derivative of the residual into the factors' memory: the upper triangle, and that of the
    /// transpose.
    #[inline(always)]
    fn derivative<L: Arithmetic>(&self, l: L, trial: &Trial, work: &mut FloatingWork) {
        let (i, h) = (self.inertia, self.h);
        let turning =
            trial.rotation - skew(trial.spin) * rotation_right_jacobian(trial.omega * h) * h;
        let (upper, lower) = (&mut work.factors.upper, &mut work.factors.lower);
        for m in [&mut *upper, &mut *lower] {
            m.row_mut(0).fill(Lanes::default());
            m.set(0, 0, 1.0);
        }
        let back = turning.transpose();
        for a in 0..3 {
            let (row, column) = (upper.row_mut(1 + a), lower.row_mut(1 + a));
            row[0] = zero_padded(back.col(a));
            column[0] = zero_padded(turning.col(a));
            for (group, (r, c)) in row[1..].iter_mut().zip(&mut column[1..]).enumerate() {
                let coupling = l.load(&work.coupling[3 * group + a]);
                let bent = l.load(&work.bent[3 * group + a]);
                *r = (coupling + bent).store();
                *c = (coupling - bent).store();
            }
        }
        let w = WideVectors::splat(l, trial.omega * (h * self.held));
        for k in 0..i.n {
            let row = &mut upper.row_mut(FIRST_RATE + k)[1..];
            let column = &mut lower.row_mut(FIRST_RATE + k)[1..];
            let own = self.matrix.row(k);
            for group in k / LANES..own.len() {
                // Only the curl of Σ is left: a gyroscopic force, without power.
                let gyroscopic = i.curl(l, k, group).dot(w);
                let own = l.load(&own[group]);
                row[group] = (own + gyroscopic).store();
                column[group] = (own - gyroscopic).store();
            }
        }
    }

    /// Residual and derivative with the linearisation pose's inertia and the base's axes before the
    /// step, at zero.
    #[inline(always)]
    fn linearise_at_rest<L: Arithmetic>(&self, l: L, work: &mut FloatingWork) {
        let i = self.inertia;
        work.trial.fill(0.0);
        work.residual[0] = zero_padded(-self.spin);
        for (r, force) in work.residual[1..].iter_mut().zip(&work.force) {
            *r = (0.0 - l.load(force)).store();
        }
        for m in [&mut work.factors.upper, &mut work.factors.lower] {
            fill(m, &i.rotation, i.coupling_at_rest(), self.matrix);
        }
    }

    /// Solves for the correction and applies it; its size in the mass norm of the step.
    #[inline(always)]
    fn correct<L: Arithmetic>(&self, l: L, work: &mut FloatingWork) -> f64 {
        let n = self.inertia.n;
        work.factors.solve(l, FIRST_RATE + n, &mut work.residual);
        let trial = work.trial.as_chunks_mut::<LANES>().0;
        let corrections = work.correction.as_chunks_mut::<LANES>().0;
        for (r, (x, out)) in work.residual.iter().zip(trial.iter_mut().zip(corrections)) {
            *x = (l.read(x) - l.load(r)).store().0;
            *out = r.0;
        }
        let rate = &work.correction[FIRST_RATE..];
        work.momentum.fill(Lanes::default());
        self.matrix.add_to(l, &rate[..n], &mut work.momentum);
        let pairs = work.momentum.iter().zip(&work.residual[1..]);
        let shape = pairs.fold(l.splat(0.0), |sum, (a, b)| l.load(a) * l.load(b) + sum);
        let omega = angular(&work.correction);
        forks_linalg::sqrt(omega.dot(self.inertia.rotation * omega) + shape.total())
    }
}

/// [[J, Σ], [Σᵀ, step]] as a matrix of the equations.
#[inline(always)]
pub(super) fn fill(out: &mut Rows, rotation: &DMat3, coupling: &[Lanes], step: &Rows) {
    out.row_mut(0).fill(Lanes::default());
    out.set(0, 0, 1.0);
    for a in 0..3 {
        let row = out.row_mut(1 + a);
        row[0] = Lanes([0.0, entry(rotation, a, 0), entry(rotation, a, 1), entry(rotation, a, 2)]);
        for (out, vectors) in row[1..].iter_mut().zip(coupling.as_chunks::<3>().0) {
            *out = vectors[a];
        }
    }
    let rows = step.as_slice().chunks_exact(step.width().max(1));
    for (k, step) in rows.enumerate() {
        let row = out.row_mut(FIRST_RATE + k);
        let at = |i: usize| coupling[3 * (k / LANES) + i][k % LANES];
        row[0] = Lanes([0.0, at(0), at(1), at(2)]);
        row[1..].copy_from_slice(step);
    }
}
