//! Errors of forward and hybrid dynamics.

use forks_mechanism::lie::Digits;

/// Why accelerations do not exist.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DynamicsError {
    /// What a free coordinate moves has no inertia along it: a massless leaf, a point mass on the
    /// axis, or a joint at a singular position.
    #[error(
        "joint {joint}: what coordinate {coordinate} moves (link {link} and beyond) has no inertia \
         along it \
         ({inertia} is zero to rounding), so that a torque has no finite \
         acceleration", inertia = Digits(*.inertia))]
    NoInertia {
        /// The joint as messages call it.
        joint: String,
        /// Which of its coordinates.
        coordinate: usize,
        /// The link outward of the joint.
        link: String,
        /// The pivot: apparent inertia along the coordinate, kg or kg·m².
        inertia: f64,
    },
    /// A position, velocity, force or inertia is not finite.
    #[error(
        "joint {joint}: the apparent inertia of coordinate {coordinate} is {inertia}; an input is \
        not finite",
        inertia = Digits(*.inertia)
    )]
    NotFinite {
        /// The joint as messages call it.
        joint: String,
        /// Which of its coordinates.
        coordinate: usize,
        /// The pivot.
        inertia: f64,
    },
}
