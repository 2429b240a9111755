//! Loop-constrained forward dynamics by a route of its own: articulated bodies for the open tree,
//! the loop equations as mass-weighted rows over it.

mod articulated;
mod closing;
mod dynamics;
mod energy;
mod inverse;
mod mass_factor;
mod motion;
mod projection;
mod rows;
mod solution;

pub use dynamics::{ConstrainedDynamics, ConstrainedWorkspace};
pub use energy::MechanismEnergy;
pub use projection::{Projection, ProjectionStatus};
pub use solution::{DynamicsStatus, Solution};

pub(crate) use articulated::inverse_matrix;
pub(crate) use closing::{nearest_turn, wrench_bases};
pub(crate) use dynamics::{DynamicsParts, WeightedRows};
pub(crate) use motion::{MovingJoint, TreeMotion, column_bias};
pub(crate) use rows::LoopRows;
