//! Least-squares problems of a few rows by one-sided Jacobi rotations.

use alloc::vec::Vec;

use crate::{Matrix, dot, sqrt};

/// V A with V orthogonal such that the rows are orthogonal: their lengths are the singular values
/// of A, small ones to high relative accuracy.
#[derive(Clone, Debug)]
pub struct OrthogonalRows {
    rows: Matrix,
    turn: Matrix,
    squares: Vec<f64>,
}

impl OrthogonalRows {
    const SWEEPS: usize = 40;

    /// By Jacobi rotations of pairs of rows.
    pub fn new(a: &Matrix) -> Self {
        let m = a.rows();
        let mut out = Self { rows: a.clone(), turn: Matrix::identity(m), squares: Vec::new() };
        for _ in 0..Self::SWEEPS {
            let mut turned = false;
            for i in 0..m {
                for j in i + 1..m {
                    turned |= out.orthogonalise(i, j);
                }
            }
            if !turned {
                break;
            }
        }
        out.squares = (0..m).map(|i| dot(out.rows.row(i), out.rows.row(i))).collect();
        out
    }

    /// V.
    pub fn turn(&self) -> &Matrix {
        &self.turn
    }

    /// Singular values, in the order of the rows of V.
    pub fn singular_values(&self) -> impl Iterator<Item = f64> + '_ {
        self.squares.iter().map(|s| sqrt(*s))
    }

    /// Largest singular value.
    pub fn largest(&self) -> f64 {
        sqrt(self.squares.iter().fold(0.0, |m, s| f64::max(m, *s)))
    }

    /// The shortest x of those that make |A x − b| smallest, singular values up to `least` taken as
    /// zero.
    pub fn solve(&self, b: &[f64], least: f64) -> Vec<f64> {
        let b = self.turn.mul_vec(b);
        let mut x = alloc::vec![0.0; self.rows.columns()];
        for i in self.kept(least) {
            let s = b[i] / self.squares[i];
            x.iter_mut().zip(self.rows.row(i)).for_each(|(x, r)| *x += s * r);
        }
        x
    }

    /// Takes from `v` its part in the span of the rows.
    pub fn remove_span(&self, v: &mut [f64], least: f64) {
        for i in self.kept(least) {
            let s = dot(v, self.rows.row(i)) / self.squares[i];
            v.iter_mut().zip(self.rows.row(i)).for_each(|(v, r)| *v -= s * r);
        }
    }

    fn kept(&self, least: f64) -> impl Iterator<Item = usize> + '_ {
        (0..self.squares.len()).filter(move |&i| self.squares[i] > least * least)
    }

    /// One rotation; false if the two rows are orthogonal to rounding.
    fn orthogonalise(&mut self, i: usize, j: usize) -> bool {
        let (a, b) = (self.rows.row(i), self.rows.row(j));
        let (aa, bb, ab) = (dot(a, a), dot(b, b), dot(a, b));
        // Also where rows or product have vanished.
        if ab.abs() <= 2.0 * f64::EPSILON * sqrt(aa * bb) || ab.is_nan() {
            return false;
        }
        let zeta = (bb - aa) / (2.0 * ab);
        let t = f64::copysign(1.0, zeta) / (zeta.abs() + sqrt(1.0 + zeta * zeta));
        let c = 1.0 / sqrt(1.0 + t * t);
        for m in [&mut self.rows, &mut self.turn] {
            for k in 0..m.columns() {
                let (x, y) = (m[(i, k)], m[(j, k)]);
                m[(i, k)] = c * (x - t * y);
                m[(j, k)] = c * (t * x + y);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_satisfy_the_normal_equations_and_lie_in_the_span_of_the_rows() {
        for (m, n, rank) in [(3, 5, 3), (6, 2, 2), (4, 4, 2), (6, 6, 6), (3, 0, 0), (2, 3, 0)] {
            let f = |i: usize, j: usize| ((7 * i + 3 * j + i * j) as f64).sin();
            let left = Matrix::from_fn(m, rank, |i, j| f(i, j + 1));
            let right = Matrix::from_fn(rank, n, |i, j| f(j + 2, i));
            let a = left.mul(&right);
            let b: Vec<f64> = (0..m).map(|i| f(i, 9)).collect();
            let rows = OrthogonalRows::new(&a);
            let x = rows.solve(&b, 1e-9);
            let gap: Vec<f64> = a.mul_vec(&x).iter().zip(&b).map(|(y, b)| y - b).collect();
            let normal = a.transpose_mul_vec(&gap);
            // Condition numbers below 100 here.
            assert!(normal.iter().all(|x| x.abs() < 1e-12), "{m}×{n}: {normal:?}");
            let mut rest = x.clone();
            rows.remove_span(&mut rest, 1e-9);
            assert!(rest.iter().all(|x| x.abs() < 1e-12), "{m}×{n}: {rest:?}");
            assert_eq!(rows.kept(1e-9).count(), rank);
        }
    }
}
