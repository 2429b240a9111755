//! Gaussian elimination with exchange of rows.

use alloc::vec::Vec;

use crate::{Matrix, Pivots};

/// A⁻¹ B in place of B by Gaussian elimination with partial pivoting; A, n × n, is overwritten.
/// Both by rows, A without gaps and B with `columns` numbers per row. False if a pivot is refused:
/// then both mean nothing.
#[inline]
#[must_use]
pub fn solve_lu(
    n: usize,
    a: &mut [f64],
    b: &mut [f64],
    columns: usize,
    pivots: Pivots<'_>,
) -> bool {
    let part = if let Pivots::AboveLargest(part) = pivots { part } else { 0.0 };
    let least = match part > 0.0 {
        true => part * a[..n * n].iter().fold(0.0f64, |m, x| m.max(x.abs())),
        false => 0.0,
    };
    for p in 0..n {
        let mut best = (p, a[p * n + p].abs());
        for i in p + 1..n {
            let size = a[i * n + p].abs();
            // Of equal ones the last; NaN is taken, to be refused.
            if size >= best.1 || size.is_nan() {
                best = (i, size);
            }
        }
        let accepted = pivots.accept(p, a[p * n + p], best.1).is_some_and(|size| size > least);
        if !accepted {
            return false;
        }
        exchange(a, n, p, best.0);
        exchange(b, columns, p, best.0);
        let (upper, lower) = a.split_at_mut((p + 1) * n);
        let (done, rest) = b.split_at_mut((p + 1) * columns);
        let (row, right) = (&upper[p * n..], &*done);
        for (i, below) in lower[..(n - p - 1) * n].chunks_exact_mut(n).enumerate() {
            let factor = below[p] / row[p];
            if factor != 0.0 {
                subtract(&mut below[p + 1..], factor, &row[p + 1..]);
                match columns {
                    1 => rest[i] -= factor * right[p],
                    _ => {
                        subtract(&mut rest[i * columns..][..columns], factor, &right[p * columns..])
                    }
                }
            }
        }
    }
    if columns == 1 {
        for i in (0..n).rev() {
            let (row, solved) = (&a[i * n..][..n], &b[i + 1..n]);
            let x = row[i + 1..].iter().zip(solved).fold(b[i], |x, (a, y)| x - a * y);
            b[i] = x / row[i];
        }
        return true;
    }
    for i in (0..n).rev() {
        let (upper, solved) = b.split_at_mut((i + 1) * columns);
        let x = &mut upper[i * columns..];
        for k in i + 1..n {
            subtract(x, a[i * n + k], &solved[(k - i - 1) * columns..][..columns]);
        }
        x.iter_mut().for_each(|x| *x /= a[i * n + i]);
    }
    true
}

/// x −= s y.
#[inline(always)]
fn subtract(x: &mut [f64], s: f64, y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x -= s * y);
}

/// Rows i ≤ j of a matrix change places.
#[inline(always)]
fn exchange(m: &mut [f64], width: usize, i: usize, j: usize) {
    if i != j {
        let (upper, lower) = m.split_at_mut(j * width);
        upper[i * width..][..width].swap_with_slice(&mut lower[..width]);
    }
}

impl Matrix {
    /// A⁻¹ B by [`solve_lu`]; `None` if a pivot is refused.
    ///
    /// # Panics
    /// If A is not square or B has another number of rows.
    pub fn solve(&self, b: &Self, pivots: Pivots<'_>) -> Option<Self> {
        assert_eq!(self.rows(), self.columns(), "a square matrix");
        assert_eq!(self.rows(), b.rows(), "rows of the right-hand side");
        let (mut a, mut x) = (self.clone(), b.clone());
        let (n, columns) = (a.rows(), x.columns());
        solve_lu(n, a.as_mut_slice(), x.as_mut_slice(), columns, pivots).then_some(x)
    }

    /// A⁻¹ b by [`solve_lu`]; `None` if a pivot is refused.
    ///
    /// # Panics
    /// If A is not square or b has another number of entries.
    pub fn solve_vec(&self, b: &[f64], pivots: Pivots<'_>) -> Option<Vec<f64>> {
        assert_eq!((self.rows(), self.columns()), (b.len(), b.len()), "sizes of a square system");
        let (mut a, mut x) = (self.clone(), b.to_vec());
        solve_lu(b.len(), a.as_mut_slice(), &mut x, 1, pivots).then_some(x)
    }

    /// L of A = L Lᵀ, zeros above the diagonal; `None` if a pivot is refused. The lower triangle of
    /// A counts.
    ///
    /// # Panics
    /// If A is not square.
    pub fn cholesky(&self, pivots: Pivots<'_>) -> Option<Self> {
        let n = self.rows();
        assert_eq!(n, self.columns(), "a square matrix");
        let mut l = Self::from_fn(n, n, |i, j| if j <= i { self[(i, j)] } else { 0.0 });
        crate::cholesky(n, l.as_mut_slice(), n, pivots).ok()?;
        Some(l)
    }

    /// True if Cholesky's algorithm finds pivots above zero.
    ///
    /// # Panics
    /// If A is not square.
    pub fn is_positive_definite(&self) -> bool {
        self.cholesky(Pivots::AboveZero).is_some()
    }
}
