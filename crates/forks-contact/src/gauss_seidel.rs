//! Projected Gauss–Seidel over constraints, each solved exactly with the others fixed (\[A16\] §6, Erleben 2007).
//!
//! The iteration needs no matrix W: impulses go straight to the bodies' velocities through A⁻¹Jᵀ. A sweep costs one
//! product with J and one with A⁻¹Jᵀ.

use crate::{scalar::sqrt, system::System};

/// One sweep in the order of addition. Returns the largest change on the way, as a velocity (m/s): how far an impulse was
/// from solving its own constraint, times the mean of the block's diagonal.
pub(crate) fn sweep(system: &mut System) -> f64 {
    let mut worst = 0.0_f64;
    for i in 0..system.blocks.len() {
        let block = &system.blocks[i];
        if block.rho <= 0.0 {
            continue;
        }
        let (lambda, u) = (system.impulse(block), system.law_velocity(block));
        let block = &mut system.blocks[i];
        let next = block.local.solve(&block.law, u, lambda);
        let change: [f64; 3] = core::array::from_fn(|k| next[k] - lambda[k]);
        let square = change.iter().map(|x| x * x).sum::<f64>() / (block.rho * block.rho);
        if square.is_nan() || square > worst {
            worst = square;
        }
        if change != [0.0; 3] {
            system.change_impulse(i, next);
        }
    }
    sqrt(worst)
}
