//! Projected Gauss–Seidel over constraints, each solved exactly with the others fixed (\[A16\] §6, Erleben 2007).
//!
//! The iteration needs no matrix W: impulses go straight to the bodies' velocities through A⁻¹Jᵀ. A sweep costs one
//! product with J and one with A⁻¹Jᵀ.

use core::ops::Range;

use crate::{
    quad::{Quad, add_rows, dot, multiply_add},
    scalar::sqrt,
    solver::Counters,
    system::{Block, System},
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
    let worst = if system.is_coupled { over_blocks(system) } else { over_bodies(system) };
    sqrt(worst)
}

/// Over the blocks of W.
#[inline(always)]
fn over_blocks(system: &mut System) -> f64 {
    let mut worst = 0.0_f64;
    let System { blocks, lambda, bias, w, rates, count, .. } = system;
    let rates = &mut rates[..*count];
    let constraints = blocks.iter_mut().zip(lambda).zip(bias).enumerate();
    for ((i, ((block, lambda), bias)), row) in constraints.zip(w.chunks((*count).max(1))) {
        let u = rates[i].plus(multiply_add(block.regularisation, *lambda, *bias));
        if let Some(change) = solve(block, u, lambda, &mut worst) {
            for (u, w) in rates.iter_mut().zip(row) {
                *u = add_rows(*u, change, w);
            }
        }
    }
    worst
}

/// Over the rates of bodies.
#[inline(always)]
fn over_bodies(system: &mut System) -> f64 {
    let mut worst = 0.0_f64;
    for i in 0..system.blocks.len() {
        let u = system.law_velocity(&system.blocks[i]);
        let (block, lambda) = (&mut system.blocks[i], &mut system.lambda[i]);
        if let Some(change) = solve(block, u, lambda, &mut worst) {
            system.move_bodies(i, change);
        }
    }
    worst
}

/// Solves one constraint exactly. Returns the change of its impulse, if there is one, and notes how large it is.
#[inline(always)]
fn solve(block: &mut Block, u: Quad, lambda: &mut Quad, worst: &mut f64) -> Option<Quad> {
    if block.rho <= 0.0 {
        return None;
    }
    let next = block.local.solve(&block.law, u, *lambda);
    // The impulse itself is taken to the last bit: it stays admissible.
    let change = next.minus(core::mem::replace(lambda, next));
    let square = dot(change, change) * (block.per_rho * block.per_rho);
    if square.is_nan() || square > *worst {
        *worst = square;
    }
    (square != 0.0).then_some(change)
}
