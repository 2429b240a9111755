//! F = U F̂ Vᵀ with rotations U and V: one-sided Jacobi rotations, the sign in the smallest stretch
//! (\[K08\] Eq. 16, 17).

use forks_dynamics::mechanism::lie::glam::{DMat3, DVec3};

const SWEEPS: usize = 30;

/// A deformation gradient as two rotations and three stretches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretched {
    /// U, a rotation.
    pub u: DMat3,
    /// Stretches, descending in absolute value; the last is negative where F turns its element
    /// inside out.
    pub sigma: DVec3,
    /// V, a rotation.
    pub v: DMat3,
}

impl Stretched {
    /// Decomposes F. Small stretches are found to high relative accuracy. Numbers that are not
    /// finite give stretches that are not finite.
    pub fn new(f: DMat3) -> Self {
        let mut a = [f.x_axis, f.y_axis, f.z_axis];
        let mut v = [DVec3::X, DVec3::Y, DVec3::Z];
        for _ in 0..SWEEPS {
            let turned = [(0, 1), (0, 2), (1, 2)].map(|(p, q)| rotate(&mut a, &mut v, p, q));
            if turned == [false; 3] {
                break;
            }
        }
        let mut size = a.map(|c| c.length());
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if size[p] < size[q] {
                // A quarter turn: determinants stay 1.
                (size[p], size[q]) = (size[q], size[p]);
                (a[p], a[q]) = (a[q], -a[p]);
                (v[p], v[q]) = (v[q], -v[p]);
            }
        }
        let first = if size[0] > 0.0 { a[0] / size[0] } else { DVec3::X };
        let rest = a[1] - first * first.dot(a[1]);
        let second = match rest.length() {
            length if length > 0.0 => rest / length,
            _ => first.any_orthonormal_vector(),
        };
        let third = first.cross(second);
        Self {
            u: DMat3::from_cols(first, second, third),
            sigma: DVec3::new(size[0], a[1].dot(second), a[2].dot(third)),
            v: DMat3::from_cols(v[0], v[1], v[2]),
        }
    }

    /// U diag(x) Vᵀ.
    pub fn compose(&self, x: [f64; 3]) -> DMat3 {
        let u = DMat3::from_cols(self.u.x_axis * x[0], self.u.y_axis * x[1], self.u.z_axis * x[2]);
        u * self.v.transpose()
    }
}

/// Makes two columns perpendicular; true if they were not.
fn rotate(a: &mut [DVec3; 3], v: &mut [DVec3; 3], p: usize, q: usize) -> bool {
    let (alpha, beta) = (a[p].length_squared(), a[q].length_squared());
    let gamma = a[p].dot(a[q]);
    let rounding = 0.25 * f64::EPSILON * (alpha * beta).sqrt();
    if gamma.is_nan() || gamma.abs() <= rounding {
        return false;
    }
    let zeta = (beta - alpha) / (2.0 * gamma);
    let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = c * t;
    for m in [a, v] {
        (m[p], m[q]) = (m[p] * c - m[q] * s, m[p] * s + m[q] * c);
    }
    true
}

#[cfg(test)]
mod tests {
    use forks_dynamics::mechanism::lie::SplitMix64;

    use super::*;

    fn largest(m: DMat3) -> f64 {
        m.to_cols_array().iter().fold(0.0, |l: f64, x| l.max(x.abs()))
    }

    #[test]
    fn rotations_and_ordered_stretches_make_f() {
        let mut rng = SplitMix64::new(1);
        for case in 0..20_000 {
            let mut f = DMat3::from_cols_array(&std::array::from_fn(|_| rng.range(-1.0, 1.0)));
            match case % 5 {
                0 => f.z_axis = f.x_axis * 0.5 + f.y_axis * 1e-9,
                1 => f = DMat3::from_diagonal(DVec3::new(1.0, 1.0, -1.0)),
                2 => f.y_axis = DVec3::ZERO,
                _ => {}
            }
            let d = Stretched::new(f);
            let s = d.sigma.to_array();
            assert!(largest(d.compose(s) - f) <= 32.0 * f64::EPSILON * s[0], "{f} {d:?}");
            // Some six sweeps of three turns, each rounded.
            for r in [d.u, d.v] {
                assert!(largest(r.transpose() * r - DMat3::IDENTITY) < 32.0 * f64::EPSILON);
                assert!((r.determinant() - 1.0).abs() < 32.0 * f64::EPSILON);
            }
            assert!(s[0] >= s[1] && s[1] >= s[2].abs() * (1.0 - 1e-12), "{s:?}");
        }
    }

    #[test]
    fn zero_and_numbers_that_are_not_finite_have_an_answer() {
        let zero = Stretched::new(DMat3::ZERO);
        assert_eq!(zero.sigma, DVec3::ZERO);
        assert!((zero.u.determinant() - 1.0).abs() < 1e-15);
        let bad = Stretched::new(DMat3::from_diagonal(DVec3::new(f64::NAN, 1.0, 1.0)));
        assert!(!bad.sigma.is_finite());
    }
}
