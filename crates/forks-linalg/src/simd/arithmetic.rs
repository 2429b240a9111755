//! Four numbers at once: the operations that kernels are written in.

use super::{LANES, Lanes, Registers, Wide};

/// Four numbers at once, in the registers of an instruction set.
pub trait Arithmetic: Registers {
    /// Four equal numbers.
    #[inline(always)]
    fn splat(self, x: f64) -> Wide<Self> {
        Wide { l: self, v: self.equal(x) }
    }
    /// Reads four numbers.
    #[inline(always)]
    fn load(self, x: &Lanes) -> Wide<Self> {
        self.read(&x.0)
    }
    /// Reads four numbers from anywhere.
    #[inline(always)]
    fn read(self, x: &[f64; LANES]) -> Wide<Self> {
        Wide { l: self, v: self.get(x) }
    }
    /// The sums of the lanes of four registers.
    #[inline(always)]
    fn sums(self, [a, b, c, d]: [Wide<Self>; LANES]) -> Wide<Self> {
        a.with(self.sums_of([a.v, b.v, c.v, d.v]))
    }
    /// The columns of four rows.
    #[inline(always)]
    fn transposed(self, [a, b, c, d]: [Wide<Self>; LANES]) -> [Wide<Self>; LANES] {
        let [p, q, r, s] = self.columns_of([a.v, b.v, c.v, d.v]);
        [a.with(p), a.with(q), a.with(r), a.with(s)]
    }
    /// a where x is above a limit, else b.
    #[inline(always)]
    fn select_above(self, x: Wide<Self>, limit: f64, a: Wide<Self>, b: Wide<Self>) -> Wide<Self> {
        a.with(self.choose(x.v, limit, a.v, b.v))
    }
}

impl<L: Registers> Arithmetic for L {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Isa, Kernel};

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
}
