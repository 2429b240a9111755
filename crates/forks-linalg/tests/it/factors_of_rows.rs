//! Triangular factors in lanes, of any size.

use forks_linalg::{
    BadPivot,
    simd::{Arithmetic, Factors, Isa, Kernel, Portable, Rows, cholesky_of_rows, inverse_of_rows},
};

/// Largest residuals of A A⁻¹, and of A x = b for A + a skew part.
struct Residuals(usize);

fn entry(i: usize, j: usize) -> f64 {
    let (low, high) = (i.min(j), i.max(j));
    if i == j { 3.0 + low as f64 } else { 1.0 / (1.0 + (3 * low + high) as f64) }
}

fn skewed(i: usize, j: usize) -> f64 {
    entry(i, j) + if i < j { 0.5 } else { -0.5 } * f64::from(i != j)
}

impl Kernel for Residuals {
    type Output = [f64; 2];
    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> [f64; 2] {
        let n = self.0;
        let mut u = Rows::from_fn(n, n, entry);
        let (mut work, mut inverse) = (Rows::zeros(n, n), Rows::zeros(n, n));
        cholesky_of_rows(l, n, &mut u).unwrap();
        inverse_of_rows(l, n, &u, &mut work, &mut inverse);
        let product = |i: usize, j: usize| -> f64 {
            (0..n).map(|k| entry(i, k) * inverse.get(k, j)).sum::<f64>() - f64::from(i == j)
        };
        let pairs = || (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        assert!(pairs().all(|(i, j)| inverse.get(i, j) == inverse.get(j, i)));
        let inverted = pairs().map(|(i, j)| product(i, j).abs()).fold(0.0, f64::max);
        let mut factors = Factors {
            upper: Rows::from_fn(n, n, skewed),
            lower: Rows::from_fn(n, n, |i, j| skewed(j, i)),
        };
        assert!(factors.factor(l, n));
        let b: Vec<f64> = (0..n).map(|i| 1.0 - i as f64 / 3.0).collect();
        let mut x = Rows::from_fn(1, n, |_, j| b[j]);
        factors.solve(l, n, x.row_mut(0));
        let rest = |i: usize| (0..n).map(|k| skewed(i, k) * x.get(0, k)).sum::<f64>() - b[i];
        [inverted, (0..n).map(|i| rest(i).abs()).fold(0.0, f64::max)]
    }
}

#[test]
fn inverses_and_solutions_of_any_size() {
    for isa in [Isa::Portable, Isa::detect()] {
        for n in 1..=19 {
            let [inverted, solved] = isa.run(Residuals(n));
            // Condition below 100, rows of n numbers.
            let bound = 100.0 * n as f64 * f64::EPSILON;
            assert!(inverted < bound && solved < 10.0 * bound, "{n}: {inverted:e} {solved:e}");
        }
    }
}

#[test]
fn matrices_that_do_not_resist_are_found() {
    let mut flat = Rows::from_fn(5, 5, |i, j| f64::from(i == j && i != 3));
    let refused = Err(BadPivot { row: 3, pivot: 0.0 });
    assert_eq!(cholesky_of_rows(Portable, 5, &mut flat), refused);
    let turn = |i: usize, j: usize| f64::from(i + j == 3);
    let mut factors =
        Factors { upper: Rows::from_fn(4, 4, turn), lower: Rows::from_fn(4, 4, turn) };
    assert!(!factors.factor(Portable, 4));
}
