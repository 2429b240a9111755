//! Products with the few rows of a constraint. Three rows over six rates, a contact on a rigid body or an effector, are the
//! common case: there the compiler knows all about the loops.
//!
//! Numbers are read before any is written: only so is it known that the two are apart, and several are taken at a time.

/// Rates of a rigid body or an effector.
const SIX: usize = 6;
/// Numbers that are read and written at a time.
const LANES: usize = 4;

/// Numbers of a constraint's rows: one, or normal and two tangents. The others are 0.
pub(crate) type Quad = [f64; LANES];
/// What impulses in the rows of one constraint do to the rows of another.
pub(crate) type Coupling = [Quad; 3];

/// y + Σ a x over the rows of a coupling.
#[inline(always)]
pub(crate) fn add_rows(y: Quad, a: Quad, x: &Coupling) -> Quad {
    core::array::from_fn(|k| y[k] + (a[0] * x[0][k] + a[1] * x[1][k] + a[2] * x[2][k]))
}

/// W turned round.
#[inline(always)]
pub(crate) fn transposed(w: &Coupling) -> Coupling {
    core::array::from_fn(|i| [w[0][i], w[1][i], w[2][i], 0.0])
}

/// Columns of a matrix stored by rows.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    /// From the first row's first column on.
    pub(crate) entries: &'a [f64],
    /// From one row to the next.
    pub(crate) stride: usize,
    /// How many.
    pub(crate) count: usize,
}

impl<'a> Columns<'a> {
    fn row(&self, i: usize) -> &'a [f64] {
        &self.entries[i * self.stride..][..self.count]
    }

    /// The first rows, if there are six columns.
    fn sixes<const N: usize>(&self) -> Option<[&'a [f64; SIX]; N]> {
        if self.count != SIX || self.entries.len() < (N - 1) * self.stride + SIX {
            return None;
        }
        let mut out = [&[0.0; SIX]; N];
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.entries[i * self.stride..].first_chunk()?;
        }
        Some(out)
    }
}

/// Three rows over six rates.
fn contact(j: &[f64]) -> Option<&[[f64; SIX]; 3]> {
    j.as_chunks::<SIX>().0.try_into().ok()
}

/// y += a x.
#[inline(always)]
pub(crate) fn add_scaled(a: f64, x: &[f64], y: &mut [f64]) {
    let ((x, x_end), (y, y_end)) = (x.as_chunks::<LANES>(), y.as_chunks_mut::<LANES>());
    for (y, x) in y.iter_mut().zip(x) {
        let (old, x) = (*y, *x);
        *y = core::array::from_fn(|k| old[k] + a * x[k]);
    }
    for (y, x) in y_end.iter_mut().zip(x_end) {
        *y += a * x;
    }
}

/// Sum of products.
#[inline(always)]
fn dot_six(a: &[f64; SIX], b: &[f64; SIX]) -> f64 {
    let p: [f64; SIX] = core::array::from_fn(|k| a[k] * b[k]);
    (p[0] + p[2] + p[4]) + (p[1] + p[3] + p[5])
}

/// J B into some columns of a matrix whose rows begin `stride` entries apart; J's rows have `width` entries.
#[inline]
pub(crate) fn multiply(j: &[f64], width: usize, b: Columns<'_>, out: &mut [f64], stride: usize) {
    if let (true, Some(j), Some(b)) = (width == SIX, contact(j), b.sixes::<SIX>()) {
        let mut sums = [[0.0; SIX]; 3];
        for k in 0..SIX {
            let b = *b[k];
            for (sum, j) in sums.iter_mut().zip(j) {
                *sum = core::array::from_fn(|i| sum[i] + j[k] * b[i]);
            }
        }
        for (out, sum) in out.chunks_mut(stride).zip(&sums) {
            out[..SIX].copy_from_slice(sum);
        }
        return;
    }
    for (j, out) in j.chunks_exact(width.max(1)).zip(out.chunks_mut(stride)) {
        let out = &mut out[..b.count];
        out.fill(0.0);
        for (k, x) in j.iter().enumerate() {
            add_scaled(*x, b.row(k), out);
        }
    }
}

/// Adds J Rᵀ to a coupling; R has `rows` rows, J's rows have as many entries as R columns.
#[inline]
pub(crate) fn add_product(j: &[f64], r: Columns<'_>, rows: usize, out: &mut Coupling) {
    if let (3, Some(j), Some(r)) = (rows, contact(j), r.sixes::<3>()) {
        for (j, out) in j.iter().zip(out) {
            for (r, out) in r.iter().zip(out) {
                *out += dot_six(j, r);
            }
        }
        return;
    }
    for (j, out) in j.chunks_exact(r.count.max(1)).zip(out) {
        for (c, out) in out[..rows].iter_mut().enumerate() {
            *out += forks_lie::dot(j, r.row(c));
        }
    }
}

/// Adds the products of J's rows with a vector to a constraint's numbers.
#[inline]
pub(crate) fn add_dots(j: &[f64], v: &[f64], out: &mut Quad) {
    if let (Some(j), Ok(v)) = (contact(j), v.try_into()) {
        for (out, j) in out.iter_mut().zip(j) {
            *out += dot_six(j, v);
        }
        return;
    }
    for (out, j) in out.iter_mut().zip(j.chunks_exact(v.len().max(1))) {
        *out += forks_lie::dot(j, v);
    }
}
