//! The general closing step for one node (EQUATIONS 1.4): tree joints, compound joints and
//! redundant loops.
//!
//! All quantities are rows over φ = [f; 1; 0], so that Φ and b, Y and z, q̈ and R are one matrix
//! each. With y = P_B [Φ b]_j − P_A [Φ b]_i − c in the joint's coordinates and H = P Φ Pᵀ summed
//! over the sides:
//! ```text
//! first k steps of a Cholesky factorisation of H turn y into [Y; N]  k = 6 − d of constraint
//! q̈  = (1 + D0 K)⁻¹ (N + D0 Q)        G = Q − K q̈                        (Eq. 4)
//! X   = [−C⁻ᵀ(Y + …G); G]              force on side B                     (Eq. 5)
//! M′  = M − Yᵀ Y + Nᵀ G                [Φ b] of the node                   (Eq. 2)
//! ```

use super::{
    layout::{Layout, Node, View, Work},
    projection::Projection,
    rows::{add_rows, add_some_rows},
    total::{self, Closed, TotalScratch},
};
use crate::dca::{
    eliminate::{factor, factor_rank_revealing, inverted},
    kernel::{Block, IDENTITY_BLOCK, Vec6, ZERO_BLOCK},
};

/// A joint as its node closes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joint<'a> {
    pub(super) sides: [Projection<'a>; 2],
    pub(super) dof: usize,
    /// Q, first d entries.
    pub(super) load: Vec6,
    /// K̃ in the upper corner; `None` where it is zero.
    pub(super) implicit: Option<&'a Block>,
    pub(super) weights: Vec6,
    /// Velocity-like term c in the joint's coordinates.
    pub(super) correction: Vec6,
    /// Acceleration of the ground's handle, on the side that is the ground.
    pub(super) ground: Vec6,
    pub(super) ranks: Ranks,
}

/// What decides whether a direction is redundant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranks {
    /// True if loops may have taken away what a joint rests on.
    pub(super) loops: bool,
    pub(super) closing: bool,
    /// Sizes of Φ of the two bodies alone, and their length.
    pub(super) scale: [f64; 2],
    pub(super) unit: f64,
    /// True if the joint's coordinates have lengths in units of `unit`.
    pub(super) scaled: bool,
}

/// Number of redundant directions, and the weakest one kept.
pub(super) type Rank = (u8, f64);

/// Part of the bodies' own Φ that counts as uncancelled scale of what loops have left of it.
const OWN_SCALE: f64 = 0.1;
/// Pivots below this part of the bodies' own Φ need the rank decision.
const PIVOT_FLOOR: f64 = 1e-4;

/// Memory of the closing step.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    /// Rows of side A, then y, [Y; N].
    y: Vec<f64>,
    /// Rows of side B, then X.
    x: Vec<f64>,
    /// Rows of q̈ and of its weighted copy.
    own: Vec<f64>,
    total: TotalScratch,
}

impl Scratch {
    pub(super) fn new(layout: &Layout) -> Self {
        let s = super::layout::stride(layout.most_handles);
        let rows = || vec![0.0; 6 * s];
        Self { y: rows(), x: rows(), own: rows(), total: TotalScratch::new(layout) }
    }
}

/// Coefficients of all nodes.
#[derive(Clone, Debug)]
pub(super) struct Coefficients {
    pub(super) matrix: Vec<f64>,
    pub(super) total: Vec<f64>,
    pub(super) response: Vec<f64>,
}

/// Closes the joint of a node: M, F and response from those of its children.
pub(super) fn close(
    layout: &Layout,
    n: &Node,
    joint: &Joint<'_>,
    data: &mut Coefficients,
    scratch: &mut Scratch,
) -> Rank {
    let view = |s: usize| View { s, layout, n };
    match n.stride {
        14 => close_of(view(14), joint, data, scratch),
        8 => close_of(view(8), joint, data, scratch),
        s => close_of(view(s), joint, data, scratch),
    }
}

#[inline(always)]
fn close_of(
    v: View<'_>,
    joint: &Joint<'_>,
    data: &mut Coefficients,
    scratch: &mut Scratch,
) -> Rank {
    let (s, n, k) = (v.s, v.n, 6 - joint.dof);
    let (children, own) = data.matrix.split_at_mut(n.matrix);
    let mut h = relative(v, joint, children, scratch);
    let y = &mut scratch.y[..6 * s];
    let (rotation, rank) = factorise(v, joint, children, &mut h, k);
    if let Some(rotation) = &rotation {
        turn_rows(s, rotation, k, y, false);
    }
    eliminate(s, &h, k, y);
    accelerations(s, joint, &h, k, y, &mut scratch.own);
    forces(s, joint, &h, k, y, &scratch.own, &mut scratch.x);
    let loaded = joint.implicit.is_some() || joint.load != [0.0; 6];
    let rows = Rows { y, x: &scratch.x, k, used: if loaded { 6 } else { k } };
    matrix(v, rows, children, &mut own[..6 * n.handles * s]);
    if joint.implicit.is_some() {
        symmetrise(s, 6 * n.handles, own);
    }
    let x = &mut scratch.x[..6 * s];
    if let Some(rotation) = &rotation {
        turn_rows(s, rotation, k, x, true);
    }
    let response = &mut data.response[n.response..n.response + 6 * s];
    response[..k * s].copy_from_slice(&x[..k * s]);
    let q = &mut scratch.own[..joint.dof * s];
    response[k * s..].copy_from_slice(q);
    for (row, w) in q.chunks_exact_mut(s).zip(joint.weights) {
        row.iter_mut().for_each(|x| *x *= w);
    }
    let closed = Closed { sides: &joint.sides, x, own: q };
    total::assemble(v, closed, &mut data.total, &mut scratch.total);
    rank
}

/// The child and the handle of a side.
fn side_of(n: &Node, side: usize) -> Option<(usize, usize)> {
    match n.work {
        Work::Join { .. } => Some((side, 0)),
        Work::Close { sides, .. } => sides[side].map(|h| (0, h)),
        _ => None,
    }
}

/// y into `scratch.y`; gives H.
#[inline(always)]
fn relative(v: View<'_>, joint: &Joint<'_>, children: &[f64], scratch: &mut Scratch) -> Block {
    let (s, n) = (v.s, v.n);
    let (a, b) = (&mut scratch.x[..6 * s], &mut scratch.y[..6 * s]);
    handle_rows(v, 0, joint, children, a);
    handle_rows(v, 1, joint, children, b);
    joint.sides[0].rows(a, s);
    joint.sides[1].rows(b, s);
    b.iter_mut().zip(&*a).for_each(|(b, a)| *b -= a);
    for i in 0..6 {
        b[i * s + 6 * n.handles] -= joint.correction[i];
    }
    // H, with the cross terms of two handles of one child.
    let mut h = ZERO_BLOCK;
    let sides = [0, 1].map(|side| side_of(n, side));
    for (i, one) in sides.iter().enumerate() {
        for (j, other) in sides.iter().enumerate() {
            let (Some(one), Some(other)) = (one, other) else { continue };
            if one.0 != other.0 {
                continue;
            }
            let phi = block(v, children, one.0, one.1, other.1);
            let phi = joint.sides[i].between(&phi, &joint.sides[j]);
            let sign = if i == j { 1.0 } else { -1.0 };
            for r in 0..6 {
                crate::dca::kernel::add_scaled(&mut h[r], sign, &phi[r]);
            }
        }
    }
    h
}

/// Φ between two handles of a child.
#[inline(always)]
fn block(v: View<'_>, children: &[f64], child: usize, row: usize, column: usize) -> Block {
    let c = v.child(child);
    let mut out = ZERO_BLOCK;
    for i in 0..6 {
        let at = c.matrix + (6 * row + i) * c.stride + 6 * column;
        out[i].copy_from_slice(&children[at..at + 6]);
    }
    out
}

/// [Φ b] of a side's handle over the node's φ.
#[inline(always)]
fn handle_rows(v: View<'_>, side: usize, joint: &Joint<'_>, children: &[f64], out: &mut [f64]) {
    let (s, n) = (v.s, v.n);
    out.fill(0.0);
    let Some((child, handle)) = side_of(n, side) else {
        for i in 0..6 {
            out[i * s + 6 * n.handles] = joint.ground[i];
        }
        return;
    };
    let c = v.child(child);
    for i in 0..6 {
        let at = c.matrix + (6 * handle + i) * c.stride;
        v.copy_kept(child, &children[at..at + c.stride], &mut out[i * s..(i + 1) * s]);
    }
}

/// C of H, rank revealing where loops may have left nothing; the rotation to its eigenvectors.
#[inline(always)]
fn factorise(
    v: View<'_>,
    joint: &Joint<'_>,
    children: &[f64],
    h: &mut Block,
    k: usize,
) -> (Option<Block>, Rank) {
    let r = &joint.ranks;
    if !r.loops {
        // Without loops every H is positive definite.
        factor(h, k, &[0.0; 6]);
        return (None, (0, 1.0));
    }
    let original = *h;
    let per_unit = r.scale[0] / (r.unit * r.unit);
    let floor = if r.scaled {
        [r.scale[1].max(per_unit); 6]
    } else {
        let [linear, angular] = r.scale;
        [linear, linear, linear, angular, angular, angular]
    };
    if !r.closing && factor(h, k, &floor.map(|x| PIVOT_FLOOR * x)) {
        return (None, (0, 1.0));
    }
    *h = original;
    // Rounding errors are in proportion to what the difference is taken of, and to the two bodies'
    // own Φ.
    let mut uncancelled = 0.0;
    for (child, handle) in (0..2).filter_map(|side| side_of(v.n, side)) {
        let phi = block(v, children, child, handle, handle);
        let half =
            |from: usize| phi[from][from] + phi[from + 1][from + 1] + phi[from + 2][from + 2];
        uncancelled += (half(0) / (r.unit * r.unit) + half(3)) / 6.0;
    }
    let own = (per_unit + r.scale[1]) / 2.0;
    let (rotation, dropped, weakest) =
        factor_rank_revealing(h, k, uncancelled.max(OWN_SCALE * own));
    (Some(rotation), (dropped, weakest))
}

/// The first k rows to eigenvector coordinates, or back.
fn turn_rows(s: usize, rotation: &Block, k: usize, x: &mut [f64], back: bool) {
    for j in 0..s {
        let old: Vec6 = std::array::from_fn(|i| x[i * s + j]);
        for i in 0..k {
            let entry = |l: usize| if back { rotation[l][i] } else { rotation[i][l] };
            x[i * s + j] = (0..k).map(|l| entry(l) * old[l]).sum();
        }
    }
}

/// y to [Y; N]: the steps of the factorisation.
#[inline(always)]
fn eliminate(s: usize, c: &Block, k: usize, y: &mut [f64]) {
    for i in 0..6 {
        let (done, rest) = y.split_at_mut(i * s);
        let row = &mut rest[..s];
        add_some_rows(s, i.min(k), row, &c[i].map(|l| -l), done);
        if i < k {
            row.iter_mut().for_each(|x| *x *= c[i][i]);
        }
    }
}

/// Rows of q̈ = (1 + D0 K)⁻¹ (N + D0 Q).
#[inline(always)]
fn accelerations(s: usize, joint: &Joint<'_>, c: &Block, k: usize, y: &[f64], out: &mut [f64]) {
    let d = joint.dof;
    let d0 = |i: usize, j: usize| if i >= j { c[k + i][k + j] } else { c[k + j][k + i] };
    out[..d * s].copy_from_slice(&y[k * s..(k + d) * s]);
    for i in 0..d {
        out[i * s + s - 2] += (0..d).map(|j| d0(i, j) * joint.load[j]).sum::<f64>();
    }
    let Some(implicit) = joint.implicit else { return };
    if d == 1 {
        let inverse = 1.0 / (1.0 + d0(0, 0) * implicit[0][0]);
        out[..s].iter_mut().for_each(|x| *x *= inverse);
        return;
    }
    let mut a = IDENTITY_BLOCK;
    for i in 0..d {
        for j in 0..d {
            a[i][j] += (0..d).map(|l| d0(i, l) * implicit[l][j]).sum::<f64>();
        }
    }
    let inverse = inverted(&a, d);
    for j in 0..s {
        let old: Vec6 = std::array::from_fn(|i| if i < d { out[i * s + j] } else { 0.0 });
        for i in 0..d {
            out[i * s + j] = (0..d).map(|l| inverse[i][l] * old[l]).sum();
        }
    }
}

/// X: the force on side B in the joint's coordinates, G = Q − K q̈ in the last d rows.
#[inline(always)]
fn forces(s: usize, joint: &Joint<'_>, c: &Block, k: usize, y: &[f64], q: &[f64], x: &mut [f64]) {
    x[k * s..6 * s].fill(0.0);
    for i in 0..joint.dof {
        let row = &mut x[(k + i) * s..(k + i + 1) * s];
        row[s - 2] = joint.load[i];
        if let Some(implicit) = joint.implicit {
            for (j, q) in q.chunks_exact(s).enumerate().take(joint.dof) {
                let stiff = implicit[i][j];
                row.iter_mut().zip(q).for_each(|(x, q)| *x -= stiff * q);
            }
        }
    }
    for j in (0..k).rev() {
        let (head, below) = x.split_at_mut((j + 1) * s);
        let row = &mut head[j * s..];
        row.iter_mut().zip(&y[j * s..(j + 1) * s]).for_each(|(x, y)| *x = -y);
        let mut l = [0.0; 6];
        for i in j + 1..6 {
            l[i - j - 1] = -c[i][j];
        }
        add_some_rows(s, 5 - j, row, &l, below);
        row.iter_mut().for_each(|x| *x *= c[j][j]);
    }
}

/// Rows of a closed joint: [Y; N] and X, k of Y and `used` in all.
#[derive(Clone, Copy)]
struct Rows<'a> {
    y: &'a [f64],
    x: &'a [f64],
    k: usize,
    used: usize,
}

/// M′ = M − YᵀY + NᵀG over the handles that stay open.
#[inline(always)]
fn matrix(v: View<'_>, rows: Rows<'_>, children: &[f64], out: &mut [f64]) {
    let s = v.s;
    for (at, kept) in v.layout.kept_of(v.n).iter().enumerate() {
        let c = v.child(kept.child);
        for i in 0..6 {
            let row = &mut out[(6 * at + i) * s..(6 * at + i + 1) * s];
            row.fill(0.0);
            let from = c.matrix + (6 * kept.handle + i) * c.stride;
            v.copy_kept(kept.child, &children[from..from + c.stride], row);
            let mut factor = [0.0; 6];
            for r in 0..rows.used {
                factor[r] = -rows.y[r * s + 6 * at + i];
            }
            add_some_rows(s, rows.k, row, &factor, rows.y);
            for r in rows.k..rows.used {
                add_rows(s, row, &[-factor[r]], &rows.x[r * s..]);
            }
        }
    }
}

/// The products of N with K are symmetric to rounding only.
fn symmetrise(s: usize, n: usize, m: &mut [f64]) {
    for i in 0..n {
        for j in 0..i {
            let mean = 0.5 * (m[i * s + j] + m[j * s + i]);
            m[i * s + j] = mean;
            m[j * s + i] = mean;
        }
    }
}

/// Puts two children side by side: no joint.
pub(super) fn beside(layout: &Layout, n: &Node, data: &mut Coefficients, scratch: &mut Scratch) {
    let v = View { s: n.stride, layout, n };
    let (children, own) = data.matrix.split_at_mut(n.matrix);
    let none = Rows { y: &[], x: &[], k: 0, used: 0 };
    matrix(v, none, children, own);
    let closed = Closed { sides: &[Projection::Identity; 2], x: &[], own: &[] };
    total::assemble(v, closed, &mut data.total, &mut scratch.total);
}
