//! How potential energy depends on the targets of servos.

use alloc::vec::Vec;

use forks_linalg::Matrix;

/// Derivatives of the potential energy at a sample by the servos' targets s, the effectors held
/// where they are.
///
/// Together with U₀, the static wrenches, 𝓗 and the targets' rest coordinates R the energy is exact
/// to second order in displacements and targets: U = U₀ + pᵀs + ½ sᵀE s + b_ηᵀη + ½ ηᵀ𝓗η − ηᵀ𝓗R s.
/// For a model alone p and E are constants of no effect; between samples they are part of the
/// force.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServoTerms {
    /// p = ∂U/∂s, one entry per servo.
    pub force: Vec<f64>,
    /// E = ∂²U/∂s², servos × servos.
    pub stiffness: Matrix,
}
