//! Flexible bodies of MJCF.

mod golden;
mod refused;
