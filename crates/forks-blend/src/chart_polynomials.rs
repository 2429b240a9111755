//! Polynomials of third order with their first derivatives.
//!
//! f(y) = Σ a_i y_i + Σ b_jk y_j y_k + Σ c_ijk y_i y_j y_k, i ≤ j ≤ k. With d_jk = b_jk + Σ_{i≤j}
//! c_ijk y_i it is f = Σ_j y_j (a_j + Σ_{k≥j} d_jk y_k), and ∂f/∂y_m = a_m + Σ_{m≤j≤k} c_mjk y_j
//! y_k + Σ_{k≥m} d_mk y_k + Σ_{j≤m} d_jm y_j: each coefficient is read once, and used twice.
//!
//! Sixteen polynomials at a time, then eight, then four: their sums are independent, which hides
//! what each waits for.

use alloc::{vec, vec::Vec};

use forks_linalg::{
    Matrix,
    simd::{Arithmetic, LANES, Lanes, Wide},
};

use crate::curvature::pairs;

/// Lane groups of polynomials that are evaluated together.
const WIDE: usize = 4;
const HALF: usize = 2;

/// Coefficients of some polynomials: those evaluated together lie side by side, coefficient after
/// coefficient.
#[derive(Clone, Debug, Default)]
pub(crate) struct Polynomials {
    data: Vec<Lanes>,
    coordinates: usize,
    coefficients: usize,
}

/// Memory for one evaluation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jets {
    /// d − b.
    inner: Vec<Lanes>,
    /// Derivatives.
    slopes: Vec<Lanes>,
}

impl Polynomials {
    /// One polynomial per row: coefficients of y, of the products of two, then of three, in
    /// lexicographic order.
    pub(crate) fn new(coordinates: usize, m: &Matrix) -> Self {
        let (groups, coefficients) = (m.rows().div_ceil(LANES), m.columns());
        let mut data = vec![Lanes::default(); groups * coefficients];
        let mut first = 0;
        while first < groups {
            let width = width(groups - first);
            for i in LANES * first..m.rows().min(LANES * (first + width)) {
                let (group, lane) = (i / LANES - first, i % LANES);
                for (j, x) in m.row(i).iter().enumerate() {
                    data[first * coefficients + j * width + group].0[lane] = *x;
                }
            }
            first += width;
        }
        Self { data, coordinates, coefficients }
    }
}

/// How many of some lane groups are evaluated together.
#[inline(always)]
fn width(groups: usize) -> usize {
    match groups {
        WIDE.. => WIDE,
        HALF.. => HALF,
        _ => 1,
    }
}

impl Jets {
    /// For polynomials of n coordinates.
    pub(crate) fn new(n: usize) -> Self {
        let room = |n: usize| vec![Lanes::default(); WIDE * n];
        Self { inner: room(pairs(n)), slopes: room(n) }
    }

    /// Values of polynomials, padded to whole lane groups, then their derivatives, coordinate after
    /// coordinate; `products` are those of two coordinates.
    #[inline(always)]
    pub(crate) fn evaluate<L: Arithmetic>(
        &mut self,
        l: L,
        of: &Polynomials,
        y: &[f64],
        products: &[f64],
        out: &mut [f64],
    ) {
        let (out, _) = out.as_chunks_mut::<LANES>();
        let groups = out.len() / (of.coordinates + 1);
        let mut first = 0;
        while first < groups {
            let width = width(groups - first);
            let range = first * of.coefficients..(first + width) * of.coefficients;
            let (data, at) = (&of.data[range], (first, groups));
            match width {
                WIDE => self.together::<L, WIDE>(l, data, y, products, at, out),
                HALF => self.together::<L, HALF>(l, data, y, products, at, out),
                _ => self.together::<L, 1>(l, data, y, products, at, out),
            }
            first += width;
        }
    }

    #[inline(always)]
    fn together<L: Arithmetic, const G: usize>(
        &mut self,
        l: L,
        data: &[Lanes],
        y: &[f64],
        products: &[f64],
        (first, groups): (usize, usize),
        out: &mut [[f64; LANES]],
    ) {
        let (data, _) = data.as_chunks::<G>();
        let (linear, higher) = data.split_at(y.len());
        let (second, third) = higher.split_at(products.len());
        let (inner, slopes) =
            (&mut self.inner[..G * second.len()], &mut self.slopes[..G * y.len()]);
        let ((inner, _), (slopes, _)) = (inner.as_chunks_mut::<G>(), slopes.as_chunks_mut::<G>());
        slopes.copy_from_slice(linear);
        add_third(l, third, y, products, inner, slopes);
        let value = finish(l, linear, second, y, inner, slopes);
        for (k, row) in core::iter::once(&value).chain(&*slopes).enumerate() {
            for (out, x) in out[k * groups + first..].iter_mut().zip(row) {
                *out = x.0;
            }
        }
    }
}

/// Σ c_ijk y_i, and Σ c_mjk y_j y_k to the derivatives: two coordinates at a time.
#[inline(always)]
fn add_third<L: Arithmetic, const G: usize>(
    l: L,
    mut third: &[[Lanes; G]],
    y: &[f64],
    mut products: &[f64],
    mut inner: &mut [[Lanes; G]],
    slopes: &mut [[Lanes; G]],
) {
    let (slopes, last) = slopes.as_chunks_mut::<2>();
    let (twos, one) = y.as_chunks::<2>();
    let (mut row, mut is_first) = (y.len(), true);
    for ([own, next], y) in slopes.iter_mut().zip(twos) {
        let (first, rest) = third.split_at(inner.len());
        let (head, tail) = first.split_at(row);
        let (products_head, products_tail) = products.split_at(row);
        let (inner_head, inner_tail) = inner.split_at_mut(row);
        let (second, rest) = rest.split_at(inner_tail.len());
        // Those of the first coordinate stand in all that is summed.
        if is_first {
            add_one::<L, G, true>(l, head, products_head, inner_head, y[0], own);
            add_both::<L, G, true>(l, [tail, second], products_tail, inner_tail, *y, [own, next]);
        } else {
            add_one::<L, G, false>(l, head, products_head, inner_head, y[0], own);
            add_both::<L, G, false>(l, [tail, second], products_tail, inner_tail, *y, [own, next]);
        }
        is_first = false;
        // The row of the second coordinate is done too.
        (third, products) = (rest, &products_tail[row - 1..]);
        inner = &mut inner_tail[row - 1..];
        row -= 2;
    }
    if let ([own], [y]) = (last, one) {
        match is_first {
            true => add_one::<L, G, true>(l, third, products, inner, *y, own),
            false => add_one::<L, G, false>(l, third, products, inner, *y, own),
        }
    }
}

/// Σ d_mk y_k + Σ d_jm y_j to the derivatives; gives the values.
#[inline(always)]
fn finish<L: Arithmetic, const G: usize>(
    l: L,
    linear: &[[Lanes; G]],
    mut second: &[[Lanes; G]],
    y: &[f64],
    mut inner: &[[Lanes; G]],
    slopes: &mut [[Lanes; G]],
) -> [Lanes; G] {
    let mut value = [l.splat(0.0); G];
    for (j, a) in linear.iter().enumerate() {
        let (row, rest) = inner.split_at(y.len() - j);
        let (constants, more) = second.split_at(row.len());
        (inner, second) = (rest, more);
        let (own, mut sum) = (l.splat(y[j]), [l.splat(0.0); G]);
        let row = row.iter().zip(constants);
        for (((d, b), y), slope) in row.zip(&y[j..]).zip(&mut slopes[j..]) {
            let y = l.splat(*y);
            for g in 0..G {
                let d = l.load(&b[g]) + l.load(&d[g]);
                sum[g] += d * y;
                slope[g] = (d * own + l.load(&slope[g])).store();
            }
        }
        for g in 0..G {
            slopes[j][g] = (l.load(&slopes[j][g]) + sum[g]).store();
            value[g] = own * (l.load(&a[g]) + sum[g]) + value[g];
        }
    }
    stored(value)
}

/// Adds Σ c p to a derivative, and c y to d − b; the `FIRST` ones find nothing there.
#[inline(always)]
fn add_one<L: Arithmetic, const G: usize, const FIRST: bool>(
    l: L,
    third: &[[Lanes; G]],
    products: &[f64],
    inner: &mut [[Lanes; G]],
    y: f64,
    slope: &mut [Lanes; G],
) {
    let (y, mut sum) = (l.splat(y), loaded(l, slope));
    for ((c, p), d) in third.iter().zip(products).zip(inner) {
        let p = l.splat(*p);
        for g in 0..G {
            let c = l.load(&c[g]);
            sum[g] += c * p;
            let more = if FIRST { (c * y).rounded() } else { c * y + l.load(&d[g]) };
            d[g] = more.store();
        }
    }
    *slope = stored(sum);
}

/// The same for two coordinates at once, so that d is read and written half as often.
#[inline(always)]
fn add_both<L: Arithmetic, const G: usize, const FIRST: bool>(
    l: L,
    third: [&[[Lanes; G]]; 2],
    products: &[f64],
    inner: &mut [[Lanes; G]],
    y: [f64; 2],
    [own, next]: [&mut [Lanes; G]; 2],
) {
    let (first, second) = (l.splat(y[0]), l.splat(y[1]));
    let (mut sum, mut other) = (loaded(l, own), loaded(l, next));
    let both = third[0].iter().zip(third[1]);
    for (((c, e), p), d) in both.zip(products).zip(inner) {
        let p = l.splat(*p);
        for g in 0..G {
            let (c, e) = (l.load(&c[g]), l.load(&e[g]));
            sum[g] += c * p;
            other[g] += e * p;
            let more = if FIRST { (c * first).rounded() } else { c * first + l.load(&d[g]) };
            d[g] = (e * second + more).store();
        }
    }
    (*own, *next) = (stored(sum), stored(other));
}

#[inline(always)]
fn loaded<L: Arithmetic, const G: usize>(l: L, entries: &[Lanes; G]) -> [Wide<L>; G] {
    let mut out = [l.splat(0.0); G];
    for (o, x) in out.iter_mut().zip(entries) {
        *o = l.load(x);
    }
    out
}

#[inline(always)]
fn stored<L: Arithmetic, const G: usize>(x: [Wide<L>; G]) -> [Lanes; G] {
    let mut out = [Lanes::default(); G];
    for (o, x) in out.iter_mut().zip(x) {
        *o = x.store();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use forks_linalg::simd::Portable;

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
            // Seven groups of four: four, two and one together.
            let rows = 26;
            let entry = |i: usize, j: usize| ((3 * i + 7 * j) % 11) as f64 - 5.0;
            let m = Matrix::from_fn(rows, products.len(), entry);
            let (packed, mut jets) = (Polynomials::new(n, &m), Jets::new(n));
            let mut out = vec![0.0; 28 * (n + 1)];
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
                    close(out[28 * (k + 1) + i], slope, 64.0 * (size + 1.0));
                }
            }
        }
    }
}
