//! Four vectors at once, component by component, so that the compiler takes them in one go.

use glam::{DMat3, DVec3};

use super::Lanes;

/// Four vectors: component by component.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vectors {
    /// First components.
    pub x: Lanes,
    /// Second components.
    pub y: Lanes,
    /// Third components.
    pub z: Lanes,
}

impl Vectors {
    /// Three vectors and zero.
    #[inline(always)]
    pub fn of_three([a, b, c]: [DVec3; 3]) -> Self {
        let of = |x: f64, y: f64, z: f64| Lanes([x, y, z, 0.0]);
        Self { x: of(a.x, b.x, c.x), y: of(a.y, b.y, c.y), z: of(a.z, b.z, c.z) }
    }

    /// v s.
    #[inline(always)]
    #[must_use]
    pub fn scaled(&self, s: f64) -> Self {
        Self { x: self.x.scaled(s), y: self.y.scaled(s), z: self.z.scaled(s) }
    }

    /// v + w.
    #[inline(always)]
    #[must_use]
    pub fn plus(&self, w: &Self) -> Self {
        Self { x: self.x.plus(w.x), y: self.y.plus(w.y), z: self.z.plus(w.z) }
    }

    /// a·v.
    #[inline(always)]
    pub fn dot(&self, a: DVec3) -> Lanes {
        self.x.scaled(a.x).plus(self.y.scaled(a.y)).plus(self.z.scaled(a.z))
    }

    /// Σ v s over the first three vectors.
    #[inline(always)]
    pub fn sum_of_three(&self, [a, b, c]: [f64; 3]) -> DVec3 {
        let of = |v: &Lanes| v[0] * a + v[1] * b + v[2] * c;
        DVec3::new(of(&self.x), of(&self.y), of(&self.z))
    }

    /// a × v.
    #[inline(always)]
    #[must_use]
    pub fn crossed_by(&self, a: DVec3) -> Self {
        Self {
            x: self.z.scaled(a.y).minus(self.y.scaled(a.z)),
            y: self.x.scaled(a.z).minus(self.z.scaled(a.x)),
            z: self.y.scaled(a.x).minus(self.x.scaled(a.y)),
        }
    }

    /// Mᵀ v; of a rotation that goes back.
    #[inline(always)]
    #[must_use]
    pub fn turned_back(&self, m: &DMat3) -> Self {
        Self { x: self.dot(m.x_axis), y: self.dot(m.y_axis), z: self.dot(m.z_axis) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_those_of_single_vectors() {
        // Small integers: every order of a sum is exact.
        let single =
            [DVec3::new(1.0, -2.0, 3.0), DVec3::new(0.0, 4.0, -1.0), DVec3::new(2.0, 2.0, 5.0)];
        let (a, m) = (
            DVec3::new(-3.0, 1.0, 2.0),
            DMat3::from_cols(DVec3::new(1.0, 2.0, 0.0), DVec3::new(3.0, -1.0, 1.0), DVec3::Z),
        );
        let v = Vectors::of_three(single);
        assert_eq!(v.sum_of_three([2.0, -1.0, 3.0]), single[0] * 2.0 - single[1] + single[2] * 3.0);
        let at = |v: &Vectors, i: usize| DVec3::new(v.x[i], v.y[i], v.z[i]);
        for (i, w) in single.into_iter().chain([DVec3::ZERO]).enumerate() {
            assert_eq!(at(&v, i), w);
            assert_eq!(v.dot(a)[i], a.dot(w));
            assert_eq!(at(&v.crossed_by(a), i), a.cross(w));
            assert_eq!(at(&v.scaled(3.0).plus(&v), i), w * 4.0);
            assert_eq!(at(&v.turned_back(&m), i), m.transpose() * w);
        }
    }
}
