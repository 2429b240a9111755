//! What acts from outside in a step.

use forks_dynamics::mechanism::lie::glam::DVec3;

/// Forces, prescribed accelerations, forces on nodes; all may be empty.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Commands<'a> {
    /// Forces on the velocity coordinates beside springs and dampers, N or N·m.
    pub forces: &'a [f64],
    /// Coordinates whose acceleration is prescribed, m/s² or rad/s².
    pub accelerations: &'a [(usize, f64)],
    /// Forces on all nodes, world axes, N.
    pub node_forces: &'a [DVec3],
}
