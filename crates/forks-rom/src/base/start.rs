//! What a step starts from.

use forks_lie::glam::{DMat3, DVec3};

/// What a step starts from, with its loads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start {
    /// Centre of mass, base axes.
    pub center: DVec3,
    /// Its acceleration, world axes.
    pub acceleration: DVec3,
    /// Factor on the changes of the inertia.
    pub held: f64,
    /// J, base axes.
    pub rotation: DMat3,
    /// L + hτ, world axes.
    pub spin: DVec3,
    /// The first effector out of range.
    pub outside: Option<usize>,
}
