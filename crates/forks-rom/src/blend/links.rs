//! Poses of the links of a blend, four links at once: a mean of the samples' poses.

use forks_lie::{Pose, Twist};

use super::{
    lane_logarithm::{MAX_SINE_SQUARED, twist_between},
    mean::mean,
    model::BlendedModel,
    step::BlendedState,
};
use crate::{
    PoseBuffer,
    kernel::{
        Kernel, LANES, Lane4, Lanes, LinkBlocks, POSE, block_pose, displaced, pose_entries, pose_of,
    },
    parallel,
};

/// How the samples' poses of a link become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkBlend {
    /// Positions averaged, quaternions averaged with aligned signs: differs from [`LinkBlend::Logarithm`] by third
    /// order in how far the samples' poses are apart, and costs no logarithm.
    #[default]
    Average,
    /// \[A16\] Eq. 28, H̄ exp(Σ α_i log(H̄⁻¹ H_i)) with H̄ the average of the samples' poses, so that their order does
    /// not matter.
    Logarithm,
}

/// Links times samples from which several threads are used: an estimate from 6 ns each and 10 µs to wake threads.
const PARALLEL_LINKS: usize = 16_384;

/// Link blocks that one thread takes at a time then.
const PARALLEL_BLOCKS: usize = 256;

/// Samples whose poses of a block are kept for their logarithms; those of further samples are computed twice.
const KEPT: usize = 16;

impl BlendedModel {
    /// Room for the poses of all links but the ground and massless frames inside joints.
    pub fn pose_buffer(&self) -> PoseBuffer {
        PoseBuffer::new(&self.data().samples[0].model)
    }

    /// Poses of all links, each on its own: means of the samples' poses H_l exp(X_l η_i).
    ///
    /// With the feature `rayon`, on the threads of the current pool from 16,384 links times samples on.
    ///
    /// # Panics
    /// If the buffer or the state belong to a model of other sizes.
    pub fn poses(&self, state: &mut BlendedState, blend: LinkBlend, out: &mut PoseBuffer) {
        assert_eq!(state.x.len(), self.dof(), "coordinates of the state");
        assert_eq!(out.blocks.len(), self.blocks(0).blocks() * POSE, "size of the pose buffer");
        state.here.reduced_coordinates(self);
        let (weights, etas) = (&state.here.weights[..], &state.here.etas[..]);
        let active = &state.here.active[..];
        let work = LANES * self.blocks(0).blocks() * active.len();
        let pays = work >= PARALLEL_LINKS;
        parallel::for_each_chunk(&mut out.blocks, PARALLEL_BLOCKS * POSE, pays, |i, out| {
            let first = i * PARALLEL_BLOCKS;
            self.isa().run(BlendLinks { model: self, weights, etas, active, blend, first, out });
        });
    }

    pub(super) fn blocks(&self, sample: usize) -> &LinkBlocks {
        self.data().samples[sample].model.blocks()
    }
}

struct BlendLinks<'a> {
    model: &'a BlendedModel,
    weights: &'a [f64],
    /// η_i, sample after sample.
    etas: &'a [f64],
    /// Samples of weight above 0.
    active: &'a [usize],
    blend: LinkBlend,
    /// Place of the first block of `out`.
    first: usize,
    out: &'a mut [Lane4],
}

impl Kernel for BlendLinks<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        // Six coordinates, one free effector, are the common case: the loop over them is unrolled.
        match self.model.dof() {
            6 => self.all::<L, 6>(l),
            _ => self.all::<L, 0>(l),
        }
    }
}

impl BlendLinks<'_> {
    /// `N` coordinates where that is known when compiling, else 0.
    ///
    /// Loops and no closures: those may stay calls, without the instruction set.
    #[inline(always)]
    fn all<L: Lanes, const N: usize>(self, l: L) {
        let Self { model, weights, etas, active, blend, first, out } = self;
        let n = if N == 0 { model.dof() } else { N };
        let several = active.len() > 1;
        let logarithms = several && blend == LinkBlend::Logarithm;
        let mut kept = [[Lane4::default(); POSE]; KEPT];
        let (out, _) = out.as_chunks_mut::<POSE>();
        for (b, out) in out.iter_mut().enumerate() {
            let b = first + b;
            let mut beyond = false;
            let mut sum = [l.splat(0.0); POSE];
            let mut start = sum;
            for (k, &i) in active.iter().enumerate() {
                let pose = sample_pose::<L, N>(
                    l,
                    model.blocks(i).block(b),
                    &etas[i * n..][..n],
                    &mut beyond,
                );
                if k == 0 {
                    start = pose;
                }
                if logarithms && k < KEPT {
                    store(l, &pose, &mut kept[k]);
                }
                if several {
                    add_weighted(l, weights[i], &start, &pose, &mut sum);
                } else {
                    sum = pose;
                }
            }
            if several {
                normalise(l, &mut sum);
            }
            if logarithms {
                let mut twist = [l.splat(0.0); 6];
                for (k, &i) in active.iter().enumerate() {
                    let pose = match k < KEPT {
                        true => load(l, &kept[k]),
                        false => {
                            let block = model.blocks(i).block(b);
                            sample_pose::<L, N>(l, block, &etas[i * n..][..n], &mut beyond)
                        }
                    };
                    let (xi, s) = twist_between(l, &sum, &pose);
                    beyond |= l.any_above(s, MAX_SINE_SQUARED);
                    let alpha = l.splat(weights[i]);
                    for (t, x) in twist.iter_mut().zip(xi) {
                        *t = l.mul_add(alpha, x, *t);
                    }
                }
                sum = displaced(l, sum, twist, &mut beyond);
            }
            store(l, &sum, out);
            if beyond {
                far_block(model, weights, etas, active, blend, b, out);
            }
        }
    }
}

/// Poses of a block at a sample's coordinates.
#[inline(always)]
fn sample_pose<L: Lanes, const N: usize>(
    l: L,
    block: &[Lane4],
    eta: &[f64],
    beyond: &mut bool,
) -> [L::V; POSE] {
    if N == 6 {
        if let (Some(eta), Some(block)) =
            (eta.first_chunk::<6>(), block.first_chunk::<{ POSE + 36 }>())
        {
            return block_pose(l, block, eta, beyond);
        }
    }
    block_pose(l, block, eta, beyond)
}

#[inline(always)]
fn load<L: Lanes>(l: L, entries: &[Lane4; POSE]) -> [L::V; POSE] {
    let mut out = [l.splat(0.0); POSE];
    for (o, x) in out.iter_mut().zip(entries) {
        *o = l.load(x);
    }
    out
}

#[inline(always)]
fn store<L: Lanes>(l: L, pose: &[L::V; POSE], out: &mut [Lane4; POSE]) {
    for (o, x) in out.iter_mut().zip(pose) {
        *o = l.store(*x);
    }
}

/// sum += α pose, the quaternion with the sign that is nearer to the first sample's.
#[inline(always)]
fn add_weighted<L: Lanes>(
    l: L,
    alpha: f64,
    first: &[L::V; POSE],
    pose: &[L::V; POSE],
    sum: &mut [L::V; POSE],
) {
    let alpha = l.splat(alpha);
    let mut dot = l.mul(first[3], pose[3]);
    for k in 4..POSE {
        dot = l.mul_add(first[k], pose[k], dot);
    }
    let signed = l.turn_sign(alpha, dot);
    for k in 0..3 {
        sum[k] = l.mul_add(alpha, pose[k], sum[k]);
    }
    for k in 3..POSE {
        sum[k] = l.mul_add(signed, pose[k], sum[k]);
    }
}

/// Scales the quaternion to unit length.
#[inline(always)]
fn normalise<L: Lanes>(l: L, pose: &mut [L::V; POSE]) {
    let mut square = l.mul(pose[3], pose[3]);
    for x in &pose[4..] {
        square = l.mul_add(*x, *x, square);
    }
    let scale = l.inverse_root(square);
    for x in &mut pose[3..] {
        *x = l.mul(*x, scale);
    }
}

/// A block in which the polynomials do not hold: some sample turns a link by more than 16π, or samples differ from
/// their average by more than 60°.
#[cold]
fn far_block(
    model: &BlendedModel,
    weights: &[f64],
    etas: &[f64],
    active: &[usize],
    blend: LinkBlend,
    b: usize,
    out: &mut [Lane4],
) {
    let n = model.dof();
    for lane in 0..LANES {
        let pose = |i: usize| {
            let block = model.blocks(i).block(b);
            let eta = &etas[i * n..(i + 1) * n];
            let t = Twist::from_array(core::array::from_fn(|k| {
                eta.iter().enumerate().map(|(j, x)| block[POSE + 6 * j + k].0[lane] * x).sum()
            }));
            let rest = pose_of(core::array::from_fn(|k| block[k].0[lane]));
            let turn = Pose::exp(t);
            Pose::new(turn.rotation * rest.rotation, rest.translation + turn.translation)
        };
        let mean = mean(blend, active.iter().map(|&i| (weights[i], pose(i))));
        for (entry, x) in out.iter_mut().zip(pose_entries(&mean)) {
            entry.0[lane] = x;
        }
    }
}
