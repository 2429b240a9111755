//! What a chart of joint displacements follows: frames of effectors and links, joints.

use forks_dynamics::statics::Equilibrium;
use forks_mechanism::{
    JointId, Mechanism,
    lie::{Pose, se3::right_jacobian_inverse},
    linalg::Matrix,
};
use forks_reduce::Problem;

use crate::truth::effector_poses;

/// A sample's frames, effectors before links, and joint positions.
pub(crate) struct Rests<'a> {
    poses: Vec<Pose>,
    q: &'a [f64],
}

impl<'a> Rests<'a> {
    /// With the first effectors only.
    pub(crate) fn new(problem: &Problem, effectors: usize, at: &'a Equilibrium) -> Self {
        Self { poses: frames(problem, effectors, &at.world_from_link), q: &at.q }
    }

    /// Rates of the exponential coordinates of all frames from here, from their body twists at
    /// poses of all links: six numbers per coordinate, coordinate after coordinate.
    pub(crate) fn frame_rates(
        &self,
        problem: &Problem,
        effectors: usize,
        world_from_link: &[Pose],
        twist: impl Fn(usize, usize) -> [f64; 6],
        n: usize,
        out: &mut Vec<f64>,
    ) {
        let there = frames(problem, effectors, world_from_link);
        for (f, (rest, pose)) in self.poses.iter().zip(&there).enumerate() {
            let inverse = right_jacobian_inverse(rest.twist_to(pose));
            for k in 0..n {
                out.extend(inverse.mul_vec(&twist(f, k)));
            }
        }
    }

    /// Rates of a joint's displacement from here, from its velocities at positions of all joints,
    /// coordinate after coordinate. Those of closing joints are their velocities.
    pub(crate) fn joint_rates(
        &self,
        m: &Mechanism,
        (id, closes): (JointId, bool),
        q: &[f64],
        own: Matrix,
        out: &mut Vec<f64>,
    ) {
        let moved = match closes {
            true => own,
            false => {
                let at = m.position_range(id);
                m.joint(id).kind.difference_rate(&self.q[at.clone()], &q[at]).mul(&own)
            }
        };
        for k in 0..moved.columns() {
            out.extend(moved.column(k));
        }
    }
}

/// Poses of the first effectors, then of all links.
fn frames(problem: &Problem, effectors: usize, world_from_link: &[Pose]) -> Vec<Pose> {
    let mut poses = effector_poses(problem, world_from_link);
    poses.truncate(effectors);
    poses.extend(world_from_link);
    poses
}

/// Joints as a reduced model has them: those of the tree, then those that close loops.
pub(crate) fn joints_in_order(m: &Mechanism) -> impl Iterator<Item = (JointId, bool)> + '_ {
    let tree = m.forest().edges().iter().map(|e| (e.joint, false));
    tree.chain(m.forest().closures().iter().map(|&id| (id, true)))
}

/// Rates of θ − θ₀ from velocities, both row by row.
pub(crate) fn displacement_rates(
    problem: &Problem,
    from: &[f64],
    to: &[f64],
    mut rates: Matrix,
) -> Matrix {
    let m = problem.mechanism();
    for edge in m.forest().edges() {
        let kind = &m.joint(edge.joint).kind;
        if kind.has_scalar_coordinates() {
            continue;
        }
        let (q, v) = (m.position_range(edge.joint), m.velocity_range(edge.joint));
        let own = rates.block(v.start, 0, v.len(), rates.columns());
        let moved = kind.difference_rate(&from[q.clone()], &to[q]).mul(&own);
        for (k, i) in v.enumerate() {
            rates.row_mut(i).copy_from_slice(moved.row(k));
        }
    }
    rates
}
