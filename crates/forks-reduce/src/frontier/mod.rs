//! The frontier: joint covariance of the live quantities of a sweep (REDUCTION 1).
//!
//! Live quantities ("variables": six per live link, one per live joint coordinate, one per output)
//! have a compliance matrix C, which transforms like a covariance, and a free part N: columns of
//! motions that nothing has resisted so far (an infinite prior variance). Three operations exist
//! beside adding and dropping variables:
//!
//! - *consume and condition* on U x = 0 exactly: N is used up first, the rest conditions C,
//! - *inform* with an energy ½ (Rx)ᵀ Λ (Rx), Λ symmetric, not necessarily positive.
//!
//! Each operation is recorded, so that the adjoint sweep can run backwards.

mod condition;
mod inform;
mod rows;
#[cfg(test)]
mod tests;

use forks_mechanism::{lie::Mat6, linalg::Matrix};

pub(crate) use self::rows::{Rows, TwistExpression};

/// A variable's number within one sweep; it lives once.
pub(crate) type Variable = u32;

/// Below this size, relative to the unit columns it started from, a free motion counts as used up.
const FREE_TOLERANCE: f64 = 1e-9;
/// Relative size below which an eigenvalue of a constraint's covariance counts as zero: rounding of
/// the uncancelled terms.
const REDUNDANT_TOLERANCE: f64 = 1e-13;
/// Rounding errors of C after all updates so far, over the largest entry it ever had.
const NOISE: f64 = 16.0 * f64::EPSILON;
/// A null direction of the covariance of a constraint must not move anything; above this it does.
const SINGULAR_TOLERANCE: f64 = 1e-4;

/// A recorded operation; indices are variables, so that it can be undone in the adjoint sweep.
pub(crate) enum Record {
    /// x ← (1 − gain U) x.
    Consume { live: Vec<Variable>, rows: Rows, gain: Matrix },
    /// x ← x − C Rᵀ core R x, with `covariance` = R C.
    Correct { live: Vec<Variable>, rows: Rows, core: Matrix, covariance: Matrix },
    /// x ← x − gain R x; `core` is Λ R of what x is then.
    Inform { live: Vec<Variable>, rows: Rows, gain: Matrix, core: Matrix },
    /// A variable was dropped whose value is wanted: its row of C.
    Value { live: Vec<Variable>, variable: Variable, covariance: Vec<f64> },
}

/// A constraint or load made the mechanism singular: a motion with zero stiffness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Singular;

pub(crate) struct Frontier {
    live: Vec<Variable>,
    slot: Vec<u32>,
    stride: usize,
    c: Vec<f64>,
    free_count: usize,
    free: Vec<Vec<f64>>,
    peak: usize,
    largest: f64,
}

const NONE: u32 = u32::MAX;

impl Frontier {
    pub(crate) fn new(variables: usize) -> Self {
        Self {
            live: Vec::new(),
            slot: vec![NONE; variables],
            stride: 0,
            c: Vec::new(),
            free_count: 0,
            free: Vec::new(),
            peak: 0,
            largest: 0.0,
        }
    }

    /// Largest number of live variables so far.
    pub(crate) fn peak(&self) -> usize {
        self.peak
    }

    /// Largest variance that a constraint was applied to: the size of what cancels in what is left.
    pub(crate) fn largest_variance(&self) -> f64 {
        self.largest
    }

    /// Number of free motions left.
    pub(crate) fn free_count(&self) -> usize {
        self.free_count
    }

    pub(crate) fn is_live(&self, v: Variable) -> bool {
        self.slot[v as usize] != NONE
    }

    /// True if some free motion moves the variable.
    pub(crate) fn is_free(&self, v: Variable) -> bool {
        self.free[self.slot[v as usize] as usize].iter().any(|&x| x != 0.0)
    }

    /// Live variables that a free motion moves.
    pub(crate) fn free_variables(&self) -> Vec<Variable> {
        self.live.iter().copied().filter(|&v| self.is_free(v)).collect()
    }

    /// The live variables, in slot order.
    pub(crate) fn live_variables(&self) -> &[Variable] {
        &self.live
    }

    /// Number of variables that exist, live or not.
    pub(crate) fn variable_count(&self) -> usize {
        self.slot.len()
    }

    /// A new variable number (for outputs).
    pub(crate) fn new_variable(&mut self) -> Variable {
        self.slot.push(NONE);
        (self.slot.len() - 1) as Variable
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.c[i * self.stride + j]
    }

    /// Compliance between two live variables.
    pub(crate) fn covariance(&self, a: Variable, b: Variable) -> f64 {
        self.at(self.slot[a as usize] as usize, self.slot[b as usize] as usize)
    }

    /// Makes a variable live; its row and column of C are still to be written.
    fn push(&mut self, v: Variable) -> usize {
        let n = self.live.len();
        if n == self.stride {
            self.grow();
        }
        self.slot[v as usize] = n as u32;
        self.live.push(v);
        self.free.push(vec![0.0; self.free_count]);
        self.peak = self.peak.max(self.live.len());
        n
    }

    /// Makes a variable live that nothing moves.
    fn push_zero(&mut self, v: Variable) -> usize {
        let n = self.push(v);
        let s = self.stride;
        self.c[n * s..n * s + n + 1].fill(0.0);
        (0..n).for_each(|x| self.c[x * s + n] = 0.0);
        n
    }

    fn grow(&mut self) {
        let (old, n) = (self.stride, self.live.len());
        let new = (2 * old).max(32);
        let mut c = vec![0.0; new * new];
        for i in 0..n {
            c[i * new..i * new + n].copy_from_slice(&self.c[i * old..i * old + n]);
        }
        self.c = c;
        self.stride = new;
    }

    /// Adds independent variables with their covariance (n×n) and free columns (n×k).
    pub(crate) fn add_independent(
        &mut self,
        variables: &[Variable],
        covariance: &Matrix,
        free: &Matrix,
    ) {
        self.add_free_columns(free.columns());
        let start = self.free_count - free.columns();
        let first = self.live.len();
        variables.iter().for_each(|&v| {
            self.push_zero(v);
        });
        for i in 0..variables.len() {
            let row = (first + i) * self.stride + first;
            self.c[row..row + variables.len()].copy_from_slice(covariance.row(i));
            self.free[first + i][start..].copy_from_slice(free.row(i));
        }
    }

    fn add_free_columns(&mut self, count: usize) {
        self.free_count += count;
        if count > 0 {
            let n = self.free_count;
            self.free.iter_mut().for_each(|f| f.resize(n, 0.0));
        }
    }

    /// Adds an independent covariance to live variables.
    pub(crate) fn add_covariance(&mut self, variables: &[Variable; 6], covariance: &Mat6) {
        for (&a, row) in variables.iter().zip(&covariance.rows) {
            for (&b, x) in variables.iter().zip(row) {
                let at =
                    self.slot[a as usize] as usize * self.stride + self.slot[b as usize] as usize;
                self.c[at] += x;
            }
        }
    }

    /// Adds a link's twist, an expression in live variables.
    pub(crate) fn add_dependent(&mut self, twist: [Variable; 6], expression: &TwistExpression) {
        let old = self.live.len();
        twist.iter().for_each(|&v| {
            self.push(v);
        });
        let mut slots = [0; 12];
        for (slot, &v) in slots.iter_mut().zip(expression.sources()) {
            *slot = self.slot[v as usize] as usize;
        }
        let s = self.stride;
        let (before, new) = self.c.split_at_mut(old * s);
        for i in 0..6 {
            // C_new,* = weights C_source,*
            let row = &mut new[i * s..i * s + old];
            row.fill(0.0);
            for (&w, &p) in expression.row(i).iter().zip(&slots) {
                add_scaled(row, w, &before[p * s..p * s + old]);
            }
            for x in 0..old {
                before[x * s + old + i] = new[i * s + x];
            }
        }
        for i in 0..6 {
            for j in 0..=i {
                // C_new,new = C_new,source weightsᵀ
                let row = &new[i * s..];
                let products = expression.row(j).iter().zip(&slots).map(|(&w, &p)| w * row[p]);
                let sum: f64 = products.sum();
                new[i * s + old + j] = sum;
                new[j * s + old + i] = sum;
            }
        }
        if self.free_count > 0 {
            let (before, new) = self.free.split_at_mut(old);
            for (i, free) in new.iter_mut().enumerate() {
                for (&w, &p) in expression.row(i).iter().zip(&slots) {
                    add_scaled(free, w, &before[p]);
                }
            }
        }
    }

    /// y ← y + weight · x; y is zero before the first time.
    pub(crate) fn add_multiple(&mut self, y: Variable, weight: f64, x: Variable) {
        if !self.is_live(y) {
            self.push_zero(y);
        }
        let (y, x) = (self.slot[y as usize] as usize, self.slot[x as usize] as usize);
        let variance = self.at(y, y) + weight * (2.0 * self.at(x, y) + weight * self.at(x, x));
        for k in (0..self.live.len()).filter(|&k| k != y) {
            let sum = self.at(y, k) + weight * self.at(x, k);
            self.c[y * self.stride + k] = sum;
            self.c[k * self.stride + y] = sum;
        }
        self.c[y * self.stride + y] = variance;
        let source = std::mem::take(&mut self.free[x]);
        add_scaled(&mut self.free[y], weight, &source);
        self.free[x] = source;
    }

    /// Drops a variable.
    pub(crate) fn drop_variable(&mut self, v: Variable) {
        let i = self.slot[v as usize] as usize;
        let last = self.live.len() - 1;
        let s = self.stride;
        if i != last {
            let moved = self.live[last];
            self.c.copy_within(last * s..=last * s + last, i * s);
            for x in 0..last {
                self.c[x * s + i] = self.c[x * s + last];
            }
            self.c[i * s + i] = self.c[last * s + last];
            self.slot[moved as usize] = i as u32;
        }
        self.live.swap_remove(i);
        self.free.swap_remove(i);
        self.slot[v as usize] = NONE;
    }

    /// Records the row of C of a variable whose value the adjoint sweep has to give.
    pub(crate) fn value_record(&self, v: Variable) -> Record {
        let i = self.slot[v as usize] as usize;
        let covariance = (0..self.live.len()).map(|x| self.at(i, x)).collect();
        Record::Value { live: self.live.clone(), variable: v, covariance }
    }

    fn slots(&self, rows: &Rows) -> Vec<usize> {
        rows.variables.iter().map(|&v| self.slot[v as usize] as usize).collect()
    }

    /// R C for all live variables: rows × live.
    fn rows_covariance(&self, rows: &Rows) -> Matrix {
        let slots = self.slots(rows);
        let n = self.live.len();
        let mut out = Matrix::zeros(rows.matrix.rows(), n);
        for i in 0..rows.matrix.rows() {
            let o = out.row_mut(i);
            for (&w, &p) in rows.matrix.row(i).iter().zip(&slots) {
                if w != 0.0 {
                    let c = &self.c[p * self.stride..p * self.stride + n];
                    o.iter_mut().zip(c).for_each(|(o, c)| *o += w * c);
                }
            }
        }
        out
    }

    /// `(R C) Rᵀ` from R C, symmetrised.
    fn inner(&self, rows: &Rows, covariance: &Matrix) -> Matrix {
        let slots = self.slots(rows);
        let m = rows.matrix.rows();
        Matrix::from_fn(m, m, |i, j| {
            slots.iter().zip(rows.matrix.row(j)).map(|(&p, &w)| covariance[(i, p)] * w).sum::<f64>()
        })
        .symmetric_part()
    }

    /// Size of the terms that cancel in the diagonal of R C Rᵀ.
    fn uncancelled(&self, rows: &Rows) -> Vec<f64> {
        let slots = self.slots(rows);
        (0..rows.matrix.rows())
            .map(|i| {
                slots
                    .iter()
                    .zip(rows.matrix.row(i))
                    .map(|(&p, &w)| w * w * self.at(p, p).abs())
                    .sum()
            })
            .collect()
    }

    /// True if no free motion moves any of the expressions' variables.
    pub(crate) fn is_resisted(&self, rows: &Rows) -> bool {
        self.free_count == 0
            || rows
                .variables
                .iter()
                .all(|&v| self.free[self.slot[v as usize] as usize].iter().all(|&x| x == 0.0))
    }

    /// R N: rows × free motions.
    fn moved(&self, rows: &Rows) -> Matrix {
        let slots = self.slots(rows);
        Matrix::from_fn(rows.matrix.rows(), self.free_count, |i, k| {
            slots.iter().zip(rows.matrix.row(i)).map(|(&p, &w)| w * self.free[p][k]).sum()
        })
    }

    /// The free motions from now on.
    fn keep_free(&mut self, columns: &Matrix) {
        self.free_count = columns.columns();
        for (x, free) in self.free.iter_mut().enumerate() {
            let size = columns.row(x).iter().fold(0.0f64, |a, x| a.max(x.abs()));
            free.clear();
            free.extend(
                columns.row(x).iter().map(|&f| if size < FREE_TOLERANCE { 0.0 } else { f }),
            );
        }
    }

    fn note_largest(&mut self) {
        self.largest =
            (0..self.live.len()).map(|x| self.at(x, x).abs()).fold(self.largest, f64::max);
    }

    /// C ← C − (R C)ᵀ core (R C), recorded.
    fn correct(&mut self, rows: Rows, core: Matrix, covariance: Matrix, tape: &mut Vec<Record>) {
        self.subtract_product(&covariance, &core.mul(&covariance));
        tape.push(Record::Correct { live: self.live.clone(), rows, core, covariance });
    }

    /// C ← C − aᵀ b for a symmetric product.
    fn subtract_product(&mut self, a: &Matrix, b: &Matrix) {
        for x in 0..self.live.len() {
            for y in 0..=x {
                let mut sum = self.at(x, y);
                for i in 0..a.rows() {
                    sum -= a[(i, x)] * b[(i, y)];
                }
                self.c[x * self.stride + y] = sum;
                self.c[y * self.stride + x] = sum;
            }
        }
    }
}

/// x ← x + s y.
pub(crate) fn add_scaled(x: &mut [f64], s: f64, y: &[f64]) {
    if s != 0.0 {
        x.iter_mut().zip(y).for_each(|(x, y)| *x += s * y);
    }
}
