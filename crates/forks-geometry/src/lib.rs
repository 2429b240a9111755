//! Forms of bodies: primitives, hulls, meshes and height fields; mass of triangle meshes.
//!
//! # Conventions
//! - SI units, right-handed frames; a form is about its own frame.
//! - Triangles are counter-clockwise from outside.

mod geometry;
mod hills;
mod hull;
pub mod mesh;
mod shell;
mod solid;

pub use forks_lie as lie;
pub use geometry::Geometry;
pub use hills::hills;
pub use hull::convex_hull;

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
