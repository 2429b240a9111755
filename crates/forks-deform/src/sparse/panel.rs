//! Dense panels of a supernode: rows of numbers in fours, filled up with zeros.
//!
//! Products of rows with rows have four sums side by side, over every fourth column each; an entry
//! is summed in the same order wherever it lies in a panel.

use std::array::from_fn;

use forks_dynamics::mechanism::linalg::{
    BadPivot, Pivots, cholesky,
    simd::{Arithmetic, LANES, Lanes, Wide},
};

/// Columns that are eliminated together.
pub(super) const BLOCK: usize = 12;

/// Fours in a block.
const FOURS: usize = BLOCK / LANES;

/// Fours of rows that stay in the innermost cache.
const CACHED: usize = 512;

/// A panel's row `i`.
#[inline(always)]
fn row(panel: &[Lanes], stride: usize, i: usize) -> &[Lanes] {
    &panel[i * stride..][..stride]
}

/// Products of R rows with C rows over the first `n` fours, four sums each.
#[inline(always)]
fn products<L: Arithmetic, const R: usize, const C: usize>(
    l: L,
    n: usize,
    a: [&[Lanes]; R],
    b: [&[Lanes]; C],
) -> [[Wide<L>; C]; R] {
    let (a, b) = (a.map(|a| &a[..n]), b.map(|b| &b[..n]));
    let mut sums = [[l.splat(0.0); C]; R];
    for k in 0..n {
        // Twelve sums and three rows leave one register for a column at a time.
        let a: [Wide<L>; R] = from_fn(|r| l.load(&a[r][k]));
        for c in 0..C {
            let b = l.load(&b[c][k]);
            for r in 0..R {
                sums[r][c] += a[r] * b;
            }
        }
    }
    sums
}

/// Where a supernode's rows go in the panel that it updates.
pub(super) struct Target<'a> {
    /// Row of the panel, or of the part of it that is at hand, of the first of each node's three.
    pub(super) rows: &'a [usize],
    /// Column of the panel of each row of the supernode that is a column there.
    pub(super) columns: &'a [usize],
    /// Fours in a row of the panel.
    pub(super) stride: usize,
}

/// Subtracts from a panel the products of rows of `given` from node `begin` on with its rows from
/// `first` on, one for each column of the target.
#[inline(always)]
pub(super) fn update<L: Arithmetic>(
    l: L,
    given: &[Lanes],
    stride: usize,
    [first, begin]: [usize; 2],
    target: &Target<'_>,
    panel: &mut [Lanes],
) {
    let count = target.columns.len();
    let block = (CACHED / stride / LANES * LANES).max(LANES);
    for from in (0..count).step_by(block) {
        let to = count.min(from + block);
        for (i, &at) in target.rows.iter().enumerate() {
            let node = begin + i;
            // Above the diagonal nothing is needed.
            let to = to.min(3 * (node - first + 1));
            let a = from_fn(|r| row(given, stride, 3 * node + r));
            let b = |j: usize| row(given, stride, 3 * first + j);
            let mut j = from;
            while j + LANES <= to {
                let columns = &target.columns[j..][..LANES];
                let sums = products::<L, 3, LANES>(l, stride, a, from_fn(|c| b(j + c)));
                let (at_four, in_run) = (columns[0] / LANES, columns[LANES - 1] - columns[0] == 3);
                for (r, sums) in sums.into_iter().enumerate() {
                    let out = &mut panel[(at + r) * target.stride..][..target.stride];
                    let sums = l.sums(sums);
                    if in_run && columns[0].is_multiple_of(LANES) {
                        out[at_four] = (l.load(&out[at_four]) - sums).store();
                    } else {
                        let sums = sums.store();
                        for (c, &x) in columns.iter().zip(&sums.0) {
                            out[c / LANES].0[c % LANES] -= x;
                        }
                    }
                }
                j += LANES;
            }
            // What is left of three columns per node: one to three.
            while j < to {
                let c = target.columns[j];
                let sums = products::<L, 3, 1>(l, stride, a, [b(j)]);
                let [[x], [y], [z]] = sums;
                let sums = l.sums([x, y, z, l.splat(0.0)]).store();
                for r in 0..3 {
                    panel[(at + r) * target.stride + c / LANES].0[c % LANES] -= sums.0[r];
                }
                j += 1;
            }
        }
    }
}

/// A block of the diagonal: its factor with ones where the panel has no columns, and the inverse
/// of its diagonal, zero there.
#[derive(Clone, Debug)]
pub(super) struct Diagonal {
    factor: [[f64; BLOCK]; BLOCK],
    inverse: [f64; BLOCK],
}

/// Factorises the first `w` rows of a panel; what is above the diagonal becomes zero.
#[inline(always)]
pub(super) fn eliminate<L: Arithmetic>(
    l: L,
    w: usize,
    stride: usize,
    top: &mut [Lanes],
    blocks: &mut Vec<Diagonal>,
) -> Result<(), BadPivot> {
    blocks.clear();
    for from in (0..w).step_by(BLOCK) {
        let count = BLOCK.min(w - from);
        let (own, rest) = top.split_at_mut((from + count) * stride);
        let mut block = [[0.0; BLOCK]; BLOCK];
        let four = from / LANES;
        for i in 0..count {
            let a = row(own, stride, from + i);
            for c in 0..FOURS {
                let b = from_fn(|j| row(own, stride, from + (LANES * c + j).min(count - 1)));
                let [sums] = products::<L, 1, LANES>(l, four, [a], b);
                if four + c < stride {
                    let left = (l.load(&a[four + c]) - l.sums(sums)).store();
                    block[i][LANES * c..][..LANES].copy_from_slice(&left.0);
                }
            }
        }
        cholesky(count, block.as_flattened_mut(), BLOCK, Pivots::AboveZero)
            .map_err(|bad| BadPivot { row: from + bad.row, ..bad })?;
        let mut inverse = [0.0; BLOCK];
        for i in 0..BLOCK {
            if i < count {
                inverse[i] = 1.0 / block[i][i];
            } else {
                block[i] = from_fn(|j| f64::from(u8::from(i == j)));
            }
            block[i][i + 1..].fill(0.0);
        }
        for i in 0..count {
            let out = &mut own[(from + i) * stride..][..stride];
            out[four..].fill(Lanes::default());
            for (out, x) in out[four..].iter_mut().zip(block[i].chunks_exact(LANES)) {
                out.0.copy_from_slice(x);
            }
        }
        blocks.push(Diagonal { factor: block, inverse });
        let block = &blocks[blocks.len() - 1];
        for rows in rest.chunks_mut(BLOCK * stride) {
            solve_block(l, from, [count, stride], own, block, rows);
        }
    }
    Ok(())
}

/// X L⁻ᵀ in place of rows X below the factorised top.
#[inline(always)]
pub(super) fn solve_rows<L: Arithmetic>(
    l: L,
    w: usize,
    stride: usize,
    top: &[Lanes],
    blocks: &[Diagonal],
    rows: &mut [Lanes],
) {
    for rows in rows.chunks_mut(BLOCK * stride) {
        for (b, block) in blocks.iter().enumerate() {
            let from = b * BLOCK;
            solve_block(l, from, [BLOCK.min(w - from), stride], top, block, rows);
        }
    }
}

/// The columns of one block of L for a few rows, three per node.
#[inline(always)]
fn solve_block<L: Arithmetic>(
    l: L,
    from: usize,
    [count, stride]: [usize; 2],
    top: &[Lanes],
    block: &Diagonal,
    rows: &mut [Lanes],
) {
    let four = from / LANES;
    let fours = FOURS.min(stride - four);
    if four > 0 {
        for rows in rows.chunks_exact_mut(3 * stride) {
            for c in 0..fours {
                let b = from_fn(|j| row(top, stride, from + (LANES * c + j).min(count - 1)));
                let a = from_fn(|r| row(rows, stride, r));
                let sums = products::<L, 3, LANES>(l, four, a, b);
                for (r, sums) in sums.into_iter().enumerate() {
                    let out = &mut rows[r * stride + four + c];
                    *out = (l.load(out) - l.sums(sums)).store();
                }
            }
        }
    }
    // Four rows side by side, column by column.
    let all = rows.len() / stride;
    for first in (0..all).step_by(LANES) {
        let at = |r: usize| (first + r).min(all - 1) * stride + four;
        let mut x = [l.splat(0.0); BLOCK];
        for c in 0..fours {
            let columns = l.transposed(from_fn(|r| l.load(&rows[at(r) + c])));
            x[LANES * c..][..LANES].copy_from_slice(&columns);
        }
        for j in 0..BLOCK {
            let own = (x[j] * block.inverse[j]).rounded();
            x[j] = own;
            for i in j + 1..BLOCK {
                x[i] -= own * block.factor[i][j];
            }
        }
        for c in 0..fours {
            let back = l.transposed(from_fn(|j| x[LANES * c + j]));
            for r in 0..LANES.min(all - first) {
                rows[at(r) + c] = back[r].store();
            }
        }
    }
}
