//! Blended models: several linearisation points of one mechanism as one energy (\[A16\] §7, made
//! conservative).
//!
//! State x in one chart: effector e at H_ref,e exp(B_e x). Sample i sees the effectors displaced by
//! ξ_i = log(H_{e,i}⁻¹ H_e) and has the energy U_i = U₀ᵢ + bᵢᵀξ_i + ½ ξ_iᵀ K_i ξ_i; the blend has U
//! = Σ α_i U_i and the generalised force that is its gradient, the weights' gradients included.
//!
//! # Conventions
//! - SI units, radians, `f64`; right-handed frames; `Pose` maps body to world coordinates.
//! - Twists and wrenches have their linear part first, in the body's own frame at its origin.
#![cfg_attr(feature = "std", doc = "")]
#![cfg_attr(feature = "std", doc = include_str!("../README.md"))]
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod assignment;
mod build;
mod chart;
mod chart_evaluate;
mod chart_inverse;
mod chart_polynomials;
mod check;
mod coriolis;
mod crossfade;
mod curvature;
mod cutoff;
mod data;
mod dense;
#[cfg(feature = "std")]
mod disk;
mod edge;
mod energy;
mod energy_form;
mod evaluate;
mod evaluation;
pub mod file;
mod floating;
mod handover;
mod jacobian;
mod joint_blend;
mod joint_coordinate;
mod joint_space;
mod json;
mod lane_logarithm;
mod lanes;
mod link_kernel;
mod link_stream;
mod links;
mod manifold;
mod matrices;
mod mean;
mod model;
mod monitor;
mod neighbours;
mod openings;
mod places;
mod relative;
mod state;
mod statics;
mod step;
mod system;
mod tree;
mod weight_slopes;
mod weights;
mod workspace;

pub use chart::{ChartSample, Guard, Kinematics};
pub use crossfade::{Crossfade, EnergyJump};
pub use curvature::stiffness_of_bending;
pub use data::{BlendData, LinkForce, SampleData};
#[cfg(feature = "std")]
pub use disk::Model;
pub use evaluation::Evaluation;
pub use floating::{
    FloatingBlend, FloatingBlendState, FloatingBlendStepper, FloatingBlendWorkspace,
};
pub use matrices::Blend;
pub use mean::LinkBlend;
pub use model::BlendedModel;
pub use monitor::{Advice, Monitor, MonitorSettings};
pub use state::BlendedState;
pub use step::BlendedStepper;
pub use weights::Weights;
pub use workspace::BlendedWorkspace;
