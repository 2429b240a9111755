//! Four vectors at once, component by component, so that the compiler takes them in one go.

use core::ops::{Deref, DerefMut};

use glam::{DMat3, DVec3};

/// Four numbers, aligned for one load: where it crosses the lines of a cache a step with contact takes half as long again.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub struct Lanes(pub [f64; 4]);

impl Deref for Lanes {
    type Target = [f64; 4];

    #[inline(always)]
    fn deref(&self) -> &[f64; 4] {
        &self.0
    }
}

impl DerefMut for Lanes {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64; 4] {
        &mut self.0
    }
}

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

#[inline(always)]
fn scale(a: Lanes, s: f64) -> Lanes {
    Lanes([a[0] * s, a[1] * s, a[2] * s, a[3] * s])
}

#[inline(always)]
fn add(a: Lanes, b: Lanes) -> Lanes {
    Lanes([a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]])
}

#[inline(always)]
fn subtract(a: Lanes, b: Lanes) -> Lanes {
    Lanes([a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]])
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
        Self { x: scale(self.x, s), y: scale(self.y, s), z: scale(self.z, s) }
    }

    /// v + w.
    #[inline(always)]
    #[must_use]
    pub fn plus(&self, w: &Self) -> Self {
        Self { x: add(self.x, w.x), y: add(self.y, w.y), z: add(self.z, w.z) }
    }

    /// a·v.
    #[inline(always)]
    pub fn dot(&self, a: DVec3) -> Lanes {
        add(add(scale(self.x, a.x), scale(self.y, a.y)), scale(self.z, a.z))
    }

    /// a × v.
    #[inline(always)]
    #[must_use]
    pub fn crossed_by(&self, a: DVec3) -> Self {
        Self {
            x: subtract(scale(self.z, a.y), scale(self.y, a.z)),
            y: subtract(scale(self.x, a.z), scale(self.z, a.x)),
            z: subtract(scale(self.y, a.x), scale(self.x, a.y)),
        }
    }

    /// v + a s: one number per vector.
    #[inline(always)]
    #[must_use]
    pub fn plus_along(&self, a: DVec3, s: Lanes) -> Self {
        Self {
            x: add(self.x, scale(s, a.x)),
            y: add(self.y, scale(s, a.y)),
            z: add(self.z, scale(s, a.z)),
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
        let at = |v: &Vectors, i: usize| DVec3::new(v.x[i], v.y[i], v.z[i]);
        for (i, w) in single.into_iter().chain([DVec3::ZERO]).enumerate() {
            assert_eq!(at(&v, i), w);
            assert_eq!(v.dot(a)[i], a.dot(w));
            assert_eq!(at(&v.crossed_by(a), i), a.cross(w));
            assert_eq!(at(&v.scaled(3.0).plus(&v), i), w * 4.0);
            assert_eq!(at(&v.plus_along(a, v.dot(a)), i), w + a * a.dot(w));
            assert_eq!(at(&v.turned_back(&m), i), m.transpose() * w);
        }
    }
}
