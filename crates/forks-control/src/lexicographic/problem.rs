//! The rows of a problem.

use super::reflectors::{dot, norm};

/// Why a row is refused; numbers count from zero.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// A row of another length.
    #[error("row {row} has {found} coefficients, the problem has {expected} unknowns")]
    Length {
        /// Which row of the level.
        row: usize,
        /// Its coefficients.
        found: usize,
        /// The unknowns.
        expected: usize,
    },
    /// A coefficient that is not finite, a bound that is not a number, a weight that is not
    /// positive.
    #[error("row {row}: {what} is {value}")]
    Value {
        /// Which row of the level.
        row: usize,
        /// Coefficient, bound or weight.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// Bounds that leave nothing between them.
    #[error("row {row}: the lower bound {lower} is above the upper bound {upper}")]
    Bounds {
        /// Which row of the level.
        row: usize,
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
}

/// Rows of equal priority.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Level {
    unknowns: usize,
    /// Numbers of all rows from their first to their last that is not zero: most rows are bounds of
    /// one unknown.
    numbers: Vec<f64>,
    parts: Vec<Part>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) weight: Vec<f64>,
    lengths: Vec<f64>,
}

/// Where the numbers of a row are, and which unknown the first one is of.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    start: usize,
    end: usize,
    first: usize,
}

impl Level {
    /// Adds lower ≤ row · x ≤ upper, equal bounds for an equation, infinite ones for none. The
    /// excess counts with `weight` > 0.
    ///
    /// # Errors
    /// A wrong length, numbers that are not finite, bounds in the wrong order.
    pub fn push(
        &mut self,
        row: &[f64],
        lower: f64,
        upper: f64,
        weight: f64,
    ) -> Result<(), RowError> {
        let (found, expected) = (row.len(), self.unknowns);
        if found != expected {
            return Err(RowError::Length { row: self.len(), found, expected });
        }
        self.push_part(0, row, lower, upper, weight)
    }

    /// The same of a row whose numbers begin at the unknown `first`; all others are zero.
    ///
    /// # Errors
    /// The same; a row that ends after the last unknown.
    pub fn push_part(
        &mut self,
        first: usize,
        row: &[f64],
        lower: f64,
        upper: f64,
        weight: f64,
    ) -> Result<(), RowError> {
        let (at, found, expected) = (self.len(), first + row.len(), self.unknowns);
        if found > expected {
            return Err(RowError::Length { row: at, found, expected });
        }
        let wrong = |what, value| Err(RowError::Value { row: at, what, value });
        // What is not finite is not zero.
        let zeros = row.iter().position(|x| *x != 0.0).unwrap_or(row.len());
        let end = row.iter().rposition(|x| *x != 0.0).map_or(zeros, |last| last + 1);
        let part = &row[zeros..end];
        let length = norm(part);
        // A sum of squares is infinite beyond 1e154, too.
        if !length.is_finite()
            && let Some(&x) = part.iter().find(|x| !x.is_finite())
        {
            return wrong("a coefficient", x);
        }
        if lower.is_nan() || lower == f64::INFINITY {
            return wrong("the lower bound", lower);
        }
        if upper.is_nan() || upper == f64::NEG_INFINITY {
            return wrong("the upper bound", upper);
        }
        if !(weight.is_finite() && weight > 0.0) {
            return wrong("the weight", weight);
        }
        if lower > upper {
            return Err(RowError::Bounds { row: at, lower, upper });
        }
        let start = self.numbers.len();
        self.numbers.extend_from_slice(part);
        self.parts.push(Part { start, end: self.numbers.len(), first: first + zeros });
        self.lower.push(lower);
        self.upper.push(upper);
        self.weight.push(weight);
        self.lengths.push(length);
        Ok(())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.lower.len()
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.lower.is_empty()
    }

    /// Coefficients of a row, zeros included.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, i: usize) -> Vec<f64> {
        let (part, first) = self.part(i);
        let mut out = vec![0.0; self.unknowns];
        out[first..first + part.len()].copy_from_slice(part);
        out
    }

    /// Lower and upper bound of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn bounds(&self, i: usize) -> (f64, f64) {
        (self.lower[i], self.upper[i])
    }

    /// Weight of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn weight(&self, i: usize) -> f64 {
        self.weight[i]
    }

    /// What a row is beyond its bounds at `x`: positive above the upper one, negative below the
    /// lower one, zero between.
    ///
    /// # Panics
    /// If there is no such row, or `x` has another length.
    pub fn excess(&self, i: usize, x: &[f64]) -> f64 {
        assert_eq!(x.len(), self.unknowns, "number of unknowns");
        beyond(self.value(i, x), self.lower[i], self.upper[i])
    }

    /// What a row of some value is beyond its bounds.
    pub(super) fn beyond(&self, i: usize, value: f64) -> f64 {
        beyond(value, self.lower[i], self.upper[i])
    }

    /// True if all rows are equations.
    pub(super) fn are_equations(&self) -> bool {
        self.lower.iter().zip(&self.upper).all(|(l, u)| l == u)
    }

    /// True if every row is an equation of the next unknown, up to the last one, and all count
    /// alike.
    pub(super) fn asks_for_all_alike(&self) -> bool {
        let alike = |i: usize| self.weight[i] * self.lengths[i] == self.weight[0] * self.lengths[0];
        let own = |i: usize| matches!(self.part(i), ([_], first) if first == i) && alike(i);
        self.len() == self.unknowns && self.are_equations() && (0..self.len()).all(own)
    }

    /// The row by x.
    ///
    /// # Panics
    /// If there is no such row, or `x` is shorter than the row.
    pub fn value(&self, i: usize, x: &[f64]) -> f64 {
        let (row, first) = self.part(i);
        match row {
            [one] => one * x[first],
            _ => dot(row, &x[first..first + row.len()]),
        }
    }

    /// The numbers of a row between its zeros, and where they begin.
    pub(super) fn part(&self, i: usize) -> (&[f64], usize) {
        let Part { start, end, first } = self.parts[i];
        (&self.numbers[start..end], first)
    }

    /// √(row · row).
    pub(super) fn length(&self, i: usize) -> f64 {
        self.lengths[i]
    }

    /// What a row of some value is beyond its bounds, at an x of some length, where that is more
    /// than 1e-9 of the sizes of its terms: rounding is none.
    pub(crate) fn relaxed(&self, i: usize, value: f64, length: f64) -> Option<f64> {
        let by = self.beyond(i, value);
        (by != 0.0 && by.abs() > 1e-9 * self.size(i, length)).then_some(by)
    }

    /// Size of what a row sums up at an x of some length, to compare rounding with.
    pub(super) fn size(&self, i: usize, length: f64) -> f64 {
        let finite = |b: f64| if b.is_finite() { b.abs() } else { 0.0 };
        let bounds = finite(self.lower[i]).max(finite(self.upper[i]));
        self.lengths[i] * length + bounds
    }

    fn reset(&mut self, unknowns: usize) {
        self.unknowns = unknowns;
        self.numbers.clear();
        self.parts.clear();
        self.lower.clear();
        self.upper.clear();
        self.weight.clear();
        self.lengths.clear();
    }
}

/// What `value` is beyond its bounds.
pub(super) fn beyond(value: f64, lower: f64, upper: f64) -> f64 {
    if value > upper {
        value - upper
    } else if value < lower {
        value - lower
    } else {
        0.0
    }
}

/// Levels of rows on the same unknowns, the most important first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problem {
    unknowns: usize,
    levels: Vec<Level>,
}

impl Problem {
    /// Levels without rows.
    pub fn new(unknowns: usize, levels: usize) -> Self {
        let mut out = Self::default();
        out.reset(unknowns, levels);
        out
    }

    /// Takes all rows away and keeps their memory.
    pub fn reset(&mut self, unknowns: usize, levels: usize) {
        self.unknowns = unknowns;
        self.levels.resize_with(levels, Level::default);
        self.levels.iter_mut().for_each(|l| l.reset(unknowns));
    }

    /// Length of x.
    pub fn unknowns(&self) -> usize {
        self.unknowns
    }

    /// The levels.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// A level, to add rows.
    ///
    /// # Panics
    /// If there is no such level.
    pub fn level_mut(&mut self, level: usize) -> &mut Level {
        &mut self.levels[level]
    }
}
