//! Fronts of symmetric matrices: half of the blocks.
//!
//! Rows of coordinates and multipliers are those of all fronts. Beside them stand the blocks of
//! pairs of slots, 6 rows of 2 chunks each: the slot itself with itself and every one around, then
//! the first one around with itself and the later ones, and so on. What is left for the next front
//! is the end of that.

use forks_mechanism::{
    lie::{Twist, Wrench},
    linalg::simd::{Arithmetic, LANES, Lanes},
};

use super::{
    front::{Child, Front},
    pairs::{NOTHING, Six, ZERO, pairs},
    rows::Rows,
    shift::Shift,
    solve::chunks,
    space::Space,
};
use crate::tree::block::power;

/// Where the block of two of `slots` stands, the earlier one first.
#[inline(always)]
fn pair(slots: usize, b: usize, c: usize) -> usize {
    b * slots + c - b * (b + 1) / 2
}

/// Adds up what outer fronts left, the slot's own matrix and fresh rows.
#[inline(always)]
pub(super) fn gather<L: Arithmetic>(
    l: L,
    rows: &Rows,
    front: &Front,
    own: &[[f64; 6]; 6],
    space: &mut Space,
) {
    let (w, head, n) = (front.width() + 2, front.head(), front.around.len());
    let scalars = &mut space.scratch[..front.scalars() * w];
    let blocks = &mut space.blocks[..pairs(n + 1)];
    scalars.fill(ZERO);
    blocks.fill(NOTHING);
    for child in &front.children {
        let waiting = &space.pool[child.rest][..child.scalars.len() * child.width];
        for (from, &to) in waiting.chunks_exact(child.width.max(1)).zip(&child.scalars) {
            add_row(l, &mut scalars[to as usize * w..][..w], head, child, from);
        }
        // The slot itself stands first here.
        let place = |b: u16| if b as usize == n { 0 } else { b as usize + 1 };
        let mut from = space.left[child.rest].iter();
        for (i, &b) in child.blocks.iter().enumerate() {
            for &c in &child.blocks[i..] {
                let Some(from) = from.next() else { break };
                let (b, c) = (place(b), place(c));
                if b <= c {
                    add(l, &mut blocks[pair(n + 1, b, c)], from);
                } else {
                    add_transposed(l, &mut blocks[pair(n + 1, c, b)], from);
                }
            }
        }
    }
    let mut matrix = NOTHING;
    for (i, row) in own.iter().enumerate() {
        [matrix[2 * i], matrix[2 * i + 1]] = chunks(row);
    }
    add(l, &mut blocks[0], &matrix);
    for f in &front.fresh {
        let row = &mut scalars[f.place * w..][..w];
        row[f.place / LANES][f.place % LANES] = rows.diagonal[f.row];
        for (wrench, &b) in rows.row(f.group, f.row).iter().zip(&f.blocks) {
            let [x, y] = chunks(&wrench.to_array());
            (row[head + 2 * b as usize], row[head + 2 * b as usize + 1]) = (x, y);
        }
    }
}

/// Adds a row of what a child left to the front's, whose multipliers take `head` chunks.
#[inline(always)]
pub(super) fn add_row<L: Arithmetic>(
    l: L,
    to: &mut [Lanes],
    head: usize,
    child: &Child,
    from: &[Lanes],
) {
    let (waiting, blocks) = from.split_at(child.scalars.len().div_ceil(LANES));
    for (k, &at) in child.scalars.iter().enumerate() {
        let at = at as usize;
        to[at / LANES][at % LANES] += waiting[k / LANES][k % LANES];
    }
    for (block, &at) in blocks.chunks_exact(2).zip(&child.blocks) {
        let to = &mut to[head + 2 * at as usize..][..2];
        to[0] = (l.load(&to[0]) + l.load(&block[0])).store();
        to[1] = (l.load(&to[1]) + l.load(&block[1])).store();
    }
}

/// ξ = Ad⁻¹ ξ_inner + S x in place of the slot's own twist. Half of what the load turns by is given
/// to rows and columns each.
#[inline(always)]
pub(super) fn substitute<L: Arithmetic>(
    l: L,
    front: &Front,
    inner: bool,
    x: &Shift,
    columns: &[Twist],
    turned: &[Wrench],
    space: &mut Space,
) {
    let (width, head, n, d) = (front.width(), front.head(), front.around.len(), front.dof);
    let w = width + 2;
    let scalars = &mut space.scratch[..front.scalars() * w];
    let (own, blocks) = space.blocks.split_at_mut(n + 1);
    let (coordinates, multipliers) = scalars.split_at_mut(d * w);
    for (i, row) in multipliers.chunks_exact_mut(w).enumerate() {
        let wrench = wrench([row[width], row[width + 1]]);
        let i = d + i;
        for (k, c) in columns.iter().enumerate() {
            let entry = power(&wrench, c);
            row[k / LANES][k % LANES] += entry;
            coordinates[k * w + i / LANES][i % LANES] += entry;
        }
        if inner {
            add_wrench(l, &mut row[head..], &x.wrench_inward(&wrench));
        }
    }
    for (k, c) in columns.iter().enumerate() {
        let row = &mut coordinates[k * w..][..w];
        let mut felt = [ZERO; 2];
        let by = c.to_array();
        for (b, block) in own.iter().enumerate() {
            let mut sum = [l.splat(0.0), l.splat(0.0)];
            for i in 0..6 {
                let s = l.splat(by[i]);
                sum[0] += s * l.load(&block[2 * i]);
                sum[1] += s * l.load(&block[2 * i + 1]);
            }
            let sum = sum.map(|s| s.store());
            match b {
                0 => felt = sum,
                _ => row[head + 2 * (b - 1)..][..2].copy_from_slice(&sum),
            }
        }
        let mut felt = wrench(felt);
        for (j, c) in columns.iter().enumerate() {
            row[j / LANES][j % LANES] += power(&felt, c);
        }
        if inner {
            felt.force -= turned[k].force * 0.5;
            felt.torque -= turned[k].torque * 0.5;
            add_wrench(l, &mut row[head..], &x.wrench_inward(&felt));
        }
    }
    if !inner {
        return;
    }
    for (b, block) in own.iter_mut().enumerate() {
        move_rows(l, block, x);
        match b {
            0 => {
                for i in 0..6 {
                    let moved = x.wrench_inward(&wrench([block[2 * i], block[2 * i + 1]]));
                    [block[2 * i], block[2 * i + 1]] = chunks(&moved.to_array());
                }
                add(l, &mut blocks[0], block);
            }
            1 => {
                add(l, &mut blocks[0], block);
                add_transposed(l, &mut blocks[0], block);
            }
            _ => add(l, &mut blocks[b - 1], block),
        }
    }
}

/// Hands on what is left of a front.
#[inline(always)]
pub(super) fn hand_on(front: &Front, space: &mut Space) {
    let (w, k, n) = (front.width() + 2, front.eliminated(), front.around.len());
    let (scalars, head) = (front.scalars(), front.head());
    let (waiting, width) = (scalars - k, front.rest_width());
    let first = waiting.div_ceil(LANES);
    let rows = &mut space.pool[front.rest][..waiting * width];
    let from = &space.scratch[k * w..scalars * w];
    for (to, from) in rows.chunks_exact_mut(width.max(1)).zip(from.chunks_exact(w)) {
        to[..first].fill(ZERO);
        for i in 0..waiting {
            to[i / LANES][i % LANES] = from[(k + i) / LANES][(k + i) % LANES];
        }
        to[first..].copy_from_slice(&from[head..front.width()]);
    }
    space.left[front.rest][..pairs(n)].copy_from_slice(&space.blocks[n + 1..][..pairs(n)]);
}

#[inline(always)]
fn wrench([x, y]: [Lanes; 2]) -> Wrench {
    Wrench::from_array([x[0], x[1], x[2], x[3], y[0], y[1]])
}

#[inline(always)]
fn add<L: Arithmetic>(l: L, to: &mut Six, from: &Six) {
    for i in 0..12 {
        to[i] = (l.load(&to[i]) + l.load(&from[i])).store();
    }
}

/// Adds to the first two chunks of a row.
#[inline(always)]
fn add_wrench<L: Arithmetic>(l: L, row: &mut [Lanes], w: &Wrench) {
    for (to, from) in row.iter_mut().zip(&chunks(&w.to_array())) {
        *to = (l.load(to) + l.load(from)).store();
    }
}

#[inline(always)]
fn add_transposed<L: Arithmetic>(l: L, to: &mut Six, from: &Six) {
    let none = l.splat(0.0);
    let f = |i: usize| l.load(&from[i]);
    // The first four columns and the last two, of the first four rows and the last two.
    let [a, b, c, d] = l.transposed([f(0), f(2), f(4), f(6)]);
    let [e, g, _, _] = l.transposed([f(1), f(3), f(5), f(7)]);
    let [h, i, j, k] = l.transposed([f(8), f(10), none, none]);
    let [m, n, _, _] = l.transposed([f(9), f(11), none, none]);
    for (to, x) in to.iter_mut().zip([a, h, b, i, c, j, d, k, e, m, g, n]) {
        *to = (l.load(to) + x).store();
    }
}

/// Rows of wrenches at the outer origin, seen at the inner one.
#[inline(always)]
fn move_rows<L: Arithmetic>(l: L, block: &mut Six, x: &Shift) {
    let p = [l.splat(x.0.x), l.splat(x.0.y), l.splat(x.0.z)];
    for c in 0..2 {
        let f = [l.load(&block[c]), l.load(&block[2 + c]), l.load(&block[4 + c])];
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let torque = &mut block[2 * (3 + i) + c];
            *torque = (l.load(torque) + p[j] * f[k] - p[k] * f[j]).store();
        }
    }
}
