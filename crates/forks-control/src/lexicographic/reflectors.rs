//! Householder reflections H = I − v vᵀ, ‖v‖² = 2, that turn rows into a triangle, and least
//! squares.

use forks_dynamics::mechanism::linalg::simd::{Arithmetic, Isa, Kernel, LANES, Lanes, Rows, Wide};
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

    /// Adds the reflection that puts what `x` has from the next place on into that place; `x` was
    /// turned by those before, and is turned by it.
    pub(super) fn push(&mut self, x: &mut [f64]) {
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

    /// Turns columns.
    pub(super) fn turn_columns(&self, x: &mut Rows) {
        self.isa.run(TurnColumns { of: self, back: false, x });
    }

    /// Turns columns back.
    pub(super) fn turn_columns_back(&self, x: &mut Rows) {
        self.isa.run(TurnColumns { of: self, back: true, x });
    }

    /// Squares of the lengths of columns.
    pub(super) fn measure(&self, x: &Rows, squares: &mut [Lanes]) {
        self.isa.run(Measure { x, squares });
    }

    /// Turns columns by the last reflection alone, and the squares of the lengths of what is after
    /// its place.
    pub(super) fn reflect_last(&self, x: &mut Rows, squares: &mut [Lanes]) {
        let k = self.count() - 1;
        let (v, width) = (&self.vectors[k * self.length + k..], x.width());
        let x = &mut x.as_mut_slice()[k * width..];
        self.isa.run(ReflectColumns { v, x, width, squares });
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

/// All reflections of columns, or back.
struct TurnColumns<'a> {
    of: &'a Reflectors,
    back: bool,
    x: &'a mut Rows,
}

impl Kernel for TurnColumns<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { of: Reflectors { length, vectors, .. }, back, x } = self;
        let (count, width) = (vectors.len().checked_div(*length).unwrap_or(0), x.width());
        for turn in 0..count {
            let k = if back { count - 1 - turn } else { turn };
            let v = &vectors[k * length + k..(k + 1) * length];
            let x = &mut x.as_mut_slice()[k * width..];
            let mut at = 0;
            while at < width {
                // As many sums as registers hold: each waits for its own additions alone.
                at += match width - at {
                    1 => reflect_groups::<L, 1>(l, v, x, width, at).len(),
                    2 => reflect_groups::<L, 2>(l, v, x, width, at).len(),
                    3 => reflect_groups::<L, 3>(l, v, x, width, at).len(),
                    4 => reflect_groups::<L, 4>(l, v, x, width, at).len(),
                    5 => reflect_groups::<L, 5>(l, v, x, width, at).len(),
                    6 => reflect_groups::<L, 6>(l, v, x, width, at).len(),
                    7 => reflect_groups::<L, 7>(l, v, x, width, at).len(),
                    _ => reflect_groups::<L, 8>(l, v, x, width, at).len(),
                };
            }
        }
    }
}

/// One reflection of columns, of which `width` groups stand side by side.
struct ReflectColumns<'a> {
    v: &'a [f64],
    x: &'a mut [Lanes],
    width: usize,
    squares: &'a mut [Lanes],
}

impl Kernel for ReflectColumns<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { v, x, width, squares } = self;
        let mut at = 0;
        while at < width {
            let to = &mut squares[at..];
            at += match width - at {
                1 => write(to, reflect_groups::<L, 1>(l, v, x, width, at)),
                2 => write(to, reflect_groups::<L, 2>(l, v, x, width, at)),
                3 => write(to, reflect_groups::<L, 3>(l, v, x, width, at)),
                4 => write(to, reflect_groups::<L, 4>(l, v, x, width, at)),
                5 => write(to, reflect_groups::<L, 5>(l, v, x, width, at)),
                6 => write(to, reflect_groups::<L, 6>(l, v, x, width, at)),
                _ => write(to, reflect_groups::<L, 7>(l, v, x, width, at)),
            };
        }
    }
}

struct Measure<'a> {
    x: &'a Rows,
    squares: &'a mut [Lanes],
}

impl Kernel for Measure<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { x, squares } = self;
        let (width, mut rows) = (x.width(), x.as_slice());
        while let Some((row, below)) = rows.split_at_checked(width).filter(|_| width > 0) {
            rows = below;
            for (square, x) in squares.iter_mut().zip(row) {
                let x = l.load(x);
                *square = (x * x + l.load(square)).store();
            }
        }
    }
}

/// Writes some groups; their number.
#[inline(always)]
fn write<const N: usize>(to: &mut [Lanes], groups: [Lanes; N]) -> usize {
    to[..N].copy_from_slice(&groups);
    N
}

/// x − v (v · x) of the columns in some groups, and squares of the lengths of what is after their
/// first numbers. Sums stay in registers.
#[inline(always)]
fn reflect_groups<L: Arithmetic, const N: usize>(
    l: L,
    v: &[f64],
    x: &mut [Lanes],
    width: usize,
    at: usize,
) -> [Lanes; N] {
    let zero = l.splat(0.0);
    let mut sum: [Wide<L>; N] = [zero; N];
    let mut rest = &*x;
    for v in v {
        let Some((row, below)) = rest.split_at_checked(width) else { break };
        let (v, row) = (l.splat(*v), &row[at..][..N]);
        rest = below;
        for g in 0..N {
            sum[g] += v * l.load(&row[g]);
        }
    }
    let mut square: [Wide<L>; N] = [zero; N];
    let Some((first, mut rest)) = x.split_at_mut_checked(width) else { return [zero.store(); N] };
    let (own, first) = (l.splat(v[0]), &mut first[at..][..N]);
    for g in 0..N {
        first[g] = (l.load(&first[g]) - own * sum[g]).store();
    }
    for v in &v[1..] {
        let Some((row, below)) = rest.split_at_mut_checked(width) else { break };
        let (v, row) = (l.splat(*v), &mut row[at..][..N]);
        rest = below;
        for g in 0..N {
            let y = l.load(&row[g]) - v * sum[g];
            row[g] = y.store();
            square[g] += y * y;
        }
    }
    square.map(Wide::store)
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
