//! Polynomials of third order with their first derivatives.
//!
//! f(y) = Σ a_i y_i + Σ b_jk y_j y_k + Σ c_ijk y_i y_j y_k, i ≤ j ≤ k. With d_jk = b_jk + Σ_{i≤j} c_ijk y_i it is
//! f = Σ_j y_j (a_j + Σ_{k≥j} d_jk y_k), and ∂f/∂y_m = a_m + Σ_{m≤j≤k} c_mjk y_j y_k + Σ_{k≥m} d_mk y_k + Σ_{j≤m} d_jm y_j:
//! each coefficient is read once, and used twice.

use alloc::{vec, vec::Vec};

use super::curvature::pairs;
use crate::{
    kernel::{LANES, Lane4, Lanes},
    transition::Packed,
};

/// Memory for one evaluation.
#[derive(Clone, Debug, Default)]
pub(super) struct Jets {
    /// d.
    inner: Vec<Lane4>,
    /// Derivatives.
    slopes: Vec<Lane4>,
}

impl Jets {
    /// For polynomials of n coordinates.
    pub(super) fn new(n: usize) -> Self {
        Self { inner: vec![Lane4::default(); pairs(n)], slopes: vec![Lane4::default(); n] }
    }

    /// Values of polynomials, padded to whole lane groups, then their derivatives, coordinate after coordinate. `of` has the
    /// coefficients of y, of the products of two in `products`, and of those of three.
    #[inline(always)]
    pub(super) fn evaluate<L: Lanes>(
        &mut self,
        l: L,
        of: &Packed,
        y: &[f64],
        products: &[f64],
        out: &mut [f64],
    ) {
        let stride = out.len() / (y.len() + 1);
        let (out, _) = out.as_chunks_mut::<LANES>();
        let groups = stride / LANES;
        for g in 0..groups {
            let (linear, higher) = of.group(g).split_at(y.len());
            let (second, third) = higher.split_at(products.len());
            self.slopes.copy_from_slice(linear);
            self.inner.copy_from_slice(second);
            self.add_third(l, third, y, products);
            out[g] = self.finish(l, linear, y).0;
            for (k, slope) in self.slopes.iter().enumerate() {
                out[(k + 1) * groups + g] = slope.0;
            }
        }
    }

    /// d, and Σ c_mjk y_j y_k: two coordinates at a time.
    #[inline(always)]
    fn add_third<L: Lanes>(&mut self, l: L, mut third: &[Lane4], y: &[f64], products: &[f64]) {
        let (mut inner, mut products) = (&mut self.inner[..], products);
        let (slopes, last) = self.slopes.as_chunks_mut::<2>();
        let (twos, one) = y.as_chunks::<2>();
        let mut row = y.len();
        for (slopes, y) in slopes.iter_mut().zip(twos) {
            let (first, rest) = third.split_at(inner.len());
            let (head, tail) = first.split_at(row);
            let (products_head, products_tail) = products.split_at(row);
            let (inner_head, inner_tail) = inner.split_at_mut(row);
            let (next, rest) = rest.split_at(inner_tail.len());
            let start = l.load(&slopes[0]);
            let start = add_products(l, head, products_head, inner_head, y[0], start);
            let starts = [start, l.load(&slopes[1])];
            let sums = add_both(l, [tail, next], products_tail, inner_tail, *y, starts);
            (slopes[0], slopes[1]) = (l.store(sums[0]), l.store(sums[1]));
            // The row of the second coordinate is done too.
            (third, products) = (rest, &products_tail[row - 1..]);
            inner = &mut inner_tail[row - 1..];
            row -= 2;
        }
        if let ([slope], [y]) = (last, one) {
            *slope = l.store(add_products(l, third, products, inner, *y, l.load(slope)));
        }
    }

    /// Adds Σ d_mk y_k + Σ d_jm y_j to the derivatives; gives the values.
    #[inline(always)]
    fn finish<L: Lanes>(&mut self, l: L, linear: &[Lane4], y: &[f64]) -> Lane4 {
        let (mut value, mut inner) = (l.splat(0.0), &self.inner[..]);
        for (j, a) in linear.iter().enumerate() {
            let (row, rest) = inner.split_at(y.len() - j);
            inner = rest;
            let (own, mut sum) = (l.splat(y[j]), l.splat(0.0));
            for ((d, y), slope) in row.iter().zip(&y[j..]).zip(&mut self.slopes[j..]) {
                let d = l.load(d);
                sum = l.mul_add(d, l.splat(*y), sum);
                *slope = l.store(l.mul_add(d, own, l.load(slope)));
            }
            self.slopes[j] = l.store(l.add(l.load(&self.slopes[j]), sum));
            value = l.mul_add(own, l.add(l.load(a), sum), value);
        }
        l.store(value)
    }
}

/// start + Σ c p; adds c y to d.
#[inline(always)]
fn add_products<L: Lanes>(
    l: L,
    third: &[Lane4],
    products: &[f64],
    inner: &mut [Lane4],
    y: f64,
    start: L::V,
) -> L::V {
    let (y, mut sum) = (l.splat(y), start);
    for ((c, p), d) in third.iter().zip(products).zip(inner) {
        let c = l.load(c);
        sum = l.mul_add(c, l.splat(*p), sum);
        *d = l.store(l.mul_add(c, y, l.load(d)));
    }
    sum
}

/// The same for two coordinates at once, even and odd products apart: chains of sums are what takes time.
#[inline(always)]
fn add_both<L: Lanes>(
    l: L,
    third: [&[Lane4]; 2],
    products: &[f64],
    inner: &mut [Lane4],
    y: [f64; 2],
    starts: [L::V; 2],
) -> [L::V; 2] {
    let (first, second) = (l.splat(y[0]), l.splat(y[1]));
    let (mut even, mut odd) = (starts, [l.splat(0.0); 2]);
    let (cs, last_c) = third[0].as_chunks::<2>();
    let (es, last_e) = third[1].as_chunks::<2>();
    let (ps, last_p) = products.as_chunks::<2>();
    let (ds, last_d) = inner.as_chunks_mut::<2>();
    for (((c, e), p), d) in cs.iter().zip(es).zip(ps).zip(ds) {
        let (c0, e0, p0) = (l.load(&c[0]), l.load(&e[0]), l.splat(p[0]));
        let (c1, e1, p1) = (l.load(&c[1]), l.load(&e[1]), l.splat(p[1]));
        even = [l.mul_add(c0, p0, even[0]), l.mul_add(e0, p0, even[1])];
        odd = [l.mul_add(c1, p1, odd[0]), l.mul_add(e1, p1, odd[1])];
        d[0] = l.store(l.mul_add(e0, second, l.mul_add(c0, first, l.load(&d[0]))));
        d[1] = l.store(l.mul_add(e1, second, l.mul_add(c1, first, l.load(&d[1]))));
    }
    if let ([c], [e], [p], [d]) = (last_c, last_e, last_p, last_d) {
        let (c, e, p) = (l.load(c), l.load(e), l.splat(*p));
        even = [l.mul_add(c, p, even[0]), l.mul_add(e, p, even[1])];
        *d = l.store(l.mul_add(e, second, l.mul_add(c, first, l.load(d))));
    }
    [l.add(even[0], odd[0]), l.add(even[1], odd[1])]
}

#[cfg(test)]
mod tests {
    use forks_lie::Matrix;

    use super::*;
    use crate::kernel::Portable;

    /// All products of one, two and three coordinates.
    fn all_products(y: &[f64]) -> Vec<f64> {
        let n = y.len();
        let mut out = y.to_vec();
        (0..n).for_each(|i| out.extend((i..n).map(|j| y[i] * y[j])));
        for i in 0..n {
            (i..n).for_each(|j| out.extend((j..n).map(|k| y[i] * y[j] * y[k])));
        }
        out
    }

    #[test]
    fn values_and_derivatives_are_those_of_the_sums() {
        for n in 1..8 {
            let y: Vec<f64> = (0..n).map(|i| 0.9 - 0.37 * i as f64).collect();
            let products = all_products(&y);
            let rows = 6;
            let entry = |i: usize, j: usize| ((3 * i + 7 * j) % 11) as f64 - 5.0;
            let m = Matrix::from_fn(rows, products.len(), entry);
            let (packed, mut jets) = (Packed::new(&m), Jets::new(n));
            let mut out = vec![0.0; 8 * (n + 1)];
            jets.evaluate(Portable, &packed, &y, &products[n..n + pairs(n)], &mut out);
            let close = |a: f64, b: f64, size: f64| {
                assert!((a - b).abs() <= 1e-14 * size, "{n}: {a} {b}");
            };
            let size = 5.0 * products.iter().map(|p| p.abs()).sum::<f64>();
            let value = m.mul_vec(&products);
            (0..rows).for_each(|i| close(out[i], value[i], size));
            for k in 0..n {
                // Exact for third order: (8 (f₁ − f₋₁) − f₂ + f₋₂)/12h.
                let at = |t: f64| {
                    let mut y = y.clone();
                    y[k] += t;
                    m.mul_vec(&all_products(&y))
                };
                let [b, c, d, e] = [-2.0, -1.0, 1.0, 2.0].map(at);
                for i in 0..rows {
                    let slope = (8.0 * (d[i] - c[i]) + b[i] - e[i]) / 12.0;
                    // Products of three reach (|y| + 2)³.
                    close(out[8 * (k + 1) + i], slope, 64.0 * (size + 1.0));
                }
            }
        }
    }
}
