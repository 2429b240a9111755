//! The frontier: joint covariance of the live quantities of a sweep (DESIGN: compliance behaves like
//! a covariance).
//!
//! Live quantities ("variables": six per live link, one per live joint coordinate, one per output) have
//! a compliance matrix C, which transforms like a covariance, and a free part N: columns of motions
//! that nothing has resisted so far (an infinite prior variance). Three operations exist beside adding
//! and dropping variables:
//!
//! - *consume and condition* on U x = 0 exactly: N is used up first, the rest conditions C,
//! - *inform* with an energy ½ (Rx)ᵀ Λ (Rx), Λ symmetric, not necessarily positive.
//!
//! Each operation is recorded, so that the adjoint sweep can run backwards.

use forks_mechanism::dense::{self, Matrix};

use crate::small::pseudo_inverse;

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

/// Rows of a linear expression in a few variables.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// The variables.
    pub(crate) variables: Vec<Variable>,
    /// One row per expression, one column per variable.
    pub(crate) matrix: Matrix,
}

/// A recorded operation; indices are variables, so that it can be undone in the adjoint sweep.
pub(crate) enum Record {
    /// x ← (1 − gain U) x.
    Consume { live: Vec<Variable>, rows: Rows, gain: Matrix },
    /// x ← x − C Rᵀ core R x, with `covariance` = R C.
    Correct { live: Vec<Variable>, rows: Rows, core: Matrix, covariance: Matrix },
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

    /// Live variables that a free motion moves.
    pub(crate) fn free_variables(&self) -> Vec<Variable> {
        self.live.iter().copied().filter(|&v| self.is_free(v)).collect()
    }

    /// True if some free motion moves the variable.
    pub(crate) fn is_free(&self, v: Variable) -> bool {
        self.free[self.slot[v as usize] as usize].iter().any(|&x| x != 0.0)
    }

    /// A new variable number (for noise and outputs).
    pub(crate) fn new_variable(&mut self) -> Variable {
        self.slot.push(NONE);
        (self.slot.len() - 1) as Variable
    }

    #[inline]
    fn at(&self, i: usize, j: usize) -> f64 {
        self.c[i * self.stride + j]
    }

    /// Compliance between two live variables.
    pub(crate) fn covariance(&self, a: Variable, b: Variable) -> f64 {
        self.at(self.slot[a as usize] as usize, self.slot[b as usize] as usize)
    }

    fn push(&mut self, v: Variable) -> usize {
        let n = self.live.len();
        if n == self.stride {
            self.grow();
        }
        let s = self.stride;
        self.c[n * s..n * s + n + 1].fill(0.0);
        for i in 0..n {
            self.c[i * s + n] = 0.0;
        }
        self.slot[v as usize] = n as u32;
        self.live.push(v);
        self.free.push(vec![0.0; self.free_count]);
        self.peak = self.peak.max(self.live.len());
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
        let slots: Vec<usize> = variables.iter().map(|&v| self.push(v)).collect();
        for (i, &a) in slots.iter().enumerate() {
            for (j, &b) in slots.iter().enumerate() {
                self.c[a * self.stride + b] = covariance[(i, j)];
            }
            for k in 0..free.columns() {
                self.free[a][start + k] = free[(i, k)];
            }
        }
    }

    fn add_free_columns(&mut self, count: usize) {
        self.free_count += count;
        if count > 0 {
            let n = self.free_count;
            self.free.iter_mut().for_each(|f| f.resize(n, 0.0));
        }
    }

    /// Adds variables that are linear expressions of live ones.
    pub(crate) fn add_dependent(&mut self, variables: &[Variable], rows: &Rows) {
        let sources: Vec<usize> =
            rows.variables.iter().map(|&v| self.slot[v as usize] as usize).collect();
        let old = self.live.len();
        let slots: Vec<usize> = variables.iter().map(|&v| self.push(v)).collect();
        let s = self.stride;
        for (i, &a) in slots.iter().enumerate() {
            let row = rows.matrix.row(i);
            for x in 0..old {
                let mut sum = 0.0;
                for (&w, &p) in row.iter().zip(&sources) {
                    sum += w * self.c[p * s + x];
                }
                self.c[a * s + x] = sum;
                self.c[x * s + a] = sum;
            }
            let mut free = std::mem::take(&mut self.free[a]);
            for (&w, &p) in row.iter().zip(&sources) {
                if w != 0.0 {
                    free.iter_mut().zip(&self.free[p]).for_each(|(f, g)| *f += w * g);
                }
            }
            self.free[a] = free;
        }
        // Among the new variables: rows C_new,source rowsᵀ.
        for (i, &a) in slots.iter().enumerate() {
            for (j, &b) in slots.iter().enumerate().take(i + 1) {
                let mut sum = 0.0;
                for (&w, &p) in rows.matrix.row(j).iter().zip(&sources) {
                    sum += w * self.c[a * s + p];
                }
                self.c[a * s + b] = sum;
                self.c[b * s + a] = sum;
            }
        }
    }

    /// Drops a variable.
    pub(crate) fn drop_variable(&mut self, v: Variable) {
        let i = self.slot[v as usize] as usize;
        let last = self.live.len() - 1;
        let s = self.stride;
        if i != last {
            let moved = self.live[last];
            for x in 0..=last {
                self.c[i * s + x] = self.c[last * s + x];
            }
            for x in 0..=last {
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
            || rows.variables.iter().all(|&v| {
                self.free[self.slot[v as usize] as usize].iter().all(|&x| x == 0.0)
            })
    }

    /// Conditions on the expressions being zero, exactly: free motions are used up first.
    pub(crate) fn condition(
        &mut self,
        rows: Rows,
        tape: &mut Vec<Record>,
    ) -> Result<(), Singular> {
        let rest = if self.is_resisted(&rows) { rows } else { self.consume(rows, tape) };
        if rest.matrix.rows() == 0 {
            return Ok(());
        }
        let covariance = self.rows_covariance(&rest);
        self.note_largest();
        let s = self.inner(&rest, &covariance);
        let scale = self.uncancelled(&rest);
        let n = self.live.len() as f64;
        let p = pseudo_inverse(&s, &scale, n * REDUNDANT_TOLERANCE, n * NOISE * self.largest);
        self.check_null_directions(&p.null, &covariance)?;
        self.correct(rest, p.inverse, covariance, tape);
        Ok(())
    }

    fn note_largest(&mut self) {
        self.largest =
            (0..self.live.len()).map(|x| self.at(x, x).abs()).fold(self.largest, f64::max);
    }

    /// A redundant row moves nothing; a row of zero variance that does move something is a motion of
    /// zero stiffness (possible at loaded poses only).
    fn check_null_directions(&self, null: &Matrix, covariance: &Matrix) -> Result<(), Singular> {
        let largest = self.largest;
        for k in 0..null.columns() {
            for x in 0..self.live.len() {
                let moved: f64 = (0..null.rows()).map(|i| null[(i, k)] * covariance[(i, x)]).sum();
                // Cauchy–Schwarz for a positive C: moved² ≤ (null variance)·C_xx, zero to rounding.
                if moved.abs() > SINGULAR_TOLERANCE * largest.sqrt() {
                    return Err(Singular);
                }
            }
        }
        Ok(())
    }

    /// Uses up free motions with the constraint; returns the expressions that are left to condition C.
    ///
    /// With N_y = U N of rank ρ: gain = N N_y⁺, C ← (1 − gain U) C (1 − gain U)ᵀ, N ← N null(N_y).
    /// This is the limit of conditioning C + κ N Nᵀ for κ → ∞.
    fn consume(&mut self, rows: Rows, tape: &mut Vec<Record>) -> Rows {
        let slots = self.slots(&rows);
        let (m, z, n) = (rows.matrix.rows(), self.free_count, self.live.len());
        let ny = Matrix::from_fn(m, z, |i, k| {
            slots.iter().zip(rows.matrix.row(i)).map(|(&p, &w)| w * self.free[p][k]).sum()
        });
        self.note_largest();
        let Some(d) = dense::full_svd(&ny) else { return rows };
        let rank = d.s.iter().filter(|&&s| s > FREE_TOLERANCE).count();
        if rank == 0 {
            return rows;
        }
        // N_y⁺ (z × m), then the gain N N_y⁺ (n × m).
        let pinv = Matrix::from_fn(z, m, |k, i| {
            (0..rank).map(|r| d.v[(k, r)] * d.u[(i, r)] / d.s[r]).sum()
        });
        let gain = Matrix::from_fn(n, m, |x, i| (0..z).map(|k| self.free[x][k] * pinv[(k, i)]).sum());
        let covariance = self.rows_covariance(&rows);
        let inner = self.inner(&rows, &covariance);
        self.congruence_update(&gain, &covariance, &inner);
        // Keep the free motions that the constraint does not touch.
        for f in &mut self.free {
            let kept: Vec<f64> = (rank..z)
                .map(|c| (0..z).map(|k| f[k] * d.v[(k, c)]).sum::<f64>())
                .collect();
            let size = kept.iter().fold(0.0f64, |a, x| a.max(x.abs()));
            *f = if size < FREE_TOLERANCE { vec![0.0; z - rank] } else { kept };
        }
        self.free_count = z - rank;
        let rest = Rows {
            variables: rows.variables.clone(),
            matrix: Matrix::from_fn(m - rank, rows.variables.len(), |i, p| {
                (0..m).map(|a| d.u[(a, rank + i)] * rows.matrix[(a, p)]).sum()
            }),
        };
        tape.push(Record::Consume { live: self.live.clone(), rows, gain });
        rest
    }

    /// C ← C − gain (UC) − (UC)ᵀ gainᵀ + gain (U C Uᵀ) gainᵀ.
    fn congruence_update(&mut self, gain: &Matrix, covariance: &Matrix, inner: &Matrix) {
        let (n, m) = (self.live.len(), gain.columns());
        let half = gain.mul(inner);
        for x in 0..n {
            for y in 0..=x {
                let mut sum = self.at(x, y);
                for i in 0..m {
                    sum -= gain[(x, i)] * covariance[(i, y)] + gain[(y, i)] * covariance[(i, x)];
                    sum += half[(x, i)] * gain[(y, i)];
                }
                self.c[x * self.stride + y] = sum;
                self.c[y * self.stride + x] = sum;
            }
        }
    }

    /// C ← C − (R C)ᵀ core (R C), recorded.
    fn correct(&mut self, rows: Rows, core: Matrix, covariance: Matrix, tape: &mut Vec<Record>) {
        let (n, m) = (self.live.len(), core.rows());
        let half = core.mul(&covariance);
        for x in 0..n {
            for y in 0..=x {
                let mut sum = self.at(x, y);
                for i in 0..m {
                    sum -= covariance[(i, x)] * half[(i, y)];
                }
                self.c[x * self.stride + y] = sum;
                self.c[y * self.stride + x] = sum;
            }
        }
        tape.push(Record::Correct { live: self.live.clone(), rows, core, covariance });
    }

    /// Adds the energy ½ (Rx)ᵀ Λ (Rx) to expressions that no free motion moves:
    /// C ← C − C Rᵀ (1 + Λ R C Rᵀ)⁻¹ Λ R C.
    pub(crate) fn inform(
        &mut self,
        rows: Rows,
        lambda: &Matrix,
        tape: &mut Vec<Record>,
    ) -> Result<(), Singular> {
        let covariance = self.rows_covariance(&rows);
        self.note_largest();
        let s = self.inner(&rows, &covariance);
        let m = lambda.rows();
        let mut system = lambda.mul(&s);
        for i in 0..m {
            system[(i, i)] += 1.0;
        }
        let core = solve_small(&system, lambda).ok_or(Singular)?.symmetric_part();
        self.correct(rows, core, covariance, tape);
        Ok(())
    }

    /// The same for expressions that free motions move: Rx is made equal to independent noise of
    /// covariance Λ⁻¹, which works for Λ of either sign.
    pub(crate) fn inform_free(
        &mut self,
        rows: Rows,
        lambda: &Matrix,
        tape: &mut Vec<Record>,
    ) -> Result<(), Singular> {
        let (values, vectors) = crate::small::jacobi_eigen(lambda);
        let top = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let kept: Vec<usize> =
            (0..values.len()).filter(|&k| values[k].abs() > 1e-13 * top).collect();
        let noise: Vec<Variable> = kept.iter().map(|_| self.new_variable()).collect();
        let covariance = Matrix::from_fn(kept.len(), kept.len(), |i, j| {
            if i == j { 1.0 / values[kept[i]] } else { 0.0 }
        });
        self.add_independent(&noise, &covariance, &Matrix::zeros(kept.len(), 0));
        let mut variables = rows.variables.clone();
        variables.extend(&noise);
        let width = rows.variables.len();
        let matrix = Matrix::from_fn(kept.len(), variables.len(), |i, p| {
            if p < width {
                (0..rows.matrix.rows())
                    .map(|a| vectors[(a, kept[i])] * rows.matrix[(a, p)])
                    .sum()
            } else if p - width == i {
                -1.0
            } else {
                0.0
            }
        });
        self.condition(Rows { variables, matrix }, tape)?;
        for v in noise {
            self.drop_variable(v);
        }
        Ok(())
    }
}

/// Gaussian elimination with partial pivoting; `None` where a pivot vanishes to rounding.
fn solve_small(a: &Matrix, b: &Matrix) -> Option<Matrix> {
    let (n, k) = (a.rows(), b.columns());
    let (mut a, mut b) = (a.clone(), b.clone());
    let scale = a.max_abs();
    for p in 0..n {
        let best = (p..n).max_by(|&i, &j| a[(i, p)].abs().total_cmp(&a[(j, p)].abs()))?;
        if a[(best, p)].is_nan() || a[(best, p)].abs() <= 1e-14 * scale {
            return None;
        }
        for j in 0..n {
            let t = a[(p, j)];
            a[(p, j)] = a[(best, j)];
            a[(best, j)] = t;
        }
        for j in 0..k {
            let t = b[(p, j)];
            b[(p, j)] = b[(best, j)];
            b[(best, j)] = t;
        }
        for i in 0..n {
            if i != p && a[(i, p)] != 0.0 {
                let f = a[(i, p)] / a[(p, p)];
                for j in p..n {
                    a[(i, j)] -= f * a[(p, j)];
                }
                for j in 0..k {
                    b[(i, j)] -= f * b[(p, j)];
                }
            }
        }
    }
    for i in 0..n {
        for j in 0..k {
            b[(i, j)] /= a[(i, i)];
        }
    }
    Some(b)
}

impl Frontier {
    /// Adds an independent covariance to live variables.
    pub(crate) fn add_covariance(&mut self, variables: &[Variable], covariance: &[[f64; 6]; 6]) {
        for (i, &a) in variables.iter().enumerate() {
            let a = self.slot[a as usize] as usize;
            for (j, &b) in variables.iter().enumerate() {
                let b = self.slot[b as usize] as usize;
                self.c[a * self.stride + b] += covariance[i][j];
            }
        }
    }
}

impl Frontier {
    /// The live variables, in slot order.
    pub(crate) fn live_variables(&self) -> &[Variable] {
        &self.live
    }
}

impl Frontier {
    /// Number of variables that exist, live or not.
    pub(crate) fn variable_count(&self) -> usize {
        self.slot.len()
    }
}
