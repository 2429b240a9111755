//! What a solve is asked for, and what it counts.

/// How a problem is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Projected Gauss–Seidel with exact cones: sweeps without matrices, good for a few digits. It
    /// is slow where heavy bodies rest on light ones and where many contacts share a load.
    GaussSeidel,
    /// Gauss–Seidel, and where its sweeps run out the robust method from the impulses that they
    /// found. For running simulations: most steps cost sweeps only, the first steps of a new
    /// contact and hard sets are solved all the same.
    Fallback,
    /// A few sweeps, then interior points and ADMM, each finished by nonsmooth Newton: all digits,
    /// also for redundant and ill-conditioned sets. Matrices of all rows are factorised, n³ per
    /// iteration.
    #[default]
    Robust,
}

/// Counters of one solve.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) sweeps: usize,
    pub(crate) interior: usize,
    pub(crate) admm: usize,
    pub(crate) newton: usize,
    pub(crate) factorisations: usize,
}

/// Settings of one solve in its units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    /// Residual to reach, m/s.
    pub(crate) tolerance: f64,
    pub(crate) method: Method,
    pub(crate) min_sweeps: usize,
    pub(crate) max_sweeps: usize,
    pub(crate) max_iterations: usize,
}
