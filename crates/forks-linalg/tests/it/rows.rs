//! Rows of whole lane groups.

use forks_linalg::simd::{Arithmetic, Isa, Kernel, Rows, all_finite, all_lanes_finite};

/// True if all numbers, once as they are and once in lane groups, are finite.
struct Finite<'a>(&'a [f64]);

impl Kernel for Finite<'_> {
    type Output = [bool; 2];
    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> [bool; 2] {
        let groups = Rows::from_fn(1, self.0.len(), |_, j| self.0[j]);
        [all_finite(l, self.0), all_lanes_finite(l, groups.as_slice())]
    }
}

#[test]
fn numbers_that_are_not_finite_are_found_anywhere() {
    for isa in [Isa::Portable, Isa::detect()] {
        // Long enough for blocks of groups, from any place of a cache line.
        for (n, first) in (1..42).flat_map(|n| (0..8.min(n)).map(move |first| (n, first))) {
            let mut x: Vec<f64> = (0..n).map(|k| 1e300 * k as f64).collect();
            assert_eq!(isa.run(Finite(&x[first..])), [true; 2]);
            for k in 0..n {
                for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    let good = std::mem::replace(&mut x[k], bad);
                    assert_eq!(isa.run(Finite(&x[first..])), [k < first; 2]);
                    x[k] = good;
                }
            }
        }
    }
}
