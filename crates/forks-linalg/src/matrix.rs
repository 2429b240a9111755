//! A plain dense matrix of any size.

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

/// A dense matrix of `f64`, stored by rows.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Parts"))]
pub struct Matrix {
    rows: usize,
    columns: usize,
    data: Vec<f64>,
}

/// What a file holds of a [`Matrix`], before the sizes are compared.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Parts {
    rows: usize,
    columns: usize,
    data: Vec<f64>,
}

#[cfg(feature = "serde")]
impl TryFrom<Parts> for Matrix {
    type Error = alloc::string::String;
    fn try_from(Parts { rows, columns, data }: Parts) -> Result<Self, Self::Error> {
        if rows.checked_mul(columns) == Some(data.len()) {
            Ok(Self { rows, columns, data })
        } else {
            Err(alloc::format!("{} numbers for a {rows}×{columns} matrix", data.len()))
        }
    }
}

impl Matrix {
    /// A matrix of zeros.
    #[inline]
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, data: alloc::vec![0.0; rows * columns] }
    }

    /// The identity.
    pub fn identity(n: usize) -> Self {
        let mut m = Self::zeros(n, n);
        for i in 0..n {
            m[(i, i)] = 1.0;
        }
        m
    }

    /// A matrix whose entry (i, j) is `f(i, j)`.
    #[inline]
    pub fn from_fn(rows: usize, columns: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut m = Self::zeros(rows, columns);
        for i in 0..rows {
            for j in 0..columns {
                m[(i, j)] = f(i, j);
            }
        }
        m
    }

    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[inline]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.columns..(i + 1) * self.columns]
    }

    /// Row `i`, to be written.
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.columns..(i + 1) * self.columns]
    }

    /// Column `j`, copied.
    pub fn column(&self, j: usize) -> Vec<f64> {
        (0..self.rows).map(|i| self[(i, j)]).collect()
    }

    /// All entries, row after row.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// All entries, row after row, to be written.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// The transpose.
    pub fn transpose(&self) -> Self {
        Self::from_fn(self.columns, self.rows, |i, j| self[(j, i)])
    }

    /// The product `self other`.
    ///
    /// # Panics
    /// If the inner sizes differ.
    #[inline]
    pub fn mul(&self, other: &Self) -> Self {
        assert_eq!(self.columns, other.rows, "inner sizes of a matrix product");
        let mut out = Self::zeros(self.rows, other.columns);
        for i in 0..self.rows {
            for k in 0..self.columns {
                let a = self[(i, k)];
                if a != 0.0 {
                    for (o, b) in out.row_mut(i).iter_mut().zip(other.row(k)) {
                        *o += a * b;
                    }
                }
            }
        }
        out
    }

    /// The product `selfᵀ other`.
    ///
    /// # Panics
    /// If the row counts differ.
    #[inline]
    pub fn transpose_mul(&self, other: &Self) -> Self {
        assert_eq!(self.rows, other.rows, "row counts of a transposed matrix product");
        let mut out = Self::zeros(self.columns, other.columns);
        for k in 0..self.rows {
            for i in 0..self.columns {
                let a = self[(k, i)];
                if a != 0.0 {
                    for (o, b) in out.row_mut(i).iter_mut().zip(other.row(k)) {
                        *o += a * b;
                    }
                }
            }
        }
        out
    }

    /// Matrix times vector.
    ///
    /// # Panics
    /// If `v` has not as many entries as the matrix has columns.
    #[inline]
    pub fn mul_vec(&self, v: &[f64]) -> Vec<f64> {
        assert_eq!(self.columns, v.len(), "sizes of a matrix-vector product");
        (0..self.rows).map(|i| self.row(i).iter().zip(v).map(|(a, b)| a * b).sum()).collect()
    }

    /// Transposed matrix times vector.
    ///
    /// # Panics
    /// If `v` has not as many entries as the matrix has rows.
    pub fn transpose_mul_vec(&self, v: &[f64]) -> Vec<f64> {
        assert_eq!(self.rows, v.len(), "sizes of a transposed matrix-vector product");
        let mut out = alloc::vec![0.0; self.columns];
        for (i, s) in v.iter().enumerate() {
            for (o, a) in out.iter_mut().zip(self.row(i)) {
                *o += a * s;
            }
        }
        out
    }

    /// Frobenius norm.
    pub fn norm(&self) -> f64 {
        crate::sqrt(self.data.iter().map(|x| x * x).sum())
    }

    /// Largest absolute entry.
    pub fn max_abs(&self) -> f64 {
        self.data.iter().fold(0.0, |m, x| m.max(x.abs()))
    }

    /// True if every entry is finite.
    pub fn is_finite(&self) -> bool {
        self.data.iter().all(|x| x.is_finite())
    }

    /// `self − other`.
    ///
    /// # Panics
    /// If the sizes differ.
    pub fn sub(&self, other: &Self) -> Self {
        assert_eq!((self.rows, self.columns), (other.rows, other.columns), "sizes of a difference");
        Self::from_fn(self.rows, self.columns, |i, j| self[(i, j)] - other[(i, j)])
    }

    /// `self + s other`.
    ///
    /// # Panics
    /// If the sizes differ.
    #[must_use]
    pub fn plus_scaled(&self, s: f64, other: &Self) -> Self {
        assert_eq!((self.rows, self.columns), (other.rows, other.columns), "sizes of a sum");
        Self::from_fn(self.rows, self.columns, |i, j| self[(i, j)] + s * other[(i, j)])
    }

    /// The block of `rows` × `columns` entries whose first is (`row`, `column`).
    pub fn block(&self, row: usize, column: usize, rows: usize, columns: usize) -> Self {
        Self::from_fn(rows, columns, |i, j| self[(row + i, column + j)])
    }

    /// ½(m + mᵀ).
    pub fn symmetric_part(&self) -> Self {
        Self::from_fn(self.rows, self.columns, |i, j| 0.5 * (self[(i, j)] + self[(j, i)]))
    }

    /// The rows as nested vectors.
    pub fn to_rows(&self) -> Vec<Vec<f64>> {
        (0..self.rows).map(|i| self.row(i).to_vec()).collect()
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.columns + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[i * self.columns + j]
    }
}
