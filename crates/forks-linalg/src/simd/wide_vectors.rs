//! Four vectors in registers, component by component.

use core::ops::{Add, Index, Sub};

use glam::DVec3;

use super::{Arithmetic, Lanes, Wide};

/// Four vectors of three components each.
#[derive(Clone, Copy)]
pub struct WideVectors<L: Arithmetic>(pub [Wide<L>; 3]);

impl<L: Arithmetic> WideVectors<L> {
    /// The same vector four times.
    #[inline(always)]
    pub fn splat(l: L, a: DVec3) -> Self {
        Self([l.splat(a.x), l.splat(a.y), l.splat(a.z)])
    }

    /// Reads four vectors.
    #[inline(always)]
    pub fn load(l: L, [x, y, z]: &[Lanes; 3]) -> Self {
        Self([l.load(x), l.load(y), l.load(z)])
    }

    /// a s.
    #[inline(always)]
    #[must_use]
    pub fn scaled(self, s: Wide<L>) -> Self {
        let Self([x, y, z]) = self;
        Self([(x * s).rounded(), (y * s).rounded(), (z * s).rounded()])
    }

    /// a + b s.
    #[inline(always)]
    #[must_use]
    pub fn plus_scaled(self, Self([p, q, r]): Self, s: Wide<L>) -> Self {
        let Self([x, y, z]) = self;
        Self([x + s * p, y + s * q, z + s * r])
    }

    /// a · b.
    #[inline(always)]
    pub fn dot(self, Self([p, q, r]): Self) -> Wide<L> {
        let Self([x, y, z]) = self;
        x * p + y * q + z * r
    }

    /// a × b.
    #[inline(always)]
    #[must_use]
    pub fn cross(self, Self([p, q, r]): Self) -> Self {
        let Self([x, y, z]) = self;
        Self([y * r - z * q, z * p - x * r, x * q - y * p])
    }
}

impl<L: Arithmetic> Index<usize> for WideVectors<L> {
    type Output = Wide<L>;
    #[inline(always)]
    fn index(&self, i: usize) -> &Wide<L> {
        &self.0[i]
    }
}

impl<L: Arithmetic> Add for WideVectors<L> {
    type Output = Self;
    #[inline(always)]
    fn add(self, Self([p, q, r]): Self) -> Self {
        let Self([x, y, z]) = self;
        Self([x + p, y + q, z + r])
    }
}

impl<L: Arithmetic> Sub for WideVectors<L> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, Self([p, q, r]): Self) -> Self {
        let Self([x, y, z]) = self;
        Self([x - p, y - q, z - r])
    }
}
