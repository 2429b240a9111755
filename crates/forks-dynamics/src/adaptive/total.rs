//! Total acceleration in square-root form: A = |F φ|² with the sum of the weighted squares of all
//! joint accelerations below a node (EQUATIONS 1.5, the root of \[R06\] Eq. 8 and 9). Never
//! negative, and √A is accurate to rounding.

use super::{
    layout::{Layout, NONE, Node, View, Work},
    orthogonal::append_rows,
    projection::Projection,
    rows::add_rows,
};

/// Memory for the rows of one node.
#[derive(Clone, Debug)]
pub(super) struct TotalScratch {
    rows: Vec<f64>,
}

impl TotalScratch {
    pub(super) fn new(layout: &Layout) -> Self {
        let child = |c: u32| layout.nodes.get(c as usize).map_or(0, |c| c.rows);
        let rows = |n: &Node| (n.children.map(child).iter().sum::<usize>() + 6) * n.stride;
        Self { rows: vec![0.0; layout.nodes.iter().map(rows).max().unwrap_or(0)] }
    }
}

/// Norm |F φ| of a node: the square root of its total acceleration.
#[inline]
pub(super) fn norm(n: &Node, total: &[f64], phi: &[f64]) -> f64 {
    match n.stride {
        14 => norm_of(14, n.rows, total, phi),
        8 => norm_of(8, n.rows, total, phi),
        s => norm_of(s, n.rows, total, phi),
    }
}

#[inline(always)]
fn norm_of(s: usize, rows: usize, total: &[f64], phi: &[f64]) -> f64 {
    let phi = &phi[..s];
    let mut sum = 0.0;
    for row in total[..rows * s].chunks_exact(s) {
        let (mut even, mut odd) = (0.0, 0.0);
        for (x, y) in row.chunks_exact(2).zip(phi.chunks_exact(2)) {
            even += x[0] * y[0];
            odd += x[1] * y[1];
        }
        sum += (even + odd) * (even + odd);
    }
    sum.sqrt()
}

/// What a node's joint adds to what is below it.
#[derive(Clone, Copy)]
pub(super) struct Closed<'a> {
    pub(super) sides: &'a [Projection<'a>; 2],
    /// Six rows: the force on the joint's side B as a function of the node's φ, in the joint's
    /// coordinates.
    pub(super) x: &'a [f64],
    /// The joint's weighted acceleration rows.
    pub(super) own: &'a [f64],
}

/// F of a node that closes a joint or puts two children side by side.
#[inline(always)]
pub(super) fn assemble(
    v: View<'_>,
    closed: Closed<'_>,
    total: &mut [f64],
    scratch: &mut TotalScratch,
) {
    let (s, n) = (v.s, v.n);
    let (before, rest) = total.split_at_mut(n.total);
    let out = &mut rest[..n.rows * s];
    let mut writer = Writer { s, out, dense: &mut scratch.rows, used: 0, triangular: n.triangular };
    if n.triangular {
        writer.out.fill(0.0);
    }
    for child in (0..2).filter(|&c| n.children[c] != NONE) {
        child_rows(v, closed, child, &before[v.child(child).total..], &mut writer);
    }
    for row in closed.own.chunks_exact(s) {
        writer.dense_row().copy_from_slice(row);
    }
    if n.triangular {
        let (rows, d) = (writer.used, writer.dense);
        append_rows(s, n.rows, writer.out, d, rows);
    }
}

/// Where the rows go: into F as they are, or aside to be appended to its triangle.
struct Writer<'a> {
    s: usize,
    out: &'a mut [f64],
    dense: &'a mut [f64],
    used: usize,
    triangular: bool,
}

impl Writer<'_> {
    #[inline(always)]
    fn dense_row(&mut self) -> &mut [f64] {
        let at = self.used * self.s;
        self.used += 1;
        let into = if self.triangular { &mut *self.dense } else { &mut *self.out };
        &mut into[at..at + self.s]
    }
}

/// The rows of one child: F_operand [G g; 0 1] of EQUATIONS 1.5.
#[inline(always)]
fn child_rows(v: View<'_>, joint: Closed<'_>, child: usize, rows: &[f64], out: &mut Writer<'_>) {
    let (s, n, c) = (v.s, v.n, v.child(child));
    // Which of the child's handles are the joint's sides A and B.
    let closed: [Option<usize>; 2] = match n.work {
        Work::Join { .. } => [(child == 0).then_some(0), (child == 1).then_some(0)],
        Work::Close { sides, .. } => sides,
        _ => [None; 2],
    };
    let last = closed.iter().flatten().max();
    // Rows of a triangle behind the closed handles do not know their forces.
    let head = match last {
        Some(&h) if c.triangular => (6 * (h + 1)).min(c.rows),
        Some(_) => c.rows,
        None => 0,
    };
    for (r, row) in rows[..c.rows * c.stride].chunks_exact(c.stride).enumerate() {
        if r >= head && n.triangular && c.triangular && n.in_order[child] {
            tail_row(v, child, r, row, out);
            continue;
        }
        let into = out.dense_row();
        into.fill(0.0);
        v.copy_kept(child, row, into);
        if r >= head {
            continue;
        }
        let mut force = [0.0; 6];
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            if let Some(h) = closed[side] {
                let mut own = [0.0; 6];
                own.copy_from_slice(&row[6 * h..6 * h + 6]);
                let own = joint.sides[side].vector(&own);
                (0..6).for_each(|i| force[i] += sign * own[i]);
            }
        }
        add_rows(s, into, &force, joint.x);
    }
}

/// A row of a child's triangle goes to its diagonal's place in the node's triangle.
#[inline(always)]
fn tail_row(v: View<'_>, child: usize, r: usize, row: &[f64], out: &mut Writer<'_>) {
    let (s, n, c) = (v.s, v.n, v.child(child));
    if r == 6 * c.handles {
        let corner = &mut out.out[6 * n.handles * s + 6 * n.handles];
        *corner = corner.hypot(row[r]);
        return;
    }
    let place = v.layout.kept_of(n).iter().position(|k| k.child == child && k.handle == r / 6);
    if let Some(at) = place {
        let row_at = (6 * at + r % 6) * s;
        v.copy_kept(child, row, &mut out.out[row_at..row_at + s]);
    }
}
