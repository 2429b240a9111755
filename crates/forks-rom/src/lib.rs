//! Run time of reduced compliant mechanisms: the static response of a small dense model of the
//! bodies that touch the world, and the poses of every other link.
//!
//! # Conventions
//! - SI units, radians, `f64`; right-handed frames; `Pose` maps body to world coordinates.
//! - Twists and wrenches have their linear part first, in the body's own frame at its origin.
//! - State η; effector `e` is at H_e exp(B_e η); link `l` at H_l exp(X_l η + Y_l s), s the servo
//!   targets.
//! - Elastic energy U(η) = b_ηᵀη + ½(η−η_s)ᵀ𝓗(η−η_s); the generalised force of a wrench w on an
//!   effector is B_eᵀ J_r(ξ_e)ᵀ w, w in the displaced frame.
#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod base;
pub mod batch;
mod check;
pub mod data;
mod effector_motion;
mod effectors;
mod error;
mod exponential;
pub mod file;
#[doc(hidden)]
pub mod internal;
mod joints;
mod kernel;
mod load;
mod load_steps;
mod model;
mod oscillator;
mod parallel;
mod poses;
mod reconstruction;
mod servo_terms;
mod single;
mod state;
mod statics;
mod step;
mod system;
mod transition;
mod wrench;
mod wrench_maps;

pub use base::{
    BaseCoupling, FloatingModel, FloatingState, FloatingStepper, FloatingWorkspace, Momentum,
};
pub use effector_motion::EffectorMotions;
pub use error::ModelError;
pub use forks_lie as lie;
pub use forks_linalg as linalg;
pub use joints::{ConstraintError, Gap, JointGap, Openings};
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
pub use kernel::Avx2;
pub use kernel::Isa;
pub use load::{EffectorLoad, LoadFrame};
pub use load_steps::{StaticSolution, StaticStatus};
pub use model::ReducedModel;
pub use poses::{LinkSelection, PoseBuffer};
pub use reconstruction::Reconstruction;
pub use servo_terms::ServoTerms;
pub use state::{State, Workspace};
pub use step::{Elasticity, Scheme, StepStatus, Stepper};
pub use system::{EffectorState, System};
