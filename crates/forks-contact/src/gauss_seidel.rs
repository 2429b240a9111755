//! Projected Gauss–Seidel over constraints, each solved exactly with the others fixed (\[A16\] §6, Erleben 2007).
//!
//! The iteration needs no matrix W: impulses go straight to the bodies' velocities through A⁻¹Jᵀ. A sweep costs one
//! product with J and one with A⁻¹Jᵀ.

use crate::system::System;

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
        if residual == 0.0 {
            continue;
        }
        let block = &mut system.blocks[i];
        let w = &block.local.w;
        let q: [f64; 3] = core::array::from_fn(|r| {
            u[r] - (w[r][0] * lambda[0] + w[r][1] * lambda[1] + w[r][2] * lambda[2])
        });
        let next = block.local.solve(&block.law, q, lambda);
        system.change_impulse(i, next);
    }
    worst
}
