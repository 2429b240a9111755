//! An energy of third order with its derivative.
//!
//! U(y) = Σ a_i y_i + Σ b_jk y_j y_k + Σ c_ijk y_i y_j y_k, i ≤ j ≤ k, coefficients in
//! lexicographic order: each is read once, neighbours in memory at once. With d_jk = b_jk + Σ_{i≤j}
//! c_ijk y_i it is U = Σ_j y_j (a_j + Σ_{k≥j} d_jk y_k), as in [`crate::chart_polynomials`].
//! Without third order it is U = ½ Σ_j y_j (a_j + ∂U/∂y_j), ∂U/∂y = a + S y with the whole matrix
//! S, whose rows are of one length.

use alloc::{vec, vec::Vec};

use crate::{curvature::pairs, dense::row};

#[derive(Clone, Debug, Default)]
pub(crate) struct EnergyForm {
    pub(crate) first: Vec<f64>,
    pub(crate) second: Vec<f64>,
    /// Empty if there is none.
    pub(crate) third: Vec<f64>,
    /// S by rows where there is no third order, else empty.
    whole: Vec<f64>,
}

impl EnergyForm {
    pub(crate) fn new(first: Vec<f64>, second: Vec<f64>, third: Vec<f64>) -> Self {
        let n = first.len();
        debug_assert_eq!(second.len(), pairs(n));
        let mut whole = vec![0.0; if third.is_empty() { n * n } else { 0 }];
        if third.is_empty() {
            let two = (0..n).flat_map(|i| (i..n).map(move |k| (i, k)));
            for (b, (i, k)) in second.iter().zip(two) {
                whole[i * n + k] += b;
                whole[k * n + i] += b;
            }
        }
        Self { first, second, third, whole }
    }

    /// U; its derivative goes to `slope`. `products` are those of two coordinates, `inner` is
    /// memory for as many; neither is asked for without third order.
    #[inline(always)]
    pub(crate) fn evaluate(
        &self,
        y: &[f64],
        products: &[f64],
        inner: &mut [f64],
        slope: &mut [f64],
    ) -> f64 {
        let n = y.len();
        if self.third.is_empty() {
            let mut value = 0.0;
            let rows = self.whole.chunks_exact(n.max(1)).zip(&self.first);
            for ((own, s), (whole, first)) in y.iter().zip(slope).zip(rows) {
                *s = first + row(whole, y);
                value += own * (first + *s);
            }
            return 0.5 * value;
        }
        slope.copy_from_slice(&self.first);
        inner.copy_from_slice(&self.second);
        let (mut at, mut from) = (0, 0);
        for (i, own) in y.iter().enumerate() {
            let (inner, products) = (&mut inner[from..], &products[from..]);
            let third = &self.third[at..at + inner.len()];
            slope[i] += row(third, products);
            inner.iter_mut().zip(third).for_each(|(d, c)| *d += own * c);
            (at, from) = (at + third.len(), from + n - i);
        }
        let (mut value, mut from) = (0.0, 0);
        for i in 0..n {
            let d = &inner[from..from + n - i];
            let sum = row(d, &y[i..]);
            value += y[i] * (self.first[i] + sum);
            slope[i..].iter_mut().zip(d).for_each(|(s, d)| *s += y[i] * d);
            slope[i] += sum;
            from += n - i;
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::triples;

    #[test]
    fn value_and_derivative_are_those_of_the_sum() {
        for n in 1..8 {
            let numbers = |count: usize| -> Vec<f64> {
                (0..count).map(|i| ((5 * i + 3) % 11) as f64 - 4.5).collect()
            };
            for third in [vec![], numbers(triples(n))] {
                let form = EnergyForm::new(numbers(n), numbers(pairs(n)), third);
                let plain = |y: &[f64]| {
                    let two = (0..n).flat_map(|i| (i..n).map(move |j| (i, j)));
                    let three = two.clone().flat_map(|(i, j)| (j..n).map(move |k| (i, j, k)));
                    let first: f64 = form.first.iter().zip(y).map(|(a, y)| a * y).sum();
                    let second = form.second.iter().zip(two).map(|(b, (i, j))| b * y[i] * y[j]);
                    let third = form.third.iter().zip(three);
                    let third = third.map(|(c, (i, j, k))| c * y[i] * y[j] * y[k]);
                    first + second.sum::<f64>() + third.sum::<f64>()
                };
                let y: Vec<f64> = (0..n).map(|i| 0.7 - 0.31 * i as f64).collect();
                let products: Vec<f64> = (0..n)
                    .flat_map(|i| (i..n).map(move |j| (i, j)))
                    .map(|(i, j)| y[i] * y[j])
                    .collect();
                let (mut inner, mut slope) = (vec![0.0; pairs(n)], vec![0.0; n]);
                let value = form.evaluate(&y, &products, &mut inner, &mut slope);
                assert!((value - plain(&y)).abs() < 1e-12 * (1.0 + 100.0 * n as f64), "{n}");
                for k in 0..n {
                    // Exact for third order: (8 (f₁ − f₋₁) − f₂ + f₋₂)/12h.
                    let at = |t: f64| {
                        let mut y = y.clone();
                        y[k] += t;
                        plain(&y)
                    };
                    let [b, c, d, e] = [-2.0, -1.0, 1.0, 2.0].map(at);
                    let expected = (8.0 * (d - c) + b - e) / 12.0;
                    assert!((slope[k] - expected).abs() < 1e-11 * (1.0 + 100.0 * n as f64), "{n}");
                }
            }
        }
    }
}
