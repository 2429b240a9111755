//! What a simulation did.

/// Work done by a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulationStatistics {
    /// Accepted internal steps.
    pub steps: usize,
    /// Steps rejected by error control or because the energy grew.
    pub rejected: usize,
    /// Evaluations of the dynamics.
    pub evaluations: usize,
    /// Steps in which kinetic energy was taken off to keep the energy from growing.
    pub damped: usize,
}
