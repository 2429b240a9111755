//! A mechanism with all its motions as coordinates: every link is an effector while it is reduced.
//!
//! Coordinates of static shapes under loads on the effectors leave out what only other loads move:
//! branches that nobody pushes swing, and share the mass of the whole. Where a mechanism has few
//! motions a manifold takes all of them: its mass is exact at the sample, and statics need no
//! shapes at all.

use forks_mechanism::linalg::{Matrix, dense::generalized_symmetric_eigen};
use forks_reduce::{Effector, Problem};
use forks_rom::data::ModelData;

/// Most coordinates of such a manifold: its energy has N³/6 coefficients of third order, and N²
/// equilibria are solved for them.
pub(crate) const MOST: usize = 64;
/// The same of a blend of several samples: all that may be one are solved so.
pub(crate) const MOST_OF_MANY: usize = 24;

/// The problem with all its moving links as effectors behind its own.
pub(crate) fn all_links(problem: &Problem) -> Problem {
    let m = problem.mechanism();
    let mut out = problem.clone();
    for link in m.forest().edges().iter().map(|e| e.outer) {
        out.effectors.push(Effector::of_link(m, link));
    }
    out
}

/// The numbers with the first effectors only.
pub(crate) fn of_first_effectors(d: &mut ModelData, effectors: usize) {
    d.effectors.truncate(effectors);
    d.basis = first_rows(&d.basis, 6 * effectors);
}

/// A matrix's first rows.
pub(crate) fn first_rows(m: &Matrix, rows: usize) -> Matrix {
    m.block(0, 0, rows, m.columns())
}

/// The slowest vibration, rad/s; `None` where nothing or not everything swings about the pose.
pub(crate) fn lowest_frequency(d: &ModelData) -> Option<f64> {
    let (squares, _) = generalized_symmetric_eigen(&d.hessian, &d.mass)?;
    let lowest = squares.into_iter().fold(f64::INFINITY, f64::min);
    (lowest > 0.0 && lowest.is_finite()).then(|| lowest.sqrt())
}
