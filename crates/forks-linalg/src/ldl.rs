//! A = L D Lᵀ of symmetric positive definite matrices of up to six rows, in registers.

use crate::{BadPivot, Pivots};

/// Factors of a positive definite matrix of up to six rows: what rigid bodies and their joints ask
/// for, without memory of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ldl6 {
    lower: [[f64; 6]; 6],
    inverse: [f64; 6],
    rows: usize,
}

impl Ldl6 {
    /// Of no rows.
    pub const EMPTY: Self = Self { lower: [[0.0; 6]; 6], inverse: [0.0; 6], rows: 0 };

    /// Factors the leading `rows` rows of `m`, whose lower triangle counts.
    ///
    /// # Errors
    /// The first pivot that is refused.
    #[inline]
    pub fn new(m: &[[f64; 6]; 6], rows: usize, accepted: Pivots<'_>) -> Result<Self, BadPivot> {
        let mut out = Self { rows, ..Self::EMPTY };
        let mut pivots = [0.0; 6];
        for i in 0..rows {
            let mut pivot = m[i][i];
            for j in 0..i {
                let mut x = m[i][j];
                for k in 0..j {
                    x -= out.lower[i][k] * pivots[k] * out.lower[j][k];
                }
                let l = x * out.inverse[j];
                out.lower[i][j] = l;
                pivot -= l * l * pivots[j];
            }
            pivots[i] = accepted.accept(i, m[i][i], pivot).ok_or(BadPivot { row: i, pivot })?;
            out.inverse[i] = 1.0 / pivots[i];
        }
        Ok(out)
    }

    /// Entry (i, j) of L, i > j.
    pub fn lower(&self, i: usize, j: usize) -> f64 {
        self.lower[i][j]
    }

    /// One over pivot i.
    pub fn inverse(&self, i: usize) -> f64 {
        self.inverse[i]
    }

    /// Solves in place.
    pub fn solve(&self, x: &mut [f64; 6]) {
        for i in 0..self.rows {
            for j in 0..i {
                x[i] -= self.lower[i][j] * x[j];
            }
        }
        for i in (0..self.rows).rev() {
            x[i] *= self.inverse[i];
            for j in i + 1..self.rows {
                x[i] -= self.lower[j][i] * x[j];
            }
        }
    }
}
