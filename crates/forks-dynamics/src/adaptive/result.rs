//! What a solution and a step report.

/// How a solution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AdaptiveStatus {
    /// The error is at most the one asked for.
    Converged,
    /// The budget of joints or time was spent first; the error is certified all the same.
    BudgetSpent,
    /// A number was not finite: an input too large to compute with, or a singular mechanism. The
    /// certified error is infinite.
    NotFinite,
    /// The joints of a row with massless links between them have dependent directions in this pose.
    /// The certified error is infinite.
    DependentDirections,
}

/// Work done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdaptiveCounters {
    /// Nodes of the assembly tree taken from the queue and passed downwards.
    pub nodes_visited: usize,
    /// Nodes whose coefficients were brought up to date before this solution, leaves included.
    pub nodes_updated: usize,
    /// Joints whose acceleration was computed (welds between the pieces of a link and joints
    /// without coordinates aside).
    pub joints_computed: usize,
}

/// Outcome of [`super::AdaptiveState::solve`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveResult {
    /// How it ended.
    pub status: AdaptiveStatus,
    /// Bound of the error in the measure asked for. In the two linkage measures it is the error
    /// itself, in the joint measures the norm of all that is not computed below the worst node.
    pub certified_error: f64,
    /// √(Σ_Z |q̈_j|²), weighted: the norm of what was not computed. Exact to rounding.
    pub linkage_error: f64,
    /// √(Σ |q̈_j|²), weighted: the norm of all accelerations, known without computing them.
    pub linkage_norm: f64,
    /// max_E |q̈_j|, weighted.
    pub largest_computed: f64,
    /// Work done.
    pub counters: AdaptiveCounters,
}

/// Outcome of [`super::AdaptiveState::step`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveStep {
    /// The solution at the beginning of the step.
    pub result: AdaptiveResult,
    /// Number of joints that moved.
    pub joints_moved: usize,
    /// Bound of the error of the accelerations that the step used, in the measure asked for: with
    /// joints left at rest ([`super::AdaptiveOptions::rest_below`]) it may be larger than the
    /// solution's.
    pub certified_error: f64,
}
