//! Products of matrices of some hundred rows with vectors. Such a matrix does not fit into near
//! memory: it is read once, along its rows, four of them side by side.

use forks_rom::linalg::simd::{Arithmetic, LANES, Lanes, Rows};

/// y += Σ c_k row k over some rows k.
#[inline(always)]
pub(crate) fn add_some<L: Arithmetic>(
    l: L,
    rows: &Rows,
    some: &[usize],
    c: impl Fn(usize) -> f64,
    y: &mut [Lanes],
) {
    let (fours, rest) = some.as_chunks::<4>();
    for four in fours {
        let [p, q, r, s] = *four;
        let four =
            [(c(p), rows.row(p)), (c(q), rows.row(q)), (c(r), rows.row(r)), (c(s), rows.row(s))];
        add_four(l, four, y);
    }
    for &k in rest {
        let factor = l.splat(c(k));
        for (y, x) in y.iter_mut().zip(rows.row(k)) {
            *y = (factor * l.load(x) + l.load(y)).store();
        }
    }
}

#[inline(always)]
fn add_four<L: Arithmetic>(l: L, four: [(f64, &[Lanes]); 4], y: &mut [Lanes]) {
    let n = y.len();
    let [(a, p), (b, q), (c, r), (d, s)] = four;
    let (p, q, r, s) = (&p[..n], &q[..n], &r[..n], &s[..n]);
    let (a, b, c, d) = (l.splat(a), l.splat(b), l.splat(c), l.splat(d));
    for i in 0..n {
        let sum = l.load(&y[i]) + a * l.load(&p[i]);
        let sum = sum + b * l.load(&q[i]);
        let sum = sum + c * l.load(&r[i]);
        y[i] = (sum + d * l.load(&s[i])).store();
    }
}

/// y += A x for a symmetric matrix, of which blocks of four on the diagonal and right of it are
/// read.
#[inline(always)]
pub(crate) fn add_symmetric<L: Arithmetic>(l: L, a: &Rows, x: &[Lanes], y: &mut [Lanes], n: usize) {
    for group in 0..n.div_ceil(LANES) {
        // Rows that are not there are the last one again, and count for nothing.
        let (first, last, groups) = (LANES * group, n - 1, x.len() - group);
        let row = |k: usize| &a.row((first + k).min(last))[group..][..groups];
        let own = |k: usize| if first + k <= last { x[group][k] } else { 0.0 };
        let (p, q, r, s) = (row(0), row(1), row(2), row(3));
        let (a, b, c, d) = (l.splat(own(0)), l.splat(own(1)), l.splat(own(2)), l.splat(own(3)));
        let (x, y) = (&x[group..][..groups], &mut y[group..][..groups]);
        let here = l.load(&x[0]);
        let mut e = (l.load(&p[0]) * here).rounded();
        let mut f = (l.load(&q[0]) * here).rounded();
        let mut g = (l.load(&r[0]) * here).rounded();
        let mut h = (l.load(&s[0]) * here).rounded();
        for t in 1..groups {
            let (x, mut sum) = (l.load(&x[t]), l.load(&y[t]));
            let (p, q, r, s) = (l.load(&p[t]), l.load(&q[t]), l.load(&r[t]), l.load(&s[t]));
            e += p * x;
            f += q * x;
            g += r * x;
            h += s * x;
            sum += p * a;
            sum += q * b;
            sum += r * c;
            y[t] = (sum + s * d).store();
        }
        let sums = l.sums([e, f, g, h]).store();
        for k in 0..LANES.min(n - first) {
            y[0][k] += sums[k];
        }
    }
}

/// y += Aᵀ x for a matrix that is given row by row, each as long as y.
#[inline(always)]
pub(crate) fn add_transposed<L: Arithmetic>(l: L, rows: &[f64], x: &[f64], y: &mut [f64]) {
    let width = y.len();
    let (eights, rest) = y.as_chunks_mut::<{ 2 * LANES }>();
    let mut at = 0;
    for y in eights {
        let (left, right) = y.split_at_mut(LANES);
        let mut sums = [l.splat(0.0); 2];
        for (x, row) in x.iter().zip(rows.chunks_exact(width)) {
            if let Some(row) = row.get(at..).and_then(|row| row.first_chunk::<{ 2 * LANES }>()) {
                let (x, fours) = (l.splat(*x), row.as_chunks::<LANES>().0);
                sums[0] += x * l.read(&fours[0]);
                sums[1] += x * l.read(&fours[1]);
            }
        }
        for (y, s) in left.iter_mut().zip(sums[0].store().0) {
            *y += s;
        }
        for (y, s) in right.iter_mut().zip(sums[1].store().0) {
            *y += s;
        }
        at += 2 * LANES;
    }
    // Columns that are left, one by one.
    for (j, y) in rest.iter_mut().enumerate() {
        let terms = x.iter().zip(rows.chunks_exact(width)).map(|(x, row)| x * row[at + j]);
        *y += terms.sum::<f64>();
    }
}

#[cfg(test)]
mod tests {
    use forks_rom::linalg::simd::{Isa, Kernel};

    use super::*;

    /// All products of a matrix of some size.
    struct All<'a> {
        rows: &'a Rows,
        symmetric: &'a Rows,
        plain: &'a [f64],
        some: &'a [usize],
        x: &'a [f64],
        wide: &'a [Lanes],
        out: (&'a mut [Lanes], &'a mut [f64], &'a mut [Lanes]),
    }

    impl Kernel for All<'_> {
        type Output = ();

        #[inline(always)]
        fn run<L: Arithmetic>(self, l: L) {
            add_some(l, self.rows, self.some, |k| self.x[k], self.out.0);
            add_transposed(l, self.plain, self.x, self.out.1);
            add_symmetric(l, self.symmetric, self.wide, self.out.2, self.out.1.len());
        }
    }

    /// Small integers: every order of a sum is exact.
    #[test]
    fn sums_of_every_width_are_those_term_by_term() {
        let entry = |i: usize, j: usize| ((i * 31 + j * 17) % 23) as f64 - 11.0;
        for width in 1..70 {
            // What is left of blocks on the diagonal is not read.
            let symmetric = Rows::from_fn(width, width, |i, j| match i / LANES > j / LANES {
                true => f64::NAN,
                false => entry(i.min(j), i.max(j)),
            });
            for count in [0, 1, 2, 7, 13] {
                let rows = Rows::from_fn(count, width, entry);
                let plain: Vec<f64> =
                    (0..count * width).map(|k| entry(k / width, k % width)).collect();
                let x: Vec<f64> = (0..count).map(|i| 3.0 - i as f64).collect();
                let some: Vec<usize> = (0..count).filter(|i| i % 5 != 2).collect();
                let one = || vec![Lanes([1.0; LANES]); width.div_ceil(LANES)];
                let (mut lanes, mut numbers, mut last) = (one(), vec![1.0; width], one());
                let mut wide = vec![Lanes::default(); width.div_ceil(LANES)];
                let beside = |j: usize| (j % 7) as f64 - 2.0;
                (0..width).for_each(|j| wide[j / LANES][j % LANES] = beside(j));
                Isa::detect().run(All {
                    rows: &rows,
                    symmetric: &symmetric,
                    plain: &plain,
                    some: &some,
                    x: &x,
                    wide: &wide,
                    out: (&mut lanes, &mut numbers, &mut last),
                });
                for j in 0..width {
                    let sum = |i: &usize| x[*i] * entry(*i, j);
                    let at = |v: &[Lanes]| v[j / LANES][j % LANES];
                    assert_eq!(at(&lanes), 1.0 + some.iter().map(sum).sum::<f64>());
                    assert_eq!(numbers[j], 1.0 + (0..count).map(|i| sum(&i)).sum::<f64>());
                    let all = (0..width).map(|k| entry(k.min(j), k.max(j)) * beside(k));
                    assert_eq!(at(&last), 1.0 + all.sum::<f64>());
                }
            }
        }
    }
}
