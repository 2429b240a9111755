//! The cost of going on for ever: P of the discrete algebraic Riccati equation
//! P = Q + AᵀPA − AᵀPB (R + BᵀPB)⁻¹ BᵀPA, by doubling.
//!
//! With k steps known, (A_k, G_k, H_k), as many again follow at once (Chu, Fan, Lin and Wang,
//! "Structure-preserving algorithms for periodic discrete-time algebraic Riccati equations", Int.
//! J. Control 77, 2004): W = (1 + G H)⁻¹, A⁺ = A W A, G⁺ = G + A W G Aᵀ, H⁺ = H + Aᵀ H W A. H tends
//! to P.

use forks_rom::linalg::{Matrix, Pivots};

/// Doublings at most: 2⁶⁰ steps.
const DOUBLINGS: usize = 60;
/// H has arrived when a doubling changes it by less than this part.
const ARRIVED: f64 = 1e-14;

/// P for x⁺ = A x + B u and the cost Σ xᵀQx + uᵀRu; `None` if it does not settle: a motion that
/// costs something, that does not die out and that no command stops.
pub(crate) fn cost_to_go(a: &Matrix, b: &Matrix, q: &Matrix, r: &Matrix) -> Option<Matrix> {
    let n = a.rows();
    let mut a = a.clone();
    let weighed = r.solve(&b.transpose(), Pivots::AboveZero)?;
    let (mut g, mut h) = (b.mul(&weighed).symmetric_part(), q.symmetric_part());
    for _ in 0..DOUBLINGS {
        let w = Matrix::identity(n).plus_scaled(1.0, &g.mul(&h));
        let wa = w.solve(&a, Pivots::AboveZero)?;
        let wg = w.solve(&g, Pivots::AboveZero)?;
        let more = a.transpose().mul(&h).mul(&wa).symmetric_part();
        g = g.plus_scaled(1.0, &a.mul(&wg).mul(&a.transpose())).symmetric_part();
        a = a.mul(&wa);
        let settled = more.norm() <= ARRIVED * h.norm();
        h = h.plus_scaled(1.0, &more);
        if !h.is_finite() {
            return None;
        }
        if settled {
            return Some(h);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use forks_dynamics::mechanism::lie::SplitMix64;

    fn random(rng: &mut SplitMix64, rows: usize, columns: usize, size: f64) -> Matrix {
        Matrix::from_fn(rows, columns, |_, _| rng.range(-size, size))
    }

    /// The equation itself, and the limit of its recursion step by step.
    #[test]
    fn solves_the_equation_as_the_recursion_does() {
        let mut rng = SplitMix64::new(4);
        for (n, m) in [(1, 1), (2, 1), (6, 2), (12, 4), (24, 3)] {
            let (a, b) =
                (random(&mut rng, n, n, 1.5 / (n as f64).sqrt()), random(&mut rng, n, m, 1.0));
            let root = random(&mut rng, n, n, 1.0);
            let q = root.transpose_mul(&root);
            let r = Matrix::from_fn(m, m, |i, j| if i == j { 0.5 + i as f64 } else { 0.0 });
            let next = |p: &Matrix| {
                let (pa, pb) = (p.mul(&a), p.mul(&b));
                let gain = r.plus_scaled(1.0, &b.transpose_mul(&pb));
                let gain = gain.solve(&b.transpose_mul(&pa), Pivots::AboveZero).unwrap();
                let without = a.transpose_mul(&pa);
                let spared = a.transpose_mul(&pb).mul(&gain);
                q.plus_scaled(1.0, &without).plus_scaled(-1.0, &spared).symmetric_part()
            };
            let p = cost_to_go(&a, &b, &q, &r).unwrap();
            assert!(next(&p).sub(&p).norm() < 1e-11 * p.norm(), "{n} {m}");
            let mut step = q.clone();
            for _ in 0..3000 {
                step = next(&step);
            }
            assert!(step.sub(&p).norm() < 1e-10 * p.norm(), "{n} {m}");
        }
    }

    #[test]
    fn a_motion_that_nothing_stops_has_no_cost() {
        let grows = Matrix::from_fn(1, 1, |_, _| 1.5);
        let zero = Matrix::zeros(1, 1);
        let one = Matrix::identity(1);
        assert_eq!(cost_to_go(&grows, &zero, &one, &one), None);
    }
}
