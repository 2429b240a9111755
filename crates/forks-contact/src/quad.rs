//! A constraint's rows as lanes: one row, or a normal and two tangents; the lanes that are left are
//! 0.
//!
//! A Jacobian is one quad per rate, a vector of constraints one quad per constraint.

use forks_linalg::simd::{Arithmetic, Wide};

/// Numbers of a constraint's rows.
pub(crate) use forks_linalg::simd::Lanes as Quad;

/// What impulses in the rows of one constraint do to the rows of another, or the other way round.
pub(crate) type Coupling = [Quad; 3];

/// Rates of a rigid body or an effector: the common case, in which the compiler knows all about the
/// loops.
pub(crate) const SIX: usize = 6;

/// Sum of products.
#[inline(always)]
pub(crate) fn dot(a: Quad, b: Quad) -> f64 {
    (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]
}

/// Σ j x over the rates: J x. Two sums side by side: one alone waits for every addition.
#[inline(always)]
pub(crate) fn product<L: Arithmetic>(l: L, j: &[Quad], x: &[f64]) -> Wide<L> {
    if let (Ok(j), Ok(x)) = (<&[Quad; SIX]>::try_from(j), <&[f64; SIX]>::try_from(x)) {
        return product_of_six(l, j, x);
    }
    let (mut even, mut odd) = (l.splat(0.0), l.splat(0.0));
    let ((j, j_end), (x, x_end)) = (j.as_chunks::<4>(), x.as_chunks::<4>());
    for (j, x) in j.iter().zip(x) {
        even += l.load(&j[0]) * x[0];
        odd += l.load(&j[1]) * x[1];
        even += l.load(&j[2]) * x[2];
        odd += l.load(&j[3]) * x[3];
    }
    for (j, x) in j_end.iter().zip(x_end) {
        even += l.load(j) * l.splat(*x);
    }
    even + odd
}

/// [`product`] of six rates.
#[inline(always)]
fn product_of_six<L: Arithmetic>(l: L, j: &[Quad; SIX], x: &[f64; SIX]) -> Wide<L> {
    let term = |k: usize, sum: Wide<L>| l.load(&j[k]) * x[k] + sum;
    let even = (l.load(&j[0]) * x[0]).rounded();
    let odd = (l.load(&j[1]) * x[1]).rounded();
    term(4, term(2, even)) + term(5, term(3, odd))
}

/// J Rᵀ, both one quad per rate, added to `out`.
#[inline(always)]
pub(crate) fn add_product<L: Arithmetic>(l: L, j: &[Quad], r: &[Quad], out: &mut Coupling) {
    let mut sum = [l.load(&out[0]), l.load(&out[1]), l.load(&out[2])];
    for (j, r) in j.iter().zip(r) {
        let r = l.load(r);
        sum[0] += j[0] * r;
        sum[1] += j[1] * r;
        sum[2] += j[2] * r;
    }
    *out = [sum[0].store(), sum[1].store(), sum[2].store()];
}

/// y + Σ a x over the rows of a coupling.
#[inline(always)]
pub(crate) fn add_rows<L: Arithmetic>(l: L, y: Wide<L>, a: &Quad, x: &Coupling) -> Wide<L> {
    let y = a[0] * l.load(&x[0]) + y;
    let y = a[1] * l.load(&x[1]) + y;
    a[2] * l.load(&x[2]) + y
}

/// The coupling seen from the other constraint.
#[inline(always)]
pub(crate) fn transposed<L: Arithmetic>(l: L, w: &Coupling) -> Coupling {
    let rows = [l.load(&w[0]), l.load(&w[1]), l.load(&w[2]), l.splat(0.0)];
    let [a, b, c, _] = l.transposed(rows);
    [a.store(), b.store(), c.store()]
}

/// v += J'ᵀ λ, J' one quad per entry of v.
#[inline(always)]
pub(crate) fn add_transposed<L: Arithmetic>(l: L, j: &[Quad], lambda: &Quad, v: &mut [f64]) {
    if let (Ok(j), Ok(v)) = (<&[Quad; SIX]>::try_from(j), <&mut [f64; SIX]>::try_from(&mut *v)) {
        return add_transposed_six(l, j, lambda, v);
    }
    let ((j, j_end), (v, v_end)) = (j.as_chunks::<4>(), v.as_chunks_mut::<4>());
    let lambda = l.load(lambda);
    let term = |j: &Quad| (l.load(j) * lambda).rounded();
    for (v, j) in v.iter_mut().zip(j) {
        let sums = l.sums([term(&j[0]), term(&j[1]), term(&j[2]), term(&j[3])]);
        *v = (l.read(v) + sums).store().0;
    }
    for (v, j) in v_end.iter_mut().zip(j_end) {
        let zero = l.splat(0.0);
        *v += l.sums([term(j), zero, zero, zero]).store()[0];
    }
}

/// [`add_transposed`] of six rates.
#[inline(always)]
fn add_transposed_six<L: Arithmetic>(l: L, j: &[Quad; SIX], lambda: &Quad, v: &mut [f64; SIX]) {
    let (lambda, zero) = (l.load(lambda), l.splat(0.0));
    let term = |k: usize| (l.load(&j[k]) * lambda).rounded();
    let first = l.sums([term(0), term(1), term(2), term(3)]).store();
    let last = l.sums([term(4), term(5), zero, zero]).store();
    let [a, b, c, d] = first.0;
    v.iter_mut().zip([a, b, c, d, last[0], last[1]]).for_each(|(v, x)| *v += x);
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use forks_linalg::simd::Portable;

    use super::*;

    /// Small integers: every order of a sum is exact.
    fn quads(n: usize, seed: i32) -> Vec<Quad> {
        let entry = |k: usize, r: usize| f64::from((seed + 7 * k as i32 + 3 * r as i32) % 11 - 5);
        (0..n).map(|k| Quad([entry(k, 0), entry(k, 1), entry(k, 2), 0.0])).collect()
    }

    #[test]
    fn products_of_any_number_of_rates() {
        let l = Portable;
        for n in 0..10 {
            let (j, r) = (quads(n, 1), quads(n, 4));
            let x: Vec<f64> = (0..n).map(|k| k as f64 - 3.0).collect();
            let u = product(l, &j, &x).store();
            let mut w = Coupling::default();
            add_product(l, &j, &r, &mut w);
            let mut twice = w;
            add_product(l, &j, &r, &mut twice);
            let (mut v, lambda) = (x.clone(), Quad([1.0, -2.0, 3.0, 0.0]));
            add_transposed(l, &j, &lambda, &mut v);
            for i in 0..3 {
                assert_eq!(u[i], (0..n).map(|k| j[k][i] * x[k]).sum());
                for c in 0..3 {
                    assert_eq!(w[i][c], (0..n).map(|k| j[k][i] * r[k][c]).sum());
                    assert_eq!(transposed(l, &w)[c][i], w[i][c]);
                    assert_eq!(twice[i][c], 2.0 * w[i][c]);
                }
            }
            for k in 0..n {
                assert_eq!(v[k], x[k] + j[k][0] - 2.0 * j[k][1] + 3.0 * j[k][2]);
            }
            let moved = add_rows(l, l.load(&u), &lambda, &w).store();
            assert_eq!(moved[0], u[0] + w[0][0] - 2.0 * w[1][0] + 3.0 * w[2][0]);
        }
    }
}
