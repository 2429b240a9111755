//! Sums over lanes on all instruction sets.

use forks_linalg::simd::{Arithmetic, Isa, Kernel, LANES, Lanes};

/// Sums of the lanes of four rows, and their columns.
struct Sums([Lanes; LANES]);

impl Kernel for Sums {
    type Output = (Lanes, [Lanes; LANES]);
    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> Self::Output {
        let rows = self.0.each_ref().map(|row| l.load(row));
        (l.sums(rows).store(), l.transposed(rows).map(|column| column.store()))
    }
}

#[test]
fn sums_and_columns_have_the_same_bits_on_all_instruction_sets() {
    let row = |k: f64| Lanes([0.1 + k, 1e9 / (3.0 + k), -0.7 * k, 1.0 / (7.0 + k)]);
    let rows = [row(0.0), row(1.0), row(2.0), row(3.0)];
    // Numbers whose sum depends on the order of addition.
    let sums = rows.map(|r| (r[0] + r[1]) + (r[2] + r[3]));
    for isa in [Isa::Portable, Isa::detect()] {
        let (found, columns) = isa.run(Sums(rows));
        assert_eq!(found.0, sums);
        for (i, column) in columns.iter().enumerate() {
            assert_eq!(column.0, rows.map(|r| r[i]));
        }
    }
}
