//! How potential energy depends on the targets of servos.

use alloc::vec::Vec;

use forks_linalg::Matrix;

use crate::ReducedModel;

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

impl ServoTerms {
    /// What turns the elastic energy about the targets' rest, ½ (η − R s)ᵀ𝓗(η − R s), into that of
    /// the springs about their targets s: pᵀs + ½ sᵀE s − ½ (R s)ᵀ𝓗 R s.
    pub(crate) fn energy_beyond_rest(&self, model: &ReducedModel, targets: &[f64]) -> f64 {
        if self.force.is_empty() || targets.iter().all(|s| *s == 0.0) {
            return 0.0;
        }
        let half = |m: &Matrix, x: &[f64]| {
            0.5 * m.mul_vec(x).iter().zip(x).map(|(a, b)| a * b).sum::<f64>()
        };
        let work: f64 = self.force.iter().zip(targets).map(|(p, s)| p * s).sum();
        let rest = model.rest_coordinates(targets);
        work + half(&self.stiffness, targets) - half(&model.data().hessian, &rest)
    }
}
