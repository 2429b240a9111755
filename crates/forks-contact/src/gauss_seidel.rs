//! Projected Gauss–Seidel over constraints, each solved exactly with the others fixed (\[A16\] §6, Erleben 2007).
//!
//! The iteration needs no matrix W: impulses go straight to the bodies' velocities through A⁻¹Jᵀ. A sweep costs one
//! product with J and one with A⁻¹Jᵀ.

use crate::{block::solve_block, system::System};

/// Share of a block's mean diagonal that ties its impulse to the last one: ½η‖λ − λ_old‖². It has no influence on where the
/// iteration rests, but a contact on a body with fewer than three freedoms has a singular block.
const PROXIMAL: f64 = 1e-9;

/// One sweep in the order of addition. Returns the largest natural map residual met on the way, m/s.
pub(crate) fn sweep(system: &mut System) -> f64 {
    let mut worst = 0.0_f64;
    for i in 0..system.blocks.len() {
        let block = &system.blocks[i];
        if block.rho <= 0.0 {
            continue;
        }
        let (lambda, u) = (system.impulse(block), system.law_velocity(block));
        let residual = block.law.residual(lambda, u, block.rho);
        if residual.is_nan() || residual > worst {
            worst = residual;
        }
        let eta = PROXIMAL / block.rho;
        let (mut w, mut q) = (block.w, u);
        for r in 0..block.rows() {
            w[r][r] += eta;
            for c in 0..block.rows() {
                q[r] -= w[r][c] * lambda[c];
            }
        }
        let next = solve_block(&block.law, &w, q, lambda);
        let change = [next[0] - lambda[0], next[1] - lambda[1], next[2] - lambda[2]];
        system.add_impulse(i, change);
    }
    worst
}
