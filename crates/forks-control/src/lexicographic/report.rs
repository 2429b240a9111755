//! How a solution ended.

/// How a solution ended.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Status {
    /// Every row of every level is within its bounds.
    Solved,
    /// Rows could not all be met: the most important level of which some row is beyond its bounds,
    /// that row of it with the largest weighted excess, and the excess.
    Relaxed {
        /// Its level.
        level: usize,
        /// Its row of the level.
        row: usize,
        /// What it is beyond its bound, in its own unit.
        by: f64,
    },
    /// A level used up its iterations; the levels before it are optimal.
    IterationLimit {
        /// The level.
        level: usize,
    },
}

/// Proof that a level is optimal given the levels before it; every number is relative.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Certificate {
    /// Length of the gradient along free directions over the sum of sizes of its terms.
    pub stationarity: f64,
    /// Largest excess of a row of the levels before it over what they have attained, over the
    /// row's terms.
    pub primal: f64,
    /// Largest multiplier of the wrong sign over the same sum.
    pub dual: f64,
    /// Changes of the active set.
    pub iterations: usize,
}
