//! Gaussian elimination of a band with a few full rows and columns at its end.
//!
//! What splines solve for: the equations of a key touch the controls next to it, and those of a
//! periodic curve also touch the controls at the other end.

use forks_dynamics::mechanism::linalg::{Matrix, Pivots};

/// A square system A X = B, n × n.
#[derive(Clone, Debug)]
pub(super) struct Bordered {
    /// Diagonals on either side of the main one, outside the border.
    width: usize,
    /// Rows and columns at the end that are full.
    border: usize,
    rows: Vec<Vec<(usize, f64)>>,
}

/// Pivots below this part of the largest entry count as none.
const SINGULAR: f64 = 1e-13;

impl Bordered {
    /// A system without entries.
    pub(super) fn new(n: usize, width: usize, border: usize) -> Self {
        Self { width, border: border.min(n), rows: vec![Vec::new(); n] }
    }

    /// Adds to an entry.
    pub(super) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.rows[row].push((column, value));
    }

    /// A times X.
    pub(super) fn mul(&self, x: &Matrix) -> Matrix {
        let mut out = Matrix::zeros(self.rows.len(), x.columns());
        for (i, row) in self.rows.iter().enumerate() {
            for &(j, a) in row {
                out.row_mut(i).iter_mut().zip(x.row(j)).for_each(|(o, x)| *o += a * x);
            }
        }
        out
    }

    /// A⁻¹ B with one refinement; `None` if A is singular.
    pub(super) fn solve(&self, b: &Matrix) -> Option<Matrix> {
        let x = self.eliminate(b)?;
        let open = b.sub(&self.mul(&x));
        Some(x.plus_scaled(1.0, &self.eliminate(&open)?))
    }

    /// With A = [B U; V C]: X = B⁻¹(b − U y), y = (C − V B⁻¹U)⁻¹(c − V B⁻¹b).
    fn eliminate(&self, b: &Matrix) -> Option<Matrix> {
        let (n, m, columns) = (self.rows.len(), self.border, b.columns());
        let k = n - m;
        let mut band = Band::new(k, self.width);
        // Right sides and U beside each other.
        let mut right = Matrix::zeros(k, columns + m);
        for (i, row) in self.rows[..k].iter().enumerate() {
            right.row_mut(i)[..columns].copy_from_slice(b.row(i));
            for &(j, a) in row {
                match j.checked_sub(k) {
                    Some(j) => right[(i, columns + j)] += a,
                    None => band.add(i, j, a),
                }
            }
        }
        band.solve(&mut right)?;
        let mut corner = Matrix::zeros(m, m);
        let mut open = b.block(k, 0, m, columns);
        for (i, row) in self.rows[k..].iter().enumerate() {
            for &(j, a) in row {
                match j.checked_sub(k) {
                    Some(j) => corner[(i, j)] += a,
                    None => {
                        let known = right.row(j);
                        (0..columns).for_each(|c| open[(i, c)] -= a * known[c]);
                        (0..m).for_each(|c| corner[(i, c)] -= a * known[columns + c]);
                    }
                }
            }
        }
        let y = match m {
            0 => open,
            _ => corner.solve(&open, Pivots::AboveLargest(SINGULAR))?,
        };
        let by_border = right.block(0, columns, k, m).mul(&y);
        Some(Matrix::from_fn(n, columns, |i, c| match i.checked_sub(k) {
            Some(i) => y[(i, c)],
            None => right[(i, c)] - by_border[(i, c)],
        }))
    }
}

/// A band matrix; exchanges of rows widen it above the diagonal.
struct Band {
    n: usize,
    width: usize,
    /// Row by row, from `width` before the diagonal to 2 `width` after it.
    entries: Vec<f64>,
}

impl Band {
    fn new(n: usize, width: usize) -> Self {
        Self { n, width, entries: vec![0.0; n * (3 * width + 1)] }
    }

    fn at(&self, i: usize, j: usize) -> usize {
        debug_assert!(j + self.width >= i && j <= i + 2 * self.width, "entry {i}, {j} in the band");
        i * (3 * self.width + 1) + j + self.width - i
    }

    fn add(&mut self, i: usize, j: usize, value: f64) {
        let k = self.at(i, j);
        self.entries[k] += value;
    }

    /// A⁻¹ B in place of B, with exchanges of rows; `None` if A is singular.
    fn solve(mut self, b: &mut Matrix) -> Option<()> {
        let largest = self.entries.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        for p in 0..self.n {
            let below = (p + self.width + 1).min(self.n);
            let right = (p + 2 * self.width + 1).min(self.n);
            let size = |s: &Self, i: usize| s.entries[s.at(i, p)].abs();
            let best =
                (p..below).fold(p, |k, i| if size(&self, i) > size(&self, k) { i } else { k });
            let found = size(&self, best);
            if found.is_nan() || found <= SINGULAR * largest {
                return None;
            }
            if best != p {
                for j in p..right {
                    let (x, y) = (self.at(p, j), self.at(best, j));
                    self.entries.swap(x, y);
                }
                for c in 0..b.columns() {
                    (b[(p, c)], b[(best, c)]) = (b[(best, c)], b[(p, c)]);
                }
            }
            let pivot = self.entries[self.at(p, p)];
            for i in p + 1..below {
                let factor = self.entries[self.at(i, p)] / pivot;
                if factor == 0.0 {
                    continue;
                }
                for j in p + 1..right {
                    let (from, to) = (self.at(p, j), self.at(i, j));
                    self.entries[to] -= factor * self.entries[from];
                }
                for c in 0..b.columns() {
                    let x = b[(p, c)];
                    b[(i, c)] -= factor * x;
                }
            }
        }
        for i in (0..self.n).rev() {
            let right = (i + 2 * self.width + 1).min(self.n);
            for c in 0..b.columns() {
                let mut x = b[(i, c)];
                for j in i + 1..right {
                    x -= self.entries[self.at(i, j)] * b[(j, c)];
                }
                b[(i, c)] = x / self.entries[self.at(i, i)];
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Bordered, Matrix, Pivots};

    /// The rival is dense elimination.
    #[test]
    fn bands_with_borders_are_solved_as_dense_systems_are() {
        for (n, width, border) in
            [(1, 1, 0), (7, 1, 0), (9, 3, 2), (6, 5, 0), (4, 2, 4), (30, 2, 2)]
        {
            let mut system = Bordered::new(n, width, border);
            let mut dense = Matrix::zeros(n, n);
            for i in 0..n {
                for j in 0..n {
                    let full = i >= n - border || j >= n - border;
                    if full || i.abs_diff(j) <= width {
                        // Small diagonals ask for exchanges of rows.
                        let x = f64::sin((3 * i + 7 * j * j + 1) as f64)
                            * if i == j { 0.01 } else { 1.0 };
                        system.add(i, j, x);
                        dense[(i, j)] = x;
                    }
                }
            }
            let b = Matrix::from_fn(n, 2, |i, c| f64::cos((i + 5 * c) as f64));
            let x = system.solve(&b).unwrap();
            let rival = dense.solve(&b, Pivots::AboveZero).unwrap();
            assert!(x.sub(&rival).max_abs() <= 1e-10 * rival.max_abs(), "{n} {width} {border}");
            assert!(dense.mul(&x).sub(&b).max_abs() <= 1e-13 * rival.max_abs());
        }
    }

    #[test]
    fn singular_systems_are_refused() {
        let mut system = Bordered::new(3, 1, 0);
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            system.add(i, j, 1.0);
        }
        system.add(2, 2, 1.0);
        assert!(system.solve(&Matrix::identity(3)).is_none());
    }
}
