//! Dense 6-vectors and 6×6 matrices, stored by rows, linear part first.

use core::ops::{Index, IndexMut, Mul};

use forks_linalg::Matrix;

use glam::{DMat3, DVec3};

/// Flattened twist or wrench, linear part first.
pub type Vec6 = [f64; 6];

/// A 6×6 matrix stored by rows.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mat6 {
    /// Rows of the matrix.
    pub rows: [[f64; 6]; 6],
}

impl Mat6 {
    /// The zero matrix.
    pub const ZERO: Self = Self { rows: [[0.0; 6]; 6] };
    /// The identity.
    pub const IDENTITY: Self = {
        let mut rows = [[0.0; 6]; 6];
        let mut i = 0;
        while i < 6 {
            rows[i][i] = 1.0;
            i += 1;
        }
        Self { rows }
    };

    /// A matrix from its rows.
    pub const fn from_rows(rows: [[f64; 6]; 6]) -> Self {
        Self { rows }
    }

    /// The rows of the matrix.
    pub const fn to_rows(&self) -> [[f64; 6]; 6] {
        self.rows
    }

    fn entries(&self) -> &[f64] {
        self.rows.as_flattened()
    }

    fn entries_mut(&mut self) -> &mut [f64] {
        self.rows.as_flattened_mut()
    }

    /// A diagonal matrix.
    pub fn from_diagonal(diagonal: Vec6) -> Self {
        let mut m = Self::ZERO;
        for i in 0..6 {
            m.rows[i][i] = diagonal[i];
        }
        m
    }

    /// The matrix of four 3×3 blocks `[[a, b], [c, d]]`.
    pub fn from_blocks(a: DMat3, b: DMat3, c: DMat3, d: DMat3) -> Self {
        let mut m = Self::ZERO;
        for i in 0..3 {
            for j in 0..3 {
                m.rows[i][j] = a.col(j)[i];
                m.rows[i][j + 3] = b.col(j)[i];
                m.rows[i + 3][j] = c.col(j)[i];
                m.rows[i + 3][j + 3] = d.col(j)[i];
            }
        }
        m
    }

    /// The 3×3 block whose first entry is (`row`, `column`).
    pub fn block(&self, row: usize, column: usize) -> DMat3 {
        let col = |j: usize| {
            DVec3::new(
                self.rows[row][column + j],
                self.rows[row + 1][column + j],
                self.rows[row + 2][column + j],
            )
        };
        DMat3::from_cols(col(0), col(1), col(2))
    }

    /// The transpose.
    pub fn transpose(&self) -> Self {
        let mut m = Self::ZERO;
        for i in 0..6 {
            for j in 0..6 {
                m.rows[j][i] = self.rows[i][j];
            }
        }
        m
    }

    /// Matrix times vector.
    pub fn mul_vec(&self, v: &Vec6) -> Vec6 {
        let mut out = [0.0; 6];
        for i in 0..6 {
            for j in 0..6 {
                out[i] += self.rows[i][j] * v[j];
            }
        }
        out
    }

    /// Transposed matrix times vector.
    pub fn transpose_mul_vec(&self, v: &Vec6) -> Vec6 {
        let mut out = [0.0; 6];
        for i in 0..6 {
            for j in 0..6 {
                out[j] += self.rows[i][j] * v[i];
            }
        }
        out
    }

    /// Every entry times `s`.
    pub fn scale(&self, s: f64) -> Self {
        let mut m = *self;
        m.entries_mut().iter_mut().for_each(|x| *x *= s);
        m
    }

    /// True if every entry is finite.
    pub fn is_finite(&self) -> bool {
        self.entries().iter().all(|x| x.is_finite())
    }

    /// Largest absolute entry.
    pub fn max_abs(&self) -> f64 {
        self.entries().iter().fold(0.0, |m, x| m.max(x.abs()))
    }
}

impl Index<(usize, usize)> for Mat6 {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.rows[i][j]
    }
}

impl IndexMut<(usize, usize)> for Mat6 {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.rows[i][j]
    }
}

impl Mul for Mat6 {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let mut m = Self::ZERO;
        for i in 0..6 {
            for k in 0..6 {
                let a = self.rows[i][k];
                for j in 0..6 {
                    m.rows[i][j] += a * other.rows[k][j];
                }
            }
        }
        m
    }
}

/// Operators of a matrix that is added, subtracted and scaled entry by entry.
macro_rules! entrywise {
    ($t:ident) => {
        impl core::ops::AddAssign for $t {
            fn add_assign(&mut self, other: Self) {
                self.entries_mut().iter_mut().zip(other.entries()).for_each(|(a, b)| *a += b);
            }
        }
        impl core::ops::SubAssign for $t {
            fn sub_assign(&mut self, other: Self) {
                self.entries_mut().iter_mut().zip(other.entries()).for_each(|(a, b)| *a -= b);
            }
        }
        impl core::ops::Add for $t {
            type Output = Self;
            fn add(mut self, other: Self) -> Self {
                self += other;
                self
            }
        }
        impl core::ops::Sub for $t {
            type Output = Self;
            fn sub(mut self, other: Self) -> Self {
                self -= other;
                self
            }
        }
        impl core::ops::Neg for $t {
            type Output = Self;
            fn neg(self) -> Self {
                self.scale(-1.0)
            }
        }
        impl core::ops::Mul<f64> for $t {
            type Output = Self;
            fn mul(self, s: f64) -> Self {
                self.scale(s)
            }
        }
        impl Default for $t {
            fn default() -> Self {
                Self::ZERO
            }
        }
    };
}
pub(crate) use entrywise;

entrywise!(Mat6);

impl From<[[f64; 6]; 6]> for Mat6 {
    fn from(rows: [[f64; 6]; 6]) -> Self {
        Self { rows }
    }
}

impl From<Mat6> for [[f64; 6]; 6] {
    fn from(m: Mat6) -> Self {
        m.rows
    }
}

impl From<Mat6> for Matrix {
    fn from(m: Mat6) -> Self {
        Self::from_fn(6, 6, |i, j| m[(i, j)])
    }
}
