//! Second order of a sample: how the directions in which it gives way bend.
//!
//! A chain that is nearly straight gives way along a sphere, not along its tangent plane, and resists everything else.
//! A quadratic energy in ξ resists the sphere too. Here the energy is U₀ + bᵀξ̂ + ½ ξ̂ᵀK̂ξ̂ in bent coordinates
//! ξ̂ = ξ − ½ B q(η), η = BᵀS²ξ, q quadratic in η, and K̂ = S²B(𝓗 + b_η·q″)BᵀS², so that the second derivative at the
//! sample stays 𝓗. Third derivatives come from q; K̂ may be positive definite where 𝓗 is not.

use alloc::{vec, vec::Vec};

use forks_lie::Matrix;

use crate::{
    kernel::{LANES, Lanes},
    transition::Packed,
};

/// Number of products of two of n coordinates.
pub(crate) fn pairs(n: usize) -> usize {
    n * (n + 1) / 2
}

/// q and what is needed to apply it.
#[derive(Clone, Debug)]
pub(super) struct Curvature {
    /// q(η)_k = Σ_{i ≤ j} c_{k,ij} η_i η_j: rows k, columns (0,0), (0,1), …, (1,1), ….
    quadratic: Packed,
    transposed: Packed,
    /// −½ B and Bᵀ.
    bend: Packed,
    to_coordinates: Packed,
    /// −½ S²B.
    back: Packed,
}

/// Memory for one application.
#[derive(Clone, Debug, Default)]
pub(super) struct Bending {
    eta: Vec<f64>,
    products: Vec<f64>,
    values: Vec<f64>,
    slopes: Vec<f64>,
    bent: Vec<f64>,
}

impl Bending {
    pub(super) fn new(n: usize, effectors: usize) -> Self {
        let room = |n: usize| vec![0.0; n.div_ceil(LANES) * LANES];
        let (eta, products) = (room(n), room(pairs(n)));
        Self { values: room(n), slopes: room(n), bent: room(6 * effectors), eta, products }
    }
}

impl Curvature {
    /// From the coefficients c, the basis B and S²B.
    pub(super) fn new(coefficients: &Matrix, basis: &Matrix, dual: &Matrix) -> Self {
        let half = |m: &Matrix| Matrix::from_fn(m.rows(), m.columns(), |i, j| -0.5 * m[(i, j)]);
        Self {
            quadratic: Packed::new(coefficients),
            transposed: Packed::new(&coefficients.transpose()),
            bend: Packed::new(&half(basis)),
            to_coordinates: Packed::new(&basis.transpose()),
            back: Packed::new(&half(dual)),
        }
    }

    /// ξ̂ from ξ; η = BᵀS²ξ is `coordinates` times ξ.
    #[inline(always)]
    pub(super) fn bend<L: Lanes>(
        &self,
        l: L,
        coordinates: &Packed,
        twists: &[f64],
        work: &mut Bending,
        out: &mut [f64],
    ) {
        let n = self.bend.columns();
        coordinates.product(l, twists, &mut work.eta);
        let mut at = 0;
        for i in 0..n {
            for j in i..n {
                work.products[at] = work.eta[i] * work.eta[j];
                at += 1;
            }
        }
        self.quadratic.product(l, &work.products, &mut work.values);
        self.bend.product(l, &work.values, &mut work.bent);
        for ((o, x), b) in out.iter_mut().zip(twists).zip(&work.bent) {
            *o = x + b;
        }
    }

    /// Adds −½ S²B (∂q/∂η)ᵀ Bᵀ ŵ to ŵ: the wrench on ξ that ŵ on ξ̂ is.
    #[inline(always)]
    pub(super) fn straighten<L: Lanes>(
        &self,
        l: L,
        coordinates: &Packed,
        twists: &[f64],
        work: &mut Bending,
        wrench: &mut [f64],
    ) {
        let n = self.bend.columns();
        coordinates.product(l, twists, &mut work.eta);
        self.to_coordinates.product(l, wrench, &mut work.values);
        self.transposed.product(l, &work.values, &mut work.products);
        work.slopes.fill(0.0);
        let mut at = 0;
        for i in 0..n {
            for j in i..n {
                let t = work.products[at];
                work.slopes[i] += t * work.eta[j];
                work.slopes[j] += t * work.eta[i];
                at += 1;
            }
        }
        self.back.product(l, &work.slopes, &mut work.bent);
        for (w, b) in wrench.iter_mut().zip(&work.bent) {
            *w += b;
        }
    }
}

/// b·q″: the second derivative of ½ b_ηᵀ q(η), twice.
pub(super) fn along(coefficients: &Matrix, force: &[f64]) -> Matrix {
    let n = coefficients.rows();
    let mut out = Matrix::zeros(n, n);
    let mut at = 0;
    for i in 0..n {
        for j in i..n {
            let t: f64 = (0..n).map(|k| force[k] * coefficients[(k, at)]).sum();
            // ∂²(½ t η_i η_j)
            if i == j {
                out[(i, i)] = t;
            } else {
                out[(i, j)] = 0.5 * t;
                out[(j, i)] = 0.5 * t;
            }
            at += 1;
        }
    }
    out
}
