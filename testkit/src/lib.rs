//! Random mechanisms, closed forms and dense oracles for the tests of forks.
//!
//! The oracles share no kernel with the crates they check: they read the plain data of a
//! [`forks_mechanism::Mechanism`] (links, joints, springs, coordinate layout, forest order) and do
//! the rest themselves: rigid motions are matrices, the exponential is a scaled Taylor series, the
//! logarithm a series after square roots, and every derivative is taken by hyper-dual numbers,
//! exact to rounding, so that no Jacobian formula is written down here.
//!
//! [`dynamics`] is the oracle of motion: forward dynamics in maximal coordinates, in numbers of
//! twice the precision.
//!
//! # Conventions
//! - SI units; twists and wrenches have their linear part first, in the body's frame at its origin.
//! - `q` are positions, `v` velocity coordinates in the mechanism's layout, loop-closing joints
//!   last.
//! - `delta` are local coordinates about `q`: added to plain coordinates, and twists of the
//!   child-side frame (`motion(q) exp(δ)`) for spherical, planar and free joints.
//! - Effectors are links, their frame is the link frame.

pub mod box_qp;
pub mod closed_forms;
pub mod differences;
pub mod dynamics;
pub mod equilibrium;
pub mod floating;
pub mod kinematics;
pub mod kkt;
pub mod least;
pub mod linear;
pub mod options;
pub mod potential;
pub mod random;
pub mod rigid;
pub mod rng;
pub mod scalar;
pub mod soft_chain;

pub use equilibrium::{Equilibrium, equilibrium};
pub use forks_mechanism::linalg::Matrix;
pub use kkt::{Reduction, System, Unresisted, is_resisted, reduce};
pub use options::{JointChoice, RandomMechanismOptions};
pub use potential::{EffectorLoad, LoadedReduction, Loads, PointForce, Potential, reduce_loaded};
pub use random::{random_effectors, random_mechanism};
pub use rng::Rng;
