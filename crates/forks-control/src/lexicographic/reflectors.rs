//! Householder reflections H = I − v vᵀ, ‖v‖² = 2, that turn rows into a triangle, and least
//! squares.

use forks_dynamics::mechanism::linalg::simd::{Arithmetic, Isa, Kernel, LANES};
pub(super) use forks_dynamics::mechanism::linalg::{axpy, dot, norm};

/// Reflections of vectors of one length; the one at place k leaves the numbers before k alone.
#[derive(Clone, Debug)]
pub(super) struct Reflectors {
    length: usize,
    vectors: Vec<f64>,
    isa: Isa,
}

impl Default for Reflectors {
    fn default() -> Self {
        Self { length: 0, vectors: Vec::new(), isa: Isa::detect() }
    }
}

impl Reflectors {
    /// None.
    pub(super) fn clear(&mut self, length: usize) {
        self.length = length;
        self.vectors.clear();
    }

    #[cfg(test)]
    pub(super) fn memory(&self) -> (usize, usize) {
        (self.vectors.as_ptr() as usize, self.vectors.capacity())
    }

    pub(super) fn count(&self) -> usize {
        self.vectors.len().checked_div(self.length).unwrap_or(0)
    }

    /// Each with its place.
    fn each(&self) -> impl DoubleEndedIterator<Item = (usize, &[f64])> {
        self.vectors.chunks_exact(self.length.max(1)).enumerate().map(|(k, v)| (k, &v[k..]))
    }

    /// Adds the reflection that puts what `x` has from the next place on into that place; `x` was
    /// turned by those before, and is turned by it.
    fn push(&mut self, x: &mut [f64]) {
        let k = self.count();
        let tail = &mut x[k..];
        let length = norm(tail);
        let first = tail[0];
        let scale = 1.0 / (length * (length + first.abs())).sqrt();
        let start = self.vectors.len();
        self.vectors.resize(start + k, 0.0);
        self.vectors.extend(tail.iter().map(|t| t * scale));
        self.vectors[start + k] = (first + length.copysign(first)) * scale;
        tail.fill(0.0);
        tail[0] = -length.copysign(first);
    }

    /// Adds the reflection of a row unless the row is no longer than `least` outside of those
    /// before; `x` is turned. True if it was added.
    pub(super) fn extend(&mut self, x: &mut [f64], least: f64) -> bool {
        self.turn(x);
        let k = self.count();
        let outside = k < self.length && norm(&x[k..]) > least;
        if outside {
            self.push(x);
        }
        outside
    }

    /// Adds reflections of the last numbers alone, which those before leave.
    pub(super) fn append(&mut self, more: &Self) {
        let before = self.length - more.length;
        for v in more.vectors.chunks_exact(more.length.max(1)) {
            self.vectors.resize(self.vectors.len() + before, 0.0);
            self.vectors.extend_from_slice(v);
        }
    }

    /// Turns a vector.
    pub(super) fn turn(&self, x: &mut [f64]) {
        self.isa.run(Turn { of: self, back: false, x });
    }

    /// Turns a vector back.
    pub(super) fn turn_back(&self, x: &mut [f64]) {
        self.isa.run(Turn { of: self, back: true, x });
    }

    /// Turns the columns of a matrix that is given by rows of the length `n`.
    pub(super) fn turn_columns(&self, n: usize, z: &mut [f64], sums: &mut Vec<f64>) {
        for (k, v) in self.each() {
            let rows = &mut z[k * n..];
            sums.clear();
            sums.resize(n, 0.0);
            for (v, row) in v.iter().zip(rows.chunks_exact(n)) {
                axpy(*v, row, sums);
            }
            for (v, row) in v.iter().zip(rows.chunks_exact_mut(n)) {
                axpy(-v, sums, row);
            }
        }
    }

    /// Turns rows so that, in the order of `order`, they are a lower triangle: the longest first,
    /// until what is left of every row is no longer than `least`. Their number is the rank.
    pub(super) fn triangulate(&mut self, rows: &mut [f64], least: f64, order: &mut Vec<usize>) {
        let n = self.length;
        order.clear();
        if n == 0 {
            return;
        }
        order.extend(0..rows.len() / n);
        for k in 0..n.min(order.len()) {
            let longest = self.isa.run(Longest { rows, n, k, order: &order[k..] });
            if longest.1.sqrt() <= least {
                break;
            }
            order.swap(k, k + longest.0);
            let i = order[k];
            self.push(&mut rows[i * n..(i + 1) * n]);
            let v = &self.vectors[k * n + k..(k + 1) * n];
            self.isa.run(Reflect { v, rows, n, k, order: &order[k + 1..] });
        }
    }
}

/// All reflections of a vector, or back.
struct Turn<'a> {
    of: &'a Reflectors,
    back: bool,
    x: &'a mut [f64],
}

impl Kernel for Turn<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { of: Reflectors { length, vectors, .. }, back, x } = self;
        let count = vectors.len().checked_div(*length).unwrap_or(0);
        for turn in 0..count {
            let k = if back { count - 1 - turn } else { turn };
            reflect(l, &vectors[k * length + k..(k + 1) * length], &mut x[k..]);
        }
    }
}

/// One reflection of the numbers from place k on of some rows of the length n.
struct Reflect<'a> {
    v: &'a [f64],
    rows: &'a mut [f64],
    n: usize,
    k: usize,
    order: &'a [usize],
}

impl Kernel for Reflect<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { v, rows, n, k, order } = self;
        for &i in order {
            reflect(l, v, &mut rows[i * n + k..(i + 1) * n]);
        }
    }
}

/// The first of the longest of some rows from place k on, in the order of `order`, and the square
/// of its length.
struct Longest<'a> {
    rows: &'a [f64],
    n: usize,
    k: usize,
    order: &'a [usize],
}

impl Kernel for Longest<'_> {
    type Output = (usize, f64);

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> (usize, f64) {
        let Self { rows, n, k, order } = self;
        let mut longest = (0, 0.0);
        for (at, &i) in order.iter().enumerate() {
            let row = &rows[i * n + k..(i + 1) * n];
            let square = product(l, row, row);
            if square > longest.1 {
                longest = (at, square);
            }
        }
        longest
    }
}

/// Sum of products.
#[inline(always)]
fn product<L: Arithmetic>(l: L, a: &[f64], b: &[f64]) -> f64 {
    let ((fours, rest), (others, more)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sum = l.splat(0.0);
    for (a, b) in fours.iter().zip(others) {
        sum += l.read(a) * l.read(b);
    }
    let mut total = sum.total();
    for (a, b) in rest.iter().zip(more) {
        total += a * b;
    }
    total
}

/// x − v (v · x).
#[inline(always)]
fn reflect<L: Arithmetic>(l: L, v: &[f64], x: &mut [f64]) {
    let share = product(l, v, x);
    let factor = l.splat(share);
    let ((fours, rest), (others, more)) = (v.as_chunks::<LANES>(), x.as_chunks_mut::<LANES>());
    for (v, x) in fours.iter().zip(others) {
        *x = (l.read(x) - factor * l.read(v)).store().0;
    }
    for (v, x) in rest.iter().zip(more) {
        *x -= share * v;
    }
}

/// Memory of [`Fit::solve`].
#[derive(Clone, Debug, Default)]
pub(super) struct Fit {
    columns: Vec<f64>,
    turns: Reflectors,
    x: Vec<f64>,
}

impl Fit {
    #[cfg(test)]
    pub(super) fn memory(&self) -> [(usize, usize); 3] {
        let [a, b] = [&self.columns, &self.x].map(|v| (v.as_ptr() as usize, v.capacity()));
        [a, b, self.turns.memory()]
    }

    /// x with the least ‖Σ xᵢ columnᵢ − d‖; columns are independent and one after the other.
    pub(super) fn solve(&mut self, columns: &[f64], d: &[f64]) -> &[f64] {
        let m = d.len();
        let Self { columns: turned, turns, x } = self;
        turned.clear();
        turned.extend_from_slice(columns);
        turns.clear(m);
        for column in turned.chunks_exact_mut(m.max(1)) {
            // A column within those before, which there is none, would leave no reflection.
            if !turns.extend(column, 0.0) {
                break;
            }
        }
        x.clear();
        x.extend_from_slice(d);
        turns.turn(x);
        x.truncate(turns.count());
        for i in (0..x.len()).rev() {
            let column = &turned[i * m..(i + 1) * m];
            x[i] /= column[i];
            let known = x[i];
            axpy(-known, &column[..i], &mut x[..i]);
        }
        x.resize(columns.len().checked_div(m).unwrap_or(0), 0.0);
        &self.x
    }
}
