//! Energy of a world and its record; what servo targets add to that of a reduced model.

use forks_rom::{ReducedModel, ServoTerms};

/// Energy of a world, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Of rigid bodies and reduced mechanisms.
    pub kinetic: f64,
    /// Of rigid bodies, floating and full mechanisms, zero with their centres of mass at the
    /// world's origin.
    pub gravitational: f64,
    /// Of mechanisms' springs about their present targets: changes of targets do work, which shows
    /// as jumps. Of reduced mechanisms over their linearisation poses, the static loads' potential
    /// included; see [`World::set_servo_terms`](crate::World::set_servo_terms).
    pub elastic: f64,
}

impl Energy {
    /// The sum.
    pub fn total(&self) -> f64 {
        self.kinetic + self.gravitational + self.elastic
    }
}

/// What turns the elastic energy about the targets' rest, ½ (η − R s)ᵀ𝓗(η − R s), into that of the
/// springs about their targets s: pᵀs + ½ sᵀE s − ½ (R s)ᵀ𝓗 R s.
pub(crate) fn about_targets(model: &ReducedModel, terms: &ServoTerms, targets: &[f64]) -> f64 {
    if terms.force.is_empty() || targets.iter().all(|s| *s == 0.0) {
        return 0.0;
    }
    let half = |m: &forks_linalg::Matrix, x: &[f64]| {
        0.5 * m.mul_vec(x).iter().zip(x).map(|(a, b)| a * b).sum::<f64>()
    };
    let work: f64 = terms.force.iter().zip(targets).map(|(p, s)| p * s).sum();
    let rest = model.rest_coordinates(targets);
    work + half(&terms.stiffness, targets) - half(&model.data().hessian, &rest)
}

/// Energy after every step.
#[derive(Clone, Debug, Default)]
pub(crate) struct EnergyRecord {
    /// Time (s) and energy.
    pub(crate) samples: Vec<(f64, Energy)>,
}
