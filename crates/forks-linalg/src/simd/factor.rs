//! Triangular factors of matrices of a few dozen rows.
//!
//! Row i of a factor is row i of the matrix less a sum of the rows above, which stays in registers.

use super::{
    Arithmetic, LANES, Lanes, Rows,
    rows::{add_scaled, dot_lanes, subtract_by_column},
};
use crate::{BadPivot, Pivots, sqrt};

/// From a lane on.
const RIGHT: [Lanes; LANES] = [
    Lanes([1.0, 1.0, 1.0, 1.0]),
    Lanes([0.0, 1.0, 1.0, 1.0]),
    Lanes([0.0, 0.0, 1.0, 1.0]),
    Lanes([0.0, 0.0, 0.0, 1.0]),
];

/// U of A = Uᵀ U in place of A, whose upper triangle counts. Pivots above zero are accepted. What
/// is left of the diagonal means nothing afterwards.
///
/// # Errors
/// The first pivot that is refused.
#[inline(always)]
pub fn cholesky_of_rows<L: Arithmetic>(l: L, n: usize, a: &mut Rows) -> Result<(), BadPivot> {
    for i in 0..n {
        let pivot = subtract_above(l, i, a);
        let accepted = Pivots::AboveZero.accept(i, pivot, pivot);
        let pivot = accepted.ok_or(BadPivot { row: i, pivot })?;
        scale(l, 1.0 / sqrt(pivot), &mut a.row_mut(i)[i / LANES..]);
    }
    Ok(())
}

/// Row i less Σ u_pi u_p over the rows above, from the diagonal's group on; the diagonal.
#[inline(always)]
fn subtract_above<L: Arithmetic>(l: L, i: usize, a: &mut Rows) -> f64 {
    let (width, first) = (a.width(), i / LANES);
    let (above, row) = a.above(i);
    subtract_by_column(l, (above, i), above, width, first, &mut row[first..]);
    row[first][i % LANES]
}

/// x *= s.
#[inline(always)]
fn scale<L: Arithmetic>(l: L, s: f64, x: &mut [Lanes]) {
    let s = l.splat(s);
    for x in x {
        *x = (l.load(x) * s).store();
    }
}

/// A⁻¹ = U⁻¹ U⁻ᵀ from U of [`cholesky_of_rows`]; `work`, n × n, takes U⁻ᵀ.
#[inline(always)]
pub fn inverse_of_rows<L: Arithmetic>(l: L, n: usize, u: &Rows, work: &mut Rows, out: &mut Rows) {
    let width = u.width();
    // U⁻ᵀ: row i is (e_i − Σ u_pi row p)/u_ii over the rows above.
    for i in 0..n {
        let (group, lane) = (i / LANES, i % LANES);
        let (above, row) = work.above(i);
        zero(row);
        row[group][lane] = 1.0;
        let row = &mut row[..=group];
        subtract_by_column(l, (&u.as_slice()[..i * width], i), above, width, 0, row);
        scale(l, 1.0 / u.get(i, i), row);
    }
    // The lower triangle, from the rows below that are not zero there; its negative first.
    for i in 0..n {
        let below = &work.as_slice()[i * width..n * width];
        let row = &mut out.row_mut(i)[..=i / LANES];
        zero(row);
        subtract_by_column(l, (below, i), below, width, 0, row);
        scale(l, -1.0, row);
    }
    mirror(l, n, out);
}

/// Fills with zeros, by a loop that the compiler inlines instead of a call of `memset`.
#[inline(always)]
fn zero(x: &mut [Lanes]) {
    for x in x {
        *x = Lanes::default();
    }
}

/// Copies the lower triangle to the upper one, block of four by block of four as far as there are
/// whole ones.
#[inline(always)]
fn mirror<L: Arithmetic>(l: L, n: usize, a: &mut Rows) {
    let whole = n / LANES;
    for i in 0..whole {
        for j in 0..i {
            let block = core::array::from_fn(|k| l.load(&a.row(LANES * i + k)[j]));
            for (k, column) in l.transposed(block).into_iter().enumerate() {
                a.row_mut(LANES * j + k)[i] = column.store();
            }
        }
        // Above the diagonal of the block.
        for k in 0..LANES {
            for m in 0..k {
                a.row_mut(LANES * i + m)[i][k] = a.row(LANES * i + k)[i][m];
            }
        }
    }
    for i in LANES * whole..n {
        for j in 0..i {
            a.set(j, i, a.get(i, j));
        }
    }
}

/// L and U of A = L U, L with units in the diagonal, without exchange of rows: for matrices whose
/// symmetric part is positive definite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factors {
    /// U; to be filled with A before [`Factors::factor`].
    pub upper: Rows,
    /// Lᵀ; to be filled with Aᵀ.
    pub lower: Rows,
}

impl Factors {
    /// Memory for n rows.
    pub fn zeros(n: usize) -> Self {
        Self { upper: Rows::zeros(n, n), lower: Rows::zeros(n, n) }
    }

    /// Factors the matrix in place. False if a pivot is not above [`Pivots::LOST`]:
    /// then rows would have to be exchanged, or nothing resists.
    #[inline(always)]
    #[must_use]
    pub fn factor<L: Arithmetic>(&mut self, l: L, n: usize) -> bool {
        let width = self.upper.width();
        for i in 0..n {
            let (first, lane) = (i / LANES, i % LANES);
            let diagonal = self.upper.get(i, i);
            // u_i = a_i − Σ l_ip u_p, and the column of L from Aᵀ likewise.
            let (above, row) = self.upper.above(i);
            let (left, column) = self.lower.above(i);
            subtract_by_column(l, (left, i), above, width, first, &mut row[first..]);
            subtract_by_column(l, (above, i), left, width, first, &mut column[first..]);
            let pivot = row[first][lane];
            if Pivots::LOST.accept(i, diagonal, pivot).is_none() {
                return false;
            }
            scale(l, 1.0 / pivot, &mut column[first..]);
            let right = l.load(&RIGHT[lane]);
            row[first] = (l.load(&row[first]) * right).store();
            column[first] = (l.load(&column[first]) * right).store();
        }
        true
    }

    /// A⁻¹ b in place of b.
    #[inline(always)]
    pub fn solve<L: Arithmetic>(&self, l: L, n: usize, b: &mut [Lanes]) {
        for p in 0..n {
            let (first, lane) = (p / LANES, p % LANES);
            let x = b[first][lane];
            add_scaled(l, -x, &self.lower.row(p)[first..], &mut b[first..]);
            b[first][lane] = x;
        }
        for p in (0..n).rev() {
            let (first, lane) = (p / LANES, p % LANES);
            let row = &self.upper.row(p)[first..];
            let own = core::mem::take(&mut b[first][lane]);
            b[first][lane] = (own - dot_lanes(l, row, &b[first..])) / row[0][lane];
        }
    }
}
