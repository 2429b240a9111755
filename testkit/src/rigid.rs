//! Rigid motions as 4×4 matrices, of which the last row (0, 0, 0, 1) is not stored.
//!
//! Only sums, products and reciprocals are used, so that any [`Scalar`] will do.

use forks_mechanism::lie::{
    Pose,
    glam::{DQuat, DVec3},
};

use crate::scalar::Scalar;

/// The upper three rows of a 4×4 matrix: `[R p]`.
///
/// Elements of the algebra (twists) have the same form with last row (0, 0, 0, 0).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rigid<T> {
    /// Left 3×3 block, by rows.
    pub a: [[T; 3]; 3],
    /// Right column.
    pub b: [T; 3],
}

impl<T: Scalar> Rigid<T> {
    /// The identity motion.
    pub fn identity() -> Self {
        Self::of(&Rigid {
            a: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            b: [0.0, 0.0, 0.0],
        })
    }

    /// A motion without infinitesimal parts.
    pub fn of(m: &Rigid<f64>) -> Self {
        Self { a: m.a.map(|r| r.map(T::constant)), b: m.b.map(T::constant) }
    }

    /// The matrix of a twist (v; ω): `[ω× v]`.
    pub fn hat(t: &[T; 6]) -> Self {
        let o = T::constant(0.0);
        let [vx, vy, vz, x, y, z] = *t;
        Self { a: [[o, -z, y], [z, o, -x], [-y, x, o]], b: [vx, vy, vz] }
    }

    /// The twist of an (almost) skew matrix.
    pub fn vee(&self) -> [T; 6] {
        let half = |x: T, y: T| (x - y).scale(0.5);
        let a = &self.a;
        [
            self.b[0],
            self.b[1],
            self.b[2],
            half(a[2][1], a[1][2]),
            half(a[0][2], a[2][0]),
            half(a[1][0], a[0][1]),
        ]
    }

    /// Product of a 3×3 block with the stored columns: `[A₁A₂ A₁b₂]`, the product in the algebra.
    fn algebra_product(&self, o: &Self) -> Self {
        let dot = |r: &[T; 3], c: [T; 3]| r[0] * c[0] + r[1] * c[1] + r[2] * c[2];
        let column = |j: usize| [o.a[0][j], o.a[1][j], o.a[2][j]];
        Self {
            a: self.a.map(|r| [dot(&r, column(0)), dot(&r, column(1)), dot(&r, column(2))]),
            b: self.a.map(|r| dot(&r, o.b)),
        }
    }

    /// Composition of motions.
    pub fn times(&self, o: &Self) -> Self {
        let mut p = self.algebra_product(o);
        for i in 0..3 {
            p.b[i] = p.b[i] + self.b[i];
        }
        p
    }

    /// The inverse motion `[Rᵀ −Rᵀp]`.
    pub fn inverse(&self) -> Self {
        let a = std::array::from_fn(|i| std::array::from_fn(|j| self.a[j][i]));
        let turned = Self { a, b: [T::constant(0.0); 3] };
        let b = turned.a.map(|r: [T; 3]| -(r[0] * self.b[0] + r[1] * self.b[1] + r[2] * self.b[2]));
        Self { a, b }
    }

    /// The image of a point.
    pub fn point(&self, p: &[f64; 3]) -> [T; 3] {
        std::array::from_fn(|i| {
            let r = &self.a[i];
            r[0].scale(p[0]) + r[1].scale(p[1]) + r[2].scale(p[2]) + self.b[i]
        })
    }

    fn combine(&self, s: f64, o: &Self, t: f64) -> Self {
        let f = |x: T, y: T| x.scale(s) + y.scale(t);
        Self {
            a: std::array::from_fn(|i| std::array::from_fn(|j| f(self.a[i][j], o.a[i][j]))),
            b: std::array::from_fn(|i| f(self.b[i], o.b[i])),
        }
    }

    /// Largest absolute entry of the real part of A minus `d` times the identity.
    fn rotation_size(&self, d: f64) -> f64 {
        let mut m: f64 = 0.0;
        for i in 0..3 {
            for j in 0..3 {
                m = m.max((self.a[i][j].real() - if i == j { d } else { 0.0 }).abs());
            }
        }
        m
    }

    /// exp of a twist: Taylor series after scaling, then squaring.
    pub fn exp(t: &[T; 6]) -> Self {
        let x = Self::hat(t);
        let mut halvings = 0;
        let mut size = x.rotation_size(0.0);
        while size > 0.25 {
            size *= 0.5;
            halvings += 1;
        }
        let x = x.combine(0.5f64.powi(halvings), &x, 0.0);
        // Horner: 1 + x (1 + x/2 (1 + x/3 (…))); 0.5¹⁵/15! is far below rounding.
        let mut e = Self::identity();
        for k in (1..=15).rev() {
            // The one of the last row multiplies the translation of x.
            let mut p = x.algebra_product(&e);
            for i in 0..3 {
                p.b[i] = p.b[i] + x.b[i];
            }
            e = Self::identity().combine(1.0, &p, 1.0 / f64::from(k));
        }
        for _ in 0..halvings {
            e = e.times(&e);
        }
        e
    }

    /// log of a motion with a rotation angle below π: square roots until the motion is small, then
    /// log M = 2 artanh((M − 1)(M + 1)⁻¹).
    pub fn log(&self) -> [T; 6] {
        let mut m = *self;
        let mut roots = 0;
        while m.rotation_size(1.0) > 0.2 && roots < 12 {
            m = m.square_root();
            roots += 1;
        }
        let one = Self::identity();
        let minus = m.combine(1.0, &one, -1.0);
        let plus = m.combine(1.0, &one, 1.0);
        let inverse = Self { a: inverse3(&plus.a), b: [T::constant(0.0); 3] };
        let mut x = minus.algebra_product(&inverse);
        // Translation column of (M − 1)(M + 1)⁻¹: ½ (1 − X_A) b.
        for i in 0..3 {
            let r = &x.a[i];
            let xb = r[0] * m.b[0] + r[1] * m.b[1] + r[2] * m.b[2];
            x.b[i] = (m.b[i] - xb).scale(0.5);
        }
        let x2 = x.algebra_product(&x);
        // x (1 + x²/3 + x⁴/5 + …): |x| < 0.11, so x²⁰ is below rounding.
        let mut power = x;
        let mut sum = x;
        for k in 1..=10 {
            power = x2.algebra_product(&power);
            sum = sum.combine(1.0, &power, 1.0 / f64::from(2 * k + 1));
        }
        sum.combine(2.0 * 2f64.powi(roots), &sum, 0.0).vee()
    }

    /// The motion whose square is this one, by the iteration of Denman and Beavers.
    fn square_root(&self) -> Self {
        let (mut y, mut z) = (*self, Self::identity());
        let mut settled = 0;
        for _ in 0..60 {
            let next = y.combine(0.5, &z.general_inverse(), 0.5);
            z = z.combine(0.5, &y.general_inverse(), 0.5);
            let change = next.combine(1.0, &y, -1.0).rotation_size(0.0);
            y = next;
            // Two further steps settle first and second derivatives.
            settled = if change < 1e-12 { settled + 1 } else { 0 };
            if settled == 3 {
                break;
            }
        }
        y
    }

    /// The inverse of an affine map that need not be a motion.
    fn general_inverse(&self) -> Self {
        let a = inverse3(&self.a);
        let b = a.map(|r: [T; 3]| -(r[0] * self.b[0] + r[1] * self.b[1] + r[2] * self.b[2]));
        Self { a, b }
    }
}

/// The inverse of a 3×3 matrix by its adjugate.
fn inverse3<T: Scalar>(m: &[[T; 3]; 3]) -> [[T; 3]; 3] {
    let minor = |i: usize, j: usize| {
        let (r, s) = ((i + 1) % 3, (i + 2) % 3);
        let (c, d) = ((j + 1) % 3, (j + 2) % 3);
        m[r][c] * m[s][d] - m[r][d] * m[s][c]
    };
    let det = m[0][0] * minor(0, 0) + m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2);
    let r = det.reciprocal();
    std::array::from_fn(|i| std::array::from_fn(|j| minor(j, i) * r))
}

/// The rotation matrix of a unit quaternion (w, x, y, z).
pub fn rotation_of_quaternion(q: [f64; 4]) -> [[f64; 3]; 3] {
    let n = 1.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    let [w, x, y, z] = q;
    let s = 2.0 * n;
    [
        [1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
        [s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)],
        [s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)],
    ]
}

/// The unit quaternion (w, x, y, z) of a rotation matrix, from its largest component.
pub fn quaternion_of_rotation(a: &[[f64; 3]; 3]) -> [f64; 4] {
    let trace = a[0][0] + a[1][1] + a[2][2];
    let squares = [trace, a[0][0], a[1][1], a[2][2]];
    let k = (0..4).max_by(|&i, &j| squares[i].total_cmp(&squares[j])).unwrap_or(0);
    let mut q = [0.0; 4];
    if k == 0 {
        q = [1.0 + trace, a[2][1] - a[1][2], a[0][2] - a[2][0], a[1][0] - a[0][1]];
    } else {
        let (i, j, l) = (k - 1, k % 3, (k + 1) % 3);
        q[0] = a[l][j] - a[j][l];
        q[1 + i] = 1.0 + a[i][i] - a[j][j] - a[l][l];
        q[1 + j] = a[j][i] + a[i][j];
        q[1 + l] = a[l][i] + a[i][l];
    }
    let n = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    q.map(|x| x / n)
}

impl Rigid<f64> {
    /// The same motion from the crates' data type.
    pub fn from_pose(p: &Pose) -> Self {
        let r = p.rotation;
        Self { a: rotation_of_quaternion([r.w, r.x, r.y, r.z]), b: p.translation.to_array() }
    }

    /// The same motion as the crates' data type.
    pub fn to_pose(&self) -> Pose {
        let [w, x, y, z] = quaternion_of_rotation(&self.a);
        Pose::new(DQuat::from_xyzw(x, y, z, w), DVec3::from_array(self.b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rng, scalar::HyperDual};

    fn size(a: &[f64; 6], b: &[f64; 6]) -> f64 {
        a.iter().zip(b).fold(0.0, |m, (x, y)| f64::max(m, (x - y).abs()))
    }

    #[test]
    fn exp_of_a_quarter_turn_about_an_axis_off_the_origin() {
        let h = std::f64::consts::FRAC_PI_2;
        // Rotation about z through (1, 0, 0): v = −ω × c.
        let m = Rigid::exp(&[0.0, -h, 0.0, 0.0, 0.0, h]);
        let p = m.point(&[2.0, 0.0, 0.5]);
        for (x, e) in p.iter().zip([1.0, 1.0, 0.5]) {
            assert!((x - e).abs() < 4e-15, "{p:?}");
        }
    }

    #[test]
    fn log_inverts_exp_up_to_nearly_half_a_turn() {
        let mut rng = Rng::new(3);
        for k in 0..400 {
            let axis = rng.direction();
            let angle = [1e-9, 1e-3, 0.5, 1.5, 2.5, 3.0, 3.1][k % 7];
            let v = rng.direction();
            let t = [v[0], v[1], v[2], axis[0] * angle, axis[1] * angle, axis[2] * angle];
            let back = Rigid::exp(&t).log();
            // Conditioning grows as 1/(π − angle).
            let bound = 2e-14 / (std::f64::consts::PI - angle).min(1.0).powi(2);
            assert!(size(&t, &back) < bound, "angle {angle}: {:e}", size(&t, &back));
        }
    }

    #[test]
    fn quaternions_and_matrices_agree() {
        let mut rng = Rng::new(4);
        for _ in 0..200 {
            let q = rng.quaternion();
            let back = quaternion_of_rotation(&rotation_of_quaternion(q));
            let s: f64 = q.iter().zip(&back).map(|(a, b)| a * b).sum();
            assert!((s.abs() - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn second_derivatives_of_log_exp_vanish() {
        // log(exp(x)) = x: the mixed derivative is zero, the first ones are the directions.
        let mut rng = Rng::new(5);
        for _ in 0..50 {
            let x: [HyperDual; 6] = std::array::from_fn(|_| {
                HyperDual::new(rng.symmetric(), rng.symmetric(), rng.symmetric())
            });
            let y = Rigid::exp(&x).log();
            for i in 0..6 {
                assert!((x[i].e1 - y[i].e1).abs() < 1e-13, "{:?} {:?}", x[i], y[i]);
                assert!(y[i].e12.abs() < 5e-13, "{:?}", y[i]);
            }
        }
    }
}
