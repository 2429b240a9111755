//! St. Venant–Kirchhoff, plain and windowed.
//!
//! e(σ) = ½(σ² − 1) within [√λ_L, √λ_U]; outside, with c the limit, δ = σ − c, e_c = e(c):
//! LinearStress e = sign(e_c) √(e_c² + 2 e_c c δ + (c² + e_c) δ²), so that the uniaxial stress e e′
//! is linear in σ with the slope c² + e_c that it has at the limit; LinearStrain e = e_c + c δ.

use forks_dynamics::mechanism::lie::glam::{DMat3, DVec3};

use super::{Material, Principal, Window};
use crate::{
    curvature::{Curvature, positive_part},
    window::Range,
};

/// e, e′, e″.
fn strain(window: Window, sigma: f64) -> [f64; 3] {
    let plain = [0.5 * (sigma * sigma - 1.0), sigma, 1.0];
    let Some(range) = window.range() else { return plain };
    let [lower, upper] = range.stretches();
    let c = sigma.clamp(lower, upper);
    if c == sigma {
        return plain;
    }
    let (at, delta) = (0.5 * (c * c - 1.0), sigma - c);
    match window {
        Window::LinearStrain(_) => [at + c * delta, c, 0.0],
        _ => {
            let k = c * c + at;
            let sign = at.signum();
            let root = (at * at + (2.0 * at * c + k * delta) * delta).sqrt();
            let first = (at * c + k * delta) / root;
            [sign * root, sign * first, sign * (k - first * first) / root]
        }
    }
}

impl Material {
    /// Ψ = µ Σ eᵢ² + ½ λ (Σ eᵢ)².
    pub(super) fn strains(&self, window: Window, sigma: [f64; 3]) -> Principal {
        let (mu, lambda) = (self.mu, self.lambda);
        let e = sigma.map(|s| strain(window, s));
        let trace = e[0][0] + e[1][0] + e[2][0];
        let squares: f64 = e.iter().map(|e| e[0] * e[0]).sum();
        let q = e.map(|e| 2.0 * mu * e[0] + lambda * trace);
        let mut slope = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                slope[i][j] = lambda * e[i][1] * e[j][1];
            }
            slope[i][i] += 2.0 * mu * e[i][1] * e[i][1] + q[i] * e[i][2];
        }
        let stress = [0, 1, 2].map(|i| q[i] * e[i][1]);
        Principal { energy: mu * squares + 0.5 * lambda * trace * trace, stress, slope }
    }

    /// P̂(c) + ∂P̂/∂σ(c) (σ − c), c = clamp σ (\[K08\] §4.4). The slope is that at c: not the
    /// derivative where one stretch is outside and another moves within.
    pub(super) fn per_stretch(&self, range: Range, sigma: [f64; 3]) -> Principal {
        let [lower, upper] = range.stretches();
        let c = sigma.map(|s| s.clamp(lower, upper));
        let mut at = self.strains(Window::None, c);
        let delta = [0, 1, 2].map(|i| sigma[i] - c[i]);
        let extra = at.slope.map(|row| (0..3).map(|j| row[j] * delta[j]).sum::<f64>());
        at.energy += (0..3).map(|i| (at.stress[i] + 0.5 * extra[i]) * delta[i]).sum::<f64>();
        (0..3).for_each(|i| at.stress[i] += extra[i]);
        at
    }

    /// F S, S = λ tr(E) 1 + 2µE, E = ½(FᵀF − 1) (\[K08\] Eq. 11–13).
    #[inline]
    pub(super) fn stvk_stress(&self, f: &DMat3) -> DMat3 {
        let e = green(f);
        let trace = e.x_axis.x + e.y_axis.y + e.z_axis.z;
        let s = e * (2.0 * self.mu) + DMat3::from_diagonal([self.lambda * trace; 3].into());
        *f * s
    }

    /// What stiffness consists of: dP = dF S + F (λ tr(FᵀdF) + µ (dFᵀF + FᵀdF)). Without negative
    /// curvature only what tension gives remains of the first part; the second has none.
    pub(super) fn stvk_stiffness(&self, curvature: Curvature, f: &DMat3) -> PlainStiffness {
        let e = green(f);
        let trace = e.x_axis.x + e.y_axis.y + e.z_axis.z;
        let mut s = e * (2.0 * self.mu) + DMat3::from_diagonal([self.lambda * trace; 3].into());
        if curvature == Curvature::Projected {
            s = DMat3::from_cols_array_2d(&positive_part(s.to_cols_array_2d()));
        }
        PlainStiffness { s, square: *f * f.transpose() * self.mu, mu: self.mu, lambda: self.lambda }
    }

    pub(super) fn stvk_energy(&self, f: &DMat3) -> f64 {
        let e = green(f);
        let trace = e.x_axis.x + e.y_axis.y + e.z_axis.z;
        let squares: f64 = e.to_cols_array().iter().map(|x| x * x).sum();
        self.mu * squares + 0.5 * self.lambda * trace * trace
    }
}

/// Stress and F Fᵀ of one element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainStiffness {
    /// S, second Piola–Kirchhoff.
    s: DMat3,
    /// µ F Fᵀ.
    square: DMat3,
    mu: f64,
    lambda: f64,
}

impl PlainStiffness {
    /// Stiffness between two nodes with gradients g and a = F g of their shape functions, times a
    /// volume.
    #[inline]
    pub(crate) fn block(&self, g: [DVec3; 2], a: [DVec3; 2], weight: f64) -> DMat3 {
        let stress = g[0].dot(self.s * g[1]) * weight;
        let (l, m) = (a[0] * (self.lambda * weight), a[1] * (self.mu * weight));
        let mut out = self.square * (g[0].dot(g[1]) * weight);
        out.x_axis += l * a[1].x + m * a[0].x;
        out.y_axis += l * a[1].y + m * a[0].y;
        out.z_axis += l * a[1].z + m * a[0].z;
        out.x_axis.x += stress;
        out.y_axis.y += stress;
        out.z_axis.z += stress;
        out
    }
}

/// E = ½(FᵀF − 1).
#[inline]
fn green(f: &DMat3) -> DMat3 {
    (f.transpose() * *f - DMat3::IDENTITY) * 0.5
}
