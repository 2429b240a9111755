//! Four numbers in a register, with operators.
//!
//! A product waits for what is added to it: `a * b + c`, `c + a * b` and `c - a * b` are one fused
//! operation where the instruction set has it. Of two products in a sum the first is rounded, so
//! that `a * b + c * d + e * f` is rounded from left to right.

use core::ops::{Add, AddAssign, Mul, Sub, SubAssign};

use super::{Lanes, Registers};

/// Four numbers in a register of an instruction set; from
/// [`load`](super::Arithmetic::load) and the like.
#[derive(Clone, Copy)]
pub struct Wide<L: Registers> {
    pub(super) l: L,
    pub(super) v: L::V,
}

/// `a * b`, not rounded yet.
#[derive(Clone, Copy)]
pub struct Product<L: Registers> {
    a: Wide<L>,
    b: Wide<L>,
}

impl<L: Registers> Wide<L> {
    /// The numbers, in memory.
    #[inline(always)]
    pub fn store(self) -> Lanes {
        self.l.put(self.v)
    }

    /// √a.
    #[inline(always)]
    #[must_use]
    pub fn sqrt(self) -> Self {
        self.with(self.l.root(self.v))
    }

    /// 1/√a.
    #[inline(always)]
    #[must_use]
    pub fn inverse_root(self) -> Self {
        self.with(self.l.inverse_root(self.v))
    }

    /// a with its sign turned where b is negative.
    #[inline(always)]
    #[must_use]
    pub fn turn_sign(self, b: Self) -> Self {
        self.with(self.l.turn_sign(self.v, b.v))
    }

    /// The sum of the lanes, (a + b) + (c + d).
    #[inline(always)]
    pub fn total(self) -> f64 {
        let [a, b, c, d] = self.store().0;
        (a + b) + (c + d)
    }

    /// True if some lane is above a limit.
    #[inline(always)]
    pub fn any_above(self, limit: f64) -> bool {
        self.l.exceeds(self.v, limit)
    }

    /// True if no lane is NaN.
    #[inline(always)]
    pub fn all_ordered(self) -> bool {
        self.l.ordered(self.v)
    }

    /// Four equal numbers.
    #[inline(always)]
    fn equal(self, x: f64) -> Self {
        self.with(self.l.equal(x))
    }

    #[inline(always)]
    pub(super) fn with(self, v: L::V) -> Self {
        Self { l: self.l, v }
    }
}

impl<L: Registers> Product<L> {
    /// The product, rounded: what follows is not fused with it.
    #[inline(always)]
    #[must_use]
    pub fn rounded(self) -> Wide<L> {
        self.a.with(self.a.l.mul(self.a.v, self.b.v))
    }

    /// The rounded product, in memory.
    #[inline(always)]
    pub fn store(self) -> Lanes {
        self.rounded().store()
    }

    /// a b + c.
    #[inline(always)]
    fn plus(self, c: Wide<L>) -> Wide<L> {
        c.with(c.l.mul_add(self.a.v, self.b.v, c.v))
    }

    /// c − a b.
    #[inline(always)]
    fn from(self, c: Wide<L>) -> Wide<L> {
        c.with(c.l.neg_mul_add(self.a.v, self.b.v, c.v))
    }
}

/// `impl Op<Right> for Left`, with L the instruction set.
macro_rules! operator {
    ($op:ident $f:ident $left:ty, $right:ty => $out:ty, |$a:ident, $b:ident| $value:expr) => {
        impl<L: Registers> $op<$right> for $left {
            type Output = $out;
            #[inline(always)]
            fn $f(self, $b: $right) -> $out {
                let $a = self;
                $value
            }
        }
    };
}

operator!(Add add Wide<L>, Wide<L> => Wide<L>, |a, b| a.with(a.l.add(a.v, b.v)));
operator!(Sub sub Wide<L>, Wide<L> => Wide<L>, |a, b| a.with(a.l.sub(a.v, b.v)));
operator!(Mul mul Wide<L>, Wide<L> => Product<L>, |a, b| Product { a, b });

operator!(Add add Product<L>, Wide<L> => Wide<L>, |a, b| a.plus(b));
operator!(Add add Wide<L>, Product<L> => Wide<L>, |a, b| b.plus(a));
operator!(Add add Product<L>, Product<L> => Wide<L>, |a, b| b.plus(a.rounded()));
operator!(Sub sub Wide<L>, Product<L> => Wide<L>, |a, b| b.from(a));
operator!(Sub sub Product<L>, Product<L> => Wide<L>, |a, b| b.from(a.rounded()));
operator!(Mul mul Product<L>, Wide<L> => Product<L>, |a, b| a.rounded() * b);
operator!(Mul mul Wide<L>, Product<L> => Product<L>, |a, b| a * b.rounded());
operator!(Mul mul Product<L>, Product<L> => Product<L>, |a, b| a.rounded() * b.rounded());

operator!(Mul mul Wide<L>, f64 => Product<L>, |a, b| a * a.equal(b));
operator!(Mul mul Product<L>, f64 => Product<L>, |a, b| a.rounded() * b);
operator!(Mul mul f64, Wide<L> => Product<L>, |a, b| b.equal(a) * b);
operator!(Mul mul f64, Product<L> => Product<L>, |a, b| a * b.rounded());
operator!(Add add Product<L>, f64 => Wide<L>, |a, b| a.plus(a.a.equal(b)));
operator!(Add add f64, Product<L> => Wide<L>, |a, b| b.plus(b.a.equal(a)));
operator!(Sub sub f64, Product<L> => Wide<L>, |a, b| b.from(b.a.equal(a)));
operator!(Sub sub f64, Wide<L> => Wide<L>, |a, b| b.equal(a) - b);

impl<L: Registers> AddAssign for Wide<L> {
    #[inline(always)]
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl<L: Registers> AddAssign<Product<L>> for Wide<L> {
    #[inline(always)]
    fn add_assign(&mut self, b: Product<L>) {
        *self = *self + b;
    }
}

impl<L: Registers> SubAssign for Wide<L> {
    #[inline(always)]
    fn sub_assign(&mut self, b: Self) {
        *self = *self - b;
    }
}

impl<L: Registers> SubAssign<Product<L>> for Wide<L> {
    #[inline(always)]
    fn sub_assign(&mut self, b: Product<L>) {
        *self = *self - b;
    }
}
