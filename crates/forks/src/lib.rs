//! Reduced models of compliant articulated mechanisms: every crate of the family under one name.
//!
//! # Conventions
//! - SI units, radians, `f64`; right-handed frames; a pose maps body to world coordinates.
//! - Twists and wrenches have their linear part first, in the body's own frame at its origin unless
//!   a name says otherwise; matrices over effectors are flattened effector by effector.
//! - Quaternions are named by their order, `wxyz`.
//! - A spring is the gradient of an energy ½ΔᵀKΔ.
//!
//! Each module is a crate of its own (`forks::rom` is `forks-rom`) and can be used without the
//! others.
#![cfg_attr(all(feature = "models", feature = "reduce"), doc = "")]
#![cfg_attr(
    all(feature = "models", feature = "reduce"),
    doc = include_str!("../README.md")
)]

pub use forks_geometry as geometry;
pub use forks_lie as lie;
pub use forks_lie::glam;
pub use forks_linalg as linalg;

#[cfg(feature = "blend")]
pub use forks_blend as blend;
#[cfg(feature = "contact")]
pub use forks_contact as contact;
#[cfg(feature = "dynamics")]
pub use forks_dynamics as dynamics;
#[cfg(feature = "import")]
pub use forks_import as import;
#[cfg(feature = "io")]
pub use forks_io as io;
#[cfg(feature = "mechanism")]
pub use forks_mechanism as mechanism;
#[cfg(feature = "models")]
pub use forks_models as models;
#[cfg(feature = "place")]
pub use forks_place as place;
#[cfg(feature = "reduce")]
pub use forks_reduce as reduce;
#[cfg(feature = "rom")]
pub use forks_rom as rom;
#[cfg(feature = "sim")]
pub use forks_sim as sim;

pub mod prelude;

/// The example of the repository's README, run as a test.
#[cfg(all(doctest, feature = "models", feature = "reduce"))]
#[doc = include_str!("../../../README.md")]
struct RepositoryReadme;
