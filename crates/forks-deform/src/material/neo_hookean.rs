//! Stable neo-Hookean \[SGK18\] with λ′ = λ + µ, so that small strains are
//! Lamé's: no ridge and a way back from every state.

use forks_dynamics::mechanism::lie::glam::DMat3;

use super::{Material, Principal};

impl Material {
    /// λ′ and α.
    fn shifted(&self) -> [f64; 2] {
        let lambda = self.lambda + self.mu;
        [lambda, 1.0 + self.mu / lambda]
    }

    pub(super) fn neo_hookean(&self, s: [f64; 3]) -> Principal {
        let (mu, [lambda, alpha]) = (self.mu, self.shifted());
        let cofactor = [s[1] * s[2], s[0] * s[2], s[0] * s[1]];
        let excess = s[0] * s[1] * s[2] - alpha;
        let squares = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
        let rest = (1.0 - alpha) * (1.0 - alpha);
        let energy = 0.5 * mu * (squares - 3.0) + 0.5 * lambda * (excess * excess - rest);
        let stress = [0, 1, 2].map(|i| mu * s[i] + lambda * excess * cofactor[i]);
        let mut slope = volume_slope(lambda, excess, s, cofactor);
        (0..3).for_each(|i| slope[i][i] += mu);
        Principal { energy, stress, slope }
    }

    /// µ F + λ′ (J − α) cof F.
    #[inline]
    pub(super) fn neo_hookean_stress(&self, f: &DMat3) -> DMat3 {
        let [lambda, alpha] = self.shifted();
        let [a, b, c] = [f.x_axis, f.y_axis, f.z_axis];
        let cofactor = DMat3::from_cols(b.cross(c), c.cross(a), a.cross(b));
        let excess = a.dot(cofactor.x_axis) - alpha;
        *f * self.mu + cofactor * (lambda * excess)
    }
}

/// Second derivatives of ½ λ (J − α)² by the stretches.
pub(super) fn volume_slope(lambda: f64, excess: f64, s: [f64; 3], c: [f64; 3]) -> [[f64; 3]; 3] {
    let mut slope = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            let other = if i == j { 0.0 } else { excess * s[3 - i - j] };
            slope[i][j] = lambda * (c[i] * c[j] + other);
        }
    }
    slope
}
