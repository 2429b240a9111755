//! Poses of all links from the reduced state (\[A16\] Eq. 6, 22).

use alloc::vec::Vec;

use forks_lie::{Matrix, Pose, Twist};

use crate::{JointPath, JointRest, ReducedModel};

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
        match mode {
            Reconstruction::Twist => (0..self.data().links.len())
                .map(|l| self.link_pose(l, eta, servo_targets))
                .collect(),
            Reconstruction::JointSpace => self.joint_space_poses(eta, servo_targets),
        }
    }

    /// World pose of one link: H_l exp(X_l η + Y_l s).
    pub fn link_pose(&self, link: usize, eta: &[f64], servo_targets: &[f64]) -> Pose {
        let l = &self.data().links[link];
        let twist = column_sum(&l.map, eta) + column_sum(&l.servo_map, servo_targets);
        l.rest.displaced(twist)
    }

    fn joint_space_poses(&self, eta: &[f64], servo_targets: &[f64]) -> Vec<Pose> {
        let mut poses: Vec<Pose> = self.data().links.iter().map(|l| l.rest).collect();
        for j in self.data().joints.iter().filter(|j| !j.closes_loop) {
            let mut delta = j.map.mul_vec(eta);
            for (i, d) in delta.iter_mut().enumerate() {
                *d += j.servo_map.row(i).iter().zip(servo_targets).map(|(a, s)| a * s).sum::<f64>();
            }
            poses[j.outer] = (poses[j.inner] * displaced_joint(j, &delta)).normalized();
        }
        poses
    }
}

fn column_sum(m: &Matrix, x: &[f64]) -> Twist {
    Twist::from_array(core::array::from_fn(|i| m.row(i).iter().zip(x).map(|(a, b)| a * b).sum()))
}

/// inner_from_outer with the joint's coordinates changed by δ.
fn displaced_joint(j: &JointRest, delta: &[f64]) -> Pose {
    match &j.path {
        JointPath::Exponential { columns } => {
            let t = columns.iter().zip(delta).fold(Twist::ZERO, |sum, (c, d)| sum + *c * *d);
            j.inner_from_outer * Pose::exp(t)
        }
        JointPath::Product { factors } => {
            factors.iter().fold(j.inner_from_outer, |pose, (i, c)| pose * Pose::exp(*c * delta[*i]))
        }
        JointPath::Subspace { before, subspace, start, after, inverted } => {
            let t = (0..subspace.len())
                .fold(Twist::ZERO, |sum, i| sum + subspace[i] * (start[i] + delta[i]));
            let pose = *before * Pose::exp(t) * *after;
            if *inverted { pose.inverse() } else { pose }
        }
    }
}
