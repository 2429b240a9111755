//! The numbers of a factor with a border, four at a time: factors, right sides side by side,
//! products of the border's columns, and what is left of them.

use forks_rom::linalg::simd::{
    Arithmetic, Kernel, LANES, Lanes, Rows, add_rows, cholesky_of_rows, dot_lanes,
};

/// U of UᵀU = M in the rows of M, with zeros left of the diagonal within its lane group.
pub(crate) struct Factor<'a> {
    pub(crate) n: usize,
    pub(crate) rows: &'a mut Rows,
    pub(crate) inverse: &'a mut [f64],
}

impl Kernel for Factor<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> bool {
        if cholesky_of_rows(l, self.n, self.rows).is_err() {
            return false;
        }
        for p in 0..self.n {
            let group = &mut self.rows.row_mut(p)[p / LANES];
            (0..p % LANES).for_each(|k| group[k] = 0.0);
            self.inverse[p] = 1.0 / group[p % LANES];
        }
        true
    }
}

/// U⁻ᵀ by N groups of right sides that stand side by side.
pub(crate) struct Forward<'a, const N: usize> {
    pub(crate) factor: &'a Rows,
    pub(crate) inverse: &'a [f64],
    pub(crate) x: &'a mut [[Lanes; 2]],
}

impl<const N: usize> Kernel for Forward<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { factor, inverse, x } = self;
        let n = x.len();
        let mut p = 0;
        while p < n {
            // Four rows: their own triangle, then what they take from the rows after them.
            let (count, group) = ((n - p).min(LANES), p / LANES);
            let (own, after) = x[p..].split_at_mut(count);
            let mut y = [[l.splat(0.0); N]; LANES];
            for i in 0..count {
                for g in 0..N {
                    let mut sum = l.load(&own[i][g]);
                    for (k, y) in y[..i].iter().enumerate() {
                        sum -= l.splat(factor.row(p + k)[group][i]) * y[g];
                    }
                    y[i][g] = (sum * inverse[p + i]).rounded();
                    own[i][g] = y[i][g].store();
                }
            }
            if count == LANES {
                let row = |k: usize| &factor.row(p + k)[group + 1..];
                let rows = (row(0), row(1), row(2), row(3));
                for (q, four) in after.chunks_mut(LANES).enumerate() {
                    let u = (&rows.0[q], &rows.1[q], &rows.2[q], &rows.3[q]);
                    for (i, x) in four.iter_mut().enumerate() {
                        let u =
                            (l.splat(u.0[i]), l.splat(u.1[i]), l.splat(u.2[i]), l.splat(u.3[i]));
                        for g in 0..N {
                            let sum = l.load(&x[g]) - u.0 * y[0][g];
                            let sum = sum - u.1 * y[1][g];
                            let sum = sum - u.2 * y[2][g];
                            x[g] = (sum - u.3 * y[3][g]).store();
                        }
                    }
                }
            }
            p += count;
        }
    }
}

/// Products of new columns with those before, and of columns with the right side.
pub(crate) struct Multiply<'a> {
    pub(crate) border: &'a Rows,
    pub(crate) forward: &'a [Lanes],
    /// The first with a new product with the right side, the first new one, all.
    pub(crate) columns: (usize, usize, usize),
    /// With the length of their rows.
    pub(crate) products: (&'a mut [f64], usize),
    pub(crate) seen: &'a mut [f64],
}

impl Kernel for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let (turned, first, all) = self.columns;
        for c in turned..all {
            self.seen[c] = dot_lanes(l, self.border.row(c), self.forward);
        }
        let (products, most) = self.products;
        for c in first..all {
            for d in 0..=c {
                products[c * most + d] -= dot_lanes(l, self.border.row(c), self.border.row(d));
            }
        }
    }
}

/// U⁻¹ by x less what the border takes.
pub(crate) struct Backward<'a> {
    pub(crate) factor: &'a Rows,
    pub(crate) inverse: &'a [f64],
    /// Rows, the variables that changed, the rows of all, and what is taken of them.
    pub(crate) border: (&'a Rows, &'a [usize], &'a [usize], &'a [f64]),
    pub(crate) x: &'a mut [Lanes],
}

impl Kernel for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { factor, inverse, border: (rows, changed, column, rest), x } = self;
        for (i, y) in changed.iter().zip(rest) {
            add_rows(l, &[-y], rows.row(column[*i]), x.len(), x);
        }
        for group in (0..x.len()).rev() {
            let (x, after) = x[group..].split_at_mut(1);
            let (x, p) = (&mut x[0], LANES * group);
            let count = (inverse.len() - p).min(LANES);
            // Rows that are not there are the last one again.
            let row = |i: usize| &factor.row(p + i.min(count - 1))[group..][..=after.len()];
            let four = [row(0), row(1), row(2), row(3)];
            let mut sums = [l.splat(0.0); LANES];
            for (t, after) in after.iter().enumerate() {
                let after = l.load(after);
                sums[0] += l.load(&four[0][t + 1]) * after;
                sums[1] += l.load(&four[1][t + 1]) * after;
                sums[2] += l.load(&four[2][t + 1]) * after;
                sums[3] += l.load(&four[3][t + 1]) * after;
            }
            let sums = l.sums(sums).store();
            for i in (0..count).rev() {
                let mut own = x[i] - sums[i];
                for k in i + 1..count {
                    own -= four[i][0][k] * x[k];
                }
                x[i] = own * inverse[p + i];
            }
        }
    }
}

/// The solution in place of the right side, by L D Lᵀ without exchanges; the upper triangle of `a`
/// counts and is used up. False where a pivot is zero.
pub(crate) fn solve_quasidefinite(n: usize, a: &mut [f64], x: &mut [f64]) -> bool {
    for j in 0..n {
        let (above, below) = a.split_at_mut((j + 1) * n);
        let row = &above[j * n..];
        if row[j] == 0.0 {
            return false;
        }
        for i in j + 1..n {
            let factor = row[i] / row[j];
            let own = &mut below[(i - j - 1) * n..(i - j) * n];
            own[i..].iter_mut().zip(&row[i..]).for_each(|(x, y)| *x -= factor * y);
            x[i] -= factor * x[j];
        }
    }
    // Rows of a are those of D Lᵀ.
    for j in (0..n).rev() {
        let row = &a[j * n..(j + 1) * n];
        let later: f64 = row[j + 1..].iter().zip(&x[j + 1..]).map(|(a, x)| a * x).sum();
        x[j] = (x[j] - later) / row[j];
    }
    true
}
