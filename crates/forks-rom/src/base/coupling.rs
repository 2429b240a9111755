//! Forms of the equations of a floating base.

/// How base and reduced coordinates act on each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BaseCoupling {
    /// One Lagrangian for both, with centrifugal and gyroscopic terms.
    #[default]
    Full,
    /// The same with the inertia of the linearisation pose: no centrifugal forces, no change of
    /// inertia.
    Inertial,
    /// \[A16\] §6.1: the base has the mechanism's whole inertia and is driven by gravity and the
    /// net wrench; it does not act on η, nor η on it. Mass that moves with η is counted twice.
    External,
    /// The same with what moves with η taken out of the base.
    ExternalCorrected,
}
