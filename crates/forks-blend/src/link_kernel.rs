//! The kernel of the means of links' poses: stage after stage over a few blocks of four links.
//!
//! The iterations of a stage are independent and short enough for the processor to work on several
//! at once; a loop over whole means is a third slower, as its chains of dependent operations are
//! longer than what processors look ahead. Kernels have loops and no closures: those may stay
//! calls, without the instruction set.

use alloc::{vec, vec::Vec};

use forks_rom::internal::{Arithmetic, Kernel, Lanes, POSE, displaced, half_angle_coefficients};

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
                store(l, &sum, pose);
            }
            if LOGARITHM {
                scratch.twists = Default::default();
                for k in 0..samples.count() {
                    scratch.add_logarithms(l, k, samples.get(k).alpha, out);
                }
                // Twists of means are no longer than the longest twist, π.
                for (twist, pose) in scratch.twists.iter().zip(out) {
                    let moved = displaced(l, load(l, pose), load(l, twist), &mut beyond);
                    store(l, &moved, pose);
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
                        let mut even = l.mul(l.load(&block[POSE + k]), x[0]);
                        even = l.mul_add(l.load(&block[POSE + 12 + k]), x[2], even);
                        even = l.mul_add(l.load(&block[POSE + 24 + k]), x[4], even);
                        let mut odd = l.mul(l.load(&block[POSE + 6 + k]), x[1]);
                        odd = l.mul_add(l.load(&block[POSE + 18 + k]), x[3], odd);
                        odd = l.mul_add(l.load(&block[POSE + 30 + k]), x[5], odd);
                        *t = l.add(even, odd);
                    }
                    store(l, &sum, twist);
                    store(l, &coefficients_of(l, sum, &mut beyond), coefficients);
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
                    store(l, &sum, twist);
                    store(l, &coefficients_of(l, sum, &mut beyond), coefficients);
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
                store(l, &pose, &mut poses[k][b % CHUNK]);
            }
            if k == 0 {
                for (start, x) in start.iter_mut().zip(&pose[3..]) {
                    *start = l.store(*x);
                }
                for (out, x) in out.iter_mut().zip(pose) {
                    *out = l.store(l.mul(alpha, x));
                }
                continue;
            }
            let start = load(l, start);
            let even = l.mul_add(start[0], pose[3], l.mul(start[1], pose[4]));
            let odd = l.mul_add(start[2], pose[5], l.mul(start[3], pose[6]));
            let signed = l.turn_sign(alpha, l.add(even, odd));
            for (n, (out, x)) in out.iter_mut().zip(pose).enumerate() {
                let weight = if n < 3 { alpha } else { signed };
                *out = l.store(l.mul_add(weight, x, l.load(out)));
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
            store(l, &twist, sum);
        }
    }
}

/// What the exponentials of twists take from their angles, halves of them given.
#[inline(always)]
fn coefficients_of<L: Arithmetic>(l: L, half: [L::V; 6], beyond: &mut bool) -> [L::V; 3] {
    let [.., x, y, z] = half;
    half_angle_coefficients(l, l.mul_add(z, z, l.mul_add(y, y, l.mul(x, x))), beyond)
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
) -> [L::V; POSE] {
    let [cosine, sinc, pitch] = load(l, coefficients);
    let [vx, vy, vz, x, y, z] = load(l, half);
    let [px, py, pz, ax, ay, az, aw] = load(l, rest);
    let d = [l.mul(sinc, x), l.mul(sinc, y), l.mul(sinc, z)];
    let [qx, qy, qz, qw] = product(l, [d[0], d[1], d[2], cosine], [ax, ay, az, aw]);
    let t = [
        l.neg_mul_add(d[2], vy, l.mul_add(d[1], vz, l.mul(cosine, vx))),
        l.neg_mul_add(d[0], vz, l.mul_add(d[2], vx, l.mul(cosine, vy))),
        l.neg_mul_add(d[1], vx, l.mul_add(d[0], vy, l.mul(cosine, vz))),
    ];
    let (sinc, pitch) = (l.add(sinc, sinc), l.add(pitch, pitch));
    let along = l.mul(pitch, l.mul_add(z, vz, l.mul_add(y, vy, l.mul(x, vx))));
    [
        l.mul_add(along, x, l.mul_add(sinc, t[0], px)),
        l.mul_add(along, y, l.mul_add(sinc, t[1], py)),
        l.mul_add(along, z, l.mul_add(sinc, t[2], pz)),
        qx,
        qy,
        qz,
        qw,
    ]
}

/// Adds ½ Σ column x.
#[inline(always)]
fn add_columns<L: Arithmetic>(l: L, columns: &[[Lanes; 6]], x: &[f64], sum: &mut [L::V; 6]) {
    for (column, x) in columns.iter().zip(x) {
        let x = l.splat(0.5 * *x);
        for (sum, entry) in sum.iter_mut().zip(column) {
            *sum = l.mul_add(l.load(entry), x, *sum);
        }
    }
}

/// Product of quaternions (x, y, z, w).
#[inline(always)]
fn product<L: Arithmetic>(l: L, a: [L::V; 4], b: [L::V; 4]) -> [L::V; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    [
        l.add(l.mul_add(ax, bw, l.mul(aw, bx)), l.neg_mul_add(az, by, l.mul(ay, bz))),
        l.add(l.mul_add(ay, bw, l.mul(aw, by)), l.neg_mul_add(ax, bz, l.mul(az, bx))),
        l.add(l.mul_add(az, bw, l.mul(aw, bz)), l.neg_mul_add(ay, bx, l.mul(ax, by))),
        l.sub(l.neg_mul_add(ax, bx, l.mul(aw, bw)), l.mul_add(az, bz, l.mul(ay, by))),
    ]
}

#[inline(always)]
fn load<L: Arithmetic, const N: usize>(l: L, entries: &[Lanes; N]) -> [L::V; N] {
    let mut out = [l.splat(0.0); N];
    for (o, x) in out.iter_mut().zip(entries) {
        *o = l.load(x);
    }
    out
}

#[inline(always)]
fn store<L: Arithmetic, const N: usize>(l: L, x: &[L::V; N], out: &mut [Lanes; N]) {
    for (o, x) in out.iter_mut().zip(x) {
        *o = l.store(*x);
    }
}

/// Scales the quaternion to unit length.
#[inline(always)]
fn normalise<L: Arithmetic>(l: L, pose: &mut [L::V; POSE]) {
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
