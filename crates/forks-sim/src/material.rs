//! What surfaces are made of.

use crate::{SimError, error::check_range};

/// A surface: friction, rebound and softness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// μ, coefficient of sliding friction, ≥ 0; 0.5.
    pub friction: f64,
    /// e, from 0 to 1: normal speed after an impact over that before; 0.
    pub restitution: f64,
    /// c, m/N: indentation per force and contact point; 0 for a rigid surface.
    pub compliance: f64,
    /// τ, s: time in which penetrations decay; damping over stiffness of a soft surface. 0.01 s:
    /// longer than a step, so that bodies placed inside each other part gently.
    pub relaxation: f64,
}

impl Default for Material {
    fn default() -> Self {
        Self { friction: 0.5, restitution: 0.0, compliance: 0.0, relaxation: 0.01 }
    }
}

impl Material {
    /// A rigid surface with a coefficient of friction.
    #[must_use]
    pub fn with_friction(friction: f64) -> Self {
        Self { friction, ..Self::default() }
    }

    /// Two surfaces in contact. Compliances add, as springs in series do; of friction, restitution
    /// and relaxation the larger counts (the rule of MuJoCo's friction, so that exported scenes
    /// agree).
    pub(crate) fn paired(&self, other: &Self) -> Self {
        Self {
            friction: self.friction.max(other.friction),
            restitution: self.restitution.max(other.restitution),
            compliance: self.compliance + other.compliance,
            relaxation: self.relaxation.max(other.relaxation),
        }
    }

    pub(crate) fn check(&self, shape: &str) -> Result<(), SimError> {
        let not_negative = (0.0, f64::MAX);
        check_range(shape, "the friction", self.friction, not_negative, "0 or more")?;
        check_range(shape, "the restitution", self.restitution, (0.0, 1.0), "0 to 1")?;
        check_range(shape, "the compliance", self.compliance, not_negative, "0 or more")?;
        check_range(shape, "the relaxation time", self.relaxation, not_negative, "0 or more")
    }
}
