//! Second order of a sample: how the directions in which it gives way bend.
//!
//! A chain that is nearly straight gives way along a sphere, not along its tangent plane, and
//! resists everything else. A quadratic energy in ξ resists the sphere too. Here the energy is U₀ +
//! bᵀξ̂ + ½ ξ̂ᵀK̂ξ̂ in bent coordinates ξ̂ = ξ − ½ B q(η), η = BᵀS²ξ, q quadratic in η, and K̂ =
//! S²B(𝓗 + b_η·q″)BᵀS², so that the second derivative at the sample stays 𝓗. Third derivatives come
//! from q; K̂ may be positive definite where 𝓗 is not.

use alloc::{vec, vec::Vec};

use forks_linalg::{
    Matrix,
    simd::{Arithmetic, LANES},
};
use forks_rom::internal::Packed;

/// Number of products of two of n coordinates.
pub(crate) fn pairs(n: usize) -> usize {
    n * (n + 1) / 2
}

/// q and what is needed to apply it.
#[derive(Clone, Debug)]
pub(crate) struct Curvature {
    /// −½ B c: times the products η_i η_j, i ≤ j, what bending adds to ξ. q(η)_k = Σ_{i ≤ j}
    /// c_{k,ij} η_i η_j, columns (0,0), (0,1), …, (1,1), ….
    bend: Packed,
    /// Its transpose.
    back: Packed,
    /// S²B.
    dual: Packed,
}

/// Memory for one application.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bending {
    products: Vec<f64>,
    slopes: Vec<f64>,
    more: Vec<f64>,
}

impl Bending {
    pub(crate) fn new(n: usize, effectors: usize) -> Self {
        let room = |n: usize| vec![0.0; n.div_ceil(LANES) * LANES];
        Self { products: room(pairs(n)), slopes: room(n), more: room(6 * effectors) }
    }
}

impl Curvature {
    /// From the coefficients c, the basis B and S²B.
    pub(crate) fn new(coefficients: &Matrix, basis: &Matrix, dual: &Matrix) -> Self {
        let all = basis.mul(coefficients);
        let bend = Matrix::from_fn(all.rows(), all.columns(), |i, j| -0.5 * all[(i, j)]);
        Self {
            back: Packed::new(&bend.transpose()),
            bend: Packed::new(&bend),
            dual: Packed::new(dual),
        }
    }

    /// ξ̂ from ξ and η.
    #[inline(always)]
    pub(crate) fn bend<L: Arithmetic>(
        &self,
        l: L,
        eta: &[f64],
        twists: &[f64],
        work: &mut Bending,
        out: &mut [f64],
    ) {
        let mut at = 0;
        for (i, x) in eta.iter().enumerate() {
            let row = &eta[i..];
            let products = &mut work.products[at..at + row.len()];
            products.iter_mut().zip(row).for_each(|(p, y)| *p = x * y);
            at += row.len();
        }
        self.bend.product(l, &work.products, &mut work.more);
        for ((o, x), b) in out.iter_mut().zip(twists).zip(&work.more) {
            *o = x + b;
        }
    }

    /// Adds −½ S²B (∂q/∂η)ᵀ Bᵀ ŵ to ŵ: the wrench on ξ that ŵ on ξ̂ is.
    #[inline(always)]
    pub(crate) fn straighten<L: Arithmetic>(
        &self,
        l: L,
        eta: &[f64],
        work: &mut Bending,
        wrench: &mut [f64],
    ) {
        self.back.product(l, wrench, &mut work.products);
        work.slopes.fill(0.0);
        let mut at = 0;
        for (i, x) in eta.iter().enumerate() {
            let row = &eta[i..];
            let mut own = 0.0;
            let products = &work.products[at..at + row.len()];
            for ((s, t), y) in work.slopes[i..].iter_mut().zip(products).zip(row) {
                *s += t * x;
                own += t * y;
            }
            work.slopes[i] += own;
            at += row.len();
        }
        self.dual.product(l, &work.slopes, &mut work.more);
        for (w, b) in wrench.iter_mut().zip(&work.more) {
            *w += b;
        }
    }
}

/// b·q″, N × N, for a sample's curvature (see [`crate::SampleData::curvature`]) and the generalised
/// force b_η of its static wrenches: what the bending adds to 𝓗, so that K = 𝓗 + b·q″. Zero for a
/// curvature of 0 × 0.
pub fn stiffness_of_bending(coefficients: &Matrix, force: &[f64]) -> Matrix {
    let n = force.len();
    let mut out = Matrix::zeros(n, n);
    if coefficients.rows() == 0 {
        return out;
    }
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
