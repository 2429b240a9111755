//! Blocks of pairs of slots, and an unknown eliminated from them.

use forks_mechanism::linalg::simd::{Arithmetic, LANES, Lanes};

use super::front::Front;

/// Four zeros.
pub(super) const ZERO: Lanes = Lanes([0.0; LANES]);

/// The block of a pair: 6 rows of 2 chunks.
pub(super) type Six = [Lanes; 12];

/// A block of zeros.
pub(super) const NOTHING: Six = [ZERO; 12];

/// Number of pairs of that many slots.
pub(super) fn pairs(slots: usize) -> usize {
    slots * (slots + 1) / 2
}

/// Eliminates unknown `k`, whose row of U is `upper`.
#[inline(always)]
pub(super) fn eliminate<L: Arithmetic>(
    l: L,
    front: &Front,
    k: usize,
    rows: &mut [Lanes],
    blocks: &mut [Six],
    upper: &[Lanes],
) {
    let (head, n, scalars) = (front.head(), front.around.len(), front.scalars());
    let w = front.width() + 2;
    let blocks = &mut blocks[n + 1..][..pairs(n)];
    let chunk = k / LANES;
    let inverse = 1.0 / upper[chunk][k % LANES];
    for i in k + 1..scalars {
        let factor = upper[i / LANES][i % LANES] * inverse;
        if factor != 0.0 {
            let row = &mut rows[i * w..][..upper.len()];
            subtract(l, &mut row[chunk..], factor, &upper[chunk..]);
        }
    }
    let upper = &upper[head..][..2 * n];
    let mut blocks = blocks.iter_mut();
    for (b, row) in upper.chunks_exact(2).enumerate() {
        let (x, y) = (row[0], row[1]);
        let factors = [x[0], x[1], x[2], x[3], y[0], y[1]].map(|x| l.splat(x * inverse));
        for by in upper[2 * b..].chunks_exact(2) {
            let Some(block) = blocks.next() else { return };
            let by = [l.load(&by[0]), l.load(&by[1])];
            for i in 0..6 {
                block[2 * i] = (l.load(&block[2 * i]) - factors[i] * by[0]).store();
                block[2 * i + 1] = (l.load(&block[2 * i + 1]) - factors[i] * by[1]).store();
            }
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
