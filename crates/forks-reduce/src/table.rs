//! A table of adjoints, means or displacements: one row per variable of a sweep.

use forks_mechanism::{LinkId, linalg::Matrix};

use crate::frontier::{Variable, add_scaled};

/// One row of `width` numbers per variable.
#[derive(Clone)]
pub(crate) struct Table {
    pub(crate) width: usize,
    data: Vec<f64>,
}

impl Table {
    pub(crate) fn zeros(rows: usize, width: usize) -> Self {
        Self { width, data: vec![0.0; rows * width] }
    }

    pub(crate) fn row(&self, v: Variable) -> &[f64] {
        &self.data[v as usize * self.width..(v as usize + 1) * self.width]
    }

    pub(crate) fn row_mut(&mut self, v: Variable) -> &mut [f64] {
        &mut self.data[v as usize * self.width..(v as usize + 1) * self.width]
    }

    pub(crate) fn add(&mut self, v: Variable, s: f64, x: &[f64]) {
        add_scaled(self.row_mut(v), s, x);
    }

    /// The six rows of a link.
    pub(crate) fn link(&self, l: LinkId) -> &[f64] {
        &self.data[6 * l.index() * self.width..6 * (l.index() + 1) * self.width]
    }

    /// `m` times the rows of `variables`.
    pub(crate) fn product(&self, m: &Matrix, variables: &[Variable]) -> Matrix {
        let mut out = Matrix::zeros(m.rows(), self.width);
        for i in 0..m.rows() {
            let o = out.row_mut(i);
            for (&v, &s) in variables.iter().zip(m.row(i)) {
                if s != 0.0 {
                    o.iter_mut().zip(self.row(v)).for_each(|(o, x)| *o += s * x);
                }
            }
        }
        out
    }

    /// Subtracts `mᵀ y` from the rows of `variables`.
    pub(crate) fn subtract_transposed(&mut self, variables: &[Variable], m: &Matrix, y: &Matrix) {
        for i in 0..m.rows() {
            for (&v, &s) in variables.iter().zip(m.row(i)) {
                self.add(v, -s, y.row(i));
            }
        }
    }
}
