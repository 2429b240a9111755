//! Which elements are within the window of small stretches, without their decomposition (\[K08\]
//! Eq. 18, 19).
//!
//! All stretches are inside (√λ_L, √λ_U) and F keeps the orientation exactly if F^T F − λ_L and λ_U
//! − F^T F are positive definite and det F > 0: the pivots of two LDLᵀ factorisations, 3 + 3 signs.
//! The paper asks the same of the characteristic polynomial f of FᵀF: f(λ_L) < 0, f(λ_U) > 0, and
//! the roots of f′ between; at multiple roots that loses half of the digits.

use forks_dynamics::mechanism::lie::glam::{DMat3, DVec3};

/// Limits λ_L and λ_U of the squares of stretches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// λ_L, above ⅓, where the stiffness of StVK vanishes, and below 1.
    pub lower: f64,
    /// λ_U, above 1.
    pub upper: f64,
}

impl Range {
    /// \[K08\]'s ⅔ and 5/3: half and twice the stiffness at rest.
    pub const PAPER: Self = Self { lower: 2.0 / 3.0, upper: 5.0 / 3.0 };

    /// True where ⅓ < λ_L < 1 < λ_U.
    pub fn is_valid(self) -> bool {
        self.lower > 1.0 / 3.0 && self.lower < 1.0 && self.upper > 1.0 && self.upper.is_finite()
    }

    /// √λ_L and √λ_U.
    pub(crate) fn stretches(self) -> [f64; 2] {
        [self.lower.sqrt(), self.upper.sqrt()]
    }
}

/// How elements that need their decomposition are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Pivots of LDLᵀ: exact to rounding, also at multiple roots.
    #[default]
    Pivots,
    /// The polynomial of \[K08\] as printed.
    Polynomial,
    /// None: all elements are decomposed (\[ITF04\]).
    Always,
}

impl Selection {
    /// True if F is known to be inside; what is not finite never is.
    #[inline]
    pub fn accepts(self, range: Range, f: &DMat3) -> bool {
        match self {
            Self::Pivots => within(range, f),
            Self::Polynomial => within_by_polynomial(range, f),
            Self::Always => false,
        }
    }
}

/// FᵀF: diagonal, and the entries (1, 2), (0, 2), (0, 1).
#[inline]
fn squares(f: &DMat3) -> (DVec3, DVec3) {
    let [a, b, c] = [f.x_axis, f.y_axis, f.z_axis];
    let diagonal = DVec3::new(a.dot(a), b.dot(b), c.dot(c));
    (diagonal, DVec3::new(b.dot(c), a.dot(c), a.dot(b)))
}

/// All stretches strictly inside the range and det F > 0, by pivots.
#[inline]
pub fn within(range: Range, f: &DMat3) -> bool {
    let (d, o) = squares(f);
    let inside = definite(d - range.lower, o) && definite(range.upper - d, -o);
    inside && f.determinant() > 0.0
}

/// Positive pivots, multiplied by those before them instead of divided.
#[inline]
fn definite(d: DVec3, o: DVec3) -> bool {
    // Rows (d.x, o.z, o.y), (o.z, d.y, o.x), (o.y, o.x, d.z).
    let second = d.y - o.z * (o.z / d.x);
    let beside = o.x - o.y * (o.z / d.x);
    let third = d.z - o.y * (o.y / d.x) - beside * (beside / second);
    d.x > 0.0 && second > 0.0 && third > 0.0
}

/// The same by \[K08\] Eq. 18, 19 as printed, accepted where all five comparisons hold.
#[inline]
pub fn within_by_polynomial(range: Range, f: &DMat3) -> bool {
    let (d, o) = squares(f);
    let squared = o * o;
    let a = -(d.x + d.y + d.z);
    let b = d.x * d.y + d.x * d.z + d.y * d.z - (squared.x + squared.y + squared.z);
    let det = f.determinant();
    let c = -(det * det);
    let value = |l: f64| ((l + a) * l + b) * l + c;
    let root = (a * a - 3.0 * b).sqrt();
    let (alpha, beta) = ((-a - root) / 3.0, (-a + root) / 3.0);
    value(range.lower) < 0.0
        && value(range.upper) > 0.0
        && range.lower < alpha
        && beta < range.upper
        && det > 0.0
}
