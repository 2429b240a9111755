//! Power series of small matrices in double-double arithmetic: about 31 digits, no trigonometry,
//! and no code in common with the crate.

use std::ops::{Add, Div, Mul, Neg, Sub};

use forks_lie::{Twist, glam::DVec3};

/// An unevaluated sum of two `f64`, the second at most half an ulp of the first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dd {
    hi: f64,
    lo: f64,
}

impl Dd {
    pub(crate) const ZERO: Self = Self { hi: 0.0, lo: 0.0 };
    pub(crate) const ONE: Self = Self { hi: 1.0, lo: 0.0 };

    pub(crate) fn value(self) -> f64 {
        self.hi + self.lo
    }

    /// `self − x` rounded once: the error of a computed number.
    pub(crate) fn error_of(self, x: f64) -> f64 {
        (self - x.into()).value().abs()
    }

    fn renormalised(hi: f64, lo: f64) -> Self {
        let s = hi + lo;
        Self { hi: s, lo: lo - (s - hi) }
    }

    /// One Newton step on the rounded root doubles its digits.
    pub(crate) fn sqrt(self) -> Self {
        if self.hi == 0.0 {
            return Self::ZERO;
        }
        let r = Dd::from(self.hi.sqrt());
        r + (self - r * r) / (r + r)
    }

    /// (sin, cos) by Taylor's series; for |x| up to a few.
    pub(crate) fn sin_cos(self) -> (Self, Self) {
        let (mut sin, mut cos, mut term) = (Self::ZERO, Self::ONE, Self::ONE);
        for n in 1..60 {
            term = term * self / Dd::from(n as f64);
            match n % 4 {
                1 => sin = sin + term,
                2 => cos = cos - term,
                3 => sin = sin - term,
                _ => cos = cos + term,
            }
        }
        (sin, cos)
    }
}

impl From<f64> for Dd {
    fn from(hi: f64) -> Self {
        Self { hi, lo: 0.0 }
    }
}

impl Add for Dd {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        let s = self.hi + o.hi;
        let b = s - self.hi;
        let e = (self.hi - (s - b)) + (o.hi - b);
        Self::renormalised(s, e + (self.lo + o.lo))
    }
}

impl Neg for Dd {
    type Output = Self;
    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }
}

impl Sub for Dd {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + -o
    }
}

impl Mul for Dd {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let p = self.hi * o.hi;
        let e = self.hi.mul_add(o.hi, -p);
        Self::renormalised(p, e + (self.hi * o.lo + self.lo * o.hi))
    }
}

impl Div for Dd {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let q = Dd::from(self.hi / o.hi);
        let r = self - q * o;
        q + Dd::from(r.value() / o.hi)
    }
}

/// A square matrix of double-doubles.
#[derive(Clone, Copy)]
pub(crate) struct Square<const N: usize>(pub [[Dd; N]; N]);

impl<const N: usize> Square<N> {
    pub(crate) fn zero() -> Self {
        Self([[Dd::ZERO; N]; N])
    }

    pub(crate) fn identity() -> Self {
        let mut m = Self::zero();
        for i in 0..N {
            m.0[i][i] = Dd::ONE;
        }
        m
    }

    pub(crate) fn scaled(mut self, s: Dd) -> Self {
        self.0.iter_mut().flatten().for_each(|x| *x = *x * s);
        self
    }

    pub(crate) fn times(&self, v: &[Dd; N]) -> [Dd; N] {
        let dot = |row: &[Dd; N]| row.iter().zip(v).fold(Dd::ZERO, |s, (a, b)| s + *a * *b);
        std::array::from_fn(|i| dot(&self.0[i]))
    }

    /// The inverse by Gauss–Jordan elimination with row exchanges.
    pub(crate) fn inverse(mut self) -> Self {
        let mut inverse = Self::identity();
        for k in 0..N {
            let size = |i: &usize| self.0[*i][k].value().abs();
            let pivot = (k..N).max_by(|i, j| size(i).total_cmp(&size(j))).unwrap();
            self.0.swap(k, pivot);
            inverse.0.swap(k, pivot);
            let d = self.0[k][k];
            for j in 0..N {
                self.0[k][j] = self.0[k][j] / d;
                inverse.0[k][j] = inverse.0[k][j] / d;
            }
            for i in (0..N).filter(|i| *i != k) {
                let f = self.0[i][k];
                for j in 0..N {
                    self.0[i][j] = self.0[i][j] - f * self.0[k][j];
                    inverse.0[i][j] = inverse.0[i][j] - f * inverse.0[k][j];
                }
            }
        }
        inverse
    }
}

impl<const N: usize> Mul for Square<N> {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let mut m = Self::zero();
        for i in 0..N {
            for j in 0..N {
                for k in 0..N {
                    m.0[i][j] = m.0[i][j] + self.0[i][k] * o.0[k][j];
                }
            }
        }
        m
    }
}

impl<const N: usize> Add for Square<N> {
    type Output = Self;
    fn add(mut self, o: Self) -> Self {
        for i in 0..N {
            for j in 0..N {
                self.0[i][j] = self.0[i][j] + o.0[i][j];
            }
        }
        self
    }
}

/// Terms summed: 7⁶⁴/64! is below 1e-34.
const TERMS: usize = 64;

/// `Σ Aⁿ/(n + shift)!`: the exponential for shift 0, its left Jacobian for shift 1.
pub(crate) fn series<const N: usize>(a: Square<N>, shift: usize) -> Square<N> {
    series_derivative(a, Square::zero(), shift).0
}

/// [`series`] and its derivative along `da`.
pub(crate) fn series_derivative<const N: usize>(
    a: Square<N>,
    da: Square<N>,
    shift: usize,
) -> (Square<N>, Square<N>) {
    let (mut term, mut dterm) = (Square::identity(), Square::zero());
    let (mut sum, mut dsum) = (term, dterm);
    for n in 1..TERMS {
        let s = Dd::ONE / Dd::from((n + shift) as f64);
        dterm = (dterm * a + term * da).scaled(s);
        term = (term * a).scaled(s);
        (sum, dsum) = (sum + term, dsum + dterm);
    }
    (sum, dsum)
}

/// `w×`.
pub(crate) fn cross(w: [Dd; 3]) -> Square<3> {
    let o = Dd::ZERO;
    Square([[o, -w[2], w[1]], [w[2], o, -w[0]], [-w[1], w[0], o]])
}

pub(crate) fn vector(v: DVec3) -> [Dd; 3] {
    v.to_array().map(Dd::from)
}

/// `ad_ξ`, linear part first.
pub(crate) fn ad(xi: Twist) -> Square<6> {
    let (w, v) = (cross(vector(xi.angular)), cross(vector(xi.linear)));
    let mut m = Square::zero();
    for i in 0..3 {
        for j in 0..3 {
            m.0[i][j] = w.0[i][j];
            m.0[i + 3][j + 3] = w.0[i][j];
            m.0[i][j + 3] = v.0[i][j];
        }
    }
    m
}

/// The 4×4 matrix `[[ω×, v], [0, 0]]`.
pub(crate) fn hat(xi: Twist) -> Square<4> {
    let (w, v) = (cross(vector(xi.angular)), vector(xi.linear));
    let mut m = Square::zero();
    for i in 0..3 {
        m.0[i][..3].copy_from_slice(&w.0[i]);
        m.0[i][3] = v[i];
    }
    m
}

/// Quaternion (w, x, y, z) of `exp(ω)`: the series of the matrix that multiplies by `ω/2` on the
/// left.
pub(crate) fn quaternion_exp(omega: DVec3) -> [Dd; 4] {
    let [x, y, z] = vector(omega * 0.5);
    let o = Dd::ZERO;
    let left = Square([[o, -x, -y, -z], [x, o, -z, y], [y, z, o, -x], [z, -y, x, o]]);
    let e = series(left, 0);
    std::array::from_fn(|i| e.0[i][0])
}

/// Rotation vector of a quaternion with w ≥ 0: one Newton step on half the angle doubles its
/// digits.
pub(crate) fn quaternion_log([w, x, y, z]: [f64; 4]) -> [Dd; 3] {
    // In units of the largest component, so that squares do not underflow.
    let unit = Dd::from(x.abs().max(y.abs()).max(z.abs()));
    let v = vector(DVec3::new(x, y, z));
    let s = v.map(|x| x / unit).iter().fold(Dd::ZERO, |s, x| s + *x * *x).sqrt() * unit;
    let w = Dd::from(w);
    let norm = (s * s + w * w).sqrt();
    let start = Dd::from(s.value().atan2(w.value()));
    let (sin, cos) = start.sin_cos();
    let half = start + (s * cos - w * sin) / norm;
    let scale = (half + half) / s;
    v.map(|x| x * scale)
}
