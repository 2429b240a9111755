//! Blended models: several linearisation points, one energy (\[A16\] §7, made conservative).
//!
//! State x in one chart: effector e at H_ref,e exp(B_e x). Sample i sees the effectors displaced by
//! ξ_i = log(H_{e,i}⁻¹ H_e) and has the energy U_i = U₀ᵢ + bᵢᵀξ_i + ½ ξ_iᵀ K_i ξ_i; the blend has U
//! = Σ α_i U_i and the generalised force that is its gradient, the weights' gradients included.

pub(crate) mod chart;
mod chart_evaluate;
mod chart_inverse;
mod chart_polynomials;
mod check;
mod contact;
mod crossfade;
pub(crate) mod curvature;
mod eigen;
mod evaluate;
mod handover;
mod joint_coordinate;
mod joint_space;
mod lane_logarithm;
mod link_kernel;
mod link_stream;
mod links;
mod matrices;
mod mean;
mod model;
mod monitor;
mod neighbours;
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
pub use model::{BlendData, BlendedModel, SampleData, ServoTerms};
pub use monitor::{Advice, Monitor, MonitorSettings};
pub use step::{BlendedState, BlendedStepper};
pub use weights::Weights;
