//! Dense 6-vectors and 6×6 matrices, stored by rows, linear part first.

use core::ops::{Add, AddAssign, Index, IndexMut, Mul, Neg, Sub, SubAssign};

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
        m.rows.iter_mut().flatten().for_each(|x| *x *= s);
        m
    }

    /// True if every entry is finite.
    pub fn is_finite(&self) -> bool {
        self.rows.iter().flatten().all(|x| x.is_finite())
    }

    /// Largest absolute entry.
    pub fn max_abs(&self) -> f64 {
        self.rows.iter().flatten().fold(0.0, |m, x| m.max(x.abs()))
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

impl AddAssign for Mat6 {
    fn add_assign(&mut self, other: Self) {
        for i in 0..6 {
            for j in 0..6 {
                self.rows[i][j] += other.rows[i][j];
            }
        }
    }
}

impl SubAssign for Mat6 {
    fn sub_assign(&mut self, other: Self) {
        for i in 0..6 {
            for j in 0..6 {
                self.rows[i][j] -= other.rows[i][j];
            }
        }
    }
}

impl Add for Mat6 {
    type Output = Self;
    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl Sub for Mat6 {
    type Output = Self;
    fn sub(mut self, other: Self) -> Self {
        self -= other;
        self
    }
}

impl Neg for Mat6 {
    type Output = Self;
    fn neg(self) -> Self {
        self.scale(-1.0)
    }
}

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
        Self::symmetric_part(&(*a * self.to_mat6() * a.transpose()))
    }

    /// Adds `s v vᵀ`.
    pub fn add_outer(&mut self, s: f64, v: &Vec6) {
        for i in 0..6 {
            for j in 0..=i {
                self.lower[packed(i, j)] += s * v[i] * v[j];
            }
        }
    }

    /// Solves `self x = b` by an LDLᵀ factorisation; `None` where a pivot is not positive.
    pub fn solve_positive_definite(&self, b: &Vec6) -> Option<Vec6> {
        let mut l = [[0.0; 6]; 6];
        let mut d = [0.0; 6];
        for j in 0..6 {
            let mut pivot = self.get(j, j);
            for k in 0..j {
                pivot -= l[j][k] * l[j][k] * d[k];
            }
            if pivot.is_nan() || pivot <= 0.0 {
                return None;
            }
            d[j] = pivot;
            for i in j + 1..6 {
                let mut x = self.get(i, j);
                for k in 0..j {
                    x -= l[i][k] * l[j][k] * d[k];
                }
                l[i][j] = x / pivot;
            }
        }
        let mut x = *b;
        for i in 0..6 {
            for k in 0..i {
                x[i] -= l[i][k] * x[k];
            }
        }
        for i in 0..6 {
            x[i] /= d[i];
        }
        for i in (0..6).rev() {
            for k in i + 1..6 {
                x[i] -= l[k][i] * x[k];
            }
        }
        Some(x)
    }
}

impl AddAssign for SymMat6 {
    fn add_assign(&mut self, other: Self) {
        for i in 0..21 {
            self.lower[i] += other.lower[i];
        }
    }
}

impl Add for SymMat6 {
    type Output = Self;
    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}
