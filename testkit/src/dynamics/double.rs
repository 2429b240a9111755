//! Numbers of twice the usual precision: unevaluated sums of two `f64`, about 32 digits.

use std::ops::{Add, Mul, Neg, Sub};

use crate::scalar::Scalar;

/// high + low with |low| ≤ ulp(high)/2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Double {
    /// The value to `f64` precision.
    pub high: f64,
    /// What is left of it.
    pub low: f64,
}

/// a + b exactly, as rounded sum and its error (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// The same for |a| ≥ |b| (Dekker).
fn quick_two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    (s, b - (s - a))
}

/// Upper and lower half of the digits (Veltkamp).
fn split(a: f64) -> (f64, f64) {
    let t = 134_217_729.0 * a;
    let high = t - (t - a);
    (high, a - high)
}

/// a b exactly, as rounded product and its error (Dekker).
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let p = a * b;
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    (p, ((ah * bh - p) + ah * bl + al * bh) + al * bl)
}

impl Double {
    /// Zero.
    pub const ZERO: Self = Self { high: 0.0, low: 0.0 };

    /// The absolute value.
    pub fn abs(self) -> Self {
        if self.high < 0.0 { -self } else { self }
    }

    /// Times a power of two: exact.
    pub fn shifted(self, power_of_two: f64) -> Self {
        Self { high: self.high * power_of_two, low: self.low * power_of_two }
    }
}

impl Add for Double {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        let (s, e) = two_sum(self.high, o.high);
        let (t, f) = two_sum(self.low, o.low);
        let (s, e) = quick_two_sum(s, e + t);
        let (high, low) = quick_two_sum(s, e + f);
        Self { high, low }
    }
}

impl Sub for Double {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + -o
    }
}

impl Mul for Double {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let (p, e) = two_product(self.high, o.high);
        let (high, low) = quick_two_sum(p, e + (self.high * o.low + self.low * o.high));
        Self { high, low }
    }
}

impl Neg for Double {
    type Output = Self;
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Scalar for Double {
    fn constant(x: f64) -> Self {
        Self { high: x, low: 0.0 }
    }

    fn real(self) -> f64 {
        self.high
    }

    fn reciprocal(self) -> Self {
        // One step of Newton doubles the digits of 1/high.
        let r = Self::constant(1.0 / self.high);
        let two = Self::constant(2.0);
        let once = r * (two - self * r);
        once * (two - self * once)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    /// Twice the digits: a relative error of at most a few 2⁻¹⁰⁴.
    const EPSILON: f64 = 1e-31;

    #[test]
    fn products_and_reciprocals_cancel() {
        let mut rng = Rng::new(11);
        for _ in 0..1000 {
            let x = Double::constant(rng.symmetric()) + Double::constant(1e-17 * rng.symmetric());
            let one = x * x.reciprocal() - Double::constant(1.0);
            assert!(one.high.abs() < 10.0 * EPSILON, "{one:?}");
        }
    }

    #[test]
    fn binomials_expand() {
        // (a + b)² − a² − 2ab − b² with b far below the digits of a.
        let mut rng = Rng::new(12);
        for _ in 0..1000 {
            let (a, b) = (rng.range(0.5, 1.0), 1e-12 * rng.symmetric());
            let (a, b) = (Double::constant(a), Double::constant(b));
            let rest = (a + b) * (a + b) - a * a - (a * b).shifted(2.0) - b * b;
            assert!(rest.high.abs() < 10.0 * EPSILON, "{rest:?}");
        }
    }
}
