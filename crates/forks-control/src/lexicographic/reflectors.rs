//! Householder reflections H = I − v vᵀ, ‖v‖² = 2, that turn rows into a triangle, and least
//! squares.

pub(super) use forks_dynamics::mechanism::linalg::{axpy, dot, norm};

/// Reflections of vectors of one length; the one at place k leaves the numbers before k alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Reflectors {
    length: usize,
    vectors: Vec<f64>,
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
        self.each().for_each(|(k, v)| reflect(v, &mut x[k..]));
    }

    /// Turns a vector back.
    pub(super) fn turn_back(&self, x: &mut [f64]) {
        self.each().rev().for_each(|(k, v)| reflect(v, &mut x[k..]));
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
            let lengths = order[k..].iter().map(|&i| norm(&rows[i * n + k..(i + 1) * n]));
            // The first of equal ones.
            let longest = lengths.enumerate().fold((0, 0.0), |a, b| if b.1 > a.1 { b } else { a });
            if longest.1 <= least {
                break;
            }
            order.swap(k, k + longest.0);
            let i = order[k];
            self.push(&mut rows[i * n..(i + 1) * n]);
            let v = &self.vectors[k * n + k..(k + 1) * n];
            for &i in &order[k + 1..] {
                reflect(v, &mut rows[i * n + k..(i + 1) * n]);
            }
        }
    }
}

/// x − v (v · x).
fn reflect(v: &[f64], x: &mut [f64]) {
    axpy(-dot(v, x), v, x);
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
