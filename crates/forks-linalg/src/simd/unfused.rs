//! Sums of products without fused operations, on any instruction set.

use super::{Arithmetic, LANES, Lanes, Registers, Wide};

/// An instruction set whose sums of products are rounded twice: `a * b + c` in `Portable`'s bits.
#[derive(Clone, Copy, Debug)]
pub struct Unfused<L>(pub L);

impl<L: Registers> Registers for Unfused<L> {
    type V = L::V;

    #[inline(always)]
    fn equal(self, x: f64) -> Self::V {
        self.0.equal(x)
    }
    #[inline(always)]
    fn get(self, x: &[f64; LANES]) -> Self::V {
        self.0.get(x)
    }
    #[inline(always)]
    fn put(self, x: Self::V) -> Lanes {
        self.0.put(x)
    }
    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        self.0.add(a, b)
    }
    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        self.0.sub(a, b)
    }
    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        self.0.mul(a, b)
    }
    #[inline(always)]
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.0.add(self.0.mul(a, b), c)
    }
    #[inline(always)]
    fn neg_mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.0.sub(c, self.0.mul(a, b))
    }
    #[inline(always)]
    fn turn_sign(self, a: Self::V, b: Self::V) -> Self::V {
        self.0.turn_sign(a, b)
    }
    #[inline(always)]
    fn root(self, a: Self::V) -> Self::V {
        self.0.root(a)
    }
    #[inline(always)]
    fn inverse_root(self, a: Self::V) -> Self::V {
        self.0.inverse_root(a)
    }
    #[inline(always)]
    fn sums_of(self, a: [Self::V; LANES]) -> Self::V {
        self.0.sums_of(a)
    }
    #[inline(always)]
    fn columns_of(self, a: [Self::V; LANES]) -> [Self::V; LANES] {
        self.0.columns_of(a)
    }
    #[inline(always)]
    fn choose(self, x: Self::V, limit: f64, a: Self::V, b: Self::V) -> Self::V {
        self.0.choose(x, limit, a, b)
    }
    #[inline(always)]
    fn exceeds(self, x: Self::V, limit: f64) -> bool {
        self.0.exceeds(x, limit)
    }
    #[inline(always)]
    fn ordered(self, x: Self::V) -> bool {
        self.0.ordered(x)
    }
}

impl<L: Arithmetic> Wide<L> {
    /// The same numbers, to be worked on without fused operations.
    #[inline(always)]
    pub fn unfused(self) -> Wide<Unfused<L>> {
        Wide { l: Unfused(self.l), v: self.v }
    }
}

impl<L: Arithmetic> Wide<Unfused<L>> {
    /// The same numbers, for fused operations again.
    #[inline(always)]
    pub fn fused(self) -> Wide<L> {
        Wide { l: self.l.0, v: self.v }
    }
}
