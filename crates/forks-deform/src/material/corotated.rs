//! Fixed corotated \[SHST12\].

use super::{Material, Principal, neo_hookean::volume_slope};

impl Material {
    pub(super) fn corotated(&self, s: [f64; 3]) -> Principal {
        let (mu, lambda) = (self.mu, self.lambda);
        let cofactor = [s[1] * s[2], s[0] * s[2], s[0] * s[1]];
        let excess = s[0] * s[1] * s[2] - 1.0;
        let squares: f64 = s.iter().map(|s| (s - 1.0) * (s - 1.0)).sum();
        let energy = mu * squares + 0.5 * lambda * excess * excess;
        let stress = [0, 1, 2].map(|i| 2.0 * mu * (s[i] - 1.0) + lambda * excess * cofactor[i]);
        let mut slope = volume_slope(lambda, excess, s, cofactor);
        (0..3).for_each(|i| slope[i][i] += 2.0 * mu);
        Principal { energy, stress, slope }
    }
}
