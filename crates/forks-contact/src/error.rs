//! What is wrong with a problem's numbers.

use forks_lie::Digits;
use thiserror::Error;

/// Why numbers do not make a contact problem. Bodies and constraints are counted from 0 in the
/// order they were added.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ContactError {
    /// The step is not a positive finite number.
    #[error("the step is {step} s; it must be finite and above 0", step = Digits(*.step))]
    Step {
        /// The step, s.
        step: f64,
    },
    /// A body's numbers have the wrong size.
    #[error("body {body}: {quantity} has size {found}, expected {expected}")]
    BodySize {
        /// The body.
        body: usize,
        /// Which numbers.
        quantity: &'static str,
        /// Size found.
        found: usize,
        /// Size needed.
        expected: usize,
    },
    /// A body's number is NaN or infinite.
    #[error("body {body}: {quantity} contains {value}", value = Digits(*.value))]
    BodyNotFinite {
        /// The body.
        body: usize,
        /// Which numbers.
        quantity: &'static str,
        /// The first bad number.
        value: f64,
    },
    /// An inverse system matrix is not symmetric.
    #[error(
        "body {body}: the inverse system matrix is not symmetric: entries differ by {difference}",
        difference = Digits(*.difference)
    )]
    NotSymmetric {
        /// The body.
        body: usize,
        /// The largest difference of mirrored entries.
        difference: f64,
    },
    /// An inverse system matrix, or an inertia, is not positive definite.
    #[error(
        "body {body}: the inverse system matrix is not positive definite: pivot {row} is {pivot}",
        pivot = Digits(*.pivot)
    )]
    NotPositiveDefinite {
        /// The body.
        body: usize,
        /// Row of the first pivot that is not positive.
        row: usize,
        /// The pivot.
        pivot: f64,
    },
    /// A body that was not added to this problem.
    #[error("there is no body {body}; {count} were added")]
    NoSuchBody {
        /// The body asked for.
        body: usize,
        /// Number of bodies.
        count: usize,
    },
    /// A port that was not added to this problem.
    #[error("there is no port {port}; {count} were added")]
    NoSuchPort {
        /// The port asked for.
        port: usize,
        /// Number of ports, the coordinates of every body included.
        count: usize,
    },
    /// A constraint that was not added to this problem.
    #[error("there is no constraint {constraint}; {count} were added")]
    NoSuchConstraint {
        /// The constraint asked for.
        constraint: usize,
        /// Number of constraints.
        count: usize,
    },
    /// A Jacobian block has the wrong size.
    #[error(
        "constraint {constraint}: the Jacobian of body {body} has {found} entries, expected \
        {expected}"
    )]
    JacobianSize {
        /// The constraint.
        constraint: usize,
        /// The body of the block.
        body: usize,
        /// Entries found.
        found: usize,
        /// Entries needed: rows times the body's coordinates.
        expected: usize,
    },
    /// A constraint's number is NaN or infinite.
    #[error("constraint {constraint}: {quantity} is {value}", value = Digits(*.value))]
    NotFinite {
        /// The constraint.
        constraint: usize,
        /// Which number.
        quantity: &'static str,
        /// The number.
        value: f64,
    },
    /// A constraint's number is outside its range.
    #[error(
        "constraint {constraint}: {quantity} is {value}; {range} is allowed",
        value = Digits(*.value)
    )]
    OutOfRange {
        /// The constraint.
        constraint: usize,
        /// Which number.
        quantity: &'static str,
        /// The number.
        value: f64,
        /// The range.
        range: &'static str,
    },
}
