//! What a step starts from.

use forks_lie::glam::{DMat3, DVec3};

/// What a step starts from, with its loads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Start {
    /// Centre of mass, base axes.
    pub(super) center: DVec3,
    /// Its acceleration, world axes.
    pub(super) acceleration: DVec3,
    /// Factor on the changes of the inertia.
    pub(super) held: f64,
    /// J, base axes.
    pub(super) rotation: DMat3,
    /// L + hτ, world axes.
    pub(super) spin: DVec3,
    /// The first effector out of range.
    pub(super) outside: Option<usize>,
}
