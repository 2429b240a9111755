//! Errors of building a mechanism.

use forks_lie::Digits;
use thiserror::Error;

/// Why a description is not a mechanism. Elements are named as the user named them, `#index`
/// otherwise.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// Two elements of one kind share a name.
    #[error("{kind} name '{name}' is used twice")]
    DuplicateName {
        /// link, frame.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// An index does not belong to this mechanism.
    #[error("{element} refers to {kind} {index}, but there are only {count}")]
    UnknownElement {
        /// The element with the bad reference.
        element: String,
        /// link, joint.
        kind: &'static str,
        /// The index.
        index: usize,
        /// How many exist.
        count: usize,
    },
    /// A name does not belong to this mechanism.
    #[error("there is no {kind} called '{name}'")]
    UnknownName {
        /// link, joint.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A number is NaN or infinite.
    #[error("{element}: {quantity} is {value}, not a finite number", value = Digits(*.value))]
    NotFinite {
        /// The element.
        element: String,
        /// What the number stands for.
        quantity: &'static str,
        /// The number.
        value: f64,
    },
    /// A number that must not be negative is.
    #[error("{element}: {quantity} is {value}, must not be negative", value = Digits(*.value))]
    Negative {
        /// The element.
        element: String,
        /// What the number stands for.
        quantity: &'static str,
        /// The number.
        value: f64,
    },
    /// An inertia tensor that no body can have.
    #[error("{element}: {problem}")]
    BadInertia {
        /// The link.
        element: String,
        /// What is wrong, with numbers.
        problem: String,
    },
    /// A direction of length zero, or columns that are not independent.
    #[error("{element}: {quantity} is {value}")]
    DegenerateAxis {
        /// The joint.
        element: String,
        /// Which axis.
        quantity: &'static str,
        /// Its value.
        value: String,
    },
    /// A list has the wrong number of entries.
    #[error("{element}: {quantity} has {found} entries, expected {expected}")]
    WrongLength {
        /// The element.
        element: String,
        /// Which list.
        quantity: &'static str,
        /// Entries found.
        found: usize,
        /// Entries needed.
        expected: usize,
    },
    /// A matrix is not symmetric or has a negative eigenvalue.
    #[error(
        "{element}: {quantity} must be symmetric and must not have negative eigenvalues (smallest \
        {value})",
        value = Digits(*.value)
    )]
    NotPositiveSemiDefinite {
        /// The element.
        element: String,
        /// Which matrix.
        quantity: &'static str,
        /// The offending eigenvalue or asymmetry.
        value: f64,
    },
    /// A joint whose two links are the same.
    #[error("{element} joins link '{link}' to itself")]
    SelfLoop {
        /// The joint or bushing.
        element: String,
        /// The link.
        link: String,
    },
    /// A coupling, spring or servo uses a coordinate that is no plain number.
    #[error("{element} uses coordinate {index} of {joint}, which has no such scalar coordinate")]
    NoScalarCoordinate {
        /// The coupling, spring or servo.
        element: String,
        /// The joint.
        joint: String,
        /// The coordinate.
        index: usize,
    },
    /// A cable whose path cannot be.
    #[error("{element}: {problem}")]
    BadPath {
        /// The cable.
        element: String,
        /// What is wrong, with the place in its path.
        problem: String,
    },
    /// A range whose lower end is above its upper end.
    #[error(
        "{element}: range [{lower}, {upper}] is empty",
        lower = Digits(*.lower),
        upper = Digits(*.upper)
    )]
    EmptyRange {
        /// The joint or cable.
        element: String,
        /// Lower end.
        lower: f64,
        /// Upper end.
        upper: f64,
    },
}
