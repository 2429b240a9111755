//! The blocks of all samples' links in the order in which means of poses read them: a chunk of
//! blocks of the first sample, the same chunk of the second, and so on. Read front to back they
//! come from the caches as fast as those of one sample; eight arrays side by side are slower by a
//! tenth.

use forks_linalg::simd::Lanes;

use alloc::vec::Vec;

use forks_rom::internal::LinkBlocks;

use crate::link_kernel::CHUNK;

/// A copy of the samples' blocks; empty for a single sample.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkStream {
    data: Vec<Lanes>,
    /// Entries of a block of each sample.
    strides: Vec<usize>,
    /// Entries of a block of all samples before.
    before: Vec<usize>,
    /// Entries of a block of all samples.
    all: usize,
    /// Number of blocks.
    blocks: usize,
}

impl LinkStream {
    /// From the blocks of the samples, equally many.
    pub(crate) fn new(samples: &[&LinkBlocks]) -> Self {
        let [first, _, ..] = samples else { return Self::default() };
        let (blocks, mut data) = (first.blocks(), Vec::new());
        for start in (0..blocks).step_by(CHUNK) {
            for sample in samples {
                data.extend_from_slice(sample.range(start, CHUNK.min(blocks - start)));
            }
        }
        let strides: Vec<usize> = samples.iter().map(|s| s.stride()).collect();
        let before = strides.iter().scan(0, |sum, s| {
            *sum += s;
            Some(*sum - s)
        });
        Self { data, before: before.collect(), all: strides.iter().sum(), strides, blocks }
    }

    /// The blocks of a sample from `first` on, a whole chunk or what is left, and the entries of
    /// each.
    #[inline(always)]
    pub(crate) fn chunk(&self, sample: usize, first: usize) -> (&[Lanes], usize) {
        let (stride, count) = (self.strides[sample], CHUNK.min(self.blocks - first));
        let start = first * self.all + count * self.before[sample];
        (&self.data[start..start + count * stride], stride)
    }
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use forks_lie::{Pose, glam::DVec3};
    use forks_linalg::Matrix;

    use super::*;
    use forks_linalg::simd::LANES;

    #[test]
    fn every_block_of_every_sample_is_where_it_is_looked_for() {
        let none = Matrix::zeros(6, 0);
        for links in [1, 4, 31, 32, 33, 100] {
            let sample = |columns: usize| {
                let map = Matrix::from_fn(6, columns, |i, j| (10 * columns + i + j) as f64);
                let pose = |l: usize| Pose::from_translation(DVec3::new(l as f64, 0.0, 0.0));
                let all: Vec<Pose> = (0..links).map(pose).collect();
                LinkBlocks::new(columns, all.iter().map(|p| (*p, &map, &none)))
            };
            let samples = [sample(6), sample(3), sample(7)];
            let stream = LinkStream::new(&[&samples[0], &samples[1], &samples[2]]);
            let blocks = links.div_ceil(LANES);
            for (k, sample) in samples.iter().enumerate() {
                for first in (0..blocks).step_by(CHUNK) {
                    let (found, stride) = stream.chunk(k, first);
                    assert_eq!(stride, sample.stride());
                    assert_eq!(found, sample.range(first, CHUNK.min(blocks - first)));
                }
            }
        }
        assert_eq!(LinkStream::new(&[]).data, vec![]);
    }
}
