//! Poses of all links of a blend on request, by twists or by joint displacements.
//!
//! In joint space the motions of every joint of the tree are blended, then a forward sweep puts the
//! links where the joints have them: joints of the tree stay closed. Rotations about an axis or a
//! point, translations along directions and their products that form a group are blended as poses
//! of the joint's frames, whose means stay in the group. For other joints coordinates are blended,
//! counted from those of the first sample.

use alloc::{vec, vec::Vec};

use forks_lie::{Pose, Twist};
use forks_linalg::Matrix;
use forks_rom::{
    JointPath, JointRest, ModelError, Reconstruction,
    internal::{OrthogonalRows, displaced_joint, displacement, is_group},
};

use crate::{
    links::LinkBlend,
    mean::mean,
    model::{BlendData, BlendedModel},
    step::BlendedState,
};

/// How a joint of the tree is blended.
#[derive(Clone, Debug)]
pub(crate) enum JointBlend {
    /// By poses of the joint's child-side frame in its parent-side frame.
    Group,
    /// By coordinates: those of each sample relative to the first one's, sample after sample.
    Coordinates(Vec<f64>),
}

/// How each joint of the tree is blended.
///
/// # Errors
/// Samples whose trees differ, or whose joints are so far from each other that coordinates are not
/// found.
pub(crate) fn joint_blends(data: &BlendData) -> Result<Vec<JointBlend>, ModelError> {
    let unlike = || ModelError::UnlikeSamples { quantity: "joints" };
    let joints = |i: usize| &data.samples[i].model.data().joints;
    let first = joints(0);
    let same = |a: &JointRest, b: &JointRest| {
        let ends = |j: &JointRest| (j.closes_loop, j.reversed, j.inner, j.outer, j.map.rows());
        ends(a) == ends(b)
    };
    for i in 0..data.samples.len() {
        let all = joints(i).len() == first.len();
        if !all || !first.iter().zip(joints(i)).all(|(a, b)| same(a, b)) {
            return Err(unlike());
        }
    }
    let blend = |(k, j): (usize, &JointRest)| {
        if is_group(j) {
            return Ok(JointBlend::Group);
        }
        let mut all = Vec::new();
        for i in 0..data.samples.len() {
            all.extend(coordinates(j, &joints(i)[k]).ok_or_else(unlike)?);
        }
        Ok(JointBlend::Coordinates(all))
    };
    first.iter().enumerate().filter(|(_, j)| !j.closes_loop).map(blend).collect()
}

/// The displacement of a joint at which it is where it is in another sample.
fn coordinates(j: &JointRest, other: &JointRest) -> Option<Vec<f64>> {
    const ITERATIONS: usize = 60;
    let n = j.map.rows();
    let mut delta = match (&j.path, &other.path) {
        (JointPath::Subspace { start: a, .. }, JointPath::Subspace { start: b, .. }) => {
            b.iter().zip(a).map(|(b, a)| b - a).collect()
        }
        _ => vec![0.0; n],
    };
    let mut best = (f64::INFINITY, delta.clone());
    for _ in 0..ITERATIONS {
        let at = |d: &[f64]| displaced_joint(j, |i| d[i]);
        let here = at(&delta);
        let gap = here.twist_to(&other.inner_from_outer);
        if gap.norm() >= 0.5 * best.0 && best.0 < 1e-9 {
            break;
        }
        if gap.norm() < best.0 {
            best = (gap.norm(), delta.clone());
        }
        // Most often the first guess is right.
        if best.0 < 4.0 * f64::EPSILON {
            break;
        }
        let columns: Vec<[f64; 6]> = (0..n)
            .map(|k| {
                let side = |h: f64| {
                    let mut d = delta.clone();
                    d[k] += h;
                    here.twist_to(&at(&d))
                };
                ((side(1e-5) - side(-1e-5)) * 0.5e5).to_array()
            })
            .collect();
        let rows = OrthogonalRows::new(&Matrix::from_fn(6, n, |i, k| columns[k][i]));
        let step = rows.solve(&gap.to_array(), 1e-9 * rows.largest());
        delta.iter_mut().zip(step).for_each(|(d, s)| *d += s);
    }
    // Rounding of positions of size 1.
    (best.0 < 1e-9).then_some(best.1)
}

impl BlendedModel {
    /// World pose of a link as one sample has it.
    fn sample_link(&self, i: usize, l: usize, eta: &[f64], driven: &[f64]) -> Pose {
        let model = &self.data().samples[i].model;
        let Some(c) = &self.samples[i].curved else {
            return model.link_pose(l, eta, driven);
        };
        let twist = core::array::from_fn(|k| sum(c.links[l].row(k), eta));
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
        state: &mut BlendedState,
        mode: Reconstruction,
        blend: LinkBlend,
        out: &mut [Pose],
    ) {
        assert_eq!(state.x.len(), self.dof(), "coordinates of the state");
        match mode {
            Reconstruction::Twist => state.here.reduced_coordinates(self),
            Reconstruction::JointSpace => state.here.bent_coordinates(self),
        }
        let first = self.data().samples[0].model.data();
        assert_eq!(out.len(), first.links.len(), "size of the pose buffer");
        let (here, driven) = (&state.here, state.driven_targets());
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
                Some(curved) => sum(curved.joints[k].row(c), eta(i)),
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
