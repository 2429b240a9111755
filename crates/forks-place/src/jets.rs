//! Higher derivatives by differences.

use forks_mechanism::linalg::Matrix;
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
    fn slope(&self, k: usize, entry: usize) -> f64 {
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

    /// ∂²/∂x∂x of a quantity whose first derivatives come first, N × N.
    pub(crate) fn second(&self) -> Matrix {
        Matrix::from_fn(self.n, self.n, |i, k| self.slope(k, i)).symmetric_part()
    }

    /// Its coefficients of all products of three, in lexicographic order.
    pub(crate) fn third(&self) -> Vec<f64> {
        triples(self.n).map(|at| self.cubic(at, |k| k)).collect()
    }

    /// Coefficient of y_i y_j y_k, i ≤ j ≤ k.
    pub(crate) fn cubic(&self, at: [usize; 3], entry: impl Fn(usize) -> usize) -> f64 {
        let [a, b, c] = self.thirds(at, entry);
        (a + b + c) / 3.0 * orders(at) / 6.0
    }

    /// How far apart the ways to that coefficient are, which differ by rounding only.
    pub(crate) fn cubic_rounding(&self, at: [usize; 3], entry: impl Fn(usize) -> usize) -> f64 {
        let [first, b, c] = self.thirds(at, entry);
        (b - first).abs().max((c - first).abs()) * orders(at) / 6.0
    }

    /// The third derivative, from the first one by each of the coordinates.
    fn thirds(&self, [i, j, k]: [usize; 3], entry: impl Fn(usize) -> usize) -> [f64; 3] {
        [self.bend(i, j, entry(k)), self.bend(i, k, entry(j)), self.bend(j, k, entry(i))]
    }
}

/// Three of n coordinates, i ≤ j ≤ k, in lexicographic order.
pub(crate) fn triples(n: usize) -> impl Iterator<Item = [usize; 3]> {
    (0..n).flat_map(move |i| (i..n).flat_map(move |j| (j..n).map(move |k| [i, j, k])))
}

/// How often a product of three coordinates stands in a sum over all orders.
fn orders([i, j, k]: [usize; 3]) -> f64 {
    match (i == j, j == k) {
        (true, true) => 1.0,
        (false, false) => 6.0,
        _ => 3.0,
    }
}
