//! Random numbers that are the same everywhere.

use forks_mechanism::lie::SplitMix64;

use crate::rigid::{Rigid, rotation_of_quaternion};

/// xoshiro256++ seeded by SplitMix64: the same numbers on every machine.
///
/// The scenarios' figures in READMEs and fixtures stand on this sequence. All else that is random
/// takes `SplitMix64`.
#[derive(Clone, Debug)]
pub struct Rng([u64; 4]);

impl Rng {
    /// A generator for a seed.
    pub fn new(seed: u64) -> Self {
        let mut seeds = SplitMix64::new(seed);
        Self(std::array::from_fn(|_| seeds.next_u64()))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.0;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [−1, 1).
    pub fn symmetric(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// Uniform in [low, high).
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform in 0..n; n must not be 0.
    pub fn index(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// A random sign.
    pub fn sign(&mut self) -> f64 {
        if self.chance(0.5) { 1.0 } else { -1.0 }
    }

    /// Uniform on the unit sphere.
    pub fn direction(&mut self) -> [f64; 3] {
        loop {
            let v = self.vector();
            let n = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            if n > 0.1 && n <= 1.0 {
                return v.map(|x| x / n);
            }
        }
    }

    /// Uniform in the cube [−1, 1)³.
    pub fn vector(&mut self) -> [f64; 3] {
        std::array::from_fn(|_| self.symmetric())
    }

    /// A uniform rotation as unit quaternion (w, x, y, z).
    pub fn quaternion(&mut self) -> [f64; 4] {
        loop {
            let q: [f64; 4] = std::array::from_fn(|_| self.symmetric());
            let n = q.iter().map(|x| x * x).sum::<f64>().sqrt();
            if n > 0.1 && n <= 1.0 {
                return q.map(|x| x / n);
            }
        }
    }

    /// A uniform rotation about the origin, moved to `position`.
    pub fn pose(&mut self, position: [f64; 3]) -> Rigid<f64> {
        Rigid { a: rotation_of_quaternion(self.quaternion()), b: position }
    }

    /// A symmetric positive definite matrix (rows) with eigenvalues log-uniform in [low, high].
    pub fn positive_definite(&mut self, n: usize, low: f64, high: f64) -> Vec<f64> {
        let mut m = vec![0.0; n * n];
        for i in 0..n {
            m[i * n + i] = low * (high / low).powf(self.unit());
        }
        // Plane rotations keep the eigenvalues.
        for _ in 0..2 {
            for p in 0..n {
                for q in p + 1..n {
                    let (s, c) = self.range(-1.6, 1.6).sin_cos();
                    for k in 0..n {
                        let (x, y) = (m[k * n + p], m[k * n + q]);
                        (m[k * n + p], m[k * n + q]) = (c * x - s * y, s * x + c * y);
                    }
                    for k in 0..n {
                        let (x, y) = (m[p * n + k], m[q * n + k]);
                        (m[p * n + k], m[q * n + k]) = (c * x - s * y, s * x + c * y);
                    }
                }
            }
        }
        for i in 0..n {
            for j in 0..i {
                m[i * n + j] = m[j * n + i];
            }
        }
        m
    }

    /// Random order.
    pub fn shuffle<T>(&mut self, x: &mut [T]) {
        for i in (1..x.len()).rev() {
            x.swap(i, self.index(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_published_generator() {
        let mut rng = Rng([1, 2, 3, 4]);
        let first: Vec<u64> = (0..4).map(|_| rng.bits()).collect();
        assert_eq!(first, [41943041, 58720359, 3588806011781223, 3591011842654386]);
    }

    #[test]
    fn positive_definite_matrices_have_the_wanted_eigenvalues() {
        let mut rng = Rng::new(8);
        for n in 1..=6 {
            let k = rng.positive_definite(n, 2.0, 50.0);
            let m = crate::Matrix::from_fn(n, n, |i, j| k[i * n + j]);
            let (e, _) = crate::linear::symmetric_eigen(&m);
            assert!(e[0] > 2.0 - 1e-12 && e[n - 1] < 50.0 + 1e-12, "{e:?}");
        }
    }
}
