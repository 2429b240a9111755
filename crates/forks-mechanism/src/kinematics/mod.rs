//! Kinematics: poses, Jacobians, loop closures, assembly, mobility, gaps of given poses.

mod assembly;
mod constraint_error;
mod forward;
mod hold;
mod jacobian;
pub mod loops;
mod mobility;
mod scaling;

pub use assembly::{Assembly, AssemblySettings, AssemblyStatus, CouplingGap, assemble};
pub use constraint_error::{
    Connection, ConnectionGap, ConnectionGaps, connections, constraint_error,
};
pub use forward::{TreeJointMotion, forward_kinematics, tree_joint_motion};
pub use jacobian::{link_jacobian, link_twists, pull_back_wrenches};
pub use mobility::{ClosureMobility, CouplingMobility, Mobility, RANK_TOLERANCE, mobility};
