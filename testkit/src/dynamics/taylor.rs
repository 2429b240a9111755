//! Functions of time to second order.

use std::ops::{Add, Mul, Neg, Sub};

use crate::scalar::Scalar;

/// x₀ + x₁ t + x₂ t² up to terms in t³.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taylor<T> {
    /// The coefficients; the second derivative is 2 x₂.
    pub x: [T; 3],
}

impl<T: Scalar> Taylor<T> {
    /// A constant.
    pub fn fixed(x: T) -> Self {
        let o = T::constant(0.0);
        Self { x: [x, o, o] }
    }

    /// rate · t.
    pub fn moving(rate: T) -> Self {
        let o = T::constant(0.0);
        Self { x: [o, rate, o] }
    }

    /// The first derivative at t = 0.
    pub fn first(self) -> T {
        self.x[1]
    }

    /// The second derivative at t = 0.
    pub fn second(self) -> T {
        self.x[2] + self.x[2]
    }
}

impl<T: Scalar> Add for Taylor<T> {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self { x: std::array::from_fn(|i| self.x[i] + o.x[i]) }
    }
}

impl<T: Scalar> Sub for Taylor<T> {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self { x: std::array::from_fn(|i| self.x[i] - o.x[i]) }
    }
}

impl<T: Scalar> Neg for Taylor<T> {
    type Output = Self;
    fn neg(self) -> Self {
        Self { x: self.x.map(|x| -x) }
    }
}

impl<T: Scalar> Mul for Taylor<T> {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let (a, b) = (self.x, o.x);
        Self {
            x: [a[0] * b[0], a[0] * b[1] + a[1] * b[0], a[0] * b[2] + a[1] * b[1] + a[2] * b[0]],
        }
    }
}

impl<T: Scalar> Scalar for Taylor<T> {
    fn constant(x: f64) -> Self {
        Self::fixed(T::constant(x))
    }

    fn real(self) -> f64 {
        self.x[0].real()
    }

    fn reciprocal(self) -> Self {
        let [a, b, c] = self.x;
        let r = a.reciprocal();
        let s = b * r;
        Self { x: [r, -(s * r), (s * s - c * r) * r] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reciprocal_is_the_inverse_to_second_order() {
        let x = Taylor { x: [1.25, -0.5, 3.0] };
        let one = x * x.reciprocal();
        for (a, b) in one.x.iter().zip([1.0, 0.0, 0.0]) {
            assert!((a - b).abs() < 4.0 * f64::EPSILON, "{one:?}");
        }
    }
}
