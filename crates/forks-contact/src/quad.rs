//! A constraint's rows as lanes: one row, or a normal and two tangents; the lanes that are left are 0.
//!
//! A Jacobian is one quad per rate, a vector of constraints one quad per constraint. Sums are written so that the compiler
//! takes four numbers at a time, whatever the number of rates.

/// Numbers of a constraint's rows.
pub(crate) use forks_lie::Lanes as Quad;

/// What impulses in the rows of one constraint do to the rows of another, or the other way round.
pub(crate) type Coupling = [Quad; 3];

/// y + a x.
#[inline(always)]
pub(crate) fn add_scaled(y: Quad, a: Quad, x: f64) -> Quad {
    Quad([y[0] + a[0] * x, y[1] + a[1] * x, y[2] + a[2] * x, y[3] + a[3] * x])
}

/// a b + c, place by place.
#[inline(always)]
pub(crate) fn multiply_add(a: Quad, b: Quad, c: Quad) -> Quad {
    Quad([a[0] * b[0] + c[0], a[1] * b[1] + c[1], a[2] * b[2] + c[2], a[3] * b[3] + c[3]])
}

/// Sum of products.
#[inline(always)]
pub(crate) fn dot(a: Quad, b: Quad) -> f64 {
    (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]
}

/// Rates of a rigid body or an effector: the common case, in which the compiler knows all about the loops.
const SIX: usize = 6;

/// Σ j x over the rates: J x. Two sums side by side: one alone waits for every addition.
#[inline(always)]
pub(crate) fn product(j: &[Quad], x: &[f64]) -> Quad {
    if let (Ok(j), Ok(x)) = (<&[Quad; SIX]>::try_from(j), <&[f64; SIX]>::try_from(x)) {
        return product_of_six(j, x);
    }
    let (mut even, mut odd) = (Quad::default(), Quad::default());
    let ((j, j_end), (x, x_end)) = (j.as_chunks::<2>(), x.as_chunks::<2>());
    for (j, x) in j.iter().zip(x) {
        even = add_scaled(even, j[0], x[0]);
        odd = add_scaled(odd, j[1], x[1]);
    }
    for (j, x) in j_end.iter().zip(x_end) {
        even = add_scaled(even, *j, *x);
    }
    even.plus(odd)
}

/// [`product`] of six rates.
#[inline(always)]
pub(crate) fn product_of_six(j: &[Quad; SIX], x: &[f64; SIX]) -> Quad {
    let even = add_scaled(add_scaled(j[0].scaled(x[0]), j[2], x[2]), j[4], x[4]);
    let odd = add_scaled(add_scaled(j[1].scaled(x[1]), j[3], x[3]), j[5], x[5]);
    even.plus(odd)
}

/// Adds J Rᵀ, both one quad per rate.
#[inline(always)]
pub(crate) fn add_product(j: &[Quad], r: &[Quad], out: &mut Coupling) {
    if let (Ok(j), Ok(r)) = (<&[Quad; SIX]>::try_from(j), <&[Quad; SIX]>::try_from(r)) {
        for (i, out) in out.iter_mut().enumerate() {
            let x = [j[0][i], j[1][i], j[2][i], j[3][i], j[4][i], j[5][i]];
            *out = out.plus(product_of_six(r, &x));
        }
        return;
    }
    let mut sum = *out;
    for (j, r) in j.iter().zip(r) {
        for (sum, j) in sum.iter_mut().zip(j.0) {
            *sum = add_scaled(*sum, *r, j);
        }
    }
    *out = sum;
}

/// y + Σ a x over the rows of a coupling.
#[inline(always)]
pub(crate) fn add_rows(y: Quad, a: Quad, x: &Coupling) -> Quad {
    y.plus(add_scaled(add_scaled(x[0].scaled(a[0]), x[1], a[1]), x[2], a[2]))
}

/// The coupling seen from the other constraint.
#[inline(always)]
pub(crate) fn transposed(w: &Coupling) -> Coupling {
    let column = |i: usize| Quad([w[0][i], w[1][i], w[2][i], 0.0]);
    [column(0), column(1), column(2)]
}

/// v += J'ᵀ λ, J' one quad per entry of v.
#[inline(always)]
pub(crate) fn add_transposed(j: &[Quad], lambda: Quad, v: &mut [f64]) {
    let ((j, j_end), (v, v_end)) = (j.as_chunks::<2>(), v.as_chunks_mut::<2>());
    for (v, j) in v.iter_mut().zip(j) {
        let old = *v;
        *v = [old[0] + dot(j[0], lambda), old[1] + dot(j[1], lambda)];
    }
    for (v, j) in v_end.iter_mut().zip(j_end) {
        *v += dot(*j, lambda);
    }
}

/// y += a x.
#[inline(always)]
pub(crate) fn add_row(a: f64, x: &[f64], y: &mut [f64]) {
    let ((x, x_end), (y, y_end)) = (x.as_chunks::<4>(), y.as_chunks_mut::<4>());
    for (y, x) in y.iter_mut().zip(x) {
        // Read before it is written: only so is it known that the two are apart.
        let (old, x) = (Quad(*y), Quad(*x));
        *y = add_scaled(old, x, a).0;
    }
    for (y, x) in y_end.iter_mut().zip(x_end) {
        *y += a * x;
    }
}

/// True if all numbers are finite.
#[inline(always)]
pub(crate) fn all_quads_finite(x: &[Quad]) -> bool {
    let sum = x.iter().fold(Quad::default(), |sum, x| add_scaled(sum, *x, 0.0));
    sum == Quad::default()
}

/// True if all numbers are finite.
#[inline(always)]
pub(crate) fn all_finite(x: &[f64]) -> bool {
    // 0 × x is 0 unless x is NaN or infinite. Without an early end there are no branches.
    let (fours, rest) = x.as_chunks::<4>();
    let sum = fours.iter().fold(Quad::default(), |sum, x| add_scaled(sum, Quad(*x), 0.0));
    let rest = rest.iter().fold(0.0, |sum, x| sum + 0.0 * x);
    sum == Quad::default() && rest == 0.0
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Small integers: every order of a sum is exact.
    fn quads(n: usize, seed: i32) -> Vec<Quad> {
        let entry = |k: usize, r: usize| f64::from((seed + 7 * k as i32 + 3 * r as i32) % 11 - 5);
        (0..n).map(|k| Quad([entry(k, 0), entry(k, 1), entry(k, 2), 0.0])).collect()
    }

    #[test]
    fn products_of_any_number_of_rates() {
        for n in 0..10 {
            let (j, r) = (quads(n, 1), quads(n, 4));
            let x: Vec<f64> = (0..n).map(|k| k as f64 - 3.0).collect();
            let u = product(&j, &x);
            let mut w = Coupling::default();
            add_product(&j, &r, &mut w);
            let (mut v, lambda) = (x.clone(), Quad([1.0, -2.0, 3.0, 0.0]));
            add_transposed(&j, lambda, &mut v);
            let mut y = x.clone();
            add_row(2.0, &v, &mut y);
            for i in 0..3 {
                assert_eq!(u[i], (0..n).map(|k| j[k][i] * x[k]).sum());
                for c in 0..3 {
                    assert_eq!(w[i][c], (0..n).map(|k| j[k][i] * r[k][c]).sum());
                    assert_eq!(transposed(&w)[c][i], w[i][c]);
                }
            }
            for k in 0..n {
                assert_eq!(v[k], x[k] + j[k][0] - 2.0 * j[k][1] + 3.0 * j[k][2]);
                assert_eq!(y[k], x[k] + 2.0 * v[k]);
            }
            let moved = add_rows(u, lambda, &w);
            assert_eq!(moved[0], u[0] + w[0][0] - 2.0 * w[1][0] + 3.0 * w[2][0]);
        }
    }

    #[test]
    fn numbers_that_are_not_finite_are_found_anywhere() {
        for n in 1..10 {
            let mut x: Vec<f64> = (0..n).map(|k| 1e300 * f64::from(k)).collect();
            assert!(all_finite(&x));
            for k in 0..x.len() {
                for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    let good = core::mem::replace(&mut x[k], bad);
                    assert!(!all_finite(&x));
                    x[k] = good;
                }
            }
        }
    }
}
