//! Coordinates of joints, for limits.

use forks_lie::Twist;

use super::{displacement::displacement, motion::parent_from_child};
use crate::{
    ReducedModel, State,
    data::{JointPath, JointRest},
};

impl ReducedModel {
    /// The joint of a name, an index into [`ModelData::joints`](crate::data::ModelData::joints).
    pub fn find_joint(&self, name: &str) -> Option<usize> {
        self.data().joints.iter().position(|j| j.name == name)
    }

    /// Coordinate `i` of a joint, rad or m: linear in η, θ₀ + Z η, and what servo targets add.
    ///
    /// Joints of one coordinate count from where their two frames coincide, angles from −π to π at
    /// the linearisation pose; joints of general subspaces from their zero pose; others (ball,
    /// universal, planar joints) from the linearisation pose.
    ///
    /// # Panics
    /// If there is no such joint or coordinate, or the state belongs to a model of another size.
    pub fn joint_coordinate(&self, joint: usize, i: usize, state: &State) -> f64 {
        let j = &self.data().joints[joint];
        assert_eq!(state.coordinates().len(), self.dof(), "coordinates of the state");
        start(j, i) + displacement(j, i, state.coordinates(), state.servo_targets())
    }

    /// ∂θ/∂η of a joint's coordinate, n_η numbers.
    ///
    /// # Panics
    /// If there is no such joint or coordinate.
    pub fn joint_row(&self, joint: usize, i: usize) -> &[f64] {
        self.data().joints[joint].map.row(i)
    }
}

/// θ₀, the coordinate at the linearisation pose.
pub fn start(j: &JointRest, i: usize) -> f64 {
    let column = match &j.path {
        JointPath::Subspace { start, .. } => return start[i],
        JointPath::Exponential { columns } if columns.len() == 1 => columns[0],
        _ => return 0.0,
    };
    // The column moves the outer link, in its frame; in the joint's frame it moves the child.
    let rest = parent_from_child(j, &j.inner_from_outer);
    let in_child = match j.reversed {
        false => column,
        true => -j.inner_from_outer.adjoint().apply(column),
    };
    let axis = j.child_from_joint.inverse().adjoint().apply(in_child);
    let moved = (j.parent_from_joint.inverse() * rest * j.child_from_joint).log();
    let dot = |a: Twist, b: Twist| match axis.angular.length_squared() > 0.0 {
        true => a.angular.dot(b.angular),
        false => a.linear.dot(b.linear),
    };
    dot(moved, axis) / dot(axis, axis)
}
