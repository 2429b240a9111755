//! Least commands of a step by one dense system with multipliers.

use crate::{Matrix, linear::solve};

/// A step M v⁺ = M free + h S z, S the unit columns of the commanded coordinates, with rows over v⁺
/// that are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// M, n × n.
    pub mass: &'a Matrix,
    /// Rates without commands.
    pub free: &'a [f64],
    /// Which coordinates commands act on.
    pub commanded: &'a [usize],
    /// h, s.
    pub length: f64,
    /// Rows, each over n rates.
    pub rows: &'a Matrix,
    /// What they shall be.
    pub asked: &'a [f64],
}

impl Step<'_> {
    /// (v⁺, z) of the least ½ (v⁺ − a)ᵀ P (v⁺ − a) + ½ zᵀ R z.
    pub fn least(&self, p: &Matrix, a: &[f64], r: &Matrix) -> (Vec<f64>, Vec<f64>) {
        let (n, c, h) = (self.free.len(), self.commanded.len(), self.length);
        let size = n + c + n + self.asked.len();
        let mut k = Matrix::zeros(size, size);
        let mut b = Matrix::zeros(size, 1);
        let pa = p.mul_vec(a);
        for i in 0..n {
            (0..n).for_each(|j| k[(i, j)] = p[(i, j)]);
            b[(i, 0)] = pa[i];
            for j in 0..n {
                k[(n + c + i, j)] = self.mass[(i, j)];
                k[(j, n + c + i)] = self.mass[(i, j)];
            }
        }
        for (j, at) in self.commanded.iter().enumerate() {
            (0..c).for_each(|i| k[(n + i, n + j)] = r[(i, j)]);
            k[(n + c + at, n + j)] = -h;
            k[(n + j, n + c + at)] = -h;
        }
        let momentum = self.mass.mul_vec(self.free);
        (0..n).for_each(|i| b[(n + c + i, 0)] = momentum[i]);
        for (i, asked) in self.asked.iter().enumerate() {
            for j in 0..n {
                k[(n + c + n + i, j)] = self.rows[(i, j)];
                k[(j, n + c + n + i)] = self.rows[(i, j)];
            }
            b[(n + c + n + i, 0)] = *asked;
        }
        let x = solve(&k, &b);
        let column = x.column(0);
        (column[..n].to_vec(), column[n..n + c].to_vec())
    }
}
