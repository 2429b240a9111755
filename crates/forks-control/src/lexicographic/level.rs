//! The optimum of one level among the optima of the levels before it.
//!
//! ½ Σ w² excess² is convex, once differentiable and piecewise quadratic. A step goes toward the
//! least value of the quadratic piece at x, within the rows that are held, as far as the function
//! falls and no kept row is in the way; where it does not fall any more, multipliers say which held
//! row to let go.

use forks_dynamics::mechanism::linalg::simd::Rows;

use super::{
    directions::Directions,
    problem::{Level, Problem},
    reflectors::{Fit, Reflectors, axpy, norm},
    report::Certificate,
    search::LineSearch,
    triangle::Triangle,
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
///
/// Vectors are taken in the coordinates of `base`, the directions that the levels before leave
/// free, and these turned such that the held rows take the first places.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    pub(super) base: Directions,
    pub(super) kept: Vec<Kept>,
    held: Vec<usize>,
    /// Turns held rows into a triangle.
    holding: Reflectors,
    /// That triangle, a row of coordinates for each held row.
    triangle: Vec<f64>,
    multipliers: Vec<f64>,
    /// Unit rows of the level in the coordinates of `base`, as columns, once they are asked for.
    seen: Rows,
    is_seen: bool,
    /// Values of the level's rows at x, what they are beyond bounds, their rates along the step.
    values: Vec<f64>,
    excesses: Vec<f64>,
    rates: Vec<f64>,
    /// The level asks for all unknowns with one weight: its rows are orthogonal.
    orthogonal: bool,
    /// The gradient over the unknowns, and in turned coordinates.
    whole: Vec<f64>,
    gradient: Vec<f64>,
    /// The sum of its terms' sizes.
    terms: f64,
    step: Vec<f64>,
    /// Rows of the quadratic piece as unit rows of free coordinates.
    piece: Vec<usize>,
    rows: Triangle,
    /// `rows` are those of the piece in the coordinates of `base`: nothing was held.
    turned: bool,
    /// Rows of the level that become equations, and held rows that do.
    conditions: Vec<usize>,
    fixed: Vec<f64>,
    columns: Vec<f64>,
    right: Vec<f64>,
    coordinates: Vec<f64>,
    unit: Vec<f64>,
    fit: Fit,
    line: LineSearch,
}

impl Search {
    /// Begins with a problem of so many unknowns.
    pub(super) fn start(&mut self, unknowns: usize) {
        self.base.start(unknowns);
        self.kept.clear();
    }

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
        (self.is_seen, self.turned) = (false, false);
        self.orthogonal = rows.asks_for_all_alike();
        self.hold(problem);
        let (mut exact, mut stalls) = (false, 0);
        for iteration in 0..most {
            certificate.iterations = iteration;
            let terms = self.differentiate(rows, x);
            self.terms = terms;
            let small = self.slope() <= ROUNDING * terms;
            if exact || small || self.at_rest(rows, x) {
                match self.wrong(terms, stalls > 2 * self.kept.len(), certificate) {
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
            let t = self.length(rows, reach.min(1.0));
            exact = t == 1.0 && !self.piece_changes(rows);
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

    /// The level's rows in the coordinates of free directions.
    fn see(&mut self, rows: &Level) {
        if !self.is_seen {
            self.base.see_all(rows, &mut self.seen);
            self.is_seen = true;
        }
    }

    /// How far to go along the step, at most so far.
    fn length(&mut self, rows: &Level, most: f64) -> f64 {
        let Self { rates, step, values, line, .. } = self;
        rates.clear();
        rates.extend((0..rows.len()).map(|i| rows.value(i, step)));
        // Where all rows are equations the function is one quadratic, with its least value at 1.
        match rows.are_equations() {
            true => most,
            false => line.least(rows, (values, rates), most),
        }
    }

    /// A level's row of length 1 in the coordinates of `base`, into `unit`.
    fn see_unit(&mut self, problem: &Problem, level: usize, row: usize) {
        let rows = &problem.levels()[level];
        self.unit.clear();
        self.base.see(rows.part(row), &mut self.unit);
        scale(&mut self.unit, rows.length(row));
    }

    /// Turns held rows into a triangle; rows that repeat others are let go.
    fn hold(&mut self, problem: &Problem) {
        self.holding.clear(self.base.count());
        self.held.clear();
        self.triangle.clear();
        for at in 0..self.kept.len() {
            let k = self.kept[at];
            if k.side == 0 || k.fixed {
                continue;
            }
            self.see_unit(problem, k.level, k.row);
            if self.holding.extend(&mut self.unit, REPEATED) {
                self.held.push(at);
                self.triangle.extend_from_slice(&self.unit);
            } else {
                self.kept[at].side = 0;
            }
        }
    }

    /// The gradient of ½ Σ w² excess², and the sum of its terms' sizes: what it is relative to, as
    /// an excess is the difference of them.
    fn differentiate(&mut self, rows: &Level, x: &[f64]) -> f64 {
        let Self { base, whole, gradient, holding, values, excesses, .. } = self;
        let size = norm(x);
        values.clear();
        excesses.clear();
        whole.clear();
        whole.resize(x.len(), 0.0);
        let mut terms = 0.0;
        for i in 0..rows.len() {
            let (square, value) = (rows.weight[i].powi(2), rows.value(i, x));
            let excess = rows.beyond(i, value);
            values.push(value);
            excesses.push(excess);
            if excess != 0.0 {
                let (part, first) = rows.part(i);
                axpy(square * excess, part, &mut whole[first..first + part.len()]);
            }
            terms += square * rows.size(i, size) * rows.length(i);
        }
        gradient.clear();
        base.see((whole, 0), gradient);
        holding.turn(gradient);
        terms
    }

    /// Length of the gradient along free directions.
    fn slope(&self) -> f64 {
        norm(&self.gradient[self.held.len()..])
    }

    /// True if no row is beyond its bounds by more than rounding.
    fn at_rest(&self, rows: &Level, x: &[f64]) -> bool {
        let size = norm(x);
        let mut all = self.excesses.iter().enumerate();
        all.all(|(i, excess)| excess.abs() <= ROUNDING * rows.size(i, size))
    }

    /// The shortest step to the least value of the quadratic piece at x, along free directions.
    fn newton(&mut self, rows: &Level, x: &[f64]) {
        let (f, h) = (self.base.count(), self.held.len());
        self.step.clear();
        self.step.resize(x.len(), 0.0);
        self.coordinates.clear();
        self.coordinates.resize(h, 0.0);
        if self.orthogonal {
            // Directions are orthonormal too: the step is against the gradient.
            let square = (rows.weight[0] * rows.length(0)).powi(2);
            self.coordinates.extend(self.gradient[h..].iter().map(|g| -g / square));
        } else {
            self.turn_piece(rows);
            if self.rows.rank() == 0 {
                return;
            }
            self.meet_piece(rows);
            self.coordinates.resize(f, 0.0);
            self.rows.turns.turn_back(&mut self.coordinates[h..]);
        }
        self.holding.turn_back(&mut self.coordinates);
        self.base.step(&self.coordinates, &mut self.step);
    }

    /// Unit rows of the piece, what is beyond its bounds and equations, as a triangle of free
    /// coordinates.
    fn turn_piece(&mut self, rows: &Level) {
        self.see(rows);
        let Self { base, holding, held, seen, piece, excesses, .. } = self;
        let (f, h) = (base.count(), held.len());
        piece.clear();
        let of = |i: &usize| counts(rows, *i, excesses[*i]) && rows.length(*i) > 0.0;
        piece.extend((0..rows.len()).filter(of));
        self.turned = h == 0;
        self.rows.take(f, (seen, piece), &[]);
        holding.turn_columns(&mut self.rows.columns);
        self.rows.drop_first(h);
        self.rows.turn(f - h, REPEATED);
    }

    /// Appends the coordinates that meet the rows of the piece, or come as near as they can.
    fn meet_piece(&mut self, level: &Level) {
        let Self { held, piece, excesses, rows, columns, right, coordinates, fit, .. } = self;
        let (h, rank) = (held.len(), rows.rank());
        if rank == piece.len() {
            // Every row can be met: weights do not matter.
            for (j, &k) in rows.order.iter().enumerate() {
                let i = piece[k];
                let asked = -excesses[i] / level.length(i);
                let known = coordinates[h..].iter().enumerate().map(|(l, c)| rows.get(l, k) * c);
                let open = asked - known.sum::<f64>();
                coordinates.push(open / rows.get(j, k));
            }
            return;
        }
        columns.clear();
        right.clear();
        right.extend(piece.iter().map(|&i| -level.weight[i] * excesses[i]));
        for j in 0..rank {
            let column = piece.iter().enumerate();
            columns
                .extend(column.map(|(k, &i)| level.weight[i] * level.length(i) * rows.get(j, k)));
        }
        coordinates.extend_from_slice(fit.solve(columns, right));
    }

    /// True if rows enter or leave the piece along the whole step.
    fn piece_changes(&self, rows: &Level) -> bool {
        (0..rows.len()).filter(|&i| rows.lower[i] < rows.upper[i]).any(|i| {
            let before = self.values[i];
            let after = before + self.rates[i];
            side(rows, i, before) != side(rows, i, after)
        })
    }

    /// How far along the step the kept rows allow to go, and the first in the way.
    fn reach(&self, problem: &Problem, x: &[f64]) -> (f64, Option<(usize, i8)>) {
        let mut first = (f64::INFINITY, None);
        let length = norm(&self.step);
        for (at, k) in self.kept.iter().enumerate().filter(|(_, k)| k.side == 0 && !k.fixed) {
            let rows = &problem.levels()[k.level];
            let rate = rows.value(k.row, &self.step);
            if rate.abs() <= 1e-12 * rows.length(k.row) * length {
                continue;
            }
            let (bound, side) = if rate > 0.0 { (k.upper, 1) } else { (k.lower, -1) };
            let t = ((bound - rows.value(k.row, x)) / rate).max(0.0);
            if t < first.0 {
                first = (t, Some((at, side)));
            }
        }
        first
    }

    /// The held row with the multiplier of the wrong sign, the largest or (`lowest`) the first.
    fn wrong(&mut self, terms: f64, lowest: bool, certificate: &mut Certificate) -> Option<usize> {
        let left = self.slope();
        self.multiply();
        let share = |y: f64| if terms > 0.0 { y / terms } else { 0.0 };
        let mut worst = (MULTIPLIER, None);
        let mut dual: f64 = 0.0;
        for (&at, &y) in self.held.iter().zip(&self.multipliers) {
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

    /// Multipliers of the held rows per unit row: the first coordinates of the gradient are the
    /// triangle's columns by them.
    fn multiply(&mut self) {
        let Self { base, held, triangle, gradient, multipliers, .. } = self;
        let (f, h) = (base.count(), held.len());
        multipliers.clear();
        multipliers.extend_from_slice(&gradient[..h]);
        for j in (0..h).rev() {
            let row = &triangle[j * f..(j + 1) * f];
            multipliers[j] /= row[j];
            let y = multipliers[j];
            axpy(-y, &row[..j], &mut multipliers[..j]);
        }
    }

    /// Makes the optimum of a level a condition of the ones after it.
    pub(super) fn keep(&mut self, problem: &Problem, level: usize, x: &[f64], violated: f64) {
        let rows = &problem.levels()[level];
        let (f, size) = (self.base.count(), norm(x));
        self.fix(problem);
        self.conditions.clear();
        for i in (0..rows.len()).filter(|i| rows.length(*i) > 0.0) {
            let (value, excess) = (self.values[i], self.excesses[i]);
            let is_equation = rows.lower[i] == rows.upper[i];
            if is_equation || excess.abs() > violated * rows.size(i, size) {
                self.conditions.push(i);
            } else {
                let (lower, upper) = (rows.lower[i].min(value), rows.upper[i].max(value));
                self.kept.push(Kept { level, row: i, lower, upper, side: 0, fixed: false });
            }
        }
        if self.conditions.is_empty() && self.fixed.is_empty() {
            return;
        }
        // The last step may have turned the same rows.
        if !(self.turned && self.fixed.is_empty() && self.piece == self.conditions) {
            if !self.conditions.is_empty() {
                self.see(rows);
            }
            self.rows.take(f, (&self.seen, &self.conditions), &self.fixed);
            self.rows.turn(f, REPEATED);
        }
        self.base.take(&self.rows.turns);
    }

    /// Makes held rows that push equations, with their unit rows: what they push against would
    /// change without them. Gradient and multipliers are those of the end of the search.
    fn fix(&mut self, problem: &Problem) {
        let terms = self.terms;
        self.fixed.clear();
        for k in 0..self.held.len() {
            let at = self.held[k];
            if self.multipliers[k].abs() > 1e-9 * terms && terms > 0.0 {
                self.kept[at].fixed = true;
                let Kept { level, row, .. } = self.kept[at];
                self.see_unit(problem, level, row);
                self.fixed.extend_from_slice(&self.unit);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn memory(&self) -> Vec<(usize, usize)> {
        let numbers = [
            &self.triangle,
            &self.multipliers,
            &self.whole,
            &self.gradient,
            &self.values,
            &self.excesses,
            &self.rates,
            &self.step,
            &self.fixed,
            &self.columns,
            &self.right,
            &self.coordinates,
            &self.unit,
        ];
        let place = |v: &Vec<f64>| (v.as_ptr() as usize, v.capacity());
        let mut out: Vec<(usize, usize)> = numbers.into_iter().map(place).collect();
        for indices in [&self.held, &self.piece, &self.conditions] {
            out.push((indices.as_ptr() as usize, indices.capacity()));
        }
        out.push((self.kept.as_ptr() as usize, self.kept.capacity()));
        out.push((self.seen.as_slice().as_ptr() as usize, 0));
        out.push(self.holding.memory());
        out.extend(self.rows.memory());
        out.extend(self.base.memory());
        out.extend(self.fit.memory());
        out.push(self.line.memory());
        out
    }

    /// Largest excess of kept rows beyond what is attained, over the sizes of their terms.
    pub(super) fn leak(&self, problem: &Problem, x: &[f64]) -> f64 {
        let length = norm(x);
        let of = |k: &Kept| {
            let level = &problem.levels()[k.level];
            let value = level.value(k.row, x);
            let beyond = super::problem::beyond(value, k.lower, k.upper).abs();
            let size = level.size(k.row, length);
            if size > 0.0 { beyond / size } else { 0.0 }
        };
        self.kept.iter().map(of).fold(0.0, f64::max)
    }
}

/// True for rows of the quadratic piece at an x with such an excess.
fn counts(rows: &Level, i: usize, excess: f64) -> bool {
    rows.lower[i] == rows.upper[i] || excess != 0.0
}

/// On which side of its bounds a value is.
fn side(rows: &Level, i: usize, value: f64) -> i8 {
    i8::from(value > rows.upper[i]) - i8::from(value < rows.lower[i])
}

/// Divides a row by its length, if it has one.
fn scale(row: &mut [f64], length: f64) {
    if length > 0.0 {
        row.iter_mut().for_each(|x| *x /= length);
    }
}
