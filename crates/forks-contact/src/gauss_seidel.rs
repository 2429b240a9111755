//! Projected Gauss–Seidel over constraints, each solved exactly with the others fixed (\[A16\] §6,
//! \[E07\]).
//!
//! The iteration needs no matrix W: impulses go straight to the bodies' velocities through A⁻¹Jᵀ. A
//! sweep costs one product with J and one with A⁻¹Jᵀ.

use core::ops::Range;

use forks_linalg::{
    simd::{Arithmetic, Kernel},
    sqrt,
};

use crate::{
    goal::Counters,
    quad::{Quad, add_rows, dot},
    system::{Block, System},
};

/// Sweeps until the residual is within tolerance, at least `counts.start` (unless nothing is left
/// to do) and at most `counts.end`. True if it is.
pub(crate) fn sweeps(
    system: &mut System,
    counts: Range<usize>,
    tolerance: f64,
    counters: &mut Counters,
) -> bool {
    system.isa.run(Sweeps { system, counts, tolerance, counters })
}

/// Arguments of [`sweeps`].
struct Sweeps<'a> {
    system: &'a mut System,
    counts: Range<usize>,
    tolerance: f64,
    counters: &'a mut Counters,
}

impl Kernel for Sweeps<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> bool {
        let Self { system, counts, tolerance, counters } = self;
        let mut before = 0.0;
        for count in 1..=counts.end {
            counters.sweeps += 1;
            let met = sweep(l, system);
            let enough = count >= counts.start || met == 0.0;
            // What a further sweep would meet if changes went on shrinking as they did.
            let next = met * (met / before).min(1.0);
            if enough && next <= tolerance && system.worst_residual(l) <= tolerance {
                return true;
            }
            before = met;
        }
        false
    }
}

/// One sweep in the order of addition. Returns the largest change on the way, as a velocity (m/s):
/// how far an impulse was from solving its own constraint, times the mean of the block's diagonal.
#[inline(always)]
fn sweep<L: Arithmetic>(l: L, system: &mut System) -> f64 {
    let worst = if system.is_coupled { over_blocks(l, system) } else { over_bodies(l, system) };
    sqrt(worst)
}

/// Over the blocks of W.
#[inline(always)]
fn over_blocks<L: Arithmetic>(l: L, system: &mut System) -> f64 {
    let mut worst = 0.0_f64;
    let System { blocks, lambda, bias, w, rates, count, .. } = system;
    let count = *count;
    let (blocks, rates) = (&mut blocks[..count], &mut rates[..count]);
    let (lambda, bias) = (&mut lambda[..count], &bias[..count]);
    for i in 0..count {
        let block = &mut blocks[i];
        let own = l.load(&block.regularisation) * l.load(&lambda[i]) + l.load(&bias[i]);
        let u = (l.load(&rates[i]) + own).store();
        if let Some(change) = solve(l, block, &u, &mut lambda[i], &mut worst) {
            for (u, w) in rates.iter_mut().zip(&w[i * count..][..count]) {
                *u = add_rows(l, l.load(u), &change, w).store();
            }
        }
    }
    worst
}

/// Over the rates of bodies.
#[inline(always)]
fn over_bodies<L: Arithmetic>(l: L, system: &mut System) -> f64 {
    let mut worst = 0.0_f64;
    for i in 0..system.blocks.len() {
        let u = system.law_velocity(l, &system.blocks[i]);
        let (block, lambda) = (&mut system.blocks[i], &mut system.lambda[i]);
        if let Some(change) = solve(l, block, &u, lambda, &mut worst) {
            system.move_bodies(l, i, &change);
        }
    }
    worst
}

/// Solves one constraint exactly. Returns the change of its impulse, if there is one, and notes how
/// large it is.
#[inline(always)]
fn solve<L: Arithmetic>(
    l: L,
    block: &mut Block,
    u: &Quad,
    lambda: &mut Quad,
    worst: &mut f64,
) -> Option<Quad> {
    if block.rho <= 0.0 {
        return None;
    }
    let next = block.local.solve(l, &block.law, u, lambda);
    // The impulse itself is taken to the last bit: it stays admissible.
    let change = (l.load(&next) - l.load(lambda)).store();
    *lambda = next;
    let square = dot(change, change) * (block.per_rho * block.per_rho);
    if square.is_nan() || square > *worst {
        *worst = square;
    }
    (square != 0.0).then_some(change)
}
