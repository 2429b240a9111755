//! Poses of the links of a blend, four links at once: a mean of the samples' poses.

use forks_linalg::simd::{LANES, Lanes};

use forks_lie::Pose;
use forks_rom::{
    PoseBuffer,
    internal::{LinkBlocks, POSE, parallel, pose_entries, pose_of},
};

use crate::{
    evaluation::Evaluation,
    link_kernel::{Means, Samples, Scratch, Weighted},
    mean::{LinkBlend, mean},
    model::BlendedModel,
    state::BlendedState,
    workspace::BlendedWorkspace,
};

/// Links times samples from which several threads are used: an estimate from 6 ns each and 10 µs to
/// wake threads.
const PARALLEL_LINKS: usize = 16_384;

/// Link blocks that one thread takes at a time then: whole chunks.
const PARALLEL_BLOCKS: usize = 256;

impl BlendedModel {
    /// Room for the poses of all links but the ground and massless frames inside joints.
    pub fn pose_buffer(&self) -> PoseBuffer {
        PoseBuffer::new(&self.data().samples[0].model)
    }

    /// Poses of all links, each on its own: means of the samples' poses H_l exp(X_l η_i).
    ///
    /// With the feature `rayon`, on the threads of the current pool from 16,384 links times samples
    /// on.
    ///
    /// # Panics
    /// If the buffer or the state belong to a model of other sizes.
    pub fn poses(
        &self,
        state: &BlendedState,
        work: &mut BlendedWorkspace,
        blend: LinkBlend,
        out: &mut PoseBuffer,
    ) {
        assert_eq!(state.x.len(), self.dof(), "coordinates of the state");
        assert_eq!(out.blocks.len(), self.blocks(0).blocks() * POSE, "size of the pose buffer");
        work.update(self, state);
        if let Some(tree) = &self.tree {
            return tree.show(&mut work.here.tree, &mut out.blocks);
        }
        work.here.reduced_coordinates(self);
        let BlendedWorkspace { here, scratch, .. } = work;
        let links = Links {
            model: self,
            here,
            active: &here.active,
            servo_targets: state.driven_targets(),
            blend,
        };
        if LANES * self.blocks(0).blocks() * here.active.len() < PARALLEL_LINKS {
            return links.blend(0, &mut out.blocks, scratch);
        }
        parallel::for_each_chunk(&mut out.blocks, PARALLEL_BLOCKS * POSE, true, |i, out| {
            links.blend(i * PARALLEL_BLOCKS, out, &mut Scratch::new(self.samples.len()));
        });
    }

    pub(crate) fn blocks(&self, sample: usize) -> &LinkBlocks {
        match &self.samples[sample].curved {
            Some(c) => &c.blocks,
            None => self.data().samples[sample].model.blocks(),
        }
    }
}

/// What the poses of the links follow from.
struct Links<'a> {
    model: &'a BlendedModel,
    /// Weights and coordinates.
    here: &'a Evaluation,
    /// Samples of weight above 0.
    active: &'a [usize],
    /// Empty where all are 0.
    servo_targets: &'a [f64],
    blend: LinkBlend,
}

impl Links<'_> {
    /// Poses of some blocks, the first of them `first`.
    fn blend(&self, first: usize, out: &mut [Lanes], scratch: &mut Scratch) {
        if let [only] = *self.active {
            return self.displace(only, first, out);
        }
        let (out, _) = out.as_chunks_mut::<POSE>();
        let (isa, samples) = (self.model.isa(), self);
        let beyond = match self.blend {
            LinkBlend::Average => {
                isa.run(Means::<_, false> { samples, first, out: &mut *out, scratch })
            }
            LinkBlend::Logarithm => {
                isa.run(Means::<_, true> { samples, first, out: &mut *out, scratch })
            }
        };
        if beyond {
            self.far(first, out);
        }
    }

    /// Poses of a sample's links.
    fn displace(&self, sample: usize, first: usize, out: &mut [Lanes]) {
        let eta = self.here.eta(self.model, sample);
        self.model.blocks(sample).displace(self.model.isa(), first, eta, self.servo_targets, out);
    }

    /// Where a sample turns a link by more than 16π.
    #[cold]
    fn far(&self, first: usize, out: &mut [[Lanes; POSE]]) {
        for (b, out) in out.iter_mut().enumerate() {
            for lane in 0..LANES {
                let pose = |i: usize| {
                    let mut block = [Lanes::default(); POSE];
                    self.displace(i, first + b, &mut block);
                    pose_of(block.map(|x| x.0[lane]))
                };
                let weighted = self.active.iter().map(|&i| (self.here.weights[i], pose(i)));
                let pose: Pose = mean(self.blend, weighted);
                for (entry, x) in out.iter_mut().zip(pose_entries(&pose)) {
                    entry.0[lane] = x;
                }
            }
        }
    }
}

impl Samples for Links<'_> {
    #[inline(always)]
    fn count(&self) -> usize {
        self.active.len()
    }

    #[inline(always)]
    fn get(&self, k: usize) -> Weighted<'_> {
        let i = self.active[k];
        let (alpha, eta) = (self.here.weights[i], self.here.eta(self.model, i));
        Weighted { alpha, eta }
    }

    #[inline(always)]
    fn chunk(&self, k: usize, first: usize) -> (&[Lanes], usize) {
        self.model.links.chunk(self.active[k], first)
    }

    #[inline(always)]
    fn servo_targets(&self) -> &[f64] {
        self.servo_targets
    }
}
