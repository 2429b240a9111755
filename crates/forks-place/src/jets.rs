//! Higher derivatives by differences.

use rayon::prelude::*;

/// Second and third order of quantities whose first derivatives are known at the sample and next to
/// it.
pub(crate) struct Jets {
    pub(crate) n: usize,
    steps: Vec<f64>,
    pub(crate) here: Vec<f64>,
    /// Along each coordinate, forth and back.
    single: Vec<[Vec<f64>; 2]>,
    /// Along each two, the larger index first.
    double: Vec<[Vec<f64>; 2]>,
}

impl Jets {
    pub(crate) fn new(
        steps: &[f64],
        here: Vec<f64>,
        next: impl Fn(Vec<f64>) -> Option<Vec<f64>> + Sync,
    ) -> Option<Self> {
        let n = steps.len();
        let pair = |along: &[usize]| {
            let mut y = vec![0.0; n];
            along.iter().for_each(|&k| y[k] = steps[k]);
            let back = y.iter().map(|y| -y).collect();
            Some([next(y)?, next(back)?])
        };
        let single = (0..n).into_par_iter().map(|k| pair(&[k])).collect::<Option<_>>()?;
        let two: Vec<[usize; 2]> = (0..n).flat_map(|k| (0..k).map(move |l| [k, l])).collect();
        let double = two.par_iter().map(|along| pair(along)).collect::<Option<_>>()?;
        Some(Self { n, steps: steps.to_vec(), here, single, double })
    }

    /// ∂/∂x_k of an entry.
    pub(crate) fn slope(&self, k: usize, entry: usize) -> f64 {
        let [plus, minus] = &self.single[k];
        (plus[entry] - minus[entry]) / (2.0 * self.steps[k])
    }

    /// ∂²/∂x_k∂x_l of an entry.
    fn bend(&self, k: usize, l: usize, entry: usize) -> f64 {
        let (k, l) = (k.max(l), k.min(l));
        let both = |pair: &[Vec<f64>; 2]| pair[0][entry] + pair[1][entry];
        let area = self.steps[k] * self.steps[l];
        let twice = 2.0 * self.here[entry];
        if k == l {
            return (both(&self.single[k]) - twice) / area;
        }
        let all = both(&self.double[k * (k - 1) / 2 + l]);
        (all + twice - both(&self.single[k]) - both(&self.single[l])) / (2.0 * area)
    }

    /// Coefficient of y_i y_j, i ≤ j, of a quantity with first derivatives at `entry(k)`.
    pub(crate) fn quadratic(&self, i: usize, j: usize, entry: impl Fn(usize) -> usize) -> f64 {
        let second = 0.5 * (self.slope(i, entry(j)) + self.slope(j, entry(i)));
        second * if i == j { 0.5 } else { 1.0 }
    }

    /// Coefficient of y_i y_j y_k, i ≤ j ≤ k.
    pub(crate) fn cubic(
        &self,
        i: usize,
        j: usize,
        k: usize,
        entry: impl Fn(usize) -> usize,
    ) -> f64 {
        let third =
            self.bend(i, j, entry(k)) + self.bend(i, k, entry(j)) + self.bend(j, k, entry(i));
        third / 3.0 * orders(i, j, k) / 6.0
    }

    /// How far apart the ways to that coefficient are, which differ by rounding only.
    pub(crate) fn cubic_rounding(
        &self,
        i: usize,
        j: usize,
        k: usize,
        entry: impl Fn(usize) -> usize,
    ) -> f64 {
        let first = self.bend(i, j, entry(k));
        let others = [self.bend(i, k, entry(j)), self.bend(j, k, entry(i))];
        let apart = others.map(|o| (o - first).abs());
        apart[0].max(apart[1]) * orders(i, j, k) / 6.0
    }
}

/// How often a product of three coordinates stands in a sum over all orders.
fn orders(i: usize, j: usize, k: usize) -> f64 {
    match (i == j, j == k) {
        (true, true) => 1.0,
        (false, false) => 6.0,
        _ => 3.0,
    }
}
