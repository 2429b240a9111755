//! What moves a mechanism besides wrenches on its effectors.

use forks_mechanism::{Combination, CombinationSpringId, Mechanism};

/// Something that moves the mechanism besides wrenches on effectors: a servo's target, or
/// generalised forces such as gravity's.
#[derive(Clone, Debug, PartialEq)]
pub struct Drive {
    /// Name.
    pub name: String,
    /// The direction in joint space, a: generalised force a · gain per unit of the drive's value.
    pub combination: Combination,
    /// Force along the direction per unit of the drive's value.
    pub gain: f64,
}

impl Drive {
    /// The rest value of a spring that stands for a servo.
    pub fn servo(m: &Mechanism, name: impl Into<String>, spring: CombinationSpringId) -> Self {
        let s = &m.combination_springs()[spring.index()];
        Self { name: name.into(), combination: s.combination.clone(), gain: s.stiffness }
    }

    /// Generalised forces (one per velocity coordinate), scaled by the drive's value.
    pub fn forces(m: &Mechanism, name: impl Into<String>, forces: &[f64]) -> Self {
        let terms = forces
            .iter()
            .enumerate()
            .filter(|(_, f)| **f != 0.0)
            .map(|(v, f)| (m.velocity_owner(v), *f))
            .collect();
        Self { name: name.into(), combination: Combination { terms, offset: 0.0 }, gain: 1.0 }
    }
}
