//! Blended models: several linearisation points of one mechanism as one energy (\[A16\] §7, made
//! conservative), and the automatic placement of those points.
//!
//! State x in one chart: effector e at H_ref,e exp(B_e x). Sample i sees the effectors displaced by
//! ξ_i = log(H_{e,i}⁻¹ H_e) and has the energy U_i = U₀ᵢ + bᵢᵀξ_i + ½ ξ_iᵀ K_i ξ_i; the blend has U
//! = Σ α_i U_i and the generalised force that is its gradient, the weights' gradients included.
//!
//! # Conventions
//! - SI units, radians, `f64`; right-handed frames; `Pose` maps body to world coordinates.
//! - Twists and wrenches have their linear part first, in the body's own frame at its origin.
#![cfg_attr(feature = "place", doc = "")]
#![cfg_attr(feature = "place", doc = include_str!("../README.md"))]
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod chart;
mod chart_evaluate;
mod chart_inverse;
mod chart_polynomials;
mod check;
mod contact;
mod crossfade;
mod curvature;
#[cfg(feature = "std")]
mod disk;
mod eigen;
mod evaluate;
pub mod file;
mod handover;
mod joint_coordinate;
mod joint_space;
mod json;
mod lane_logarithm;
mod link_kernel;
mod link_stream;
mod links;
mod matrices;
mod mean;
mod model;
mod monitor;
mod neighbours;
mod openings;
#[cfg(feature = "place")]
pub mod place;
mod relative;
mod statics;
mod step;
mod weights;

pub use chart::ChartSample;
pub use contact::BlendedContact;
pub use crossfade::{Crossfade, EnergyJump};
pub use curvature::stiffness_of_bending;
pub use links::LinkBlend;
pub use matrices::Blend;
pub use model::{BlendData, BlendedModel, SampleData};
pub use monitor::{Advice, Monitor, MonitorSettings};
pub use step::{BlendedState, BlendedStepper};
pub use weights::Weights;
