//! SplitMix64: the one seeded generator of random numbers, the same on every machine.

use forks_linalg::sqrt;
use glam::DVec3;

/// The SplitMix64 generator \[SLF14\]: a Weyl sequence of the golden ratio through a 64-bit
/// finaliser. Equal seeds give equal numbers on every target; not for cryptography.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator with the given seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number uniform in [0, 1), a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number uniform in [lower, upper).
    pub fn range(&mut self, lower: f64, upper: f64) -> f64 {
        lower + (upper - lower) * self.uniform()
    }

    /// An index below `n` (0 for n = 0), by the high half of a 128-bit product.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// A unit vector uniform on the sphere, by rejection from the cube: no trigonometry, so that it
    /// is the same on every target.
    pub fn direction(&mut self) -> DVec3 {
        loop {
            let v = DVec3::new(self.range(-1.0, 1.0), self.range(-1.0, 1.0), self.range(-1.0, 1.0));
            let n = v.length_squared();
            if n > 1e-4 && n <= 1.0 {
                return v / sqrt(n);
            }
        }
    }
}
