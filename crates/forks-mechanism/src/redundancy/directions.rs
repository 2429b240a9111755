//! Which directions are released: as many as there are redundant wrenches, each doing work on them
//! at every pose.

use forks_lie::Twist;
use forks_linalg::Matrix;

use super::{
    CLOSED, EXACT, LARGEST_GAP, STEP, SUSPECT,
    poses::{Sample, along_the_motion, closed_start},
    system::System,
};
use crate::JointId;
use forks_linalg::dense;

/// A wrench whose square along a direction is less than this on the average cannot be released by
/// it.
const LEAST_SHARE: f64 = 0.05;
/// Least singular value of the redundant wrenches' work on the released directions, at any pose.
const LEAST_WORK: f64 = 0.1;

/// What is released.
pub(super) struct Decision {
    /// In the joints' frames on their children, linear parts in units of the loops' size.
    pub(super) directions: Vec<(JointId, Twist)>,
    /// Largest singular value left out, smallest one kept, over the largest.
    pub(super) left_out: f64,
    pub(super) kept: f64,
}

/// `None` where the equations are independent, or exactly redundant and closed.
pub(super) fn decide(system: &System<'_>) -> Option<Decision> {
    let at_start = system.equations(system.start());
    let gap = at_start.residual.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    let s = dense::svd(&at_start.jacobian)?.s;
    let top = s.first().copied().filter(|&s| s > 0.0)?;
    // The common case, an exact and closed mechanism, ends here.
    if gap < CLOSED && !s.iter().any(|s| (EXACT * top..=SUSPECT * top).contains(s)) {
        return None;
    }
    let start = closed_start(system)?;
    let (rank, samples) = along_the_motion(system, &start);
    let redundant = system.row_count().checked_sub(rank).filter(|&k| k > 0)?;
    let fixed = rank == system.column_count();
    if samples.len() < 3 && !fixed {
        return None;
    }
    let samples: Vec<&Sample> = if fixed { vec![&start] } else { samples.iter().collect() };
    let near = samples.iter().filter(|s| s.ratio(rank) > EXACT || s.gap > CLOSED).count();
    let step = |s: &Sample| s.ratio(rank.wrapping_sub(1)) >= STEP * s.ratio(rank);
    let stepped = samples.iter().filter(|s| step(s)).count();
    if 2 * near < samples.len() || 2 * stepped < samples.len() {
        return None;
    }
    if samples.iter().any(|s| s.gap > LARGEST_GAP) {
        return None;
    }
    let blocks = choose(system, &samples, rank, redundant)?;
    if !do_work(&blocks, &samples, rank) {
        return None;
    }
    let directions = blocks.into_iter().map(|b| b.twist(system)).collect();
    Some(Decision {
        directions,
        left_out: samples.iter().map(|s| s.ratio(rank)).fold(0.0, f64::max),
        kept: samples.iter().map(|s| s.ratio(rank.wrapping_sub(1))).fold(1.0, f64::min),
    })
}

/// A direction in the rows of one closing joint.
struct Chosen {
    closure: usize,
    first: usize,
    along: Vec<f64>,
}

impl Chosen {
    fn twist(&self, system: &System<'_>) -> (JointId, Twist) {
        let (id, held) = &system.closures[self.closure];
        let mut t = [0.0; 6];
        for (h, a) in held.iter().zip(&self.along) {
            (0..6).for_each(|i| t[i] += a * h[i]);
        }
        (*id, Twist::from_array(t))
    }
}

/// Pivoted Cholesky factorisation of the mean projector on the redundant wrenches, with the pivot
/// turned within the rows of a closing joint: the direction with the largest share, until none is
/// left.
fn choose(
    system: &System<'_>,
    samples: &[&Sample],
    rank: usize,
    redundant: usize,
) -> Option<Vec<Chosen>> {
    let n = system.row_count();
    let mut mean = Matrix::zeros(n, n);
    for s in samples {
        let u = &s.svd.u;
        for i in 0..n {
            for j in 0..n {
                let sum: f64 = (rank..n).map(|k| u[(i, k)] * u[(j, k)]).sum();
                mean[(i, j)] += sum / samples.len() as f64;
            }
        }
    }
    let mut out = Vec::with_capacity(redundant);
    while out.len() < redundant {
        let mut best: Option<(f64, Chosen)> = None;
        let mut first = 0;
        for (closure, (_, held)) in system.closures.iter().enumerate() {
            let d = held.len();
            let (values, vectors) = dense::symmetric_eigen(&mean.block(first, first, d, d))?;
            if let Some(&value) = values.last() {
                // Of equal shares the first joint's.
                if best.as_ref().is_none_or(|b| value > b.0 + 1e-6) {
                    let along = vectors.column(d - 1);
                    best = Some((value, Chosen { closure, first, along }));
                }
            }
            first += d;
        }
        let (share, chosen) = best.filter(|b| b.0 >= LEAST_SHARE)?;
        let column: Vec<f64> = (0..n)
            .map(|i| {
                chosen.along.iter().enumerate().map(|(k, a)| mean[(i, chosen.first + k)] * a).sum()
            })
            .collect();
        for i in 0..n {
            for j in 0..n {
                mean[(i, j)] -= column[i] * column[j] / share;
            }
        }
        out.push(chosen);
    }
    Some(out)
}

/// True if at every pose the redundant wrenches do work on the directions, all of them.
fn do_work(chosen: &[Chosen], samples: &[&Sample], rank: usize) -> bool {
    samples.iter().all(|s| {
        let u = &s.svd.u;
        let work = Matrix::from_fn(chosen.len(), u.columns() - rank, |i, k| {
            let c = &chosen[i];
            c.along.iter().enumerate().map(|(j, a)| a * u[(c.first + j, rank + k)]).sum()
        });
        let least = dense::svd(&work).and_then(|d| d.s.last().copied());
        least.is_some_and(|s| s >= LEAST_WORK)
    })
}
