//! Keyframes: curves of joints through positions at given times.
//!
//! [`BSpline`] of degree 3 or 5 interpolates plain coordinates, [`RotationSpline`] rotations,
//! [`Monotone`] goes nowhere beyond its keys; a [`Warp`] moves them in time. [`Motion`] holds the
//! curves of a mechanism's joints.

mod bordered;
mod bspline;
mod error;
mod extremes;
mod file;
mod joint_curve;
mod knots;
mod monotone;
mod motion;
mod path;
mod rotation;
mod warp;

pub use bspline::{BSpline, End};
pub use error::SplineError;
pub use extremes::Extremes;
pub use file::FileError;
pub use joint_curve::{JointKeys, JointState};
pub use monotone::Monotone;
pub use motion::{Excess, KeyframeError, Motion};
pub use path::{EndRule, Ends, Method};
pub use rotation::{RotationEnd, RotationSpline, RotationState};
pub use warp::{Warp, WarpError, Warped};
