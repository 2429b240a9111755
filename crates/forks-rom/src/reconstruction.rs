//! Poses of all links from the reduced state (\[A16\] Eq. 6, 22).

use alloc::{vec, vec::Vec};

use forks_lie::{Pose, Twist};
use forks_linalg::Matrix;

use crate::{
    ReducedModel, State,
    data::{JointPath, JointRest},
    joints::displacement::displacement,
};

/// How link poses are recovered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reconstruction {
    /// Every link on its own: H_l exp(X_l η + Y_l s). Joints open a little at large displacements.
    #[default]
    Twist,
    /// Joint displacements Z η, then a forward sweep: tree joints stay closed, the error moves to
    /// effectors and loop closures.
    JointSpace,
}

impl ReducedModel {
    /// World poses of all links, the ground first, at reduced coordinates `eta` and servo targets
    /// (an empty slice: targets at rest).
    pub fn link_poses(
        &self,
        eta: &[f64],
        servo_targets: &[f64],
        mode: Reconstruction,
    ) -> Vec<Pose> {
        let mut poses = vec![Pose::IDENTITY; self.data().links.len()];
        self.fill_poses(eta, servo_targets, mode, &mut poses);
        poses
    }

    /// World pose of one link: H_l exp(X_l η + Y_l s).
    pub fn link_pose(&self, link: usize, eta: &[f64], servo_targets: &[f64]) -> Pose {
        let l = &self.data().links[link];
        let twist = column_sum(&l.map, eta) + column_sum(&l.servo_map, servo_targets);
        l.rest.displaced(twist)
    }

    /// World poses of all links into a buffer, as [`ReducedModel::link_poses`]; allocates nothing.
    ///
    /// # Panics
    /// If the buffer has not one place per link, or the state belongs to a model of another size.
    pub fn link_poses_into(&self, state: &State, mode: Reconstruction, out: &mut [Pose]) {
        assert_eq!(out.len(), self.data().links.len(), "size of the pose buffer");
        assert_eq!(state.coordinates().len(), self.dof(), "coordinates of the state");
        self.fill_poses(state.coordinates(), state.servo_targets(), mode, out);
    }

    fn fill_poses(
        &self,
        eta: &[f64],
        servo_targets: &[f64],
        mode: Reconstruction,
        out: &mut [Pose],
    ) {
        match mode {
            Reconstruction::Twist => {
                for (l, pose) in out.iter_mut().enumerate() {
                    *pose = self.link_pose(l, eta, servo_targets);
                }
            }
            Reconstruction::JointSpace => {
                out.iter_mut().zip(&self.data().links).for_each(|(p, l)| *p = l.rest);
                for j in self.data().joints.iter().filter(|j| !j.closes_loop) {
                    let delta = |i: usize| displacement(j, i, eta, servo_targets);
                    out[j.outer] = (out[j.inner] * displaced_joint(j, delta)).normalized();
                }
            }
        }
    }
}

fn column_sum(m: &Matrix, x: &[f64]) -> Twist {
    Twist::from_array(core::array::from_fn(|i| m.row(i).iter().zip(x).map(|(a, b)| a * b).sum()))
}

/// inner_from_outer with the joint's coordinates changed by δ.
pub fn displaced_joint(j: &JointRest, delta: impl Fn(usize) -> f64) -> Pose {
    let sum = |columns: &[Twist], x: &dyn Fn(usize) -> f64| {
        columns.iter().enumerate().fold(Twist::ZERO, |sum, (i, c)| sum + *c * x(i))
    };
    match &j.path {
        JointPath::Exponential { columns } => j.inner_from_outer * Pose::exp(sum(columns, &delta)),
        JointPath::Product { factors } => {
            factors.iter().fold(j.inner_from_outer, |pose, (i, c)| pose * Pose::exp(*c * delta(*i)))
        }
        JointPath::Subspace { before, subspace, start, after, inverted } => {
            let t = sum(subspace, &|i| start[i] + delta(i));
            let pose = *before * Pose::exp(t) * *after;
            if *inverted { pose.inverse() } else { pose }
        }
    }
}
