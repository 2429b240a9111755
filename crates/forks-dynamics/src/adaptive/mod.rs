//! Error-bounded adaptive quasi-statics (\[R06\], with the corrections of EQUATIONS 1).
//!
//! A mechanism at rest is under constant forces; wanted are its accelerations, and its motion in
//! steps at the beginning of which all velocities are zero. On the assembly tree of the
//! divide-and-conquer solver every node knows, beside the accelerations of its handles, the *total
//! acceleration* of all joints below it as a function of the forces on it. Going down from the
//! root, the joints with the largest total acceleration below them are computed first, and what is
//! left is known without being computed: the error of leaving it out. Frames are hierarchical, so
//! that after a step only the nodes whose joint moved, and their ancestors, are brought up to date.
//!
//! - **Certificate.** [`AdaptiveResult::certified_error`] bounds the true error in the chosen
//!   measure. In the two linkage measures it is the error: nothing is subtracted that could lose
//!   it, and total accelerations are kept as square-root factors (EQUATIONS 1.5). What rounding
//!   adds is what it adds to a full solution.
//! - **Work.** A step takes time in proportion to the joints computed plus the nodes above changed
//!   forces, N (log₂(n/N) + 1) for N of n; per joint about what [`crate::dca::dca()`] takes while
//!   the nodes in use fit the cache, and two to three times that when most of a large mechanism is
//!   in use. It pays where forces act locally: along chains accelerations fall by 1.4 per joint. It
//!   does not where no joint is far from the forces (bushy trees at tight thresholds, forces all
//!   over): there use [`crate::dca::dca()`].
//! - **Displacements.** A joint that is left out although it would turn a little turns all that
//!   hangs on it by that little, so that far links are displaced by the threshold times their lever
//!   arm. [`AdaptiveOptions::catch_up`] takes most of that back.
//! - **Memory.** A node with m handles has 6m + 2 numbers per row: 6m rows of Φ and b, six of its
//!   joint's response, up to 6m + 1 of its factor. That is about 4.7 KB per joint of a chain or a
//!   tree ([`AdaptivePlan::state_bytes`]), and 1 KB in the plan. After the first solution nothing
//!   is allocated (but for positions of closing universal and general joints).
//! - **Frames.** Positions of a handle's quantities are in a frame at its joint, fixed in its body,
//!   with a hinge's axis as z: the leaves' coefficients are constants, and a hinge is a plane
//!   rotation of a few rows.
//!
//! ```
//! use forks_dynamics::{
//!     WrenchFrame,
//!     adaptive::{
//!         AdaptiveOptions, AdaptivePlan, AdaptiveState, AdaptiveStatus, ErrorMeasure, Target,
//!     },
//!     mechanism::lie::{Wrench, glam::DVec3},
//! };
//!
//! let m = forks_models::molecules::chain(2000, 1).mechanism;
//! let plan = AdaptivePlan::new(&m, &AdaptiveOptions::default())?;
//! let mut state = AdaptiveState::new(&plan);
//! let middle = forks_models::molecules::neighbouring_links(&m, 1)[0];
//! state.set_force(middle, Wrench::new(DVec3::X, DVec3::ZERO), WrenchFrame::World)?;
//! let target = Target::new(ErrorMeasure::RelativeJoint, 1e-3);
//! for _ in 0..10 {
//!     let step = state.step(&target);
//!     assert_eq!(step.result.status, AdaptiveStatus::Converged);
//!     assert!(step.result.certified_error <= 1e-3);
//!     // Of 2000 joints.
//!     assert!(step.result.counters.joints_computed < 100);
//! }
//! # Ok::<(), forks_dynamics::adaptive::AdaptiveError>(())
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
