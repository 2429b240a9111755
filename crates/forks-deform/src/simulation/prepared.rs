//! What is known of a linearly implicit step before forces on the skeleton are.

use forks_dynamics::mechanism::{lie::glam::DVec3, linalg::Matrix};

use super::state::SoftState;

/// A linearly implicit step up to the forces on the skeleton: what it is made from, and its right
/// sides without them. Its matrix is in the border.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) h: f64,
    pub(crate) state: SoftState,
    pub(crate) node_forces: Vec<DVec3>,
    pub(crate) prescribed: Vec<bool>,
    /// M v, and the forces on coordinates beside commands.
    pub(crate) impulse: Vec<f64>,
    pub(crate) forces: Vec<f64>,
    /// Of the free nodes.
    pub(crate) nodes: Vec<DVec3>,
    pub(crate) decomposed: usize,
}

/// How a linearly implicit step answers to forces on the coordinates of the skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct StepResponse {
    /// Velocities of the coordinates at its end without forces.
    pub free: Vec<f64>,
    /// What forces that act all through it add to them, m/s per N and so on; symmetric, zero for
    /// prescribed coordinates.
    pub gain: Matrix,
}
