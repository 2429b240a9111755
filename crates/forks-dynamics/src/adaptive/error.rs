//! What cannot be planned or set.

use forks_mechanism::lie::Digits;
use thiserror::Error;

use crate::dca::DcaError;

/// Why a mechanism or a value is not for the adaptive solver.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum AdaptiveError {
    /// The divide-and-conquer equations refuse the mechanism.
    #[error(transparent)]
    Mechanism(#[from] DcaError),
    /// Springs are to act, but the mechanism has one that ties more than the two links of a joint.
    #[error(
        "springs are to act, but {element} ties more than the coordinates of one joint, which \
         local \
         updates cannot follow"
    )]
    SpringAcross {
        /// The spring.
        element: String,
    },
    /// A setting outside its range.
    #[error("{setting} is {value}; {expected} expected", value = Digits(*.value))]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// Its value.
        value: f64,
        /// The range.
        expected: &'static str,
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
    /// A number that is not finite.
    #[error("{quantity}: entry {index} is {value}", value = Digits(*.value))]
    NotFinite {
        /// Which quantity.
        quantity: &'static str,
        /// Which entry.
        index: usize,
        /// The entry.
        value: f64,
    },
    /// A link that the mechanism does not have, or the ground, where a moving link is needed.
    #[error("link {link} does not exist or is the ground")]
    NoLink {
        /// Index of the link.
        link: usize,
    },
    /// A force fixed in the world that does not act at its link's origin.
    #[error(
        "the force on link {link} is fixed in the world, but does not act at the link's origin"
    )]
    DeadLoadOffOrigin {
        /// Index of the link.
        link: usize,
    },
    /// Positions of a joint that closes a loop, which follow from those of the others.
    #[error("joint {joint} closes a loop: its positions follow from those of the other joints")]
    ClosingJoint {
        /// Index of the joint.
        joint: usize,
    },
    /// A joint that the mechanism does not have.
    #[error("joint {joint} does not exist")]
    NoJoint {
        /// Index of the joint.
        joint: usize,
    },
}

/// The first number of a slice that is not finite, as an error.
pub(super) fn check_finite(quantity: &'static str, x: &[f64]) -> Result<(), AdaptiveError> {
    match x.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(AdaptiveError::NotFinite { quantity, index, value: x[index] }),
        None => Ok(()),
    }
}

/// Error if a slice has the wrong length.
pub(super) fn check_length(
    quantity: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), AdaptiveError> {
    if found == expected {
        Ok(())
    } else {
        Err(AdaptiveError::WrongLength { quantity, found, expected })
    }
}
