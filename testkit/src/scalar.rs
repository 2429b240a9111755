//! Numbers that kinematics can be evaluated with: `f64` and hyper-dual numbers.

use std::ops::{Add, Mul, Neg, Sub};

/// A real number, perhaps with infinitesimal parts.
pub trait Scalar:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    /// The constant `x`.
    fn constant(x: f64) -> Self;
    /// The real part.
    fn real(self) -> f64;
    /// 1/x.
    fn reciprocal(self) -> Self;
    /// `x` times a plain number.
    fn scale(self, s: f64) -> Self {
        self * Self::constant(s)
    }
}

impl Scalar for f64 {
    fn constant(x: f64) -> Self {
        x
    }

    fn real(self) -> f64 {
        self
    }

    fn reciprocal(self) -> Self {
        1.0 / self
    }
}

/// a + b ε with ε² = 0: a value and one first derivative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    /// Value.
    pub real: f64,
    /// First derivative.
    pub eps: f64,
}

impl Dual {
    /// A value with its derivative.
    pub const fn new(real: f64, eps: f64) -> Self {
        Self { real, eps }
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::new(self.real + o.real, self.eps + o.eps)
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self::new(self.real - o.real, self.eps - o.eps)
    }
}

impl Mul for Dual {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Self::new(self.real * o.real, self.real * o.eps + self.eps * o.real)
    }
}

impl Neg for Dual {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.real, -self.eps)
    }
}

impl Scalar for Dual {
    fn constant(x: f64) -> Self {
        Self::new(x, 0.0)
    }

    fn real(self) -> f64 {
        self.real
    }

    fn reciprocal(self) -> Self {
        let r = 1.0 / self.real;
        Self::new(r, -self.eps * r * r)
    }
}

/// a + b ε₁ + c ε₂ + d ε₁ε₂ with ε₁² = ε₂² = 0: a value, two first derivatives and the mixed second
/// derivative, all exact to rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HyperDual {
    /// Value.
    pub real: f64,
    /// Derivative along the first direction.
    pub e1: f64,
    /// Derivative along the second direction.
    pub e2: f64,
    /// Mixed second derivative.
    pub e12: f64,
}

impl HyperDual {
    /// A value that moves by `e1` along the first and `e2` along the second direction.
    pub const fn new(real: f64, e1: f64, e2: f64) -> Self {
        Self { real, e1, e2, e12: 0.0 }
    }

    fn zip(self, o: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            real: f(self.real, o.real),
            e1: f(self.e1, o.e1),
            e2: f(self.e2, o.e2),
            e12: f(self.e12, o.e12),
        }
    }
}

impl Add for HyperDual {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        self.zip(o, |a, b| a + b)
    }
}

impl Sub for HyperDual {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self.zip(o, |a, b| a - b)
    }
}

impl Mul for HyperDual {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Self {
            real: self.real * o.real,
            e1: self.real * o.e1 + self.e1 * o.real,
            e2: self.real * o.e2 + self.e2 * o.real,
            e12: self.real * o.e12 + self.e1 * o.e2 + self.e2 * o.e1 + self.e12 * o.real,
        }
    }
}

impl Neg for HyperDual {
    type Output = Self;
    fn neg(self) -> Self {
        Self { real: -self.real, e1: -self.e1, e2: -self.e2, e12: -self.e12 }
    }
}

impl Scalar for HyperDual {
    fn constant(x: f64) -> Self {
        Self::new(x, 0.0, 0.0)
    }

    fn real(self) -> f64 {
        self.real
    }

    fn reciprocal(self) -> Self {
        let r = 1.0 / self.real;
        let r2 = r * r;
        Self {
            real: r,
            e1: -self.e1 * r2,
            e2: -self.e2 * r2,
            e12: -self.e12 * r2 + 2.0 * self.e1 * self.e2 * r2 * r,
        }
    }
}
