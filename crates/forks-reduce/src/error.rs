//! Errors of a reduction.

use forks_mechanism::BuildError;
use forks_mechanism::lie::Digits;
use thiserror::Error;

/// Why a mechanism cannot be reduced.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ReduceError {
    /// No effector was given.
    #[error("no end effector given")]
    NoEffector,
    /// No link, frame or site of that name.
    #[error("there is no link or frame named '{name}' to be an end effector")]
    UnknownEffector {
        /// The name.
        name: String,
    },
    /// The effectors cannot move at all.
    #[error("end effector(s) {names} cannot move: no joint between them and the ground gives way")]
    Immobile {
        /// The effectors' names.
        names: String,
    },
    /// Motions that nothing resists.
    #[error(
        "motion without stiffness at joint(s) {}; give them springs or a default stiffness, which \
        free joints do not get",
        .joints.join(", ")
    )]
    Unresisted {
        /// The joints that take part in the motion.
        joints: Vec<String>,
    },
    /// A loaded pose at which some motion has exactly zero stiffness.
    #[error("the loaded pose is singular: some motion near joint '{joint}' has zero stiffness")]
    Singular {
        /// The joint at which it was noticed.
        joint: String,
    },
    /// A load on a link that is no effector and has no potential.
    #[error(
        "the load on link '{link}' has no potential: only forces fixed in the world can act on \
        links that are no end effectors"
    )]
    NonconservativeLoad {
        /// The link.
        link: String,
    },
    /// The base is not free, or something else ties the mechanism to the ground.
    #[error("the base does not float: '{element}' is tied to the ground, or moves without mass")]
    NotFloating {
        /// What holds it.
        element: String,
    },
    /// A damping coefficient that is negative or not finite.
    #[error("{quantity} is {value}; it must be finite and not negative", value = Digits(*.value))]
    Damping {
        /// Which coefficient.
        quantity: &'static str,
        /// Its value.
        value: f64,
    },
    /// The inverse projection of the damping needs damping along every coordinate.
    #[error(
        "joint '{joint}' has a direction without damping; the inverse projection needs it in every \
        one"
    )]
    Undamped {
        /// The joint.
        joint: String,
    },
    /// Some motion of the mechanism has no mass.
    #[error("the mechanism has motions without mass; accelerability does not exist")]
    Massless,
    /// With the effectors held, some motion has no positive stiffness.
    #[error("with the effectors held the pose is not stable; fixed-effector modes do not exist")]
    UnstableModes,
    /// A dense computation on all coordinates was asked for.
    #[error("the mechanism has {coordinates} coordinates; {quantity} is limited to {limit}")]
    TooLarge {
        /// What was asked for.
        quantity: &'static str,
        /// Coordinates of the mechanism.
        coordinates: usize,
        /// The limit.
        limit: usize,
    },
    /// A list does not fit the mechanism.
    #[error("{quantity} has {found} entries, expected {expected}")]
    WrongLength {
        /// Which list.
        quantity: &'static str,
        /// Entries found.
        found: usize,
        /// Entries needed.
        expected: usize,
    },
    /// A number is NaN or infinite.
    #[error("{quantity} is not finite")]
    NotFinite {
        /// Which number.
        quantity: &'static str,
    },
    /// It was asked to stop ([`crate::ReduceOptions::cancel`]).
    #[error("the reduction was stopped")]
    Cancelled,
    /// A superelement that does not fit.
    #[error(transparent)]
    Superelement(#[from] forks_mechanism::SuperelementError),
    /// Something that superelements do not have.
    #[error("with superelements there is no {quantity}")]
    WithSuperelements {
        /// What was asked for.
        quantity: &'static str,
    },
    /// The changed mechanism is not valid.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The reduced numbers do not make a model.
    #[error(transparent)]
    Model(#[from] forks_rom::ModelError),
}
