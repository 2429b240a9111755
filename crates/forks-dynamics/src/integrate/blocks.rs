//! Small square matrices of joints, and what a factorisation of a whole mechanism found.

use forks_mechanism::linalg::{Pivots, solve_lu};

/// A joint's small square matrix.
pub(crate) type Block = [[f64; 6]; 6];

/// What a factorisation found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Factorised {
    /// Every pivot keeps at least half of what it has without loads.
    Sound,
    /// Loads take too much of a pivot away, at this place in the forest: a shorter step, or one
    /// without their stiffness, is called for.
    TooSoft(usize),
    /// The pivot at this place is zero or not finite.
    Singular(usize),
}

pub(crate) fn multiply(m: &Block, x: &[f64; 6], d: usize) -> [f64; 6] {
    core::array::from_fn(|i| if i < d { (0..d).map(|k| m[i][k] * x[k]).sum() } else { 0.0 })
}

/// Inverse of the leading d × d part; `None` where a pivot is zero or not finite.
pub(crate) fn inverse(m: &Block, d: usize) -> Option<Block> {
    let (mut a, mut b) = ([0.0; 36], [0.0; 36]);
    for i in 0..d {
        a[i * d..][..d].copy_from_slice(&m[i][..d]);
        b[i * d + i] = 1.0;
    }
    let mut out = [[0.0; 6]; 6];
    solve_lu(d, &mut a, &mut b, d, Pivots::AboveZero).then(|| {
        (0..d).for_each(|i| out[i][..d].copy_from_slice(&b[i * d..][..d]));
        out
    })
}

/// True if sym(D − ½ least) is positive semidefinite up to rounding: Cholesky's pivots say so.
pub(crate) fn exceeds_half(joint: &Block, least: &Block, d: usize) -> bool {
    let at =
        |i: usize, k: usize| 0.5 * (joint[i][k] + joint[k][i]) - 0.25 * (least[i][k] + least[k][i]);
    let mut l = [[0.0f64; 6]; 6];
    for k in 0..d {
        let pivot = at(k, k) - (0..k).map(|c| l[k][c] * l[k][c]).sum::<f64>();
        if pivot < -1e-9 * joint[k][k].abs() {
            return false;
        }
        // Massless directions without terms of their own: nothing that loads could take away.
        l[k][k] = pivot.max(0.0).sqrt();
        for i in k + 1..d {
            let rest = at(i, k) - (0..k).map(|c| l[i][c] * l[k][c]).sum::<f64>();
            l[i][k] = if l[k][k] > 0.0 { rest / l[k][k] } else { 0.0 };
        }
    }
    true
}
