//! Errors of a reduced model.

use forks_lie::Digits;
use thiserror::Error;

/// Why numbers do not make a reduced model, or a call does not fit one.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ModelError {
    /// A list or matrix has the wrong size.
    #[error("{quantity} has size {found}, expected {expected}")]
    WrongSize {
        /// Which.
        quantity: &'static str,
        /// Size found.
        found: usize,
        /// Size needed.
        expected: usize,
    },
    /// A number is NaN or infinite.
    #[error("{quantity} is not finite")]
    NotFinite {
        /// Which.
        quantity: &'static str,
    },
    /// A matrix that must be symmetric is not.
    #[error("{quantity} is not symmetric")]
    NotSymmetric {
        /// Which.
        quantity: &'static str,
    },
    /// The model's base is fixed in the world.
    #[error("the base of the model does not float")]
    NoBase,
    /// A kind of blend that has no form with a base that floats.
    #[error("a blend with {what} cannot float")]
    BlendCannotFloat {
        /// What it has.
        what: &'static str,
    },
    /// A blend without a sample.
    #[error("a blend needs at least one sample")]
    NoSample,
    /// The samples of a blend are not models of one mechanism.
    #[error("the samples of a blend have other {quantity} than the first one")]
    UnlikeSamples {
        /// What differs.
        quantity: &'static str,
    },
    /// The columns of a basis are not orthonormal with lengths over r.
    #[error("{quantity} is not orthonormal with lengths over the mechanism's size")]
    NotOrthonormal {
        /// Which.
        quantity: &'static str,
    },
    /// The exponent of the weights is not an even number from 4 to 64.
    #[error("the exponent of the weights is {exponent}; it must be even and from 4 to 64")]
    WeightExponent {
        /// The exponent.
        exponent: u32,
    },
    /// Weights that do not know the distances of a chart of joint displacements.
    #[error("in a chart of joint displacements weights must be Shepard's")]
    WeightsOfChart,
    /// In a chart of joint displacements servos stay where the samples have them.
    #[error("servos have no targets in a chart of joint displacements")]
    DrivenChart,
    /// A step size is not a positive finite number.
    #[error("the step is {step} s; it must be finite and above 0", step = Digits(*.step))]
    StepSize {
        /// The step, s.
        step: f64,
    },
    /// The matrix of a step cannot be factored: mass, damping and stiffness together leave a motion
    /// free.
    #[error("the matrix of the step is singular")]
    SingularStep,
    /// The exponential step needs a mass in every direction.
    #[error("the mass is not positive definite; the exponential step needs that")]
    MassNotPositiveDefinite,
    /// The stiffness in reduced coordinates is not positive definite.
    #[error(
        "the reduced stiffness is not positive definite: the pose is unstable, or held only by the \
        loads on the effectors"
    )]
    NotPositiveDefinite,
}
