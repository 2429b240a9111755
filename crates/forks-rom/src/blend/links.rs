//! Poses of the links of a blend, four links at once: a mean of the samples' poses.

use alloc::{vec, vec::Vec};

use forks_lie::Pose;

use super::{
    lane_logarithm::{polynomial, twist_between},
    mean::mean,
    model::BlendedModel,
    step::BlendedState,
};
use crate::{
    PoseBuffer,
    kernel::{Kernel, LANES, Lane4, Lanes, LinkBlocks, POSE, displaced, pose_entries, pose_of},
    parallel,
};

/// How the samples' poses of a link become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkBlend {
    /// Positions averaged, quaternions averaged with aligned signs, without logarithms. Differs from
    /// [`LinkBlend::Logarithm`] in rotation by third order in how far the samples' poses are apart, in position by
    /// about ½ Σ α_i ω_i × t_i, ω_i and t_i the rotation and distance from the average to sample i: positions here do
    /// not follow screws.
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

/// Blocks that are blended at a time: as many as a call of the kernels pays for.
const CHUNK: usize = 32;

/// Blocks times samples whose poses are held then: 14 kB, for the first cache.
const HELD: usize = 64;

/// Samples of a group.
const GROUP: usize = 8;

/// Entries of a quaternion.
const QUATERNION: usize = 4;

/// Poses of a chunk's blocks.
type Poses = [[Lane4; POSE]; CHUNK];

/// Memory of a thread.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    /// Sample after sample of a group.
    poses: Vec<Poses>,
    start: Poses,
    twists: [[Lane4; 6]; CHUNK],
}

impl Scratch {
    /// For blends of so many samples.
    pub(super) fn new(samples: usize) -> Self {
        Self {
            poses: vec![Poses::default(); samples.min(GROUP)],
            start: Poses::default(),
            twists: [[Lane4::default(); 6]; CHUNK],
        }
    }
}

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
        let driven = !state.driven_targets().is_empty();
        let BlendedState { here, scratch, servo_targets, .. } = state;
        let links = Links {
            model: self,
            weights: &here.weights,
            etas: &here.etas,
            active: &here.active,
            servo_targets: if driven { servo_targets } else { &[] },
            blend,
        };
        if LANES * self.blocks(0).blocks() * here.active.len() < PARALLEL_LINKS {
            return links.blend(0, &mut out.blocks, scratch);
        }
        parallel::for_each_chunk(&mut out.blocks, PARALLEL_BLOCKS * POSE, true, |i, out| {
            links.blend(i * PARALLEL_BLOCKS, out, &mut Scratch::new(self.samples.len()));
        });
    }

    pub(super) fn blocks(&self, sample: usize) -> &LinkBlocks {
        self.data().samples[sample].model.blocks()
    }
}

/// What the poses of the links follow from.
struct Links<'a> {
    model: &'a BlendedModel,
    weights: &'a [f64],
    /// η_i, sample after sample.
    etas: &'a [f64],
    /// Samples of weight above 0.
    active: &'a [usize],
    /// Empty where all are 0.
    servo_targets: &'a [f64],
    blend: LinkBlend,
}

impl Links<'_> {
    /// Poses of some blocks, the first of them `first`.
    fn blend(&self, first: usize, out: &mut [Lane4], scratch: &mut Scratch) {
        if let [only] = *self.active {
            return self.displace(only, first, out);
        }
        let groups = self.active.len().div_ceil(GROUP);
        let (out, _) = out.as_chunks_mut::<POSE>();
        let chunk = (HELD / self.active.len().min(GROUP)).min(CHUNK);
        for (c, out) in out.chunks_mut(chunk).enumerate() {
            let first = first + c * chunk;
            for (g, group) in self.active.chunks(GROUP).enumerate() {
                self.fill(group, first, out.len(), &mut scratch.poses);
                if g == 0 && groups > 1 {
                    scratch.start = scratch.poses[0];
                }
                let Scratch { poses, start, .. } = &*scratch;
                let start = if groups > 1 { start } else { &poses[0] };
                let (weights, new, last) = (self.weights, g == 0, g + 1 == groups);
                self.run(Average { poses, group, weights, start, new, last, out: &mut *out });
            }
            if self.blend == LinkBlend::Logarithm {
                self.logarithms(first, scratch, out);
            }
        }
    }

    /// From averages to Eq. 28; the scratch holds the poses of the last group.
    fn logarithms(&self, first: usize, scratch: &mut Scratch, out: &mut [[Lane4; POSE]]) {
        let mut far = false;
        for (g, group) in self.active.chunks(GROUP).enumerate() {
            if self.active.len() > GROUP {
                self.fill(group, first, out.len(), &mut scratch.poses);
            }
            let Scratch { poses, twists, .. } = &mut *scratch;
            let (weights, bases, new) = (self.weights, &*out, g == 0);
            far |= self.run(Logarithms { poses, group, weights, bases, new, twists });
        }
        if far {
            return self.far(first, out);
        }
        self.run(Displace { twists: &scratch.twists, out });
    }

    /// Poses of a sample's links.
    fn displace(&self, sample: usize, first: usize, out: &mut [Lane4]) {
        let n = self.model.dof();
        let eta = &self.etas[sample * n..][..n];
        self.model.blocks(sample).displace(self.model.isa(), first, eta, self.servo_targets, out);
    }

    /// Poses of some blocks for a group of samples.
    fn fill(&self, group: &[usize], first: usize, count: usize, poses: &mut [Poses]) {
        for (&i, poses) in group.iter().zip(poses) {
            self.displace(i, first, poses[..count].as_flattened_mut());
        }
    }

    #[inline(always)]
    fn run<K: Kernel>(&self, kernel: K) -> K::Output {
        self.model.isa().run(kernel)
    }

    /// Blocks in which some sample differs from the average by more than 60°, where the polynomials do not hold.
    #[cold]
    fn far(&self, first: usize, out: &mut [[Lane4; POSE]]) {
        for (b, out) in out.iter_mut().enumerate() {
            for lane in 0..LANES {
                let pose = |i: usize| {
                    let mut block = [Lane4::default(); POSE];
                    self.displace(i, first + b, &mut block);
                    pose_of(block.map(|x| x.0[lane]))
                };
                let weighted = self.active.iter().map(|&i| (self.weights[i], pose(i)));
                let pose: Pose = mean(self.blend, weighted);
                for (entry, x) in out.iter_mut().zip(pose_entries(&pose)) {
                    entry.0[lane] = x;
                }
            }
        }
    }
}

/// Adds the weighted poses of a group of samples.
///
/// Kernels have loops and no closures: those may stay calls, without the instruction set.
struct Average<'a> {
    poses: &'a [Poses],
    group: &'a [usize],
    weights: &'a [f64],
    /// Poses of the first sample of all.
    start: &'a Poses,
    /// True for the first group.
    new: bool,
    /// True for the last group.
    last: bool,
    out: &'a mut [[Lane4; POSE]],
}

impl Kernel for Average<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Self { poses, group, weights, start, new, last, out } = self;
        let mut alphas = [0.0; GROUP];
        for (alpha, &i) in alphas.iter_mut().zip(group) {
            *alpha = weights[i];
        }
        let count = group.len().min(GROUP).min(poses.len());
        let (poses, alphas) = (&poses[..count], &alphas[..count]);
        for (b, (out, start)) in out.iter_mut().zip(start).enumerate() {
            let start =
                [l.load(&start[3]), l.load(&start[4]), l.load(&start[5]), l.load(&start[6])];
            let mut sum = [l.splat(0.0); POSE];
            if !new {
                sum = load(l, out);
            }
            for k in 0..count {
                add_weighted(l, alphas[k], &start, &poses[k][b & (CHUNK - 1)], &mut sum);
            }
            if last {
                normalise(l, &mut sum);
            }
            store(l, &sum, out);
        }
    }
}

/// Adds the weighted twists from averages to the poses of a group of samples; true if some are too large.
struct Logarithms<'a> {
    poses: &'a [Poses],
    group: &'a [usize],
    weights: &'a [f64],
    bases: &'a [[Lane4; POSE]],
    /// True for the first group.
    new: bool,
    twists: &'a mut [[Lane4; 6]; CHUNK],
}

impl Kernel for Logarithms<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> bool {
        let Self { poses, group, weights, bases, new, twists } = self;
        let mut far = false;
        let mut alphas = [0.0; GROUP];
        for (alpha, &i) in alphas.iter_mut().zip(group) {
            *alpha = weights[i];
        }
        let count = group.len().min(GROUP).min(poses.len());
        let (poses, alphas) = (&poses[..count], &alphas[..count]);
        for (b, (base, twist)) in bases.iter().zip(twists).enumerate() {
            let base = load(l, base);
            let mut sum = [l.splat(0.0); 6];
            if !new {
                sum = load(l, twist);
            }
            for k in 0..count {
                let pose = load(l, &poses[k][b & (CHUNK - 1)]);
                let xi = twist_between(l, &base, &pose, &mut far);
                let alpha = l.splat(alphas[k]);
                for (t, x) in sum.iter_mut().zip(xi) {
                    *t = l.mul_add(alpha, x, *t);
                }
            }
            store(l, &sum, twist);
        }
        far
    }
}

/// Moves poses by twists.
struct Displace<'a> {
    twists: &'a [[Lane4; 6]; CHUNK],
    out: &'a mut [[Lane4; POSE]],
}

impl Kernel for Displace<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        // Twists of means are no longer than the longest twist, 60°.
        let mut beyond = false;
        for (out, twist) in self.out.iter_mut().zip(self.twists) {
            let moved = displaced(l, load(l, out), load(l, twist), &mut beyond);
            store(l, &moved, out);
        }
    }
}

#[inline(always)]
fn load<L: Lanes, const N: usize>(l: L, entries: &[Lane4; N]) -> [L::V; N] {
    let mut out = [l.splat(0.0); N];
    for (o, x) in out.iter_mut().zip(entries) {
        *o = l.load(x);
    }
    out
}

#[inline(always)]
fn store<L: Lanes, const N: usize>(l: L, x: &[L::V; N], out: &mut [Lane4; N]) {
    for (o, x) in out.iter_mut().zip(x) {
        *o = l.store(*x);
    }
}

/// sum += α pose, the quaternion with the sign that is nearer to the first sample's.
#[inline(always)]
fn add_weighted<L: Lanes>(
    l: L,
    alpha: f64,
    first: &[L::V; QUATERNION],
    pose: &[Lane4; POSE],
    sum: &mut [L::V; POSE],
) {
    let alpha = l.splat(alpha);
    for k in 0..3 {
        sum[k] = l.mul_add(alpha, l.load(&pose[k]), sum[k]);
    }
    let [x, y, z, w] = [l.load(&pose[3]), l.load(&pose[4]), l.load(&pose[5]), l.load(&pose[6])];
    let even = l.mul_add(first[0], x, l.mul(first[1], y));
    let odd = l.mul_add(first[2], z, l.mul(first[3], w));
    let signed = l.turn_sign(alpha, l.add(even, odd));
    sum[3] = l.mul_add(signed, x, sum[3]);
    sum[4] = l.mul_add(signed, y, sum[4]);
    sum[5] = l.mul_add(signed, z, sum[5]);
    sum[6] = l.mul_add(signed, w, sum[6]);
}

/// Scales the quaternion to unit length.
#[inline(always)]
fn normalise<L: Lanes>(l: L, pose: &mut [L::V; POSE]) {
    let mut square = l.mul(pose[3], pose[3]);
    for x in &pose[4..] {
        square = l.mul_add(*x, *x, square);
    }
    let missing = l.sub(l.splat(1.0), square);
    let scale = match l.any_above(missing, NEAR_UNIT) {
        true => l.inverse_root(square),
        false => polynomial(l, &INVERSE_ROOT, missing),
    };
    for x in &mut pose[3..] {
        *x = l.mul(*x, scale);
    }
}

/// 1 − ‖q‖² up to which the polynomial holds: quaternions within some 29° of their average.
const NEAR_UNIT: f64 = 0.0625;

/// (1 − x)^{−1/2} on [0, 1/16]: interpolation in Chebyshev's points, computed with 60 digits; error 5.8e-17.
const INVERSE_ROOT: [f64; 9] = [
    1.0,
    0.499_999_999_999_929_83,
    0.375_000_000_029_870_55,
    0.312_499_995_110_714_4,
    0.273_437_900_005_645_44,
    0.246_075_426_362_839_05,
    0.226_076_354_119_188_83,
    0.201_902_854_543_576_34,
    0.257_757_725_717_259_1,
];
