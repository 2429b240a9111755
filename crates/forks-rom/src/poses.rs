//! Poses of the links of an instance, four links at once.

use alloc::{vec, vec::Vec};

use forks_lie::Pose;

use crate::{
    ReducedModel, State,
    kernel::{LANES, Lane4},
};

use crate::kernel::{POSE, pose_of};

/// World poses of a model's links: room that is filled again at every step.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseBuffer {
    pub(crate) blocks: Vec<Lane4>,
    links: Vec<usize>,
}

impl PoseBuffer {
    /// Room for all links of a model but the ground and massless frames inside joints.
    pub fn new(model: &ReducedModel) -> Self {
        Self {
            blocks: vec![Lane4::default(); model.blocks().blocks() * POSE],
            links: model.shown_links().collect(),
        }
    }

    /// Number of links.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Links in the buffer, indices into [`ModelData::links`](crate::ModelData::links), ascending.
    pub fn links(&self) -> &[usize] {
        &self.links
    }

    /// World pose of the `i`-th link of [`PoseBuffer::links`].
    ///
    /// # Panics
    /// If there is no such link.
    pub fn get(&self, i: usize) -> Pose {
        assert!(i < self.links.len(), "pose {i} of {}", self.links.len());
        let block = &self.blocks[i / LANES * POSE..][..POSE];
        pose_of(core::array::from_fn(|k| block[k].0[i % LANES]))
    }

    /// Links with their world poses.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (usize, Pose)> + '_ {
        self.links.iter().enumerate().map(|(i, &link)| (link, self.get(i)))
    }
}

impl ReducedModel {
    /// Poses of all links, H_l exp(X_l η + Y_l s), every link on its own (\[A16\] Eq. 6, 22).
    ///
    /// # Panics
    /// If the buffer or the state belong to a model of other sizes.
    pub fn poses(&self, state: &State, out: &mut PoseBuffer) {
        assert_eq!(out.blocks.len(), self.blocks().blocks() * POSE, "size of the pose buffer");
        self.pose_blocks(state, 0, &mut out.blocks);
    }

    /// Poses of some blocks of links.
    pub(crate) fn pose_blocks(&self, state: &State, first: usize, out: &mut [Lane4]) {
        assert_eq!(state.dof, self.dof(), "coordinates of the state");
        self.blocks().displace(self.isa(), first, state.eta(), state.drive(), out);
    }

    /// Pose of one link, equal to the last bit to that of [`ReducedModel::poses`].
    ///
    /// # Panics
    /// If there is no such link.
    pub fn pose_of_link(&self, link: usize, state: &State) -> Pose {
        let Some(slot) = self.slot(link) else {
            return self.link_pose(link, state.eta(), &state.servo_targets);
        };
        let mut block = [Lane4::default(); POSE];
        self.pose_blocks(state, slot / LANES, &mut block);
        pose_of(core::array::from_fn(|k| block[k].0[slot % LANES]))
    }
}
