//! Unit rows turned into a lower triangle, the longest first.

use forks_dynamics::mechanism::linalg::simd::{LANES, Rows};

use super::reflectors::Reflectors;

/// Rows of one length side by side, as columns, and the reflections that turn them.
#[derive(Clone, Debug, Default)]
pub(super) struct Triangle {
    /// The rows; after [`Triangle::turn`] the triangle.
    pub(super) columns: Rows,
    count: usize,
    /// Which row is at which place of the triangle, the dependent ones last.
    pub(super) order: Vec<usize>,
    pub(super) turns: Reflectors,
    squares: Rows,
    column: Vec<f64>,
}

impl Triangle {
    /// Some of the columns that were seen, and more rows, one after the other.
    pub(super) fn take(&mut self, length: usize, seen: (&Rows, &[usize]), more: &[f64]) {
        let ((from, which), more) = (seen, more.chunks_exact(length.max(1)));
        self.count = which.len() + more.len();
        self.columns.reset(length, self.count);
        let whole = from.as_slice().len() == self.columns.as_slice().len() && more.len() == 0;
        if whole && which.iter().enumerate().all(|(k, i)| k == *i) {
            self.columns.as_mut_slice().copy_from_slice(from.as_slice());
            return;
        }
        for j in 0..length {
            let (from, to) = (from.row(j), self.columns.row_mut(j));
            for (k, i) in which.iter().enumerate() {
                to[k / LANES][k % LANES] = from[i / LANES][i % LANES];
            }
        }
        for (k, row) in more.enumerate() {
            self.columns.write_column(which.len() + k, 0, row.iter().copied());
        }
    }

    #[cfg(test)]
    pub(super) fn memory(&self) -> [(usize, usize); 5] {
        [
            (self.columns.as_slice().as_ptr() as usize, 0),
            (self.squares.as_slice().as_ptr() as usize, 0),
            (self.order.as_ptr() as usize, self.order.capacity()),
            (self.column.as_ptr() as usize, self.column.capacity()),
            self.turns.memory(),
        ]
    }

    /// Number of independent rows.
    pub(super) fn rank(&self) -> usize {
        self.turns.count()
    }

    /// Coordinate `at` of a row.
    pub(super) fn get(&self, at: usize, row: usize) -> f64 {
        self.columns.get(at, row)
    }

    /// The first numbers of the rows go, those which other reflections took.
    pub(super) fn drop_first(&mut self, numbers: usize) {
        self.columns.drop_first(numbers);
    }

    /// Turns rows of `length` numbers until what is left of every row is no longer than `least`.
    pub(super) fn turn(&mut self, length: usize, least: f64) {
        let Self { columns, count, order, turns, squares, column } = self;
        turns.clear(length);
        order.clear();
        order.extend(0..*count);
        squares.reset(1, *count);
        turns.measure(columns, squares.row_mut(0));
        for k in 0..length.min(*count) {
            let mut longest = (k, 0.0);
            for (at, row) in order.iter().enumerate().skip(k) {
                let square = squares.get(0, *row);
                if square > longest.1 {
                    longest = (at, square);
                }
            }
            if longest.1.sqrt() <= least {
                break;
            }
            order.swap(k, longest.0);
            let row = order[k];
            column.clear();
            column.extend(columns.column(row));
            turns.push(column);
            turns.reflect_last(columns, squares.row_mut(0));
            // What a reflection puts there exactly; rows that are done have nothing from k on.
            columns.write_column(row, k, column[k..].iter().copied());
            squares.set(0, row, 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of a level and held ones beside them, fewer and more than whole registers: all turn
    /// into a triangle with the same products.
    #[test]
    fn all_rows_of_a_level_and_more_are_turned() {
        let entry = |i: usize, j: usize| f64::sin(1.3 * ((i + 1) * (j + 2) * (j + 5)) as f64);
        for (length, level, taken, more) in
            [(5, 3, 3, 1), (5, 4, 4, 1), (9, 6, 6, 2), (9, 6, 3, 0), (9, 7, 4, 3), (4, 6, 6, 0)]
        {
            let seen = Rows::from_fn(length, level, |j, i| entry(i, j));
            let which: Vec<usize> = (level - taken..level).collect();
            let rows: Vec<usize> = which.iter().copied().chain(20..20 + more).collect();
            let extra: Vec<f64> =
                (20..20 + more).flat_map(|i| (0..length).map(move |j| entry(i, j))).collect();
            let mut triangle = Triangle::default();
            triangle.take(length, (&seen, &which), &extra);
            triangle.turn(length, 1e-9);
            assert_eq!(triangle.rank(), rows.len().min(length));
            for (a, i) in rows.iter().enumerate() {
                for (b, k) in rows.iter().enumerate() {
                    let before: f64 = (0..length).map(|j| entry(*i, j) * entry(*k, j)).sum();
                    let after = (0..length).map(|j| triangle.get(j, a) * triangle.get(j, b));
                    assert!((before - after.sum::<f64>()).abs() < 1e-13, "{length} {i} {k}");
                }
            }
            for (place, row) in triangle.order.iter().enumerate().take(triangle.rank()) {
                let above = (place + 1..length).map(|j| triangle.get(j, *row).abs());
                assert_eq!(above.fold(0.0, f64::max), 0.0);
            }
        }
    }
}
