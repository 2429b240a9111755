//! Error-bounded adaptive quasi-statics (\[R06\], with the corrections of EQUATIONS 1).
//!
//! A mechanism at rest is under constant forces; wanted are its accelerations, and its motion in steps at the
//! beginning of which all velocities are zero. On the assembly tree of the divide-and-conquer solver every
//! node knows, beside the accelerations of its handles, the *total acceleration* of all joints below it as a
//! function of the forces on it. Going down from the root, the joints with the largest total acceleration
//! below them are computed first, and what is left is known without being computed: the error of leaving it
//! out. Frames are hierarchical, so that after a step only the nodes whose joint moved, and their ancestors,
//! are brought up to date.
//!
//! ```
//! use forks_dynamics::{
//!     AdaptiveOptions, AdaptivePlan, AdaptiveState, AdaptiveStatus, ErrorMeasure, Target, WrenchFrame,
//!     mechanism::{lie::{Wrench, glam::DVec3}, parametric},
//! };
//!
//! let m = parametric::chain(2000, 1).mechanism;
//! let plan = AdaptivePlan::new(&m, &AdaptiveOptions::default())?;
//! let mut state = AdaptiveState::new(&plan);
//! let middle = parametric::neighbouring_links(&m, 1)[0];
//! state.set_force(middle, Wrench::new(DVec3::X, DVec3::ZERO), WrenchFrame::World)?;
//! let target = Target::new(ErrorMeasure::RelativeJoint, 1e-3);
//! for _ in 0..10 {
//!     let step = state.step(&target);
//!     assert_eq!(step.result.status, AdaptiveStatus::Converged);
//!     assert!(step.result.certified_error <= 1e-3);
//!     // Of 2000 joints.
//!     assert!(step.result.counters.joints_computed < 100);
//! }
//! # Ok::<(), forks_dynamics::AdaptiveError>(())
//! ```

mod access;
mod closing;
mod connection;
mod error;
mod frames;
mod general;
mod layout;
mod leaf;
mod loads;
mod options;
mod orthogonal;
mod plan;
mod projection;
mod queue;
mod result;
mod rows;
mod solve;
mod state;
mod step;
mod total;
mod update;

pub use error::AdaptiveError;
pub use options::{AdaptiveOptions, ErrorMeasure, Springs, Target};
pub use plan::AdaptivePlan;
pub use result::{AdaptiveCounters, AdaptiveResult, AdaptiveStatus, AdaptiveStep};
pub use state::AdaptiveState;
