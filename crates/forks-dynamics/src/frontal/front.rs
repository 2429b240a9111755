//! A dense front: as many of its first unknowns are eliminated as can be with sound pivots.

use std::ops::Range;

/// Pivots below this part of their row or column wait, unless they let nothing grow by more than
/// its inverse.
const SOUND: f64 = 0.05;

/// What counts as nothing.
#[derive(Clone, Debug)]
pub(crate) struct Nothing {
    /// A diagonal entry…
    pub(crate) pivot: f64,
    /// …in a row and column below this.
    pub(crate) row: f64,
    /// True if rows that follow from others that wait are nothing too: equations, of which a
    /// consistent one more adds nothing.
    pub(crate) dependent: bool,
    /// Unknowns that are taken after all others, so that they are what is found to be nothing.
    pub(crate) last: Range<usize>,
}

/// Matrix of a front, by rows, with the unknowns of its rows: the first `summed` occur nowhere else
/// any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Front {
    pub(crate) variables: Vec<usize>,
    pub(crate) summed: usize,
    pub(crate) a: Vec<f64>,
}

/// What of all fronts is kept: L and U of their pivots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    spans: Vec<Span>,
    /// Unknowns of each front in the order of its rows, pivots first.
    variables: Vec<usize>,
    /// 1: a pivot; 2, 2: a pair of them; 0: an unknown that nothing depends on.
    pivots: Vec<u8>,
    /// Rows of U of each front, then columns of L.
    values: Vec<f64>,
    /// Negative eigenvalues of the pivots, for a symmetric matrix.
    pub(crate) negative: usize,
    /// Unknowns that nothing depends on.
    pub(crate) idle: Vec<usize>,
}

/// Where a front stands in a [`Store`].
#[derive(Clone, Copy, Debug)]
struct Span {
    variables: usize,
    count: usize,
    pivots: usize,
    eliminated: usize,
    values: usize,
}

impl Front {
    pub(crate) fn clear(&mut self, variables: usize) {
        self.a.clear();
        self.a.resize(variables * variables, 0.0);
    }

    fn n(&self) -> usize {
        self.variables.len()
    }

    pub(crate) fn symmetrise(&mut self) {
        let n = self.n();
        for i in 0..n {
            for j in 0..i {
                let mean = 0.5 * (self.a[i * n + j] + self.a[j * n + i]);
                (self.a[i * n + j], self.a[j * n + i]) = (mean, mean);
            }
        }
    }

    fn swap(&mut self, i: usize, j: usize) {
        if i == j {
            return;
        }
        let n = self.n();
        self.variables.swap(i, j);
        for k in 0..n {
            self.a.swap(i * n + k, j * n + k);
        }
        for k in 0..n {
            self.a.swap(k * n + i, k * n + j);
        }
    }

    /// Largest entry of row and column `p` from `from` on, without the diagonal and without
    /// `aside`.
    fn reach(&self, p: usize, from: usize, aside: usize) -> f64 {
        let n = self.n();
        let mut out = 0.0f64;
        for j in from..n {
            if j != p && j != aside {
                out = out.max(self.a[p * n + j].abs()).max(self.a[j * n + p].abs());
            }
        }
        out
    }

    /// Eliminates; the rest, with the unknowns that have to wait first, becomes the front. With
    /// `all` nothing waits.
    pub(crate) fn eliminate(&mut self, nothing: &Nothing, all: bool, out: &mut Store) {
        let n = self.n();
        let size = self.a.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let first = out.pivots.len();
        let mut k = 0;
        while k < self.summed {
            if let Some(p) = self.single(k, size, nothing) {
                self.swap(k, p);
                self.take_single(k, out);
                k += 1;
            } else if let Some((p, q)) = self.pair(k, size, nothing) {
                self.swap(k, p);
                self.swap(k + 1, if q == k { p } else { q });
                self.take_pair(k, out);
                k += 2;
            } else if let Some(p) = self.idle(k, nothing, all) {
                self.swap(k, p);
                for j in k..n {
                    (self.a[k * n + j], self.a[j * n + k]) = (0.0, 0.0);
                }
                out.pivots.push(0);
                out.idle.push(self.variables[k]);
                k += 1;
            } else {
                break;
            }
        }
        if nothing.dependent && self.summed > k + 1 {
            k = self.drop_dependent(k, nothing, out);
        }
        self.keep(k, first, out);
    }

    /// Of the rows that wait, those that the others span; the rest stays.
    ///
    /// Without it the equations of a long ladder that only its far end shows to be redundant would
    /// all wait till there.
    fn drop_dependent(&mut self, mut k: usize, nothing: &Nothing, out: &mut Store) -> usize {
        let n = self.n();
        let row = |p: usize| self.a[p * n + k..(p + 1) * n].to_vec();
        let mut rest: Vec<(usize, Vec<f64>)> = (k..self.summed).map(|p| (p, row(p))).collect();
        let mut basis: Vec<Vec<f64>> = Vec::new();
        while !rest.is_empty() {
            let mut best = (0, true, -1.0);
            for (i, (p, r)) in rest.iter().enumerate() {
                let (late, length) = (nothing.last.contains(&self.variables[*p]), norm(r));
                if length > nothing.row && (best.2 < 0.0 || (late, -length) < (best.1, -best.2)) {
                    best = (i, late, length);
                }
            }
            if best.2 < 0.0 {
                break;
            }
            let (_, mut v) = rest.remove(best.0);
            for y in &basis {
                take_off(&mut v, y);
            }
            let length = norm(&v);
            v.iter_mut().for_each(|x| *x /= length);
            rest.iter_mut().for_each(|(_, r)| take_off(r, &v));
            basis.push(v);
        }
        let mut dropped: Vec<usize> = rest.iter().map(|r| r.0).collect();
        dropped.sort_unstable();
        for p in dropped {
            // Those before have moved at most from k on, and p is not before k.
            self.swap(k, p);
            for j in 0..n {
                (self.a[k * n + j], self.a[j * n + k]) = (0.0, 0.0);
            }
            out.pivots.push(0);
            out.idle.push(self.variables[k]);
            k += 1;
        }
        k
    }

    /// The largest pivot that is sound by itself.
    fn single(&self, k: usize, size: f64, nothing: &Nothing) -> Option<usize> {
        let n = self.n();
        let mut best: (bool, f64, Option<usize>) = (true, 0.0, None);
        for p in k..self.summed {
            let pivot = self.a[p * n + p].abs();
            let late = nothing.last.contains(&self.variables[p]);
            if pivot <= nothing.pivot || (best.2.is_some() && (late, -pivot) >= (best.0, -best.1)) {
                continue;
            }
            let reach = self.reach(p, k, p);
            if pivot >= SOUND * reach || pivot * size >= SOUND * reach * reach {
                best = (late, pivot, Some(p));
            }
        }
        best.2
    }

    /// The pair of pivots with the largest determinant among the sound ones.
    fn pair(&self, k: usize, size: f64, nothing: &Nothing) -> Option<(usize, usize)> {
        let n = self.n();
        let mut best = (nothing.pivot * nothing.pivot, None);
        for p in k..self.summed {
            for q in p + 1..self.summed {
                let [a, b, c, d] = [(p, p), (p, q), (q, p), (q, q)].map(|(i, j)| self.a[i * n + j]);
                let det = (a * d - b * c).abs();
                if det <= best.0 || b == 0.0 || c == 0.0 {
                    continue;
                }
                let (rp, rq) = (self.reach(p, k, q), self.reach(q, k, p));
                let side = b.abs().max(c.abs());
                let (gp, gq) = ((d.abs() * rp + side * rq) / det, (side * rp + a.abs() * rq) / det);
                if gp.max(gq) * SOUND <= 1.0 || (rp * gp + rq * gq) * SOUND <= size {
                    best = (det, Some((p, q)));
                }
            }
        }
        best.1
    }

    /// An unknown that nothing depends on; with `all` any that is left.
    fn idle(&self, k: usize, nothing: &Nothing, all: bool) -> Option<usize> {
        let n = self.n();
        (k..self.summed).find(|&p| {
            all || (self.a[p * n + p].abs() <= nothing.pivot && self.reach(p, k, p) <= nothing.row)
        })
    }

    fn take_single(&mut self, k: usize, out: &mut Store) {
        let n = self.n();
        let pivot = self.a[k * n + k];
        out.negative += usize::from(pivot < 0.0);
        out.pivots.push(1);
        let (above, below) = self.a.split_at_mut((k + 1) * n);
        let row = &above[k * n..];
        for r in below.chunks_exact_mut(n) {
            if r[k] == 0.0 {
                continue;
            }
            r[k] /= pivot;
            let l = r[k];
            for (x, u) in r[k + 1..].iter_mut().zip(&row[k + 1..]) {
                *x -= l * u;
            }
        }
    }

    fn take_pair(&mut self, k: usize, out: &mut Store) {
        let n = self.n();
        let at = |i: usize, j: usize| self.a[i * n + j];
        let [a, b, c, d] = [at(k, k), at(k, k + 1), at(k + 1, k), at(k + 1, k + 1)];
        let det = a * d - b * c;
        out.negative += if det < 0.0 { 1 } else { 2 * usize::from(a < 0.0) };
        out.pivots.extend([2, 2]);
        let (above, below) = self.a.split_at_mut((k + 2) * n);
        let (first, second) = above[k * n..].split_at(n);
        for r in below.chunks_exact_mut(n) {
            let (x, y) = (r[k], r[k + 1]);
            let (l, l2) = ((x * d - y * c) / det, (y * a - x * b) / det);
            (r[k], r[k + 1]) = (l, l2);
            for j in k + 2..n {
                r[j] -= l * first[j] + l2 * second[j];
            }
        }
    }

    /// Takes off the first `k` unknowns, whose pivots stand from `first` on.
    fn keep(&mut self, k: usize, first: usize, out: &mut Store) {
        let n = self.n();
        let (variables, values) = (out.variables.len(), out.values.len());
        out.spans.push(Span { variables, count: n, pivots: first, eliminated: k, values });
        out.variables.extend(&self.variables);
        out.values.extend(&self.a[..k * n]);
        for p in 0..k {
            let below = p + if pair_start(&out.pivots[first..], p) { 2 } else { 1 };
            out.values.resize(out.values.len() + below, 0.0);
            out.values.extend((below..n).map(|i| self.a[i * n + p]));
        }
        let rest = n - k;
        for i in 0..rest {
            self.a.copy_within((i + k) * n + k..(i + k + 1) * n, i * rest);
        }
        self.a.truncate(rest * rest);
        self.variables.drain(..k);
        self.summed -= k;
    }
}

fn norm(a: &[f64]) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Takes off the part along a unit vector.
fn take_off(a: &mut [f64], unit: &[f64]) {
    let c: f64 = a.iter().zip(unit).map(|(a, u)| a * u).sum();
    a.iter_mut().zip(unit).for_each(|(a, u)| *a -= c * u);
}

/// True if a pair of pivots begins at `p`.
fn pair_start(pivots: &[u8], p: usize) -> bool {
    pivots[p] == 2 && pivots[..p].iter().rev().take_while(|x| **x == 2).count() % 2 == 0
}

impl Store {
    pub(crate) fn fronts(&self) -> usize {
        self.spans.len()
    }

    /// b ← L⁻¹ b on a front's unknowns.
    pub(crate) fn forward(&self, front: usize, b: &mut [f64]) {
        let s = self.spans[front];
        let (n, k) = (s.count, s.eliminated);
        let variables = &self.variables[s.variables..s.variables + n];
        let lower = &self.values[s.values + k * n..];
        for p in 0..k {
            let x = b[variables[p]];
            if x == 0.0 || self.pivots[s.pivots + p] == 0 {
                continue;
            }
            let row = &lower[p * n..(p + 1) * n];
            for (l, v) in row.iter().zip(variables).skip(p + 1) {
                b[*v] -= l * x;
            }
        }
    }

    /// b ← U⁻¹ b on a front's unknowns; those that are not its pivots are known.
    pub(crate) fn backward(&self, front: usize, b: &mut [f64]) {
        let s = self.spans[front];
        let n = s.count;
        let variables = &self.variables[s.variables..s.variables + n];
        let (upper, pivots) = (&self.values[s.values..], &self.pivots[s.pivots..]);
        let right = |b: &[f64], p: usize, from: usize| -> f64 {
            let row = &upper[p * n..(p + 1) * n];
            let known = row.iter().zip(variables).skip(from);
            b[variables[p]] - known.map(|(u, v)| u * b[*v]).sum::<f64>()
        };
        let mut p = s.eliminated;
        while p > 0 {
            p -= 1;
            match pivots[p] {
                0 => b[variables[p]] = 0.0,
                1 => b[variables[p]] = right(b, p, p + 1) / upper[p * n + p],
                _ => {
                    p -= 1;
                    let (r, s) = (right(b, p, p + 2), right(b, p + 1, p + 2));
                    let at = |i: usize, j: usize| upper[(p + i) * n + p + j];
                    let [a, c, d, e] = [at(0, 0), at(0, 1), at(1, 0), at(1, 1)];
                    let det = a * e - c * d;
                    b[variables[p]] = (r * e - s * c) / det;
                    b[variables[p + 1]] = (s * a - r * d) / det;
                }
            }
        }
    }
}
