//! Positions and velocities of skeleton and nodes.

use forks_dynamics::mechanism::lie::glam::DVec3;

/// A state: coordinates of the skeleton, and all nodes in the world.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftState {
    /// Positions of the tree joints.
    pub q: Vec<f64>,
    /// Velocities of the tree joints.
    pub v: Vec<f64>,
    /// Positions of all nodes, m; those in bones follow from `q`.
    pub x: Vec<DVec3>,
    /// Velocities of all nodes, m/s; those in bones follow from `q` and `v`.
    pub velocity: Vec<DVec3>,
}
