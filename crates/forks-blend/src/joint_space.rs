//! Poses of all links of a blend on request, by twists or by joint displacements.
//!
//! In joint space the motions of every joint of the tree are blended, then a forward sweep puts the
//! links where the joints have them: joints of the tree stay closed. Rotations about an axis or a
//! point, translations along directions and their products that form a group are blended as poses
//! of the joint's frames, whose means stay in the group. For other joints coordinates are blended,
//! counted from those of the first sample.

use forks_lie::{Pose, Twist};
use forks_rom::{
    Reconstruction,
    data::JointRest,
    internal::{displaced_joint, displacement},
};

use crate::{
    joint_blend::JointBlend,
    mean::{LinkBlend, mean},
    model::BlendedModel,
    state::BlendedState,
    workspace::BlendedWorkspace,
};

impl BlendedModel {
    /// World pose of a link as one sample has it.
    fn sample_link(&self, i: usize, l: usize, eta: &[f64], driven: &[f64]) -> Pose {
        let model = &self.data().samples[i].model;
        let Some(c) = &self.samples[i].curved else {
            return model.link_pose(l, eta, driven);
        };
        let servos = &model.data().links[l].servo_map;
        let twist =
            core::array::from_fn(|k| sum(c.links[l].row(k), eta) + sum(servos.row(k), driven));
        model.data().links[l].rest.displaced(Twist::from_array(twist))
    }

    /// World poses of all links, the ground first; allocates nothing.
    ///
    /// [`Reconstruction::Twist`] gives those of [`BlendedModel::poses`]; in
    /// [`Reconstruction::JointSpace`] joints of the tree stay closed.
    ///
    /// # Panics
    /// If the buffer has not one place per link, or the state belongs to a model of another size.
    pub fn link_poses_into(
        &self,
        state: &BlendedState,
        work: &mut BlendedWorkspace,
        mode: Reconstruction,
        blend: LinkBlend,
        out: &mut [Pose],
    ) {
        assert_eq!(state.x.len(), self.dof(), "coordinates of the state");
        work.update(self, state);
        if let Some(tree) = &self.tree {
            return out.copy_from_slice(tree.links(&mut work.here.tree));
        }
        match mode {
            Reconstruction::Twist => work.here.reduced_coordinates(self),
            Reconstruction::JointSpace => work.here.bent_coordinates(self),
        }
        let first = self.data().samples[0].model.data();
        assert_eq!(out.len(), first.links.len(), "size of the pose buffer");
        let (here, driven) = (&work.here, state.driven_targets());
        let eta = |i: usize| here.eta(self, i);
        let active = || here.active.iter().map(|&i| (i, here.weights[i]));
        for (l, out) in out.iter_mut().enumerate() {
            let pose = |i: usize| self.sample_link(i, l, eta(i), driven);
            *out = mean(blend, active().map(|(i, w)| (w, pose(i))));
        }
        if mode == Reconstruction::Twist {
            return;
        }
        let tree = first.joints.iter().enumerate().filter(|(_, j)| !j.closes_loop);
        for ((k, j), rule) in tree.zip(&self.joints) {
            let joint = |i: usize| &self.data().samples[i].model.data().joints[k];
            let change = |i: usize, c: usize| match &self.samples[i].curved {
                Some(curved) => {
                    sum(curved.joints[k].row(c), eta(i)) + sum(joint(i).servo_map.row(c), driven)
                }
                None => displacement(joint(i), c, eta(i), driven),
            };
            let inner_from_outer = match rule {
                JointBlend::Group => {
                    let frame =
                        |i: usize| frame_of(j, &displaced_joint(joint(i), |c| change(i, c)));
                    from_frame(j, &mean(blend, active().map(|(i, w)| (w, frame(i)))))
                }
                JointBlend::Coordinates(start) => {
                    let d = j.map.rows();
                    displaced_joint(j, |c| {
                        active().map(|(i, w)| w * (start[i * d + c] + change(i, c))).sum()
                    })
                }
            };
            out[j.outer] = (out[j.inner] * inner_from_outer).normalized();
        }
    }
}

/// Σ a b.
pub(crate) fn sum(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The child-side frame of a joint in its parent-side frame.
fn frame_of(j: &JointRest, inner_from_outer: &Pose) -> Pose {
    let parent_from_child = if j.reversed { inner_from_outer.inverse() } else { *inner_from_outer };
    j.parent_from_joint.inverse() * parent_from_child * j.child_from_joint
}

/// The inverse of [`frame_of`].
fn from_frame(j: &JointRest, frame: &Pose) -> Pose {
    let parent_from_child = j.parent_from_joint * *frame * j.child_from_joint.inverse();
    if j.reversed { parent_from_child.inverse() } else { parent_from_child }
}
