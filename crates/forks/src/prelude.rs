//! The names that most programs need: `use forks::prelude::*`.

pub use crate::lie::{Pose, SpatialInertia, Twist, Wrench};

#[cfg(feature = "mechanism")]
pub use crate::mechanism::{Joint, JointId, JointKind, Link, LinkId, Mechanism, MechanismBuilder};

#[cfg(feature = "import")]
pub use crate::import::{ImportOptions, load_mjcf};

#[cfg(feature = "dynamics")]
pub use crate::dynamics::{EquilibriumOptions, Loads};

#[cfg(feature = "reduce")]
pub use crate::reduce::{Effector, Problem, ProblemOptions, ReduceOptions};

#[cfg(feature = "rom")]
pub use crate::rom::ReducedModel;
