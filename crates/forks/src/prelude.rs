//! The names that most programs need: `use forks::prelude::*`.

pub use crate::lie::{Pose, Twist, Wrench};

#[cfg(feature = "mechanism")]
pub use crate::mechanism::{Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder};

#[cfg(feature = "import")]
pub use crate::import::{ImportOptions, load_model};

#[cfg(feature = "dynamics")]
pub use crate::dynamics::{Loads, statics::EquilibriumOptions};

#[cfg(feature = "reduce")]
pub use crate::reduce::{Problem, ProblemOptions, ReduceOptions};

#[cfg(feature = "rom")]
pub use crate::rom::{EffectorLoad, LoadFrame, ReducedModel, Stepper};
