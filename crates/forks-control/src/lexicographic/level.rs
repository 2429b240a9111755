//! The optimum of one level among the optima of the levels before it.
//!
//! ½ Σ w² excess² is convex, once differentiable and piecewise quadratic. A step goes toward the
//! least value of the quadratic piece at x, within the rows that are held, as far as the function
//! falls and no kept row is in the way; where it does not fall any more, multipliers say which held
//! row to let go.

use super::{
    basis::{Basis, Fit, axpy, dot, norm, turned},
    problem::{Level, Problem},
    report::Certificate,
    search::LineSearch,
};

/// Unit rows that are no longer than this outside of others repeat them.
pub(super) const REPEATED: f64 = 1e-9;
/// Share of a sum's terms that is taken for rounding.
const ROUNDING: f64 = 1e-14;
/// Multipliers below this share of the gradient's terms are none.
const MULTIPLIER: f64 = 1e-11;

/// A row of a level before that stays within bounds that are attained.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) level: usize,
    pub(super) row: usize,
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// 1 and −1: held at the upper and the lower bound.
    pub(super) side: i8,
    /// Part of the equations: it cannot be let go without loss of a level before.
    pub(super) fixed: bool,
}

/// Memory of a level's search.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    /// Span of the rows that do not move.
    pub(super) equations: Basis,
    pub(super) kept: Vec<Kept>,
    held: Vec<usize>,
    span: Basis,
    free: Basis,
    rows: Basis,
    units: Vec<f64>,
    turned: Vec<f64>,
    columns: Vec<f64>,
    right: Vec<f64>,
    gradient: Vec<f64>,
    step: Vec<f64>,
    fit: Fit,
    line: LineSearch,
}

impl Search {
    /// Improves `x` to the optimum of `level`; false at the limit of iterations.
    pub(super) fn run(
        &mut self,
        problem: &Problem,
        level: usize,
        x: &mut [f64],
        most: usize,
        certificate: &mut Certificate,
    ) -> bool {
        let rows = &problem.levels()[level];
        self.hold(problem);
        let (mut exact, mut stalls) = (false, 0);
        for iteration in 0..most {
            certificate.iterations = iteration;
            let terms = self.differentiate(rows, x);
            let small = self.slope() <= ROUNDING * terms;
            if exact || small || self.at_rest(rows, x) {
                match self.wrong(problem, terms, stalls > 2 * self.kept.len(), certificate) {
                    None => return true,
                    Some(at) => {
                        self.kept[at].side = 0;
                        self.hold(problem);
                        exact = false;
                        continue;
                    }
                }
            }
            self.newton(rows, x);
            let (reach, blocking) = self.reach(problem, x);
            let t = self.line.least(rows, x, &self.step, reach.min(1.0));
            exact = t == 1.0 && !self.piece_changes(rows, x);
            axpy(t, &self.step, x);
            stalls = if t > 0.0 { 0 } else { stalls + 1 };
            if let (Some((at, side)), true) = (blocking, t >= reach) {
                self.kept[at].side = side;
                self.hold(problem);
                exact = false;
            }
        }
        certificate.iterations = most;
        false
    }

    /// Orthonormal bases of what is held and what is free; rows that repeat others are let go.
    fn hold(&mut self, problem: &Problem) {
        let n = problem.unknowns();
        let Self { equations, kept, held, span, units, .. } = self;
        span.clear(n);
        span.vectors.extend_from_slice(&equations.vectors);
        held.clear();
        for (at, k) in kept.iter_mut().enumerate().filter(|(_, k)| k.side != 0 && !k.fixed) {
            unit(problem.levels()[k.level].row(k.row), units);
            let before = span.count();
            span.extend(units, REPEATED);
            if span.count() > before {
                held.push(at);
            } else {
                k.side = 0;
            }
        }
        self.free.complement(&self.span);
    }

    /// The gradient of ½ Σ w² excess², and the sum of its terms' sizes: what it is relative to, as
    /// an excess is the difference of them.
    fn differentiate(&mut self, rows: &Level, x: &[f64]) -> f64 {
        self.gradient.clear();
        self.gradient.resize(x.len(), 0.0);
        let mut terms = 0.0;
        for i in 0..rows.len() {
            let force = rows.weight[i].powi(2) * rows.excess(i, x);
            axpy(force, rows.row(i), &mut self.gradient);
            terms += rows.weight[i].powi(2) * rows.size(i, x) * norm(rows.row(i));
        }
        terms
    }

    /// Length of the gradient along free directions.
    fn slope(&self) -> f64 {
        let n = self.free.length.max(1);
        let along = self.free.vectors.chunks_exact(n).map(|v| dot(v, &self.gradient).powi(2));
        along.sum::<f64>().sqrt()
    }

    /// True if no row is beyond its bounds by more than rounding.
    fn at_rest(&self, rows: &Level, x: &[f64]) -> bool {
        (0..rows.len()).all(|i| rows.excess(i, x).abs() <= ROUNDING * rows.size(i, x))
    }

    /// The shortest step to the least value of the quadratic piece at x, along free directions.
    fn newton(&mut self, rows: &Level, x: &[f64]) {
        let Self { free, rows: basis, units, turned: small, columns, right, step, fit, .. } = self;
        step.clear();
        units.clear();
        right.clear();
        step.resize(x.len(), 0.0);
        basis.clear(free.count());
        // Rows of the piece: what is beyond its bounds, and equations.
        for i in (0..rows.len()).filter(|&i| counts(rows, i, x)) {
            let length = norm(rows.row(i));
            if length > 0.0 {
                let start = units.len();
                units.extend_from_slice(rows.row(i));
                units[start..].iter_mut().for_each(|u| *u /= length);
                right.push(-rows.weight[i] * rows.excess(i, x));
            }
        }
        turned(units, free, small);
        basis.extend(small, REPEATED);
        // Weighted rows by directions that they see.
        let count = basis.count();
        columns.clear();
        for v in basis.vectors.chunks_exact(basis.length.max(1)) {
            let seen = (0..rows.len()).filter(|&i| counts(rows, i, x) && norm(rows.row(i)) > 0.0);
            for (k, i) in seen.enumerate() {
                let row = &small[k * basis.length..(k + 1) * basis.length];
                columns.push(rows.weight[i] * norm(rows.row(i)) * dot(row, v));
            }
        }
        if count == 0 || right.is_empty() {
            return;
        }
        let y = fit.solve(columns, right);
        for (y, v) in y.iter().zip(basis.vectors.chunks_exact(basis.length)) {
            for (v, z) in v.iter().zip(free.vectors.chunks_exact(free.length)) {
                axpy(y * v, z, step);
            }
        }
    }

    /// True if rows enter or leave the piece along the whole step.
    fn piece_changes(&self, rows: &Level, x: &[f64]) -> bool {
        (0..rows.len()).filter(|&i| rows.lower[i] < rows.upper[i]).any(|i| {
            let before = dot(rows.row(i), x);
            let after = before + dot(rows.row(i), &self.step);
            side(rows, i, before) != side(rows, i, after)
        })
    }

    /// How far along the step the kept rows allow to go, and the first in the way.
    fn reach(&self, problem: &Problem, x: &[f64]) -> (f64, Option<(usize, i8)>) {
        let mut first = (f64::INFINITY, None);
        let length = norm(&self.step);
        for (at, k) in self.kept.iter().enumerate().filter(|(_, k)| k.side == 0 && !k.fixed) {
            let row = problem.levels()[k.level].row(k.row);
            let rate = dot(row, &self.step);
            if rate.abs() <= 1e-12 * norm(row) * length {
                continue;
            }
            let (bound, side) = if rate > 0.0 { (k.upper, 1) } else { (k.lower, -1) };
            let t = ((bound - dot(row, x)) / rate).max(0.0);
            if t < first.0 {
                first = (t, Some((at, side)));
            }
        }
        first
    }

    /// The held row with the multiplier of the wrong sign, the largest or (`lowest`) the first.
    fn wrong(
        &mut self,
        problem: &Problem,
        terms: f64,
        lowest: bool,
        certificate: &mut Certificate,
    ) -> Option<usize> {
        let left = self.slope();
        self.multipliers(problem);
        let share = |y: f64| if terms > 0.0 { y / terms } else { 0.0 };
        let mut worst = (MULTIPLIER, None);
        let mut dual: f64 = 0.0;
        for (&at, &y) in self.held.iter().zip(&self.fit.x) {
            // g = Σ y c, and it must not help to move inward.
            let beyond = share(y * f64::from(self.kept[at].side));
            dual = dual.max(beyond);
            if beyond > worst.0 && !(lowest && worst.1.is_some()) {
                worst = (beyond, Some(at));
            }
        }
        certificate.stationarity = share(left);
        certificate.dual = dual;
        worst.1
    }

    /// Multipliers of the held rows per unit row, into `fit.x`.
    fn multipliers(&mut self, problem: &Problem) {
        let Self { equations, kept, held, units, columns, right, gradient, fit, .. } = self;
        let project = |w: &mut [f64]| {
            for _ in 0..2 {
                for v in equations.vectors.chunks_exact(w.len().max(1)) {
                    axpy(-dot(v, w), v, w);
                }
            }
        };
        right.clear();
        right.extend_from_slice(gradient);
        project(right);
        columns.clear();
        for &at in held.iter() {
            unit(problem.levels()[kept[at].level].row(kept[at].row), units);
            project(units);
            columns.extend_from_slice(units);
        }
        fit.solve(columns, right);
    }

    /// Makes the optimum of a level a condition of the ones after it.
    pub(super) fn keep(&mut self, problem: &Problem, level: usize, x: &[f64], violated: f64) {
        let rows = &problem.levels()[level];
        let terms = self.differentiate(rows, x);
        self.multipliers(problem);
        for (k, &at) in self.held.iter().enumerate() {
            // Where a row pushes back, what it pushes against would change without it.
            if self.fit.x[k].abs() > 1e-9 * terms && terms > 0.0 {
                self.kept[at].fixed = true;
                let Kept { level, row, .. } = self.kept[at];
                unit(problem.levels()[level].row(row), &mut self.units);
                self.equations.extend(&self.units, REPEATED);
            }
        }
        self.right.clear();
        for i in 0..rows.len() {
            let (value, excess) = (dot(rows.row(i), x), rows.excess(i, x));
            let is_equation = rows.lower[i] == rows.upper[i];
            if is_equation || excess.abs() > violated * rows.size(i, x) {
                unit(rows.row(i), &mut self.units);
                self.right.extend_from_slice(&self.units);
            } else {
                let (lower, upper) = (rows.lower[i].min(value), rows.upper[i].max(value));
                self.kept.push(Kept { level, row: i, lower, upper, side: 0, fixed: false });
            }
        }
        self.equations.extend(&self.right, REPEATED);
    }

    #[cfg(test)]
    pub(super) fn memory(&self) -> Vec<(usize, usize)> {
        let numbers = [&self.units, &self.turned, &self.columns, &self.right, &self.gradient];
        let mut out: Vec<(usize, usize)> =
            numbers.iter().map(|v| (v.as_ptr() as usize, v.capacity())).collect();
        out.push((self.step.as_ptr() as usize, self.step.capacity()));
        out.push((self.kept.as_ptr() as usize, self.kept.capacity()));
        out.push((self.held.as_ptr() as usize, self.held.capacity()));
        let bases = [&self.equations, &self.span, &self.free, &self.rows];
        out.extend(bases.iter().flat_map(|b| b.memory()));
        out.extend(self.fit.memory());
        out.extend(self.line.memory());
        out
    }

    /// Largest excess of kept rows beyond what is attained, over the sizes of their terms.
    pub(super) fn leak(&self, problem: &Problem, x: &[f64]) -> f64 {
        let of = |k: &Kept| {
            let level = &problem.levels()[k.level];
            let beyond = super::problem::beyond(dot(level.row(k.row), x), k.lower, k.upper).abs();
            let size = level.size(k.row, x);
            if size > 0.0 { beyond / size } else { 0.0 }
        };
        self.kept.iter().map(of).fold(0.0, f64::max)
    }
}

/// True for rows of the quadratic piece at x.
fn counts(rows: &Level, i: usize, x: &[f64]) -> bool {
    rows.lower[i] == rows.upper[i] || rows.excess(i, x) != 0.0
}

/// On which side of its bounds a value is.
fn side(rows: &Level, i: usize, value: f64) -> i8 {
    i8::from(value > rows.upper[i]) - i8::from(value < rows.lower[i])
}

/// A row of length 1, or zeros.
fn unit(row: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.extend_from_slice(row);
    let length = norm(row);
    if length > 0.0 {
        out.iter_mut().for_each(|x| *x /= length);
    }
}
