//! Poses along the motion that the well-conditioned equations admit.

use forks_lie::SplitMix64;
use forks_linalg::Matrix;

use super::{SUSPECT, system::System};
use forks_linalg::dense::{self, Svd};

/// Poses that are looked at beside the first one.
const POSES: usize = 6;
const ATTEMPTS: usize = 24;
/// Motions, rad or sizes of the loops: the shortest tried, by how much more at most, and what
/// counts as one.
const SHORT: f64 = 0.15;
const LONGER: f64 = 0.5;
const LEAST: f64 = 0.02;
/// Residual of the kept equations at which a pose is closed.
const TOLERANCE: f64 = 1e-11;
const ITERATIONS: usize = 40;
/// Largest change of a coordinate per iteration.
const LARGEST_STEP: f64 = 0.5;

/// A pose at which the kept equations hold.
pub(super) struct Sample {
    pub(super) q: Vec<f64>,
    /// Full decomposition of the equations: u is square.
    pub(super) svd: Svd,
    /// Largest residual of any equation.
    pub(super) gap: f64,
}

impl Sample {
    /// Number of singular values above [`SUSPECT`] of the largest.
    pub(super) fn rank(&self) -> usize {
        dense::numerical_rank(&self.svd.s, SUSPECT)
    }

    /// A singular value over the largest; 0 beyond the last.
    pub(super) fn ratio(&self, i: usize) -> f64 {
        let top = self.svd.s.first().copied().unwrap_or(0.0);
        self.svd.s.get(i).map_or(0.0, |s| if top > 0.0 { s / top } else { 0.0 })
    }
}

/// The start pose, its kept equations closed as they are counted there, and the rank there.
pub(super) fn closed_start(system: &System<'_>) -> Option<Sample> {
    let e = system.equations(system.start());
    let svd = dense::full_svd(&e.jacobian)?;
    let rank = dense::numerical_rank(&svd.s, SUSPECT);
    closed(system, system.start().to_vec(), rank)
}

/// The rank of the well-conditioned equations away from singular poses, and poses with it. Empty
/// where the motion does not lead anywhere.
///
/// The start may be a singular pose, with fewer equations that count and motions that are none: the
/// rank is then raised to what is found elsewhere, and the search begins again.
pub(super) fn along_the_motion(system: &System<'_>, start: &Sample) -> (usize, Vec<Sample>) {
    let mut rank = start.rank();
    let mut random = SplitMix64::new(1);
    'again: while rank < system.column_count() {
        let mut out = Vec::with_capacity(POSES);
        for _ in 0..ATTEMPTS {
            let q = system.moved(&start.q, &admitted(&start.svd, &mut random));
            let Some(sample) = closed(system, q, rank) else { continue };
            if sample.rank() > rank {
                rank = sample.rank();
                continue 'again;
            }
            if distance(&sample.q, &start.q) >= LEAST {
                out.push(sample);
            }
            if out.len() == POSES {
                break;
            }
        }
        return (rank, out);
    }
    (rank, vec![])
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// A motion that the kept equations admit at the start.
fn admitted(svd: &Svd, random: &mut SplitMix64) -> Vec<f64> {
    let rank = dense::numerical_rank(&svd.s, SUSPECT);
    let n = svd.v.rows();
    let mut x = vec![0.0; n];
    for k in rank..svd.v.columns() {
        let c = random.range(-1.0, 1.0);
        (0..n).for_each(|i| x[i] += c * svd.v[(i, k)]);
    }
    let largest = x.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    let amplitude = SHORT + LONGER * random.uniform();
    if largest > 0.0 {
        x.iter_mut().for_each(|x| *x *= amplitude / largest);
    }
    x
}

/// Closes the `rank` best equations by Gauss–Newton steps of smallest norm; `None` where they stay
/// open.
fn closed(system: &System<'_>, mut q: Vec<f64>, rank: usize) -> Option<Sample> {
    let mut last = f64::INFINITY;
    for _ in 0..ITERATIONS {
        let e = system.equations(&q);
        if !e.residual.iter().all(|x| x.is_finite()) {
            return None;
        }
        let svd = dense::full_svd(&e.jacobian)?;
        let kept = kept_residual(&svd, &e.residual, rank);
        let size = kept.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        // Rounding ends the descent, too.
        if size <= TOLERANCE || (size < 1e-9 && size > 0.5 * last) {
            let gap = e.residual.iter().fold(0.0f64, |a, x| a.max(x.abs()));
            return Some(Sample { q, svd, gap });
        }
        last = size;
        let mut x = vec![0.0; system.column_count()];
        for (k, r) in kept.iter().enumerate() {
            let s = svd.s[k];
            if s > 0.0 {
                (0..x.len()).for_each(|i| x[i] -= r / s * svd.v[(i, k)]);
            }
        }
        let largest = x.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        if largest > LARGEST_STEP {
            x.iter_mut().for_each(|x| *x *= LARGEST_STEP / largest);
        }
        q = system.moved(&q, &x);
    }
    None
}

/// Uᵀ g of the first singular values.
fn kept_residual(svd: &Svd, residual: &[f64], rank: usize) -> Vec<f64> {
    let u: &Matrix = &svd.u;
    (0..rank.min(svd.s.len()))
        .map(|k| residual.iter().enumerate().map(|(i, g)| u[(i, k)] * g).sum())
        .collect()
}
