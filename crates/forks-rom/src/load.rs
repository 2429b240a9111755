//! Loads on effectors.

use forks_lie::Wrench;

use crate::error::ModelError;

/// In which axes a load keeps its components while the effector moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadFrame {
    /// World axes, at the effector's origin.
    #[default]
    World,
    /// The effector's own axes.
    Body,
}

/// A load on an effector, at its origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EffectorLoad {
    /// The effector's index.
    pub effector: usize,
    /// Force and torque.
    pub wrench: Wrench,
    /// Axes of the components.
    pub frame: LoadFrame,
}

/// # Panics
/// If a load acts on an effector that does not exist.
pub fn assert_effectors(loads: &[EffectorLoad], count: usize) {
    for l in loads {
        assert!(l.effector < count, "load on effector {} of {count}", l.effector);
    }
}

/// Effectors exist and wrenches are finite.
pub fn check_loads(loads: &[EffectorLoad], effectors: usize) -> Result<(), ModelError> {
    for l in loads {
        if l.effector >= effectors {
            let quantity = "effector index";
            return Err(ModelError::WrongSize { quantity, found: l.effector, expected: effectors });
        }
        if !l.wrench.is_finite() {
            return Err(ModelError::NotFinite { quantity: "load" });
        }
    }
    Ok(())
}
