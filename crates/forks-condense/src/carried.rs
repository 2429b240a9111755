//! Patches that carry forces: from forces that stay in the world on every node of a patch to a
//! wrench that is linear in the patch's exponential coordinates, as reduced models carry it.
//!
//! The patch's mean moves by Δp = v + ½ ω×v + …, so that −f·Δp = −wᵀξ_c − ½ ξ_cᵀ M ξ_c with
//! ½ ξᵀMξ = ½ f·(ω×v). Tissue under dead forces has the energy ½(ξ_c − Aξ)ᵀC₀⁻¹(ξ_c − Aξ) + ½ξᵀKξ
//! beside wᵀξ_c; with the pose of the patch given instead M is added, and eliminating ξ_c again
//!
//! ```text
//! C₀ ← (1 + C₀M)⁻¹ C₀,  A ← (1 + C₀M)⁻¹ A,  K ← K + Aᵀ M (1 + C₀M)⁻¹ A
//! ```

use forks_deform::dynamics::mechanism::{
    lie::{Wrench, skew},
    linalg::{Matrix, dense},
};

/// K, A and C₀ with wrenches on the patches, in their axes; torques must be zero.
pub(crate) fn carry(wrenches: &[Wrench], k: &mut Matrix, a: &mut Matrix, c: &mut Matrix) {
    if wrenches.iter().all(|w| *w == Wrench::ZERO) {
        return;
    }
    let p = c.rows();
    let mut bend = Matrix::zeros(p, p);
    for (o, w) in wrenches.iter().enumerate() {
        let half = skew(w.force) * 0.5;
        for i in 0..3 {
            for j in 0..3 {
                bend[(6 * o + i, 6 * o + 3 + j)] = half.col(j)[i];
                bend[(6 * o + 3 + j, 6 * o + i)] = half.col(j)[i];
            }
        }
    }
    let whole = Matrix::identity(p).plus_scaled(1.0, &c.mul(&bend));
    let moved = dense::lu_solve(&whole, a);
    *k = k.plus_scaled(1.0, &a.transpose_mul(&bend.mul(&moved))).symmetric_part();
    *c = dense::lu_solve(&whole, c).symmetric_part();
    *a = moved;
}
