//! Orthonormal bases by modified Gram–Schmidt with pivots, every vector turned twice.

pub(super) use forks_dynamics::mechanism::linalg::{axpy, dot, norm};

/// Orthonormal vectors of one length, in one piece of memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Basis {
    pub(super) length: usize,
    pub(super) vectors: Vec<f64>,
    work: Vec<f64>,
}

impl Basis {
    /// No vector.
    pub(super) fn clear(&mut self, length: usize) {
        self.length = length;
        self.vectors.clear();
    }

    #[cfg(test)]
    pub(super) fn memory(&self) -> [(usize, usize); 2] {
        [&self.vectors, &self.work].map(|v| (v.as_ptr() as usize, v.capacity()))
    }

    pub(super) fn count(&self) -> usize {
        self.vectors.len().checked_div(self.length).unwrap_or(0)
    }

    /// Adds the span of `rows`, as far as they are longer than `least` outside of what is there.
    pub(super) fn extend(&mut self, rows: &[f64], least: f64) {
        let n = self.length;
        if n == 0 {
            return;
        }
        let mut work = std::mem::take(&mut self.work);
        work.clear();
        work.extend_from_slice(rows);
        for w in work.chunks_exact_mut(n) {
            remove(&self.vectors, w);
            remove(&self.vectors, w);
        }
        while self.count() < n {
            let lengths = work.chunks_exact(n).map(norm).enumerate();
            // The first of equal ones.
            let best = lengths.fold((0, 0.0), |a, b| if b.1 > a.1 { b } else { a });
            if best.1 <= least {
                break;
            }
            let w = &mut work[best.0 * n..(best.0 + 1) * n];
            remove(&self.vectors, w);
            let length = norm(w);
            if length <= least {
                w.fill(0.0);
                continue;
            }
            w.iter_mut().for_each(|x| *x /= length);
            let start = self.vectors.len();
            self.vectors.extend_from_slice(w);
            w.fill(0.0);
            let new = &self.vectors[start..];
            for w in work.chunks_exact_mut(n) {
                axpy(-dot(new, w), new, w);
            }
        }
        self.work = work;
    }

    /// The orthogonal complement of `of`.
    pub(super) fn complement(&mut self, of: &Self) {
        let (n, known) = (of.length, of.count());
        self.clear(n);
        self.vectors.extend_from_slice(&of.vectors);
        let mut units = std::mem::take(&mut self.work);
        units.clear();
        units.resize(n * n, 0.0);
        (0..n).for_each(|i| units[i * n + i] = 1.0);
        // A unit vector outside of k < n others is at least this long for the best of n.
        while self.count() < n {
            let outside = |u: &[f64]| {
                1.0 - self.vectors.chunks_exact(n).map(|v| dot(v, u).powi(2)).sum::<f64>()
            };
            let lengths = units.chunks_exact(n).map(outside).enumerate();
            let best = lengths.fold((0, f64::NEG_INFINITY), |a, b| if b.1 > a.1 { b } else { a });
            let start = self.vectors.len();
            self.vectors.extend_from_slice(&units[best.0 * n..(best.0 + 1) * n]);
            let (old, new) = self.vectors.split_at_mut(start);
            for _ in 0..3 {
                remove(old, new);
                let length = norm(new);
                new.iter_mut().for_each(|x| *x /= length);
            }
        }
        self.vectors.drain(..known * n);
        self.work = units;
    }
}

/// Takes the parts along orthonormal vectors off.
fn remove(vectors: &[f64], w: &mut [f64]) {
    for v in vectors.chunks_exact(w.len()) {
        axpy(-dot(v, w), v, w);
    }
}

/// Memory of [`Fit::solve`].
#[derive(Clone, Debug, Default)]
pub(super) struct Fit {
    q: Vec<f64>,
    r: Vec<f64>,
    pub(super) x: Vec<f64>,
}

impl Fit {
    #[cfg(test)]
    pub(super) fn memory(&self) -> [(usize, usize); 3] {
        [&self.q, &self.r, &self.x].map(|v| (v.as_ptr() as usize, v.capacity()))
    }

    /// x with the least ‖Σ xᵢ columnᵢ − d‖; columns are independent and one after the other.
    pub(super) fn solve(&mut self, columns: &[f64], d: &[f64]) -> &[f64] {
        let m = d.len();
        let k = columns.len().checked_div(m).unwrap_or(0);
        let Self { q, r, x } = self;
        q.clear();
        q.extend_from_slice(columns);
        r.clear();
        r.resize(k * k, 0.0);
        x.clear();
        x.resize(k, 0.0);
        for j in 0..k {
            let (old, new) = q.split_at_mut(j * m);
            let new = &mut new[..m];
            for _ in 0..2 {
                for (i, v) in old.chunks_exact(m).enumerate() {
                    let c = dot(v, new);
                    r[i * k + j] += c;
                    axpy(-c, v, new);
                }
            }
            let length = norm(new);
            r[j * k + j] = length;
            new.iter_mut().for_each(|y| *y /= length);
            x[j] = dot(new, d);
        }
        for i in (0..k).rev() {
            for j in i + 1..k {
                x[i] -= r[i * k + j] * x[j];
            }
            x[i] /= r[i * k + i];
        }
        &self.x
    }
}

/// out = rows · basisᵀ, by rows of the length `basis.count()`.
pub(super) fn turned(rows: &[f64], basis: &Basis, out: &mut Vec<f64>) {
    out.clear();
    for row in rows.chunks_exact(basis.length.max(1)) {
        out.extend(basis.vectors.chunks_exact(basis.length.max(1)).map(|v| dot(v, row)));
    }
}
