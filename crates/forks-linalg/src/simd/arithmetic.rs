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
