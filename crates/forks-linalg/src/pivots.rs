//! Which pivots a factorisation accepts: when a matrix counts as singular.

/// Which pivots a factorisation accepts. NaN and infinity are never accepted.
///
/// In a Cholesky factorisation the *diagonal entry* of a pivot is the one of its row before the
/// rows above were subtracted: the part of it that is left says how much of the pivot is rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pivots<'a> {
    /// Above zero; in LU, where the sign means nothing, other than zero. For matrices that are
    /// known to be regular, or whose result is looked at.
    AboveZero,
    /// Above this part of their diagonal entry, and above zero. [`Pivots::ROUNDING`] and
    /// [`Pivots::LOST`] are the usual parts.
    AboveDiagonal(f64),
    /// Above this part of the largest entry of the matrix, in absolute value (LU).
    AboveLargest(f64),
    /// Above a number of its own for each row, in the unit of the row's diagonal.
    AboveEach(&'a [f64]),
    /// At least `refused` (a negative part of the diagonal entry); those below `floor`, a part of
    /// the diagonal entry too, are raised to it. For semidefinite matrices, in which a direction
    /// without resistance is not to count.
    RaisedTo {
        /// What only a matrix that is not semidefinite goes below.
        refused: f64,
        /// The smallest pivot, of the diagonal entry.
        floor: f64,
    },
}

impl Pivots<'_> {
    /// Anything above the rounding of the diagonal entry itself, ε.
    pub const ROUNDING: Self = Self::AboveDiagonal(f64::EPSILON);

    /// 1e-13 of the diagonal entry, some 450 ε: below, a sum of a few dozen products has left
    /// nothing but rounding.
    pub const LOST: Self = Self::AboveDiagonal(1e-13);

    /// The pivot to divide by, of a row and its diagonal entry; `None` if it is refused.
    #[inline]
    pub(crate) fn accept(&self, row: usize, diagonal: f64, pivot: f64) -> Option<f64> {
        let least = match self {
            Self::AboveZero => 0.0,
            // One part for all rows is not known here: LU compares before.
            Self::AboveLargest(_) => 0.0,
            Self::AboveDiagonal(part) => part * diagonal.abs(),
            Self::AboveEach(least) => least[row].max(0.0),
            Self::RaisedTo { refused, floor } => {
                let size = diagonal.abs();
                let kept = pivot >= refused * size && pivot.is_finite();
                return kept.then_some(pivot.max(floor * size)).filter(|p| *p > 0.0);
            }
        };
        (pivot > least && pivot.is_finite()).then_some(pivot)
    }
}

/// The first pivot that was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BadPivot {
    /// Its row.
    pub row: usize,
    /// The pivot.
    pub pivot: f64,
}
