//! Keyframes: curves of numbers, of rotations, of joints; warps; files.

mod file;
mod motion;
mod rotation;
mod spline;
mod warp;
