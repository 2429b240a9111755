//! ∂P/∂F of an isotropic material through its analytic eigensystem \[SGK19\]:
//! three modes of stretch, three flips, three twists.
//!
//! In the axes of U and V, dP̂ᵢᵢ = Σ Aᵢⱼ dF̂ⱼⱼ, and each pair (i, j) has the flip (F̂ᵢⱼ + F̂ⱼᵢ)/√2
//! with the eigenvalue (pᵢ − pⱼ)/(σᵢ − σⱼ) and the twist (F̂ᵢⱼ − F̂ⱼᵢ)/√2 with (pᵢ + pⱼ)/(σᵢ + σⱼ).
//! Clamping the nine eigenvalues at zero gives the nearest positive semidefinite matrix.

use forks_dynamics::mechanism::lie::glam::{DMat3, DVec3};

use crate::{
    curvature::{Curvature, positive_part},
    material::Material,
    svd::Stretched,
};

/// Stretches nearer than this part of the largest take the limit of the quotient.
const EQUAL: f64 = 1e-6;

/// Pairs of axes, as (i, j), pair k without axis k.
const PAIRS: [[usize; 2]; 3] = [[1, 2], [0, 2], [0, 1]];

/// ∂P/∂F at one deformation gradient.
#[derive(Clone, Copy, Debug)]
pub struct StressDerivative {
    at: Stretched,
    stretch: [[f64; 3]; 3],
    /// Half the sum and half the difference of flip and twist, for the pair without axis k.
    same: [f64; 3],
    other: [f64; 3],
    /// Flips, twists.
    pairs: [[f64; 3]; 2],
}

impl StressDerivative {
    /// Of a material at F.
    pub fn new(material: &Material, curvature: Curvature, f: &DMat3) -> Self {
        let at = Stretched::new(*f);
        let s = at.sigma.to_array();
        let p = material.principal(s);
        let (mut stretch, a) = (p.slope, p.slope);
        let near = EQUAL * s[0].abs();
        let (mut flip, mut twist) = ([0.0; 3], [0.0; 3]);
        for (k, [i, j]) in PAIRS.into_iter().enumerate() {
            let (difference, sum) = (s[i] - s[j], s[i] + s[j]);
            flip[k] = match difference.abs() > near {
                true => (p.stress[i] - p.stress[j]) / difference,
                false => 0.5 * (a[i][i] + a[j][j]) - 0.5 * (a[i][j] + a[j][i]),
            };
            twist[k] = match sum.abs() > near {
                true => (p.stress[i] + p.stress[j]) / sum,
                false => 0.5 * (a[i][i] + a[j][j]) + 0.5 * (a[i][j] + a[j][i]),
            };
        }
        if curvature == Curvature::Projected {
            stretch = positive_part(stretch);
            flip = flip.map(|x| x.max(0.0));
            twist = twist.map(|x| x.max(0.0));
        }
        let same = [0, 1, 2].map(|k| 0.5 * (flip[k] + twist[k]));
        let other = [0, 1, 2].map(|k| 0.5 * (flip[k] - twist[k]));
        Self { at, stretch, same, other, pairs: [flip, twist] }
    }

    /// The eigenvalues of the six modes that are known in closed form: flips, then twists.
    pub fn pair_eigenvalues(&self) -> [[f64; 3]; 2] {
        self.pairs
    }

    /// The change of P for a change of F.
    pub fn apply(&self, df: &DMat3) -> DMat3 {
        let f = (self.at.u.transpose() * *df * self.at.v).to_cols_array_2d();
        let mut p = [[0.0; 3]; 3];
        for i in 0..3 {
            p[i][i] = (0..3).map(|j| self.stretch[i][j] * f[j][j]).sum();
        }
        for (k, [i, j]) in PAIRS.into_iter().enumerate() {
            p[i][j] = self.same[k] * f[i][j] + self.other[k] * f[j][i];
            p[j][i] = self.same[k] * f[j][i] + self.other[k] * f[i][j];
        }
        self.at.u * DMat3::from_cols_array_2d(&p) * self.at.v.transpose()
    }

    /// Vᵀ g: a gradient of a shape function as [`block`](Self::block) takes it.
    #[inline]
    pub fn turned(&self, gradient: DVec3) -> DVec3 {
        self.at.v.transpose() * gradient
    }

    /// Kᵢₖ = Σⱼₗ ∂Pᵢⱼ/∂Fₖₗ aⱼ bₗ for two turned gradients: the stiffness between two nodes per
    /// volume.
    #[inline]
    pub fn block(&self, a: DVec3, b: DVec3) -> DMat3 {
        let (a, b) = (a.to_array(), b.to_array());
        let mut c = [[0.0; 3]; 3];
        for i in 0..3 {
            for k in 0..3 {
                // Column k, row i.
                c[k][i] = self.stretch[i][k] * a[i] * b[k];
            }
        }
        for (k, [i, j]) in PAIRS.into_iter().enumerate() {
            c[i][i] += self.same[k] * a[j] * b[j];
            c[j][j] += self.same[k] * a[i] * b[i];
            c[j][i] += self.other[k] * a[j] * b[i];
            c[i][j] += self.other[k] * a[i] * b[j];
        }
        self.at.u * DMat3::from_cols_array_2d(&c) * self.at.u.transpose()
    }
}
