//! Divide-and-conquer forward dynamics (\[F99\]; \[R06\] §3.1 with the corrections of
//! EQUATIONS 1).
//!
//! A binary tree joins bodies into ever larger articulated bodies. Every node knows the
//! accelerations of its handles (the places where it meets the rest) as a function of the forces
//! there, a_i = Φ_ij f_j + b_i (\[R06\] Eq. 1). The upward pass closes a joint per node and
//! computes Φ and b; the downward pass turns the forces at a node's handles into its joint's force
//! and acceleration. Both passes work on subtrees in parallel, and the tree is O(log n) deep
//! whatever the mechanism looks like.
//!
//! - **Frames.** Everything is expressed in world axes at the joints' own points: the two sides of
//!   a joint share a frame, no matrix is ever carried along the mechanism, and no digits are lost
//!   far from the world's origin (EQUATIONS 1.7).
//! - **Accelerations** are those of material points, not spatial ones: no term grows with the speed
//!   of the mechanism as a whole.
//! - **Loops** are closed inside a node by the same elimination as tree joints, redundant or not.

pub(crate) mod assembly;
mod assembly_tree;
pub(crate) mod basis;
pub(crate) mod bodies;
pub(crate) mod connections;
mod downward;
pub(crate) mod eliminate;
mod error;
mod general;
pub(crate) mod kernel;
mod kinematics;
mod leaf;
pub(crate) mod nodes;
mod parallel;
mod pieces;
mod plan;
mod results;
mod solve;
mod upward;
mod workspace;

pub use assembly::ClosingOrder;
pub use assembly_tree::{AssemblyKind, AssemblyNode, AssemblyTree};
pub use error::{DcaError, DcaStatus};
pub use plan::{DcaPlan, DcaSettings};
pub use solve::{DcaInput, dca, dca_with};
pub use workspace::DcaWorkspace;
