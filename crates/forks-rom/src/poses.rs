//! Poses of the links of an instance, four links at once.

use forks_linalg::simd::{LANES, Lanes};

use alloc::{vec, vec::Vec};

use forks_lie::Pose;

use crate::{
    ModelError, ReducedModel, State,
    kernel::{LinkBlocks, POSE, pose_of},
    parallel,
};

/// Links from which several threads are used for one instance: an estimate from 6 ns a link and 10
/// µs to wake threads.
const PARALLEL_LINKS: usize = 16_384;

/// Link blocks that one thread takes at a time then.
const PARALLEL_BLOCKS: usize = 512;

/// Some links of a model, laid out on their own: their poses cost no more than those of a model of
/// so many links.
#[derive(Clone, Debug)]
pub struct LinkSelection {
    blocks: LinkBlocks,
    links: Vec<usize>,
}

impl LinkSelection {
    /// Links by index into [`ModelData::links`](crate::data::ModelData::links), in the order given;
    /// any link, also the ground and massless frames inside joints.
    ///
    /// # Errors
    /// A link that the model does not have.
    pub fn new(model: &ReducedModel, links: &[usize]) -> Result<Self, ModelError> {
        let data = model.data();
        let count = data.links.len();
        if let Some(&found) = links.iter().find(|&&l| l >= count) {
            return Err(ModelError::WrongSize {
                quantity: "selected link",
                found,
                expected: count,
            });
        }
        let of = |&l: &usize| (data.links[l].rest, &data.links[l].map, &data.links[l].servo_map);
        let columns = model.dof() + data.servos.len();
        Ok(Self { blocks: LinkBlocks::new(columns, links.iter().map(of)), links: links.to_vec() })
    }

    /// The links.
    pub fn links(&self) -> &[usize] {
        &self.links
    }
}

/// World poses of a model's links: room that is filled again at every step.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseBuffer {
    #[doc(hidden)]
    pub blocks: Vec<Lanes>,
    links: Vec<usize>,
}

impl PoseBuffer {
    /// Room for all links of a model but the ground and massless frames inside joints.
    pub fn new(model: &ReducedModel) -> Self {
        Self {
            blocks: vec![Lanes::default(); model.blocks().blocks() * POSE],
            links: model.shown_links().collect(),
        }
    }

    /// Room for some links.
    pub fn of_selection(selection: &LinkSelection) -> Self {
        Self {
            blocks: vec![Lanes::default(); selection.blocks.blocks() * POSE],
            links: selection.links.clone(),
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

    /// Links in the buffer, indices into [`ModelData::links`](crate::data::ModelData::links),
    /// ascending.
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
    /// With the feature `rayon`, on the threads of the current pool from 16,384 links on.
    ///
    /// # Panics
    /// If the buffer or the state belong to a model of other sizes.
    pub fn poses(&self, state: &State, out: &mut PoseBuffer) {
        assert_eq!(out.blocks.len(), self.blocks().blocks() * POSE, "size of the pose buffer");
        assert_eq!(state.coordinates().len(), self.dof(), "coordinates of the state");
        self.displace(self.blocks(), state, &mut out.blocks);
    }

    /// Poses of some links, equal to the last bit to those of [`ReducedModel::poses`].
    ///
    /// # Panics
    /// If the selection, the buffer or the state belong to a model or selection of other sizes.
    pub fn poses_of(&self, selection: &LinkSelection, state: &State, out: &mut PoseBuffer) {
        let columns = self.dof() + self.data().servos.len();
        assert_eq!(selection.blocks.columns(), columns, "columns of the selection");
        assert_eq!(out.blocks.len(), selection.blocks.blocks() * POSE, "size of the pose buffer");
        assert_eq!(state.coordinates().len(), self.dof(), "coordinates of the state");
        self.displace(&selection.blocks, state, &mut out.blocks);
    }

    /// All blocks, on several threads where that pays.
    fn displace(&self, blocks: &LinkBlocks, state: &State, out: &mut [Lanes]) {
        let pays = blocks.blocks() * LANES >= PARALLEL_LINKS;
        parallel::for_each_chunk(out, PARALLEL_BLOCKS * POSE, pays, |i, out| {
            let first = i * PARALLEL_BLOCKS;
            blocks.displace(self.isa(), first, state.coordinates(), state.drive(), out);
        });
    }

    /// Poses of some blocks of links.
    pub(crate) fn pose_blocks(&self, state: &State, first: usize, out: &mut [Lanes]) {
        assert_eq!(state.dof, self.dof(), "coordinates of the state");
        self.blocks().displace(self.isa(), first, state.coordinates(), state.drive(), out);
    }

    /// Pose of one link, equal to the last bit to that of [`ReducedModel::poses`].
    ///
    /// # Panics
    /// If there is no such link.
    pub fn pose_of_link(&self, link: usize, state: &State) -> Pose {
        let Some(slot) = self.slot(link) else {
            return self.link_pose(link, state.coordinates(), &state.servo_targets);
        };
        let mut block = [Lanes::default(); POSE];
        self.pose_blocks(state, slot / LANES, &mut block);
        pose_of(core::array::from_fn(|k| block[k].0[slot % LANES]))
    }
}
