//! Projected Gauss–Seidel over constraints, each solved exactly with the others fixed (\[A16\] §6, Erleben 2007).
//!
//! The iteration needs no matrix W: impulses go straight to the bodies' velocities through A⁻¹Jᵀ. A sweep costs one
//! product with J and one with A⁻¹Jᵀ.

use core::ops::Range;

use crate::{
    quad::{dot, subtract},
    scalar::sqrt,
    solver::Counters,
    system::System,
    wide::{Work, wide},
};

/// Sweeps until the residual is within tolerance, at least `counts.start` (unless nothing is left to do) and at most
/// `counts.end`. True if it is.
pub(crate) fn sweeps(
    system: &mut System,
    counts: Range<usize>,
    tolerance: f64,
    counters: &mut Counters,
) -> bool {
    wide(Sweeps { system, counts, tolerance, counters })
}

/// Arguments of [`sweeps`].
struct Sweeps<'a> {
    system: &'a mut System,
    counts: Range<usize>,
    tolerance: f64,
    counters: &'a mut Counters,
}

impl Work for Sweeps<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { system, counts, tolerance, counters } = self;
        for count in 1..=counts.end {
            counters.sweeps += 1;
            let met = sweep(system);
            let enough = count >= counts.start || met == 0.0;
            if enough && met <= tolerance && system.worst_residual() <= tolerance {
                return true;
            }
        }
        false
    }
}

/// One sweep in the order of addition. Returns the largest change on the way, as a velocity (m/s): how far an impulse was
/// from solving its own constraint, times the mean of the block's diagonal.
#[inline(always)]
fn sweep(system: &mut System) -> f64 {
    let mut worst = 0.0_f64;
    for i in 0..system.blocks.len() {
        let block = &system.blocks[i];
        if block.rho <= 0.0 {
            continue;
        }
        let (lambda, u) = (system.lambda[i], system.law_velocity(block));
        let block = &mut system.blocks[i];
        let next = block.local.solve(&block.law, u, lambda);
        let change = subtract(next, lambda);
        let square = dot(change, change) * (block.per_rho * block.per_rho);
        if square.is_nan() || square > worst {
            worst = square;
        }
        if square != 0.0 {
            system.change_impulse(i, next, change);
        }
    }
    sqrt(worst)
}
