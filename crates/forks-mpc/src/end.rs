//! Where a horizon shall end, and what follows it.

use forks_rom::linalg::{Matrix, Pivots};

use crate::{horizon::Node, riccati::cost_to_go};

/// Part of the largest cost that keeps a command in place which moves nothing.
const RIDGE: f64 = 1e-9;

/// Where steps end that are repeated with the same commands.
#[derive(Clone, Debug)]
pub(crate) struct Rest {
    /// (1 − A)⁻¹.
    pub(crate) inverse: Matrix,
    /// (1 − A)⁻¹B.
    pub(crate) moved: Matrix,
    /// C of it.
    pub(crate) seen: Matrix,
}

impl Rest {
    pub(crate) fn new(node: &Node) -> Option<Self> {
        let (count, n) = (node.a.rows(), node.c.columns());
        let one = Matrix::identity(count);
        let inverse = one.plus_scaled(-1.0, &node.a).solve(&one, Pivots::AboveZero)?;
        let moved = inverse.mul(&node.b);
        let seen = node.c.mul(&moved.block(0, 0, n, moved.columns()));
        seen.is_finite().then_some(Self { inverse, moved, seen })
    }

    /// The second derivative of the errors at rest by the commands.
    pub(crate) fn cost(&self) -> Matrix {
        let cost = self.seen.transpose_mul(&self.seen);
        let ridge = RIDGE * cost.max_abs().max(f64::MIN_POSITIVE);
        let m = cost.rows();
        Matrix::from_fn(m, m, |i, j| cost[(i, j)] + if i == j { ridge } else { 0.0 })
    }
}

/// P: what follows the horizon costs, as a function of z = (x, u) there.
pub(crate) fn after(node: &Node, effort: f64, change: f64) -> Option<Matrix> {
    let (x, m, n) = (node.a.rows(), node.b.columns(), node.c.columns());
    // z⁺ = (A x + B u⁺, u⁺), u⁺ = u + Δ.
    let a = Matrix::from_fn(x + m, x + m, |i, j| match (i < x, j < x) {
        (true, true) => node.a[(i, j)],
        (true, false) => node.b[(i, j - x)],
        (false, true) => 0.0,
        (false, false) => f64::from(i == j),
    });
    let b = Matrix::from_fn(x + m, m, |i, s| match i < x {
        true => node.b[(i, s)],
        false => f64::from(i == x + s),
    });
    let seen = node.c.transpose_mul(&node.c);
    let q = Matrix::from_fn(x + m, x + m, |i, j| match () {
        () if i < n && j < n => seen[(i, j)],
        () if i >= x && i == j => effort,
        () => 0.0,
    });
    let r = Matrix::from_fn(m, m, |i, j| if i == j { change } else { 0.0 });
    // What z itself costs is counted in the horizon.
    Some(cost_to_go(&a, &b, &q, &r)?.sub(&q))
}
