//! The kernel of the means of links' poses: stage after stage over a few blocks of four links.
//!
//! The iterations of a stage are independent and short enough for the processor to work on several
//! at once; a loop over whole means is a third slower, as its chains of dependent operations are
//! longer than what processors look ahead. Kernels have loops and no closures: those may stay
//! calls, without the instruction set.

use forks_linalg::simd::{Arithmetic, Kernel, Lanes, Wide};

use alloc::{vec, vec::Vec};

use forks_rom::internal::{POSE, displaced, half_angle_coefficients};

use crate::lane_logarithm::{add_twist_between, polynomial};

/// Blocks that a stage goes through.
pub(crate) const CHUNK: usize = 8;

/// Entries of a block with six coordinates.
const SIX: usize = POSE + 6 * 6;

/// Entries of a quaternion.
const QUATERNION: usize = 4;

/// A chunk of blocks between the stages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// ½ (v, ω) of a sample; in the end the mean twists.
    twists: [[Lanes; 6]; CHUNK],
    /// See [`half_angle_coefficients`].
    coefficients: [[Lanes; 3]; CHUNK],
    /// Quaternions of the first sample.
    starts: [[Lanes; QUATERNION]; CHUNK],
    /// Sample after sample, for the logarithms.
    poses: Vec<[[Lanes; POSE]; CHUNK]>,
}

impl Scratch {
    /// For blends of so many samples.
    pub(crate) fn new(samples: usize) -> Self {
        Self { poses: vec![Default::default(); samples], ..Self::default() }
    }
}

/// A sample of weight above 0.
pub(crate) struct Weighted<'a> {
    pub(crate) alpha: f64,
    pub(crate) eta: &'a [f64],
}

/// Where the samples of weight above 0 come from.
pub(crate) trait Samples {
    /// Number of them.
    fn count(&self) -> usize;
    /// The `k`-th.
    fn get(&self, k: usize) -> Weighted<'_>;
    /// Its blocks from `first` on, the first of a chunk, and the entries of each.
    fn chunk(&self, k: usize, first: usize) -> (&[Lanes], usize);
    /// Servo targets; empty where all are 0.
    fn servo_targets(&self) -> &[f64];
}

/// Means of the samples' poses of the blocks from `first` on: averages, or \[A16\] Eq. 28. True if
/// a sample turns a link by more than 16π: that link's pose is not right.
pub(crate) struct Means<'a, S, const LOGARITHM: bool> {
    pub(crate) samples: &'a S,
    pub(crate) first: usize,
    pub(crate) out: &'a mut [[Lanes; POSE]],
    pub(crate) scratch: &'a mut Scratch,
}

impl<S: Samples, const LOGARITHM: bool> Kernel for Means<'_, S, LOGARITHM> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> bool {
        let Self { samples, first, out, scratch } = self;
        let mut beyond = false;
        for (c, out) in out.chunks_mut(CHUNK).enumerate() {
            let first = first + c * CHUNK;
            for k in 0..samples.count() {
                let Weighted { alpha, eta } = samples.get(k);
                let (entries, stride) = samples.chunk(k, first);
                beyond |= scratch.twists(l, entries, stride, eta, samples.servo_targets());
                scratch.add_poses::<L, LOGARITHM>(l, k, alpha, entries, stride, out);
            }
            for pose in out.iter_mut() {
                let mut sum = load(l, pose);
                normalise(l, &mut sum);
                store(&sum, pose);
            }
            if LOGARITHM {
                scratch.twists = Default::default();
                for k in 0..samples.count() {
                    scratch.add_logarithms(l, k, samples.get(k).alpha, out);
                }
                // Twists of means are no longer than the longest twist, π.
                for (twist, pose) in scratch.twists.iter().zip(out) {
                    let moved = displaced(l, load(l, pose), load(l, twist), &mut beyond);
                    store(&moved, pose);
                }
            }
        }
        beyond
    }
}

impl Scratch {
    /// ½ (X η + Y s) of some blocks.
    #[inline(always)]
    fn twists<L: Arithmetic>(
        &mut self,
        l: L,
        entries: &[Lanes],
        stride: usize,
        eta: &[f64],
        targets: &[f64],
    ) -> bool {
        let mut beyond = false;
        // Six coordinates, one free effector, are the common case: everything about a block is
        // known when compiling.
        match (<&[f64; 6]>::try_from(eta), entries.as_chunks::<SIX>()) {
            (Ok(eta), (blocks, [])) if stride == SIX => {
                let mut x = [l.splat(0.0); 6];
                for (v, eta) in x.iter_mut().zip(eta) {
                    *v = l.splat(0.5 * *eta);
                }
                for ((block, twist), coefficients) in
                    blocks.iter().zip(&mut self.twists).zip(&mut self.coefficients)
                {
                    let mut sum = [l.splat(0.0); 6];
                    for (k, t) in sum.iter_mut().enumerate() {
                        let mut even = (l.load(&block[POSE + k]) * x[0]).rounded();
                        even = l.load(&block[POSE + 12 + k]) * x[2] + even;
                        even = l.load(&block[POSE + 24 + k]) * x[4] + even;
                        let mut odd = (l.load(&block[POSE + 6 + k]) * x[1]).rounded();
                        odd = l.load(&block[POSE + 18 + k]) * x[3] + odd;
                        odd = l.load(&block[POSE + 30 + k]) * x[5] + odd;
                        *t = even + odd;
                    }
                    store(&sum, twist);
                    store(&coefficients_of(l, sum, &mut beyond), coefficients);
                }
            }
            _ => {
                for ((block, twist), coefficients) in
                    entries.chunks_exact(stride).zip(&mut self.twists).zip(&mut self.coefficients)
                {
                    let (columns, _) = block[POSE..].as_chunks::<6>();
                    let mut sum = [l.splat(0.0); 6];
                    add_columns(l, columns, eta, &mut sum);
                    add_columns(l, &columns[eta.len()..], targets, &mut sum);
                    store(&sum, twist);
                    store(&coefficients_of(l, sum, &mut beyond), coefficients);
                }
            }
        }
        beyond
    }

    /// Adds the weighted poses of the `k`-th sample, quaternions with the sign that is nearer to
    /// the first sample's.
    #[inline(always)]
    fn add_poses<L: Arithmetic, const HOLD: bool>(
        &mut self,
        l: L,
        k: usize,
        alpha: f64,
        rests: &[Lanes],
        stride: usize,
        out: &mut [[Lanes; POSE]],
    ) {
        let alpha = l.splat(alpha);
        let Self { twists, coefficients, starts, poses } = self;
        let stages = out.iter_mut().zip(rests.chunks_exact(stride));
        let stages = stages.zip(twists.iter().zip(coefficients).zip(starts)).enumerate();
        for (b, ((out, rest), ((twist, coefficients), start))) in stages {
            let (rest, _) = rest.as_chunks::<POSE>();
            let pose = moved(l, &rest[0], twist, coefficients);
            if HOLD {
                store(&pose, &mut poses[k][b % CHUNK]);
            }
            if k == 0 {
                for (start, x) in start.iter_mut().zip(&pose[3..]) {
                    *start = x.store();
                }
                for (out, x) in out.iter_mut().zip(pose) {
                    *out = (alpha * x).store();
                }
                continue;
            }
            let start = load(l, start);
            let even = start[1] * pose[4] + start[0] * pose[3];
            let odd = start[3] * pose[6] + start[2] * pose[5];
            let signed = alpha.turn_sign(even + odd);
            for (n, (out, x)) in out.iter_mut().zip(pose).enumerate() {
                let weight = if n < 3 { alpha } else { signed };
                *out = (weight * x + l.load(out)).store();
            }
        }
    }

    /// Adds the weighted logarithms of the `k`-th sample's poses relative to the averages.
    #[inline(always)]
    fn add_logarithms<L: Arithmetic>(
        &mut self,
        l: L,
        k: usize,
        alpha: f64,
        averages: &[[Lanes; POSE]],
    ) {
        let alpha = l.splat(alpha);
        for ((base, pose), sum) in averages.iter().zip(&self.poses[k]).zip(&mut self.twists) {
            let mut twist = load(l, sum);
            add_twist_between(l, alpha, &load(l, base), &load(l, pose), &mut twist);
            store(&twist, sum);
        }
    }
}

/// What the exponentials of twists take from their angles, halves of them given.
#[inline(always)]
fn coefficients_of<L: Arithmetic>(l: L, half: [Wide<L>; 6], beyond: &mut bool) -> [Wide<L>; 3] {
    let [.., x, y, z] = half;
    half_angle_coefficients(l, x * x + y * y + z * z, beyond)
}

/// H exp of a twist in world axes, half of which is given, whose angle's coefficients are known.
///
/// exp(ω) = (d, a) with d = b ω/2, and V(ω) v = 2 b (a v/2 + d × v/2) + 2 · 4c (ω/2 · v/2) ω/2:
/// halves need the fewest multiplications, as additions run beside those.
#[inline(always)]
fn moved<L: Arithmetic>(
    l: L,
    rest: &[Lanes; POSE],
    half: &[Lanes; 6],
    coefficients: &[Lanes; 3],
) -> [Wide<L>; POSE] {
    let [cosine, sinc, pitch] = load(l, coefficients);
    let [vx, vy, vz, x, y, z] = load(l, half);
    let [px, py, pz, ax, ay, az, aw] = load(l, rest);
    let d = [(sinc * x).rounded(), (sinc * y).rounded(), (sinc * z).rounded()];
    let [qx, qy, qz, qw] = product([d[0], d[1], d[2], cosine], [ax, ay, az, aw]);
    let t = [
        cosine * vx + d[1] * vz - d[2] * vy,
        cosine * vy + d[2] * vx - d[0] * vz,
        cosine * vz + d[0] * vy - d[1] * vx,
    ];
    let (sinc, pitch) = (sinc + sinc, pitch + pitch);
    let along = (pitch * (x * vx + y * vy + z * vz)).rounded();
    [
        sinc * t[0] + px + along * x,
        sinc * t[1] + py + along * y,
        sinc * t[2] + pz + along * z,
        qx,
        qy,
        qz,
        qw,
    ]
}

/// Adds ½ Σ column x.
#[inline(always)]
fn add_columns<L: Arithmetic>(l: L, columns: &[[Lanes; 6]], x: &[f64], sum: &mut [Wide<L>; 6]) {
    for (column, x) in columns.iter().zip(x) {
        let x = l.splat(0.5 * *x);
        for (sum, entry) in sum.iter_mut().zip(column) {
            *sum += l.load(entry) * x;
        }
    }
}

/// Product of quaternions (x, y, z, w).
#[inline(always)]
fn product<L: Arithmetic>(a: [Wide<L>; 4], b: [Wide<L>; 4]) -> [Wide<L>; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    [
        aw * bx + ax * bw + (ay * bz - az * by),
        aw * by + ay * bw + (az * bx - ax * bz),
        aw * bz + az * bw + (ax * by - ay * bx),
        aw * bw - ax * bx - (ay * by + az * bz),
    ]
}

#[inline(always)]
fn load<L: Arithmetic, const N: usize>(l: L, entries: &[Lanes; N]) -> [Wide<L>; N] {
    let mut out = [l.splat(0.0); N];
    for (o, x) in out.iter_mut().zip(entries) {
        *o = l.load(x);
    }
    out
}

#[inline(always)]
fn store<L: Arithmetic, const N: usize>(x: &[Wide<L>; N], out: &mut [Lanes; N]) {
    for (o, x) in out.iter_mut().zip(x) {
        *o = x.store();
    }
}

/// Scales the quaternion to unit length.
#[inline(always)]
fn normalise<L: Arithmetic>(l: L, pose: &mut [Wide<L>; POSE]) {
    let mut square = (pose[3] * pose[3]).rounded();
    for x in &pose[4..] {
        square += *x * *x;
    }
    let missing = 1.0 - square;
    let scale = match missing.any_above(NEAR_UNIT) {
        true => square.inverse_root(),
        false => polynomial(l, &INVERSE_ROOT, missing),
    };
    for x in &mut pose[3..] {
        *x = (*x * scale).rounded();
    }
}

/// 1 − ‖q‖² up to which the polynomial holds: quaternions within some 29° of their average.
const NEAR_UNIT: f64 = 0.0625;

/// (1 − x)^{−1/2} on [0, 1/16]: interpolation in Chebyshev's points, computed with 60 digits; error
/// 5.8e-17.
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
