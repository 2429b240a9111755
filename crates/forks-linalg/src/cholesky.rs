//! A = L Lᵀ of symmetric positive definite matrices, in place, row by row.
//!
//! Matrices are slices by rows, `stride` numbers from one row to the next, so that a part of a
//! larger array can be factored where it stands.

use crate::{BadPivot, Pivots, dot, sqrt};

/// L of A = L Lᵀ in place of the lower triangle of A, n × n; what is above the diagonal is neither
/// read nor written.
///
/// # Errors
/// The first pivot that is refused; the rows above are factored.
#[inline]
pub fn cholesky(
    n: usize,
    a: &mut [f64],
    stride: usize,
    pivots: Pivots<'_>,
) -> Result<(), BadPivot> {
    for i in 0..n {
        let (above, row) = a.split_at_mut(i * stride);
        for j in 0..i {
            let other = &above[j * stride..][..=j];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let pivot = row[i] - dot(&row[..i], &row[..i]);
        let accepted = pivots.accept(i, row[i], pivot).ok_or(BadPivot { row: i, pivot })?;
        row[i] = sqrt(accepted);
    }
    Ok(())
}

/// L⁻¹ b in place of b.
#[inline]
pub fn solve_lower(l: &[f64], stride: usize, b: &mut [f64]) {
    for i in 0..b.len() {
        let row = &l[i * stride..][..=i];
        b[i] = (b[i] - dot(&row[..i], &b[..i])) / row[i];
    }
}

/// L⁻ᵀ b in place of b.
#[inline]
pub fn solve_lower_transposed(l: &[f64], stride: usize, b: &mut [f64]) {
    for i in (0..b.len()).rev() {
        let (left, right) = b.split_at_mut(i);
        let row = &l[i * stride..][..=i];
        right[0] /= row[i];
        left.iter_mut().zip(row).for_each(|(x, l)| *x -= l * right[0]);
    }
}

/// (L Lᵀ)⁻¹ b in place of b.
#[inline]
pub fn solve_cholesky(l: &[f64], stride: usize, b: &mut [f64]) {
    solve_lower(l, stride, b);
    solve_lower_transposed(l, stride, b);
}

/// (L Lᵀ)⁻¹ = L⁻ᵀ L⁻¹, n × n by rows without gaps, symmetric to the last bit.
pub fn invert_cholesky(n: usize, l: &[f64], stride: usize, out: &mut [f64]) {
    // L⁻¹ into the lower triangle.
    for j in 0..n {
        for i in j..n {
            let unit = f64::from(i == j);
            let rest: f64 = (j..i).map(|k| l[i * stride + k] * out[k * n + j]).sum();
            out[i * n + j] = (unit - rest) / l[i * stride + i];
        }
    }
    // Row by row: entry (i, j) needs rows from i on only, of which row i is not yet overwritten
    // beyond j.
    for i in 0..n {
        for j in 0..=i {
            out[i * n + j] = (i..n).map(|k| out[k * n + i] * out[k * n + j]).sum();
        }
        for j in 0..i {
            out[j * n + i] = out[i * n + j];
        }
    }
}
