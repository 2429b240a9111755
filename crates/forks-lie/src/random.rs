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

#[cfg(test)]
mod tests {
    use super::*;

    /// First outputs for seed 1234567, as published with the reference implementation in C.
    #[test]
    fn reference_sequence() {
        let mut r = SplitMix64::new(1_234_567);
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        for e in expected {
            assert_eq!(r.next_u64(), e);
        }
    }

    /// Mean 0 and covariance 1/3 of uniform directions, within five standard errors of 20,000
    /// samples.
    #[test]
    fn directions_are_uniform_and_of_unit_length() {
        let mut r = SplitMix64::new(5);
        let n = 20_000;
        let (mut mean, mut squares) = (DVec3::ZERO, DVec3::ZERO);
        for _ in 0..n {
            let d = r.direction();
            assert!((d.length() - 1.0).abs() < 4.0 * f64::EPSILON);
            mean += d / n as f64;
            squares += d * d / n as f64;
        }
        let n = n as f64;
        assert!(mean.abs().max_element() < 5.0 * (1.0 / 3.0 / n).sqrt());
        assert!((squares - 1.0 / 3.0).abs().max_element() < 5.0 * (4.0 / 45.0 / n).sqrt());
    }

    #[test]
    fn indices_stay_below() {
        let mut r = SplitMix64::new(9);
        let mut seen = [0; 7];
        for _ in 0..700 {
            seen[r.below(7)] += 1;
        }
        assert!(seen.iter().all(|&c| c > 50), "{seen:?}");
        assert_eq!(r.below(0), 0);
    }
}
