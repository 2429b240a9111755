//! What is wrong with what a world was given.

use std::fmt::Display;

use forks_contact::ContactError;
use forks_lie::Digits;
use forks_lie::InertiaError;
use forks_rom::ModelError;
use thiserror::Error;

/// Why something cannot be part of a world, or be done to it.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SimError {
    /// A number out of its range.
    #[error("{element}: {quantity} is {value}; it must be {range}", value = Digits(*.value))]
    OutOfRange {
        /// What the number belongs to.
        element: String,
        /// Which number.
        quantity: &'static str,
        /// The number.
        value: f64,
        /// What is allowed.
        range: &'static str,
    },
    /// A mass or an inertia that no body has.
    #[error("body {body:?}: {source}")]
    Inertia {
        /// The body's name.
        body: String,
        /// What is wrong.
        source: InertiaError,
    },
    /// A body, mechanism, effector or shape that is not there.
    #[error("there is no {kind} {index}; there are {count}")]
    Missing {
        /// What was looked for.
        kind: &'static str,
        /// Its number.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A plane, a mesh or a height field on something that moves.
    #[error(
        "shape {shape:?}: a {kind} can only belong to the world; give the body its convex hull"
    )]
    StaticOnly {
        /// The shape's name.
        shape: String,
        /// What it is.
        kind: &'static str,
    },
    /// Points or triangles that make no surface.
    #[error("shape {shape:?}: {reason} (at {index})")]
    Surface {
        /// The shape's name.
        shape: String,
        /// What is wrong.
        reason: &'static str,
        /// The first point, triangle or height it is wrong with; the number of them where all are
        /// concerned.
        index: usize,
    },
    /// A reduced model that cannot be stepped.
    #[error("mechanism {mechanism:?}: {source}")]
    Model {
        /// The mechanism's name.
        mechanism: String,
        /// What is wrong.
        source: ModelError,
    },
    /// A full mechanism that cannot be stepped from its start.
    #[error("mechanism {mechanism:?}: the full solver ended as {status}")]
    FullSolver {
        /// The mechanism's name.
        mechanism: String,
        /// How it ended.
        status: &'static str,
    },
    /// A joint that a mechanism's model does not know.
    #[error("mechanism {mechanism:?} knows no joint {joint:?}; its model carries {count} joints")]
    NoJoint {
        /// The mechanism's name.
        mechanism: String,
        /// The joint's name.
        joint: String,
        /// Joints that the model carries: 0 if it was reduced without them.
        count: usize,
    },
    /// A joint with a limit or dry friction that has no name.
    #[error("mechanism {mechanism:?}: joint {index} has a limit or dry friction and needs a name")]
    NamelessJoint {
        /// The mechanism's name.
        mechanism: String,
        /// The joint's number, from 0 on.
        index: usize,
    },
    /// A limit or dry friction of a joint that nothing which the mechanism's model knows can move.
    #[error(
        "mechanism {mechanism:?}: a limit or dry friction of joint {joint:?} cannot act, for no \
         motion of the model moves the joint; make the links at the joint effectors too"
    )]
    JointOutOfReach {
        /// The mechanism's name.
        mechanism: String,
        /// The joint's name.
        joint: String,
    },
    /// Numbers that make no contact problem.
    #[error("{element}: {source}")]
    Contact {
        /// What they belong to.
        element: String,
        /// What is wrong.
        source: ContactError,
    },
    /// A snapshot of another world.
    #[error("the snapshot has {found} {kind}, the world {expected}")]
    Snapshot {
        /// What differs.
        kind: &'static str,
        /// How many the snapshot has.
        found: usize,
        /// How many the world has.
        expected: usize,
    },
}

/// A finite number within [low, high], or the error that names it.
pub(crate) fn check_range(
    element: &str,
    quantity: &'static str,
    value: f64,
    (low, high): (f64, f64),
    range: &'static str,
) -> Result<(), SimError> {
    if value.is_finite() && value >= low && value <= high {
        return Ok(());
    }
    Err(SimError::OutOfRange { element: element.into(), quantity, value, range })
}

/// All finite, or the error that names the first that is not. The element's name is put together
/// only then.
pub(crate) fn check_finite(
    element: impl Display,
    quantity: &'static str,
    values: &[f64],
) -> Result<(), SimError> {
    match values.iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(&value) => {
            let element = element.to_string();
            Err(SimError::OutOfRange { element, quantity, value, range: "finite" })
        }
    }
}
