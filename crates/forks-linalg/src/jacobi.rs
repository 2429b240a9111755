//! Eigenvalues of symmetric matrices by Jacobi's cyclic rotations.

use alloc::vec::Vec;

use crate::{Matrix, sqrt};

const SWEEPS: usize = 60;

/// When the rotations end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accuracy {
    /// The entries beside the diagonal, squared and summed, are below ε² of all: errors are ε‖A‖.
    Norm,
    /// No entry beside the diagonal is above ε of the root of the product of its two diagonal
    /// entries: small eigenvalues of a definite matrix come out to high relative accuracy.
    Entries,
}

/// Turns A, n × n by rows, into the diagonal of its eigenvalues and V into rows of eigenvectors: A
/// = Vᵀ diag V. A matrix with numbers that are not finite is left half turned.
pub fn jacobi(n: usize, a: &mut [f64], v: &mut [f64], accuracy: Accuracy) {
    v.fill(0.0);
    (0..n).for_each(|i| v[i * n + i] = 1.0);
    let size = a.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    for _ in 0..SWEEPS {
        if accuracy == Accuracy::Norm && is_diagonal(n, a) {
            break;
        }
        let mut turned = false;
        for p in 0..n {
            for q in p + 1..n {
                turned |=
                    rotate(a, v, n, [p, q], least(accuracy, size, a[p * n + p], a[q * n + q]));
            }
        }
        if !turned {
            break;
        }
    }
}

/// [`Accuracy::Norm`], or not finite.
fn is_diagonal(n: usize, a: &[f64]) -> bool {
    let (mut on, mut beside) = (0.0, 0.0);
    for i in 0..n {
        on += a[i * n + i] * a[i * n + i];
        beside += a[i * n..][..i].iter().map(|x| x * x).sum::<f64>();
    }
    beside <= f64::EPSILON * f64::EPSILON * (on + beside) || !beside.is_finite()
}

/// The largest entry that is left alone.
#[inline(always)]
fn least(accuracy: Accuracy, size: f64, pp: f64, qq: f64) -> f64 {
    match accuracy {
        Accuracy::Norm => 0.0,
        Accuracy::Entries => {
            let small = f64::EPSILON * sqrt((pp * qq).abs());
            small.max(f64::MIN_POSITIVE + 1e-30 * size)
        }
    }
}

/// One rotation; false if the entry is at most `least`.
#[inline]
fn rotate(a: &mut [f64], v: &mut [f64], n: usize, [p, q]: [usize; 2], least: f64) -> bool {
    let (pp, qq, pq) = (a[p * n + p], a[q * n + q], a[p * n + q]);
    if pq.abs() <= least || !pq.is_finite() {
        return false;
    }
    let zeta = (qq - pp) / (2.0 * pq);
    let t = f64::copysign(1.0, zeta) / (zeta.abs() + sqrt(1.0 + zeta * zeta));
    let c = 1.0 / sqrt(1.0 + t * t);
    let s = c * t;
    for k in 0..n {
        let (x, y) = (a[k * n + p], a[k * n + q]);
        (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
    }
    for k in 0..n {
        let (x, y) = (a[p * n + k], a[q * n + k]);
        (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
        let (x, y) = (v[p * n + k], v[q * n + k]);
        (v[p * n + k], v[q * n + k]) = (c * x - s * y, s * x + c * y);
    }
    (a[p * n + q], a[q * n + p]) = (0.0, 0.0);
    true
}

impl Matrix {
    /// Eigenvalues, in no order, and eigenvectors as columns by [`jacobi`]; of a symmetric matrix.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn jacobi_eigen(&self, accuracy: Accuracy) -> (Vec<f64>, Self) {
        let n = self.rows();
        assert_eq!(n, self.columns(), "a square matrix");
        let (mut a, mut v) = (self.clone(), Self::zeros(n, n));
        jacobi(n, a.as_mut_slice(), v.as_mut_slice(), accuracy);
        ((0..n).map(|i| a[(i, i)]).collect(), v.transpose())
    }
}
