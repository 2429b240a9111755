//! Factorisations of small dense matrices, stored by rows, in place.

use alloc::vec::Vec;

use forks_linalg::simd::{Arithmetic, Kernel, LANES, Rows, cholesky};

use forks_linalg::sqrt;

/// What there is to know of a matrix that should be symmetric and positive definite.
pub(crate) struct Checked {
    /// Root of the sum of all squared differences of mirrored entries.
    pub(crate) difference: f64,
    /// The first row whose pivot is not positive, and the pivot.
    pub(crate) factor: Result<(), (usize, f64)>,
}

/// Looks at an n × n matrix stored by rows.
pub(crate) struct Check<'a> {
    pub(crate) dof: usize,
    pub(crate) inverse: &'a [f64],
    pub(crate) scratch: &'a mut Rows,
}

impl Kernel for Check<'_> {
    type Output = Checked;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> Checked {
        let Self { dof, inverse, scratch } = self;
        // Whole blocks of four rows, those beyond the matrix zero.
        scratch.reset(dof.next_multiple_of(LANES), dof);
        for (i, row) in inverse.chunks_exact(dof.max(1)).enumerate() {
            let (fours, rest) = row.as_chunks::<LANES>();
            let (groups, last) = scratch.row_mut(i).split_at_mut(fours.len());
            for (out, x) in groups.iter_mut().zip(fours) {
                out.0 = *x;
            }
            for out in last {
                out[..rest.len()].copy_from_slice(rest);
            }
        }
        let difference = sqrt(squared_differences(l, scratch));
        Checked { difference, factor: cholesky(l, dof, scratch) }
    }
}

/// Σ (a_ij − a_ji)², block of four by block of four.
#[inline(always)]
fn squared_differences<L: Arithmetic>(l: L, a: &Rows) -> f64 {
    let mut sum = l.splat(0.0);
    for i in 0..a.width() {
        for j in i..a.width() {
            let block = |i: usize, j: usize| {
                core::array::from_fn::<_, LANES, _>(|k| l.load(&a.row(LANES * i + k)[j]))
            };
            for (x, y) in block(i, j).into_iter().zip(l.transposed(block(j, i))) {
                let difference = x - y;
                sum += difference * difference;
            }
        }
    }
    sum.total()
}

/// Largest difference of mirrored entries of an n × n matrix.
pub(crate) fn asymmetry(n: usize, a: &[f64]) -> f64 {
    let mut worst = 0.0_f64;
    for i in 0..n {
        for j in 0..i {
            worst = worst.max((a[i * n + j] - a[j * n + i]).abs());
        }
    }
    worst
}

/// Cholesky factor into the lower triangle; else the first row whose pivot is not positive, and the
/// pivot.
pub(crate) fn cholesky_pivot(n: usize, a: &mut [f64]) -> Result<(), (usize, f64)> {
    for j in 0..n {
        let (above, below) = a.split_at_mut((j + 1) * n);
        let row = &mut above[j * n..];
        let pivot = row[j] - row[..j].iter().map(|x| x * x).sum::<f64>();
        if pivot <= 0.0 || pivot.is_nan() {
            return Err((j, pivot));
        }
        let root = sqrt(pivot);
        row[j] = root;
        for i in below.chunks_exact_mut(n) {
            let s: f64 = row[..j].iter().zip(&i[..j]).map(|(x, y)| x * y).sum();
            i[j] = (i[j] - s) / root;
        }
    }
    Ok(())
}

/// Solves L Lᵀ x = b in place, L as [`cholesky_pivot`] leaves it.
pub(crate) fn cholesky_solve(n: usize, l: &[f64], b: &mut [f64]) {
    for i in 0..n {
        let s: f64 = l[i * n..i * n + i].iter().zip(&b[..i]).map(|(l, x)| l * x).sum();
        b[i] = (b[i] - s) / l[i * n + i];
    }
    for i in (0..n).rev() {
        b[i] /= l[i * n + i];
        let x = b[i];
        for (b, l) in b[..i].iter_mut().zip(&l[i * n..]) {
            *b -= l * x;
        }
    }
}

/// Gaussian elimination with partial pivoting: solves A x = b, both overwritten. False if a pivot
/// is zero or not finite.
pub(crate) fn eliminate(n: usize, a: &mut [f64], b: &mut [f64]) -> bool {
    for k in 0..n {
        let mut best = (k, a[k * n + k].abs());
        for i in k + 1..n {
            let size = a[i * n + k].abs();
            if size > best.1 {
                best = (i, size);
            }
        }
        if !(best.1 > 0.0 && best.1.is_finite()) {
            return false;
        }
        if best.0 != k {
            let (upper, lower) = a.split_at_mut(best.0 * n);
            upper[k * n..(k + 1) * n].swap_with_slice(&mut lower[..n]);
            b.swap(k, best.0);
        }
        let (upper, lower) = a.split_at_mut((k + 1) * n);
        let row = &upper[k * n..];
        let inverse = 1.0 / row[k];
        let (done, rest) = b.split_at_mut(k + 1);
        for (i, b) in lower.chunks_exact_mut(n).zip(rest) {
            let factor = i[k] * inverse;
            if factor != 0.0 {
                for (x, y) in i[k + 1..].iter_mut().zip(&row[k + 1..]) {
                    *x -= factor * y;
                }
                *b -= factor * done[k];
            }
        }
    }
    for i in (0..n).rev() {
        let s: f64 =
            a[i * n + i + 1..(i + 1) * n].iter().zip(&b[i + 1..]).map(|(a, x)| a * x).sum();
        b[i] = (b[i] - s) / a[i * n + i];
    }
    true
}

/// Sets the length and fills with zeros, keeping the memory.
pub(crate) fn reset(x: &mut Vec<f64>, n: usize) {
    x.clear();
    x.resize(n, 0.0);
}
