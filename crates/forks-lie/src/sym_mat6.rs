//! Symmetric 6×6 matrices: inertias, stiffnesses, compliances.

use forks_linalg::{Ldl6, Matrix, Pivots};

use crate::{Mat6, Vec6, mat6::entrywise};

/// A symmetric 6×6 matrix, stored as its lower triangle by rows (21 numbers).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SymMat6 {
    /// Lower triangle by rows: (0,0), (1,0), (1,1), (2,0), …
    pub lower: [f64; 21],
}

#[inline]
const fn packed(i: usize, j: usize) -> usize {
    if i >= j { i * (i + 1) / 2 + j } else { j * (j + 1) / 2 + i }
}

impl SymMat6 {
    /// The zero matrix.
    pub const ZERO: Self = Self { lower: [0.0; 21] };

    fn entries(&self) -> &[f64] {
        &self.lower
    }

    fn entries_mut(&mut self) -> &mut [f64] {
        &mut self.lower
    }

    /// The symmetric part ½(m + mᵀ).
    pub fn symmetric_part(m: &Mat6) -> Self {
        let mut s = Self::ZERO;
        for i in 0..6 {
            for j in 0..=i {
                s.lower[packed(i, j)] = 0.5 * (m.rows[i][j] + m.rows[j][i]);
            }
        }
        s
    }

    /// A diagonal matrix.
    pub fn from_diagonal(diagonal: Vec6) -> Self {
        let mut s = Self::ZERO;
        for i in 0..6 {
            s.lower[packed(i, i)] = diagonal[i];
        }
        s
    }

    /// Entry (i, j).
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.lower[packed(i, j)]
    }

    /// The full matrix.
    pub fn to_mat6(&self) -> Mat6 {
        let mut m = Mat6::ZERO;
        for i in 0..6 {
            for j in 0..6 {
                m.rows[i][j] = self.get(i, j);
            }
        }
        m
    }

    /// Matrix times vector.
    pub fn mul_vec(&self, v: &Vec6) -> Vec6 {
        let mut out = [0.0; 6];
        for i in 0..6 {
            for j in 0..6 {
                out[i] += self.get(i, j) * v[j];
            }
        }
        out
    }

    /// The congruence `a self aᵀ`.
    pub fn congruence(&self, a: &Mat6) -> Self {
        let b = *a * self.to_mat6();
        let mut s = Self::ZERO;
        for i in 0..6 {
            for j in 0..=i {
                s.lower[packed(i, j)] = (0..6).map(|k| b.rows[i][k] * a.rows[j][k]).sum();
            }
        }
        s
    }

    /// Every entry times `s`.
    pub fn scale(&self, s: f64) -> Self {
        Self { lower: self.lower.map(|x| x * s) }
    }

    /// True if every entry is finite.
    pub fn is_finite(&self) -> bool {
        self.lower.iter().all(|x| x.is_finite())
    }

    /// Adds `s v vᵀ`.
    pub fn add_outer(&mut self, s: f64, v: &Vec6) {
        for i in 0..6 {
            for j in 0..=i {
                self.lower[packed(i, j)] += s * v[i] * v[j];
            }
        }
    }

    /// The factorisation `L D Lᵀ` of a positive definite matrix; `None` where a pivot is not
    /// positive.
    pub fn ldl(&self) -> Option<Ldl6> {
        Ldl6::new(&self.to_mat6().rows, 6, Pivots::AboveZero).ok()
    }

    /// The inverse of a positive definite matrix; `None` where a pivot is not positive.
    pub fn inverse_positive_definite(&self) -> Option<Self> {
        let factor = self.ldl()?;
        let mut inverse = Mat6::ZERO;
        for j in 0..6 {
            // The inverse is symmetric: column j is written as row j.
            inverse.rows[j][j] = 1.0;
            factor.solve(&mut inverse.rows[j]);
        }
        Some(Self::symmetric_part(&inverse))
    }
}

entrywise!(SymMat6);

impl From<[f64; 21]> for SymMat6 {
    fn from(lower: [f64; 21]) -> Self {
        Self { lower }
    }
}

impl From<SymMat6> for [f64; 21] {
    fn from(s: SymMat6) -> Self {
        s.lower
    }
}

impl From<SymMat6> for Mat6 {
    fn from(s: SymMat6) -> Self {
        s.to_mat6()
    }
}

impl From<SymMat6> for Matrix {
    fn from(m: SymMat6) -> Self {
        Self::from_fn(6, 6, |i, j| m.get(i, j))
    }
}
