//! Fronts of symmetric matrices: half of the blocks.
//!
//! Rows of coordinates and multipliers are those of all fronts. Behind them stand the blocks of
//! pairs of slots, 6 rows of 2 chunks each: the slot itself with itself and every one around, then
//! the first one around with itself and the later ones, and so on. What is left for the next front
//! is the end of that.

use forks_mechanism::{
    lie::{Twist, Wrench},
    linalg::simd::{Arithmetic, LANES, Lanes},
};

use super::{
    front::{Child, Front},
    rows::Rows,
    shift::Shift,
    solve::chunks,
    space::Space,
};
use crate::tree::block::power;

const ZERO: Lanes = Lanes([0.0; LANES]);
/// Chunks of a block.
const BLOCK: usize = 12;

/// Blocks of all pairs of that many slots.
pub(super) fn pairs(slots: usize) -> usize {
    BLOCK * (slots * (slots + 1) / 2)
}

/// Where the block of two of `slots` stands, the earlier one first.
#[inline(always)]
fn pair(slots: usize, b: usize, c: usize) -> usize {
    BLOCK * (b * slots + c - b * (b + 1) / 2)
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
    let start = front.scalars() * w;
    let a = &mut space.scratch[..start + pairs(n + 1)];
    a.fill(ZERO);
    let (scalars, blocks) = a.split_at_mut(start);
    for child in &front.children {
        let rest = &space.pool[child.rest];
        let (waiting, left) = rest.split_at(child.scalars.len() * child.width);
        for (from, &to) in waiting.chunks_exact(child.width.max(1)).zip(&child.scalars) {
            add_row(l, &mut scalars[to as usize * w..][..w], head, child, from);
        }
        // The slot itself stands first here.
        let place = |b: u16| (b as usize + 1) % (n + 1);
        let mut from = left.chunks_exact(BLOCK);
        for (i, &b) in child.blocks.iter().enumerate() {
            for &c in &child.blocks[i..] {
                let Some(from) = from.next() else { break };
                let (b, c) = (place(b), place(c));
                if b <= c {
                    add(l, &mut blocks[pair(n + 1, b, c)..][..BLOCK], from);
                } else {
                    add_transposed(&mut blocks[pair(n + 1, c, b)..][..BLOCK], from);
                }
            }
        }
    }
    for (to, row) in blocks.chunks_exact_mut(2).zip(own) {
        let [x, y] = chunks(row);
        to[0] = (l.load(&to[0]) + l.load(&x)).store();
        to[1] = (l.load(&to[1]) + l.load(&y)).store();
    }
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
    let (scalars, blocks) = space.scratch.split_at_mut(front.scalars() * w);
    let (own, blocks) = blocks.split_at_mut(BLOCK * (n + 1));
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
            add(l, &mut row[head..head + 2], &chunks(&x.wrench_inward(&wrench).to_array()));
        }
    }
    for (k, c) in columns.iter().enumerate() {
        let row = &mut coordinates[k * w..][..w];
        let mut felt = [ZERO; 2];
        for (b, block) in own.chunks_exact(BLOCK).enumerate() {
            let mut sum = [l.splat(0.0), l.splat(0.0)];
            for (s, row) in c.to_array().iter().zip(block.chunks_exact(2)) {
                if *s != 0.0 {
                    let s = l.splat(*s);
                    sum = [sum[0] + s * l.load(&row[0]), sum[1] + s * l.load(&row[1])];
                }
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
            add(l, &mut row[head..head + 2], &chunks(&x.wrench_inward(&felt).to_array()));
        }
    }
    if !inner {
        return;
    }
    for (b, block) in own.chunks_exact_mut(BLOCK).enumerate() {
        move_rows(l, block, x);
        match b {
            0 => {
                block.chunks_exact_mut(2).for_each(|row| {
                    let moved = x.wrench_inward(&wrench([row[0], row[1]]));
                    row.copy_from_slice(&chunks(&moved.to_array()));
                });
                add(l, &mut blocks[..BLOCK], block);
            }
            1 => {
                add(l, &mut blocks[..BLOCK], block);
                add_transposed(&mut blocks[..BLOCK], block);
            }
            _ => add(l, &mut blocks[BLOCK * (b - 1)..][..BLOCK], block),
        }
    }
}

/// Eliminates unknown `k`, whose row of U is `upper`.
#[inline(always)]
pub(super) fn eliminate<L: Arithmetic>(
    l: L,
    front: &Front,
    k: usize,
    scratch: &mut [Lanes],
    upper: &[Lanes],
) {
    let (head, n, scalars) = (front.head(), front.around.len(), front.scalars());
    let w = front.width() + 2;
    let (rows, blocks) = scratch.split_at_mut(scalars * w);
    let blocks = &mut blocks[BLOCK * (n + 1)..][..pairs(n)];
    let chunk = k / LANES;
    let inverse = 1.0 / upper[chunk][k % LANES];
    for i in k + 1..scalars {
        let factor = upper[i / LANES][i % LANES] * inverse;
        if factor != 0.0 {
            let row = &mut rows[i * w..][..upper.len()];
            subtract(l, &mut row[chunk..], factor, &upper[chunk..]);
        }
    }
    let upper = &upper[head..];
    let mut at = 0;
    for b in 0..n {
        let (x, y) = (upper[2 * b], upper[2 * b + 1]);
        let factors = [x[0], x[1], x[2], x[3], y[0], y[1]].map(|x| x * inverse);
        if factors == [0.0; 6] {
            at += BLOCK * (n - b);
            continue;
        }
        for c in b..n {
            let by = [l.load(&upper[2 * c]), l.load(&upper[2 * c + 1])];
            for (row, f) in blocks[at..at + BLOCK].chunks_exact_mut(2).zip(&factors) {
                let f = l.splat(*f);
                row[0] = (l.load(&row[0]) - f * by[0]).store();
                row[1] = (l.load(&row[1]) - f * by[1]).store();
            }
            at += BLOCK;
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
    let rest = &mut space.pool[front.rest][..waiting * width + pairs(n)];
    let (rows, blocks) = rest.split_at_mut(waiting * width);
    let from = &space.scratch[k * w..scalars * w];
    for (to, from) in rows.chunks_exact_mut(width.max(1)).zip(from.chunks_exact(w)) {
        to[..first].fill(ZERO);
        for i in 0..waiting {
            to[i / LANES][i % LANES] = from[(k + i) / LANES][(k + i) % LANES];
        }
        to[first..].copy_from_slice(&from[head..front.width()]);
    }
    blocks.copy_from_slice(&space.scratch[scalars * w + BLOCK * (n + 1)..][..pairs(n)]);
}

#[inline(always)]
fn wrench([x, y]: [Lanes; 2]) -> Wrench {
    Wrench::from_array([x[0], x[1], x[2], x[3], y[0], y[1]])
}

#[inline(always)]
fn add<L: Arithmetic>(l: L, to: &mut [Lanes], from: &[Lanes]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = (l.load(to) + l.load(from)).store();
    }
}

#[inline(always)]
fn add_transposed(to: &mut [Lanes], from: &[Lanes]) {
    for i in 0..6 {
        for j in 0..6 {
            to[2 * i + j / LANES][j % LANES] += from[2 * j + i / LANES][i % LANES];
        }
    }
}

/// Rows of wrenches at the outer origin, seen at the inner one.
#[inline(always)]
fn move_rows<L: Arithmetic>(l: L, block: &mut [Lanes], x: &Shift) {
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

/// a −= s b.
#[inline(always)]
pub(super) fn subtract<L: Arithmetic>(l: L, a: &mut [Lanes], s: f64, b: &[Lanes]) {
    let s = l.splat(s);
    for (a, b) in a.iter_mut().zip(b) {
        *a = (l.load(a) - s * l.load(b)).store();
    }
}
