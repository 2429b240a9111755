//! A = L Lᵀ of a small dense matrix, with solutions and the inverse.

use forks_mechanism::linalg::{Matrix, dot};

/// The lower factor, row by row.
#[derive(Clone, Debug)]
pub(super) struct Cholesky {
    lower: Matrix,
}

impl Cholesky {
    /// Factors the lower half of a matrix; `None` where it is not positive definite.
    pub(super) fn new(a: &Matrix) -> Option<Self> {
        let n = a.rows();
        let mut lower = Matrix::zeros(n, n);
        for i in 0..n {
            for j in 0..=i {
                let known = dot(&lower.row(i)[..j], &lower.row(j)[..j]);
                let x = a[(i, j)] - known;
                lower[(i, j)] = match i == j {
                    false => x / lower[(j, j)],
                    // A pivot lost to rounding resists nothing.
                    true if x > f64::EPSILON * a[(i, i)].abs() && x.is_finite() => x.sqrt(),
                    true => return None,
                };
            }
        }
        Some(Self { lower })
    }

    /// A⁻¹ b.
    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let (l, n) = (&self.lower, b.len());
        let mut x = b.to_vec();
        for i in 0..n {
            x[i] = (x[i] - dot(&l.row(i)[..i], &x[..i])) / l[(i, i)];
        }
        for i in (0..n).rev() {
            x[i] /= l[(i, i)];
            let above = x[i];
            x[..i].iter_mut().zip(l.row(i)).for_each(|(x, l)| *x -= l * above);
        }
        x
    }

    /// A⁻¹ = L⁻ᵀ L⁻¹, symmetric to the bit.
    pub(super) fn inverse(&self) -> Matrix {
        let (l, n) = (&self.lower, self.lower.rows());
        // Rows of L⁻ᵀ: row j has entries from j on.
        let mut columns = Matrix::zeros(n, n);
        for j in 0..n {
            let column = columns.row_mut(j);
            column[j] = 1.0 / l[(j, j)];
            for i in j + 1..n {
                column[i] = -dot(&l.row(i)[j..i], &column[j..i]) / l[(i, i)];
            }
        }
        let mut out = Matrix::zeros(n, n);
        for i in 0..n {
            for j in 0..=i {
                let x = dot(&columns.row(i)[i..], &columns.row(j)[i..]);
                out[(i, j)] = x;
                out[(j, i)] = x;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_and_inverses_undo_the_matrix() {
        for n in 0..12 {
            let wave = Matrix::from_fn(n, n, |i, j| ((3 * i + 7 * j * j + 1) as f64).sin());
            let identity = Matrix::identity(n);
            let square = wave.transpose_mul(&wave);
            let a = Matrix::from_fn(n, n, |i, j| square[(i, j)] + identity[(i, j)]);
            let factor = Cholesky::new(&a).unwrap();
            let inverse = factor.inverse();
            assert_eq!(inverse, inverse.transpose());
            let size = a.max_abs() * inverse.max_abs() * n.pow(2) as f64 * f64::EPSILON;
            assert!(a.mul(&inverse).sub(&identity).max_abs() <= size);
            let b: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
            let back = a.mul_vec(&factor.solve(&b));
            assert!(back.iter().zip(&b).all(|(x, y)| (x - y).abs() <= size));
        }
    }

    #[test]
    fn what_is_not_positive_definite_has_no_factor() {
        let saddle = Matrix::from_fn(2, 2, |i, j| if i == j { 1.0 } else { 2.0 });
        assert!(Cholesky::new(&saddle).is_none());
        let flat = Matrix::from_fn(2, 2, |_, _| 1.0);
        assert!(Cholesky::new(&flat).is_none());
        let broken = Matrix::from_fn(2, 2, |_, _| f64::NAN);
        assert!(Cholesky::new(&broken).is_none());
    }
}
