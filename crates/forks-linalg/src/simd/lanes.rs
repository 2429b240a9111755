//! Four numbers in memory.

use core::ops::{Deref, DerefMut};

/// Numbers per lane group.
pub const LANES: usize = 4;

/// Four numbers, aligned to 32 bytes so that one vector load never crosses a cache line.
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

impl Lanes {
    /// a s.
    #[inline(always)]
    #[must_use]
    pub const fn scaled(self, s: f64) -> Self {
        let a = self.0;
        Self([a[0] * s, a[1] * s, a[2] * s, a[3] * s])
    }

    /// a + b.
    #[inline(always)]
    #[must_use]
    pub const fn plus(self, b: Self) -> Self {
        let (a, b) = (self.0, b.0);
        Self([a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]])
    }

    /// a − b.
    #[inline(always)]
    #[must_use]
    pub const fn minus(self, b: Self) -> Self {
        let (a, b) = (self.0, b.0);
        Self([a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]])
    }
}
