//! What cannot be solved, and how a solution went.

use forks_mechanism::lie::Digits;
use thiserror::Error;

/// Why a mechanism or a call is not for the divide-and-conquer solver.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum DcaError {
    /// A link without mass at the end of a branch: its joint's acceleration is undetermined.
    #[error(
        "link '{link}' has no mass and carries nothing: its joint's acceleration is undetermined"
    )]
    MasslessLeaf {
        /// The link.
        link: String,
    },
    /// A link without mass between three joints or more, or in a ring of such links.
    #[error(
        "link '{link}' has no mass and joins three joints or more, or a ring of massless links: it \
         has no inverse inertia and cannot be folded into a compound joint"
    )]
    MasslessBranch {
        /// The link.
        link: String,
    },
    /// A link with mass, but an inertia tensor that cannot be inverted.
    #[error("the inertia of link '{link}' has no inverse (a smallest principal moment of zero)")]
    SingularInertia {
        /// The link.
        link: String,
    },
    /// Links whose masses differ so much that the inverse-inertia form loses the digits.
    #[error(
        "links '{light}' and '{heavy}' are joined, with inertias in the ratio {ratio}: above \
         {largest} the inverse-inertia form loses too many \
         digits", ratio = Digits(*.ratio), largest = Digits(*.largest))]
    MassRatio {
        /// The lighter link.
        light: String,
        /// The heavier link.
        heavy: String,
        /// Ratio of inverse inertias.
        ratio: f64,
        /// The largest ratio allowed.
        largest: f64,
    },
    /// Joints in a row between massless links have more than six coordinates: they are not
    /// independent.
    #[error(
        "joints {joints} join massless links and have {dof} coordinates together, more than six"
    )]
    TooManyCoordinates {
        /// The joints.
        joints: String,
        /// Their coordinates.
        dof: usize,
    },
    /// A coupling between coordinates: no relation between two bodies.
    #[error("coupling '{coupling}' ties coordinates of joints, which this solver does not do")]
    Coupling {
        /// Its name, or `#index`.
        coupling: String,
    },
    /// A link index that the mechanism does not have, or a link that was folded as massless.
    #[error("link {link} cannot have a handle: it does not exist or has no mass")]
    NoHandle {
        /// Index of the link.
        link: usize,
    },
    /// A slice of the wrong length.
    #[error("{quantity}: {found} numbers given, {expected} expected")]
    WrongLength {
        /// Which slice.
        quantity: &'static str,
        /// Its length.
        found: usize,
        /// The length needed.
        expected: usize,
    },
}

/// How a solution went.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum DcaStatus {
    /// Solved. Directions in which closing joints were redundant, summed over all joints: the
    /// forces in them are one choice of many, the accelerations are unique.
    Solved {
        /// Number of redundant directions.
        redundant: usize,
        /// Smallest eigenvalue of any closing joint's TᵀΦT that was kept, relative to the inverse
        /// inertias that it is a difference of; 1 without loops. Errors grow with its inverse.
        weakest: f64,
    },
    /// The joints of a row with massless links between them have dependent directions in this pose.
    DependentDirections {
        /// The last joint of the row.
        joint: forks_mechanism::JointId,
    },
    /// The result has a number that is not finite: the input has one, or is too large to compute
    /// with.
    NotFinite,
}
