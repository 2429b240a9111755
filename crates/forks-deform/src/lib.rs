//! Tissue on skeletons: finite elements of large deformation beside articulated mechanisms
//! (\[K08\] §4).
//!
//! # Conventions
//! - SI units, radians, `f64`; right-handed frames. Positions of nodes are in the world frame.
//! - F = ∂x/∂X, its stretches σ descending in absolute value, the sign of det F in the last. P is
//!   the first Piola–Kirchhoff stress, Pa.
//! - Forces are minus gradients of energies; stiffness is their second derivative.
#![doc = include_str!("../README.md")]

mod body;
pub mod creatures;
mod curvature;
mod eigensystem;
mod elastic;
mod elements;
pub mod files;
mod four;
pub mod material;
pub mod mesh;
mod simulation;
mod skeleton;
pub mod sparse;
mod svd;
mod winding;
mod window;

pub use body::{Attachment, BodyPart, Embedded, EmbeddedVertex, SoftBody, SoftError, SoftNote};
pub use curvature::Curvature;
pub use eigensystem::StressDerivative;
pub use elastic::Elastic;
pub use elements::Elements;
pub use forks_dynamics as dynamics;
pub use material::{Material, MaterialError, Model, Window};
pub use mesh::{MeshError, MeshNote, Order, TetMesh};
pub use simulation::{
    Border, Commands, Coordinates, FreeStep, Momentum, Obstacles, Place, SoftEnergy, SoftOptions,
    SoftSimulation, SoftState, StaticsOptions, StaticsReport, StaticsStatus, StepReport,
    StepResponse, StepStatus, Stepper,
};
pub use svd::Stretched;
pub use window::{Range, Selection, within, within_by_polynomial};
