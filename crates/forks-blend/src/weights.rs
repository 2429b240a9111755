//! Weights of the samples, from distances between the effectors' poses.

use alloc::vec::Vec;

/// How the weights depend on the distances d_i.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Weights {
    /// α_i ∝ d_i^{−p}, d_i² = Σ_e ‖S log(H_{e,i}⁻¹ H_e)‖² with lengths over r \[Shepard68\]. The
    /// energy form needs p ≥ 4: up to second order a sample is then reproduced.
    Shepard {
        /// The exponent, an even number.
        exponent: u32,
    },
    /// As [`Weights::Shepard`], times a smooth cutoff: only some of the nearest samples have
    /// weight, and enter and leave without a jump. For large sets: the samples are found by walking
    /// a graph of neighbours.
    Neighbours {
        /// The exponent, an even number.
        exponent: u32,
        /// Smooth count of the samples that take part; those near the border count in part.
        count: u32,
    },
    /// As [`Weights::Shepard`], in each sample's own metric: d_i² = Σ_e ‖S ξ_e‖² + ξᵀK_i⁺ξ/ε, ξ_e =
    /// log(H_{e,i}⁻¹ H_e) (bent where the sample is), K_i⁺ the positive part of the sample's
    /// stiffness, no direction counting more than √30 times. A sample has little say along a
    /// direction in which it is stiff, so its quadratic energy, U_i α_i ≲ ε, cannot drown those of
    /// samples that are soft there.
    Metric {
        /// The exponent, an even number.
        exponent: u32,
        /// ε, J: elastic energy that counts as far as a displacement of 1.
        energy: f64,
    },
    /// \[A16\] Eq. 25 as printed: d_i = Σ_e ‖ξ_e − ξ_e^(i)‖ with lengths over r and angles over π,
    /// p = 2.
    Printed,
}

impl Default for Weights {
    fn default() -> Self {
        Self::Shepard { exponent: 6 }
    }
}

/// α_i ∝ (d_i²)^{−p/2} from squared distances; one sample at distance 0 has all the weight.
pub(crate) fn shepard(squared: &[f64], exponent: u32, out: &mut Vec<f64>) {
    let nearest = squared.iter().fold(f64::INFINITY, |m, d| m.min(*d));
    out.clear();
    if nearest == 0.0 {
        // Samples at the same pose share it.
        let count = squared.iter().filter(|d| **d == 0.0).count() as f64;
        out.extend(squared.iter().map(|d| if *d == 0.0 { 1.0 / count } else { 0.0 }));
        return;
    }
    out.extend(squared.iter().map(|d| power(nearest / d, exponent / 2)));
    let sum: f64 = out.iter().sum();
    out.iter_mut().for_each(|w| *w /= sum);
}

/// α_i ∝ (d_i²)^{−p/2} ψ_i for some samples, 0 for the others.
pub(crate) fn neighbours(
    squared: &[f64],
    seen: &[usize],
    exponent: u32,
    cutoff: &super::cutoff::Cutoff,
    out: &mut [f64],
) {
    out.fill(0.0);
    let nearest = seen.iter().fold(f64::INFINITY, |m, &i| m.min(squared[i]));
    for &i in seen {
        out[i] = match nearest == 0.0 {
            true => f64::from(squared[i] == 0.0),
            false => power(nearest / squared[i], exponent / 2) * cutoff.factor(squared[i]),
        };
    }
    let sum: f64 = out.iter().sum();
    out.iter_mut().for_each(|w| *w /= sum);
}

/// x^n by repeated multiplication.
fn power(x: f64, n: u32) -> f64 {
    (0..n).fold(1.0, |p, _| p * x)
}

/// \[A16\] Eq. 25: α_i ∝ (Σ_e ‖ξ_e − ξ_e^(i)‖)⁻², lengths over r and angles over π.
pub(crate) fn printed(
    logarithms: &[super::relative::Logarithm],
    effectors: usize,
    radius: f64,
    out: &mut Vec<f64>,
) {
    let distance = |of_sample: &[super::relative::Logarithm]| -> f64 {
        let norm = |l: &super::relative::Logarithm| {
            let (v, w) = (l.xi.linear / radius, l.xi.angular / core::f64::consts::PI);
            forks_linalg::sqrt(v.length_squared() + w.length_squared())
        };
        let sum: f64 = of_sample.iter().map(norm).sum();
        sum * sum
    };
    out.clear();
    out.extend(logarithms.chunks_exact(effectors).map(distance));
    let nearest = out.iter().fold(f64::INFINITY, |m, d| m.min(*d));
    let weight = |d: f64| match (nearest == 0.0, d == 0.0) {
        (true, same) => f64::from(same),
        (false, _) => nearest / d,
    };
    out.iter_mut().for_each(|d| *d = weight(*d));
    let sum: f64 = out.iter().sum();
    out.iter_mut().for_each(|w| *w /= sum);
}
