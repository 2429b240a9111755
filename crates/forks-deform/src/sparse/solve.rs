//! Triangular solves with the factor, one right side or many at a time.

use std::array::from_fn;

use forks_dynamics::mechanism::{
    lie::glam::DVec3,
    linalg::simd::{Arithmetic, Kernel, LANES, Lanes, Wide},
};
use rayon::{iter::ParallelIterator, slice::ParallelSliceMut};

use super::{BlockCholesky, factor::stride};

/// Right sides that go through the factor together, in fours.
const GROUP: usize = 4;

impl BlockCholesky {
    /// L⁻¹ P b: what is left of a right side after the forward half; in the order of elimination.
    ///
    /// # Panics
    /// If a length does not fit, or nothing has been factorised; and so in the others.
    pub fn half_solve(&self, b: &[DVec3], out: &mut [f64]) {
        for (out, &n) in out.chunks_exact_mut(3).zip(&self.node) {
            out.copy_from_slice(&b[n].to_array());
        }
        self.isa.run(Forward { factor: self, y: out });
    }

    /// Pᵀ L⁻ᵀ y for y in the order of elimination, which is used up; nodes left out are not
    /// touched.
    pub fn back_solve(&self, y: &mut [f64], out: &mut [DVec3]) {
        self.isa.run(Backward { factor: self, y });
        for (y, &n) in y.chunks_exact(3).zip(&self.node) {
            out[n] = DVec3::new(y[0], y[1], y[2]);
        }
    }

    /// A⁻¹ b over the kept nodes in place of b; entries of other nodes are left alone.
    ///
    /// # Panics
    /// If `b` has not an entry for every node of the matrix.
    pub fn solve(&mut self, b: &mut [DVec3]) {
        let mut y = std::mem::take(&mut self.vector);
        self.half_solve(b, &mut y);
        self.back_solve(&mut y, b);
        self.vector = y;
    }

    /// [`BlockCholesky::solve`] for many right sides at once, on the threads of the current pool.
    /// A column's result does not depend on the others, nor on threads.
    ///
    /// # Panics
    /// If a column has not an entry for every node of the matrix.
    pub fn solve_all(&self, columns: &mut [Vec<DVec3>]) {
        columns.par_chunks_mut(GROUP * LANES).for_each(|columns| {
            match columns.len().div_ceil(LANES) {
                1 => self.solve_group::<1>(columns),
                2 => self.solve_group::<2>(columns),
                3 => self.solve_group::<3>(columns),
                _ => self.solve_group::<GROUP>(columns),
            }
        });
    }

    fn solve_group<const G: usize>(&self, columns: &mut [Vec<DVec3>]) {
        let mut y = vec![[Lanes::default(); G]; 3 * self.node.len()];
        for (c, b) in columns.iter().enumerate() {
            for (y, &n) in y.chunks_exact_mut(3).zip(&self.node) {
                for (y, x) in y.iter_mut().zip(b[n].to_array()) {
                    y[c / LANES].0[c % LANES] = x;
                }
            }
        }
        self.isa.run(Both { factor: self, y: &mut y });
        for (c, b) in columns.iter_mut().enumerate() {
            for (y, &n) in y.chunks_exact(3).zip(&self.node) {
                b[n] = DVec3::from_array(from_fn(|r| y[r][c / LANES].0[c % LANES]));
            }
        }
    }
}

/// L⁻¹ y in place of y.
struct Forward<'a> {
    factor: &'a BlockCholesky,
    y: &'a mut [f64],
}

impl Kernel for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let mut x: Vec<Lanes> = vec![];
        for (s, panel) in self.factor.form.supernodes.iter().zip(&self.factor.panels) {
            let (w, stride) = (3 * s.width, stride(s));
            let (own, rest) = self.y[3 * s.first..].split_at_mut(w);
            // Of forces on a few nodes most of it is empty.
            if own.iter().all(|x| *x == 0.0) {
                continue;
            }
            let (top, below) = panel.split_at(w * stride);
            // Numbers not found yet are zero.
            x.clear();
            x.resize(stride, Lanes::default());
            for (i, (row, b)) in top.chunks_exact(stride).zip(&mut *own).enumerate() {
                let four = i / LANES;
                let done = &row[..=four];
                let sum =
                    done.iter().zip(&x).fold(l.splat(0.0), |s, (a, b)| s + l.load(a) * l.load(b));
                *b = (*b - sum.total()) / row[four].0[i % LANES];
                x[four].0[i % LANES] = *b;
            }
            let offset = s.first + s.width;
            for (rows, &p) in below.chunks_exact(3 * stride).zip(&s.rows[s.width..]) {
                let [a, b, c] = three(rows, stride);
                let mut sums = [l.splat(0.0); LANES];
                for (((x, a), b), c) in x.iter().zip(a).zip(b).zip(c) {
                    let x = l.load(x);
                    sums[0] += l.load(a) * x;
                    sums[1] += l.load(b) * x;
                    sums[2] += l.load(c) * x;
                }
                let sums = l.sums(sums).store();
                let out = &mut rest[3 * (p - offset)..][..3];
                out.iter_mut().zip(&sums.0).for_each(|(y, s)| *y -= s);
            }
        }
    }
}

/// L⁻ᵀ y in place of y.
struct Backward<'a> {
    factor: &'a BlockCholesky,
    y: &'a mut [f64],
}

impl Kernel for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let mut x: Vec<Lanes> = vec![];
        for (s, panel) in self.factor.form.supernodes.iter().zip(&self.factor.panels).rev() {
            let (w, stride) = (3 * s.width, stride(s));
            let (own, rest) = self.y[3 * s.first..].split_at_mut(w);
            let (top, below) = panel.split_at(w * stride);
            x.clear();
            x.resize(stride, Lanes::default());
            own.iter().enumerate().for_each(|(i, y)| x[i / LANES].0[i % LANES] = *y);
            let offset = s.first + s.width;
            for (rows, &p) in below.chunks_exact(3 * stride).zip(&s.rows[s.width..]) {
                let y = &rest[3 * (p - offset)..][..3];
                let (y0, y1, y2) = (l.splat(y[0]), l.splat(y[1]), l.splat(y[2]));
                let [a, b, c] = three(rows, stride);
                for (((x, a), b), c) in x.iter_mut().zip(a).zip(b).zip(c) {
                    let left = l.load(x) - l.load(a) * y0;
                    *x = (left - l.load(b) * y1 - l.load(c) * y2).store();
                }
            }
            for i in (0..w).rev() {
                let (row, four) = (&top[i * stride..][..=i / LANES], i / LANES);
                let found = x[four].0[i % LANES] / row[four].0[i % LANES];
                own[i] = found;
                let y = l.splat(found);
                for (x, a) in x.iter_mut().zip(row) {
                    *x = (l.load(x) - l.load(a) * y).store();
                }
            }
        }
    }
}

/// L⁻ᵀ L⁻¹ y in place of y for G fours of right sides.
struct Both<'a, const G: usize> {
    factor: &'a BlockCholesky,
    y: &'a mut [[Lanes; G]],
}

impl<const G: usize> Kernel for Both<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let all = || self.factor.form.supernodes.iter().zip(&self.factor.panels);
        for (s, panel) in all() {
            let (w, stride) = (3 * s.width, stride(s));
            let (own, rest) = self.y[3 * s.first..].split_at_mut(w);
            if own.as_flattened().iter().all(|x| x.0 == [0.0; LANES]) {
                continue;
            }
            let (top, below) = panel.split_at(w * stride);
            for (i, rows) in top.chunks_exact(3 * stride).enumerate() {
                let (found, own) = own.split_at_mut(3 * i);
                let mut x = less(l, stride, rows, found, &own[..3]);
                for r in 0..3 {
                    let row = &rows[r * stride..][..stride];
                    let entry = |c: usize| row[(3 * i + c) / LANES].0[(3 * i + c) % LANES];
                    for g in 0..G {
                        for c in 0..r {
                            x[r][g] -= x[c][g] * entry(c);
                        }
                        x[r][g] = (x[r][g] * (1.0 / entry(r))).rounded();
                        own[r][g] = x[r][g].store();
                    }
                }
            }
            let offset = s.first + s.width;
            for (rows, &p) in below.chunks_exact(3 * stride).zip(&s.rows[s.width..]) {
                let out = &mut rest[3 * (p - offset)..][..3];
                let left = less(l, stride, rows, own, out);
                for (out, left) in out.iter_mut().zip(left) {
                    *out = left.map(|x| x.store());
                }
            }
        }
        for (s, panel) in all().rev() {
            let (w, stride) = (3 * s.width, stride(s));
            let (own, rest) = self.y[3 * s.first..].split_at_mut(w);
            let (top, below) = panel.split_at(w * stride);
            let offset = s.first + s.width;
            for (rows, &p) in below.chunks_exact(3 * stride).zip(&s.rows[s.width..]) {
                take(l, stride, rows, &rest[3 * (p - offset)..][..3], own);
            }
            for (i, rows) in top.chunks_exact(3 * stride).enumerate().rev() {
                let (left, own) = own.split_at_mut(3 * i);
                for r in (0..3).rev() {
                    let entry = |q: usize, c: usize| {
                        rows[q * stride + (3 * i + c) / LANES].0[(3 * i + c) % LANES]
                    };
                    for g in 0..G {
                        let mut x = l.load(&own[r][g]);
                        for q in r + 1..3 {
                            x -= l.load(&own[q][g]) * entry(q, r);
                        }
                        own[r][g] = (x * (1.0 / entry(r, r))).store();
                    }
                }
                take(l, stride, rows, &own[..3], left);
            }
        }
    }
}

/// Rows of a node.
#[inline(always)]
fn three(rows: &[Lanes], stride: usize) -> [&[Lanes]; 3] {
    from_fn(|r| &rows[r * stride..][..stride])
}

/// Three rows of y less three rows of L times what is found.
#[inline(always)]
fn less<L: Arithmetic, const G: usize>(
    l: L,
    stride: usize,
    rows: &[Lanes],
    found: &[[Lanes; G]],
    y: &[[Lanes; G]],
) -> [[Wide<L>; G]; 3] {
    let mut out: [[Wide<L>; G]; 3] = from_fn(|r| from_fn(|g| l.load(&y[r][g])));
    let rows = three(rows, stride);
    for (k, x) in found.chunks(LANES).enumerate() {
        let fours = rows.map(|row| row[k]);
        for (j, x) in x.iter().enumerate() {
            let x: [Wide<L>; G] = from_fn(|g| l.load(&x[g]));
            for r in 0..3 {
                let entry = l.splat(fours[r].0[j]);
                for g in 0..G {
                    out[r][g] -= x[g] * entry;
                }
            }
        }
    }
    out
}

/// Subtracts the transpose of three rows of L, times three rows of y, from rows `out`.
#[inline(always)]
fn take<L: Arithmetic, const G: usize>(
    l: L,
    stride: usize,
    rows: &[Lanes],
    y: &[[Lanes; G]],
    out: &mut [[Lanes; G]],
) {
    let y: [[Wide<L>; G]; 3] = from_fn(|r| from_fn(|g| l.load(&y[r][g])));
    let rows = three(rows, stride);
    for (k, out) in out.chunks_mut(LANES).enumerate() {
        let fours = rows.map(|row| row[k]);
        for (j, out) in out.iter_mut().enumerate() {
            let entries: [Wide<L>; 3] = from_fn(|r| l.splat(fours[r].0[j]));
            for g in 0..G {
                let mut x = l.load(&out[g]);
                for r in 0..3 {
                    x -= y[r][g] * entries[r];
                }
                out[g] = x.store();
            }
        }
    }
}
