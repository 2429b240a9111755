//! Small dense matrices, stored by rows: what there is to know before they are used.

use alloc::vec::Vec;

use forks_linalg::{
    BadPivot,
    simd::{Arithmetic, Kernel, LANES, Rows, cholesky_of_rows},
    sqrt,
};

/// What there is to know of a matrix that should be symmetric and positive definite.
pub(crate) struct Checked {
    /// Root of the sum of all squared differences of mirrored entries.
    pub(crate) difference: f64,
    /// The first pivot that is not positive.
    pub(crate) factor: Result<(), BadPivot>,
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
        Checked { difference, factor: cholesky_of_rows(l, dof, scratch) }
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

/// Sets the length and fills with zeros, keeping the memory.
pub(crate) fn reset(x: &mut Vec<f64>, n: usize) {
    x.clear();
    x.resize(n, 0.0);
}
