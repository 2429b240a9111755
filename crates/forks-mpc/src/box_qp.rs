//! The least ½ xᵀHx + gᵀx within bounds lower ≤ x ≤ upper, for one H and many g.
//!
//! Block principal pivoting (Júdice and Pires, "A block principal pivoting algorithm for
//! large-scale strictly monotone linear complementarity problems", Computers & Operations Research
//! 21, 1994): a guess of which variables are at which bound gives x and multipliers; all variables
//! that contradict the guess change sides at once, as long as that makes them fewer, else only the
//! last of them, which is finite for every positive definite H (Murty's rule) in exact numbers. A
//! guess from the last problem is nearly right, so that a pivot or two do.
//!
//! Rounding may make Murty's rule go round in circles, and it may take very long: after as many
//! single changes as there are variables a primal active set goes on (`descent.rs`).
//!
//! A guess with the set A at bounds b is solved with the smaller of two matrices: with H⁻¹ known,
//! x = x₀ + H⁻¹_A λ, (H⁻¹)_AA λ = b − (x₀)_A, where x₀ = −H⁻¹g; or with H of the free variables.
//! Factors are kept from guess to guess and from problem to problem ([`ActiveSystem`]).
//! No interior point method starts warm, hence none of the maintained solvers serves here; in the
//! tests one is the rival.

use forks_rom::linalg::{
    Matrix, Pivots, cholesky, dot, invert_cholesky,
    simd::{Arithmetic, Isa, Kernel, LANES, Lanes, Rows},
};

use crate::{
    active_system::ActiveSystem,
    sums::{add_some, add_symmetric},
};

/// Where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Free,
    Lower,
    Upper,
}

/// How a problem ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum QpStatus {
    /// The optimum, up to rounding.
    Solved,
    /// The limit of pivots was reached: the bounds hold, but x is not the optimum.
    Cut,
    /// Numbers are not finite, or a bound excludes its opposite; x is undefined.
    Refused,
}

/// Why there is no solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QpError {
    /// H is no square matrix of numbers, or not positive definite up to rounding.
    #[error("the cost has no single minimum: its matrix is not positive definite")]
    NotConvex,
}

/// Variables that contradict a guess must become fewer within so many pivots.
const GRACE: usize = 3;
/// What rounding may make of a bound or a multiplier, relative to their sizes.
const ROUNDING: f64 = 1e-12;

/// Solves problems with one H. Remembers which bounds hold, for the next one.
#[derive(Clone, Debug)]
pub struct BoxQp {
    pub(crate) n: usize,
    pub(crate) h: Matrix,
    /// H⁻¹, and as it comes from the factors.
    inverse: Rows,
    dense: Matrix,
    pub(crate) sides: Vec<Side>,
    /// Where variables belong by the last guess.
    belong: Vec<Side>,
    pub(crate) x: Vec<f64>,
    /// Hx + g of the variables at bounds, else 0.
    pub(crate) multipliers: Vec<f64>,
    pub(crate) free_minimum: Vec<f64>,
    /// The set that is solved for, and its right sides.
    pub(crate) set: Vec<usize>,
    pub(crate) right: Vec<f64>,
    pub(crate) solution_of_free: Vec<f64>,
    /// Systems of the variables at bounds, with H⁻¹, and of those that are free, with H.
    at_bounds: ActiveSystem,
    pub(crate) free: ActiveSystem,
    /// Sums of rows of H⁻¹; g.
    sum: Vec<Lanes>,
    wide: Vec<Lanes>,
    factors: Vec<f64>,
    pub(crate) pivots: usize,
    /// Problems that the primal active set had to end.
    pub(crate) descents: usize,
    isa: Isa,
}

impl BoxQp {
    /// Factors H, n × n, symmetric.
    ///
    /// # Errors
    /// H is not positive definite.
    pub fn new(h: Matrix) -> Result<Self, QpError> {
        let n = h.rows();
        let mut out = Self {
            n,
            h,
            inverse: Rows::zeros(n, n),
            dense: Matrix::zeros(n, n),
            sides: vec![Side::Free; n],
            belong: vec![Side::Free; n],
            x: vec![0.0; n],
            multipliers: vec![0.0; n],
            free_minimum: vec![0.0; n],
            set: Vec::with_capacity(n),
            right: vec![0.0; n],
            solution_of_free: vec![0.0; n],
            at_bounds: ActiveSystem::new(n),
            free: ActiveSystem::new(n),
            sum: vec![Lanes::default(); n.div_ceil(LANES)],
            wide: vec![Lanes::default(); n.div_ceil(LANES)],
            factors: vec![0.0; n * n],
            pivots: 0,
            descents: 0,
            isa: Isa::detect(),
        };
        out.factor()?;
        Ok(out)
    }

    /// Puts another H of the same size in place; the bounds that hold are kept as a guess.
    /// Allocates nothing.
    ///
    /// # Errors
    /// H is not positive definite.
    ///
    /// # Panics
    /// If H has another size.
    pub fn replace(&mut self, h: &Matrix) -> Result<(), QpError> {
        assert_eq!([h.rows(), h.columns()], [self.n; 2], "size of the cost");
        self.h.as_mut_slice().copy_from_slice(h.as_slice());
        self.factor()
    }

    fn factor(&mut self) -> Result<(), QpError> {
        let n = self.n;
        if self.h.columns() != n || !self.h.is_finite() {
            return Err(QpError::NotConvex);
        }
        self.at_bounds.forget();
        self.free.forget();
        self.factors.copy_from_slice(self.h.as_slice());
        cholesky(n, &mut self.factors, n, Pivots::LOST).map_err(|_| QpError::NotConvex)?;
        invert_cholesky(n, &self.factors, n, self.dense.as_mut_slice());
        if !self.dense.is_finite() {
            return Err(QpError::NotConvex);
        }
        for i in 0..n {
            self.dense.row(i).iter().enumerate().for_each(|(j, x)| self.inverse.set(i, j, *x));
        }
        Ok(())
    }

    /// The solution, n numbers.
    pub fn solution(&self) -> &[f64] {
        &self.x
    }

    /// Hx + g: at least 0 at lower bounds, at most 0 at upper ones, 0 elsewhere.
    pub fn multipliers(&self) -> &[f64] {
        &self.multipliers
    }

    /// How many variables are at bounds.
    pub fn active_count(&self) -> usize {
        self.sides.iter().filter(|s| **s != Side::Free).count()
    }

    /// Guesses that were solved for the last problem.
    pub fn pivots(&self) -> usize {
        self.pivots
    }

    /// Where variables are, the guess for the next problem.
    pub(crate) fn sides(&self) -> &[Side] {
        &self.sides
    }

    pub(crate) fn sides_mut(&mut self) -> &mut [Side] {
        &mut self.sides
    }

    /// Forgets which bounds held.
    pub fn forget(&mut self) {
        self.sides.fill(Side::Free);
    }

    /// Moves the guess by `count` variables towards the front, the last ones repeated: problems of
    /// a horizon that moves on.
    pub fn shift(&mut self, count: usize) {
        if count < self.n {
            self.sides.copy_within(count.., 0);
        }
    }

    /// Solves for g and bounds (infinite for none), with at most so many guesses; `go_on` is asked
    /// before each but the first. Allocates nothing.
    ///
    /// # Panics
    /// If sizes differ.
    pub fn solve(
        &mut self,
        g: &[f64],
        lower: &[f64],
        upper: &[f64],
        most: usize,
        mut go_on: impl FnMut() -> bool,
    ) -> QpStatus {
        assert_eq!([g.len(), lower.len(), upper.len()], [self.n; 3], "size of the problem");
        let ordered = lower.iter().zip(upper).all(|(l, u)| l <= u && *l < f64::INFINITY);
        let bounded = ordered && upper.iter().all(|u| *u > f64::NEG_INFINITY);
        if !bounded || !g.iter().all(|g| g.is_finite()) {
            return QpStatus::Refused;
        }
        for i in 0..self.n {
            // A guess at a bound that is not there is none.
            let there = match self.sides[i] {
                Side::Free => true,
                Side::Lower => lower[i].is_finite(),
                Side::Upper => upper[i].is_finite(),
            };
            if !there {
                self.sides[i] = Side::Free;
            }
        }
        self.inverse_times(g);
        let size = self.scale(g);
        let (mut fewest, mut grace, mut single) = (usize::MAX, GRACE, 0);
        self.pivots = 0;
        loop {
            if !self.guess(g, lower, upper) {
                return QpStatus::Refused;
            }
            self.pivots += 1;
            let (count, last) = self.judge(lower, upper, size);
            if count == 0 {
                return QpStatus::Solved;
            }
            if self.pivots >= most || !go_on() {
                for (x, (l, u)) in self.x.iter_mut().zip(lower.iter().zip(upper)) {
                    *x = x.clamp(*l, *u);
                }
                return QpStatus::Cut;
            }
            let all = if count < fewest {
                (fewest, grace) = (count, GRACE);
                true
            } else {
                grace = grace.saturating_sub(1);
                grace > 0
            };
            single = if all { 0 } else { single + 1 };
            if single > self.n {
                return self.descend(g, (lower, upper), size.1, most, go_on);
            }
            let from = if all { 0 } else { last };
            self.sides[from..].copy_from_slice(&self.belong[from..]);
        }
    }

    /// x₀ = −H⁻¹g.
    fn inverse_times(&mut self, g: &[f64]) {
        self.sum.fill(Lanes::default());
        g.iter().enumerate().for_each(|(i, g)| self.wide[i / LANES][i % LANES] = *g);
        let (rows, x, out) = (&self.inverse, &self.wide[..], &mut self.sum[..]);
        self.isa.run(Symmetric { rows, n: self.n, x, out });
        let sums = self.sum.iter().flat_map(|s| s.0);
        self.free_minimum.iter_mut().zip(sums).for_each(|(x, s)| *x = -s);
    }

    /// x and multipliers for the sides; false if numbers are not finite.
    fn guess(&mut self, g: &[f64], lower: &[f64], upper: &[f64]) -> bool {
        let (n, sides) = (self.n, &self.sides);
        let at = |i: usize| if sides[i] == Side::Lower { lower[i] } else { upper[i] };
        let few = 2 * self.active_count() <= n;
        self.set.clear();
        self.set.extend((0..n).filter(|&i| few == (self.sides[i] != Side::Free)));
        self.x.copy_from_slice(&self.free_minimum);
        self.multipliers.fill(0.0);
        let solved = if few {
            // (H⁻¹)_AA λ = b − (x₀)_A.
            self.set.iter().for_each(|&i| self.right[i] = at(i) - self.x[i]);
            let out = &mut self.multipliers;
            self.at_bounds.solve(&self.set, &self.dense, &self.right, out)
        } else {
            // H_FF x_F = −g_F − H_FA b.
            for i in 0..n {
                self.x[i] = if sides[i] == Side::Free { 0.0 } else { at(i) };
            }
            self.set.iter().for_each(|&i| self.right[i] = -g[i] - dot(self.h.row(i), &self.x));
            self.solution_of_free.fill(0.0);
            let out = &mut self.solution_of_free;
            self.free.solve(&self.set, &self.h, &self.right, out)
        };
        if !solved {
            return false;
        }
        if few {
            self.sum.fill(Lanes::default());
            let (rows, c, sum) = (&self.inverse, &self.multipliers, &mut self.sum);
            self.isa.run(AddSome { rows, some: &self.set, c, sum });
            let sums = self.sum.iter().flat_map(|s| s.0);
            self.x.iter_mut().zip(sums).for_each(|(x, s)| *x += s);
            // Exactly there.
            self.set.iter().for_each(|&i| self.x[i] = at(i));
        } else {
            self.set.iter().for_each(|&i| self.x[i] = self.solution_of_free[i]);
            for i in (0..n).filter(|&i| sides[i] != Side::Free) {
                self.multipliers[i] = g[i] + dot(self.h.row(i), &self.x);
            }
        }
        self.x.iter().chain(&self.multipliers).all(|x| x.is_finite())
    }

    /// Sizes that x and multipliers are judged by.
    pub(crate) fn scale(&self, g: &[f64]) -> (f64, f64) {
        let largest = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        (ROUNDING * largest(&self.free_minimum), ROUNDING * largest(g))
    }

    /// Where variables belong; how many contradict their sides, and the last of them.
    fn judge(
        &mut self,
        lower: &[f64],
        upper: &[f64],
        (length, force): (f64, f64),
    ) -> (usize, usize) {
        let (mut count, mut last) = (0, 0);
        let numbers = self.x.iter().zip(&self.multipliers).zip(lower.iter().zip(upper));
        let sides = self.sides.iter().zip(&mut self.belong);
        for (i, ((side, belong), ((x, y), (lower, upper)))) in sides.zip(numbers).enumerate() {
            // A variable whose bounds are one stays there.
            let movable = lower < upper;
            *belong = match side {
                Side::Free if *x < lower - length || !movable => Side::Lower,
                Side::Free if *x > upper + length => Side::Upper,
                Side::Lower if *y < -force && movable => Side::Free,
                Side::Upper if *y > force && movable => Side::Free,
                side => *side,
            };
            if belong != side {
                (count, last) = (count + 1, i);
            }
        }
        (count, last)
    }
}

/// Σ c_k row k over some rows.
struct AddSome<'a> {
    rows: &'a Rows,
    some: &'a [usize],
    c: &'a [f64],
    sum: &'a mut [Lanes],
}

impl Kernel for AddSome<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        add_some(l, self.rows, self.some, |k| self.c[k], self.sum);
    }
}

/// The product of a symmetric matrix and a vector.
struct Symmetric<'a> {
    rows: &'a Rows,
    n: usize,
    x: &'a [Lanes],
    out: &'a mut [Lanes],
}

impl Kernel for Symmetric<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        add_symmetric(l, self.rows, self.x, self.out, self.n);
    }
}
