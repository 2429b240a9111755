//! What an evaluation of the constrained dynamics gives.

/// How an evaluation of the dynamics ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DynamicsStatus {
    /// Accelerations that satisfy every equation.
    Solved,
    /// The velocities violate redundant loop equations, so that no accelerations satisfy them all:
    /// the independent ones hold.
    Inconsistent,
    /// No mass resists this joint: there are no accelerations.
    Massless(forks_mechanism::JointId),
    /// Positions, velocities or forces are not finite, or overflow.
    NotFinite,
}

/// Accelerations and constraint forces.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// v̇ of the tree coordinates; zero where the status is neither solved nor inconsistent.
    pub acceleration: Vec<f64>,
    /// Multipliers λ of [`forks_mechanism::kinematics::loops::constraint_residual`]'s rows: for
    /// every closing joint the wrench on its child in the child's frame, then one per coupling. Of
    /// smallest norm where rows are redundant. Empty if
    /// [`with_multipliers`](super::ConstrainedDynamics::with_multipliers) is off.
    pub multipliers: Vec<f64>,
    /// Independent loop equations at this configuration.
    pub rank: usize,
    /// All loop equations (6 − d per closing joint with d coordinates, one per coupling).
    pub rows: usize,
    /// Largest left-over of G v̇ + γ, relative to the terms it is made of.
    pub residual: f64,
    /// How it ended.
    pub status: DynamicsStatus,
}
