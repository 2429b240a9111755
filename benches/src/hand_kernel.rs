//! A hand-written AVX2 kernel for the poses of a reduced model with six coordinates: what the
//! library is measured against. x86-64 only; the one file of the repository with `unsafe` code.
//!
//! Per link: twist (v, ω) = R X η, rotation exp(ω) q₀, position p₀ + V(ω) v, all in world axes; the
//! map is stored turned, R X. With y = |ω|²/4, cos(|ω|/2) = 1 − y P(y) and sin(|ω|/2)/(|ω|/2) = 1 −
//! y Q(y): no division, no root. Rotations up to π.
//!
//! Four links share a block, one per lane. Sums are split so that no chain of dependent operations
//! is long: the processor then works on the next block while one is finished. (Horner's scheme,
//! undivided sums, and passes over several blocks at a time were slower by 5 to 20 %.)

#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m256d, _mm256_add_pd, _mm256_fmadd_pd, _mm256_fnmadd_pd, _mm256_fnmsub_pd, _mm256_load_pd,
    _mm256_mul_pd, _mm256_set1_pd, _mm256_store_pd,
};

use forks_mechanism::{
    lie::{
        Pose, Twist,
        glam::{DQuat, DVec3},
    },
    linalg::Matrix,
};

/// Links per block.
const LANES: usize = 4;
/// Reduced coordinates.
pub const COORDINATES: usize = 6;
/// Numbers of a pose: position, quaternion (x, y, z, w).
const POSE: usize = 7;

/// Four links' numbers side by side, in one aligned register's worth.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Row([f64; LANES]);

/// Rest poses and turned maps of four links.
#[derive(Clone, Debug)]
#[repr(C, align(32))]
struct Block {
    rest: [Row; POSE],
    /// Column by column, linear part first.
    map: [[Row; 6]; COORDINATES],
}

/// Poses of four links.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct BlockPoses([Row; POSE]);

/// The links of a reduced model with six coordinates.
#[derive(Clone, Debug)]
pub struct HandKernel {
    blocks: Vec<Block>,
    poses: Vec<BlockPoses>,
    links: usize,
}

impl HandKernel {
    /// From rest poses and 6×6 maps to body twists (link frames); `None` if the processor lacks
    /// AVX2 or FMA, or a map has another shape.
    pub fn new<'a>(links: impl IntoIterator<Item = (Pose, &'a Matrix)>) -> Option<Self> {
        if !(is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")) {
            return None;
        }
        let mut blocks: Vec<Block> = Vec::new();
        let mut count = 0;
        for (rest, map) in links {
            if (map.rows(), map.columns()) != (6, COORDINATES) {
                return None;
            }
            let lane = count % LANES;
            if lane == 0 {
                blocks.push(Block { rest: Default::default(), map: Default::default() });
            }
            let block = blocks.last_mut()?;
            for (row, x) in block.rest.iter_mut().zip(entries(&rest)) {
                row.0[lane] = x;
            }
            for (j, column) in block.map.iter_mut().enumerate() {
                let body = Twist::from_array(core::array::from_fn(|i| map[(i, j)]));
                let world = Twist::new(rest.rotation * body.linear, rest.rotation * body.angular);
                for (row, x) in column.iter_mut().zip(world.to_array()) {
                    row.0[lane] = x;
                }
            }
            count += 1;
        }
        Some(Self { poses: vec![BlockPoses::default(); blocks.len()], blocks, links: count })
    }

    /// Computes all poses.
    pub fn update(&mut self, eta: &[f64; COORDINATES]) {
        // SAFETY: `new` has found AVX2 and FMA.
        unsafe { displace(&self.blocks, eta, &mut self.poses) }
    }

    /// Number of links.
    pub fn len(&self) -> usize {
        self.links
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.links == 0
    }

    /// Pose of the `i`-th link.
    ///
    /// # Panics
    /// If there is no such link.
    pub fn pose(&self, i: usize) -> Pose {
        assert!(i < self.links, "link {i} of {}", self.links);
        let [px, py, pz, x, y, z, w] = self.poses[i / LANES].0.map(|row| row.0[i % LANES]);
        Pose::new(DQuat::from_xyzw(x, y, z, w), DVec3::new(px, py, pz))
    }
}

fn entries(p: &Pose) -> [f64; POSE] {
    let (t, q) = (p.translation, p.rotation);
    [t.x, t.y, t.z, q.x, q.y, q.z, q.w]
}

/// P and Q on [0, (π/2)²]: interpolation in eight Chebyshev points, computed with 80 digits; errors
/// below 1e-17 before rounding.
const P: [f64; 8] = [
    0.5,
    -0.041_666_666_666_666_34,
    0.001_388_888_888_886_070_9,
    -2.480_158_729_244_621_3e-5,
    2.755_731_776_732_053e-7,
    -2.087_663_086_742_299_4e-9,
    1.146_468_988_572_002_9e-11,
    -4.627_675_985_018_171_6e-14,
];
const Q: [f64; 8] = [
    0.166_666_666_666_666_66,
    -0.008_333_333_333_333_316,
    0.000_198_412_698_412_549_74,
    -2.755_731_921_916_323_4e-6,
    2.505_210_761_699_618_2e-8,
    -1.605_897_731_246_408_7e-10,
    7.643_970_296_798_572e-13,
    -2.731_444_766_986_399_5e-15,
];

#[target_feature(enable = "avx2,fma")]
fn displace(blocks: &[Block], eta: &[f64; COORDINATES], poses: &mut [BlockPoses]) {
    let mut coordinates = [_mm256_set1_pd(0.0); COORDINATES];
    for (v, x) in coordinates.iter_mut().zip(eta) {
        *v = _mm256_set1_pd(*x);
    }
    // Loops and no closures: those may stay calls.
    for (block, pose) in blocks.iter().zip(poses) {
        let mut twist = [_mm256_set1_pd(0.0); 6];
        for i in 0..6 {
            twist[i] = map_row(block, i, &coordinates);
        }
        exponential(block, twist, pose);
    }
}

/// Row `i` of R X η.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn map_row(block: &Block, i: usize, eta: &[__m256d; COORDINATES]) -> __m256d {
    let x = &block.map;
    let mut even = _mm256_mul_pd(load(&x[0][i]), eta[0]);
    even = _mm256_fmadd_pd(load(&x[2][i]), eta[2], even);
    even = _mm256_fmadd_pd(load(&x[4][i]), eta[4], even);
    let mut odd = _mm256_mul_pd(load(&x[1][i]), eta[1]);
    odd = _mm256_fmadd_pd(load(&x[3][i]), eta[3], odd);
    odd = _mm256_fmadd_pd(load(&x[5][i]), eta[5], odd);
    _mm256_add_pd(even, odd)
}

/// Rest pose displaced by exp of a twist in world axes.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn exponential(block: &Block, twist: [__m256d; 6], out: &mut BlockPoses) {
    let [v0, v1, v2, w0, w1, w2] = twist;
    let square = _mm256_fmadd_pd(w2, w2, _mm256_fmadd_pd(w1, w1, _mm256_mul_pd(w0, w0)));
    let y = _mm256_mul_pd(square, _mm256_set1_pd(0.25));
    let (p, q) = (polynomial(&P, y), polynomial(&Q, y));
    let one = _mm256_set1_pd(1.0);
    let cosine = _mm256_fnmadd_pd(y, p, one);
    let sinc = _mm256_fnmadd_pd(y, q, one);
    let half = _mm256_mul_pd(_mm256_set1_pd(0.5), sinc);
    // V(ω) v = v + ω × (b v + c ω × v), b = ½ sinc², c = (P + Q − y P Q)/4.
    let b = _mm256_mul_pd(half, sinc);
    let c = _mm256_mul_pd(_mm256_set1_pd(0.25), _mm256_fmadd_pd(cosine, q, p));
    let [u0, u1, u2] = cross([w0, w1, w2], [v0, v1, v2]);
    let inner = [
        _mm256_fmadd_pd(c, u0, _mm256_mul_pd(b, v0)),
        _mm256_fmadd_pd(c, u1, _mm256_mul_pd(b, v1)),
        _mm256_fmadd_pd(c, u2, _mm256_mul_pd(b, v2)),
    ];
    let turn = cross([w0, w1, w2], inner);
    let rest = &block.rest;
    store(&mut out.0[0], _mm256_add_pd(_mm256_add_pd(load(&rest[0]), v0), turn[0]));
    store(&mut out.0[1], _mm256_add_pd(_mm256_add_pd(load(&rest[1]), v1), turn[1]));
    store(&mut out.0[2], _mm256_add_pd(_mm256_add_pd(load(&rest[2]), v2), turn[2]));
    // (½ sinc ω, cosine) times the rest quaternion.
    let (x, yq, z, w) = (load(&rest[3]), load(&rest[4]), load(&rest[5]), load(&rest[6]));
    let d0 = _mm256_mul_pd(half, w0);
    let d1 = _mm256_mul_pd(half, w1);
    let d2 = _mm256_mul_pd(half, w2);
    store(&mut out.0[3], dot([cosine, d0, d1, d2], [x, w, z, yq]));
    store(&mut out.0[4], dot([cosine, d1, d2, d0], [yq, w, x, z]));
    store(&mut out.0[5], dot([cosine, d2, d0, d1], [z, w, yq, x]));
    let left = _mm256_fnmadd_pd(d0, x, _mm256_mul_pd(cosine, w));
    let right = _mm256_fnmsub_pd(d2, z, _mm256_mul_pd(d1, yq));
    store(&mut out.0[6], _mm256_add_pd(left, right));
}

/// a₀b₀ + a₁b₁ + a₂b₂ − a₃b₃.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn dot(a: [__m256d; 4], b: [__m256d; 4]) -> __m256d {
    let left = _mm256_fmadd_pd(a[1], b[1], _mm256_mul_pd(a[0], b[0]));
    let right = _mm256_fnmadd_pd(a[3], b[3], _mm256_mul_pd(a[2], b[2]));
    _mm256_add_pd(left, right)
}

/// A polynomial of degree seven in pairs (Estrin's scheme): a third of Horner's depth.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn polynomial(c: &[f64; 8], y: __m256d) -> __m256d {
    let y2 = _mm256_mul_pd(y, y);
    let y4 = _mm256_mul_pd(y2, y2);
    let low = _mm256_fmadd_pd(pair(c, 2, y), y2, pair(c, 0, y));
    let high = _mm256_fmadd_pd(pair(c, 6, y), y2, pair(c, 4, y));
    _mm256_fmadd_pd(high, y4, low)
}

/// c_k + c_{k+1} y.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn pair(c: &[f64; 8], k: usize, y: __m256d) -> __m256d {
    _mm256_fmadd_pd(_mm256_set1_pd(c[k + 1]), y, _mm256_set1_pd(c[k]))
}

/// a × b.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn cross(a: [__m256d; 3], b: [__m256d; 3]) -> [__m256d; 3] {
    [
        _mm256_fnmadd_pd(a[2], b[1], _mm256_mul_pd(a[1], b[2])),
        _mm256_fnmadd_pd(a[0], b[2], _mm256_mul_pd(a[2], b[0])),
        _mm256_fnmadd_pd(a[1], b[0], _mm256_mul_pd(a[0], b[1])),
    ]
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn load(row: &Row) -> __m256d {
    // SAFETY: a row is four numbers, aligned to 32 bytes.
    unsafe { _mm256_load_pd(row.0.as_ptr()) }
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn store(row: &mut Row, x: __m256d) {
    // SAFETY: a row is four numbers, aligned to 32 bytes.
    unsafe { _mm256_store_pd(row.0.as_mut_ptr(), x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in [−1, 1) of a fixed sequence.
    fn numbers(count: usize) -> Vec<f64> {
        let mut rng = forks_testkit::rng::Rng::new(5);
        (0..count).map(|_| rng.symmetric()).collect()
    }

    #[test]
    fn poses_are_those_of_the_exponential() {
        let links: Vec<(Pose, Matrix)> = (0..37)
            .map(|k| {
                let x = numbers(42 * 37)[42 * k..42 * (k + 1)].to_vec();
                let twist = Twist::from_array(core::array::from_fn(|i| 2.0 * x[36 + i]));
                (Pose::exp(twist), Matrix::from_fn(6, 6, |i, j| x[6 * i + j]))
            })
            .collect();
        let Some(mut kernel) = HandKernel::new(links.iter().map(|(p, m)| (*p, m))) else { return };
        assert_eq!(kernel.len(), links.len());
        // Rows of six numbers below 1 stay below π/√3 each, so rotations stay below π.
        for scale in [0.0, 1e-9, 1e-3, 0.1, 0.3] {
            let eta: [f64; 6] =
                core::array::from_fn(|i| scale * [1.0, -0.7, 0.9, 0.6, -1.0, 0.8][i]);
            kernel.update(&eta);
            for (i, (rest, map)) in links.iter().enumerate() {
                let twist = Twist::from_array(map.mul_vec(&eta).try_into().unwrap());
                assert!(twist.angular.length() < core::f64::consts::PI);
                let (ours, exact) = (kernel.pose(i), *rest * Pose::exp(twist));
                // Some thirty operations on numbers of order one.
                assert!(
                    ours.translation.distance(exact.translation) < 32.0 * f64::EPSILON,
                    "{i}, {scale}"
                );
                assert!(
                    (ours.rotation - exact.rotation).length() < 16.0 * f64::EPSILON,
                    "{i}, {scale}"
                );
                assert!((ours.rotation.length() - 1.0).abs() < 8.0 * f64::EPSILON, "{i}, {scale}");
            }
        }
    }

    #[test]
    fn maps_of_another_shape_are_refused() {
        let map = Matrix::zeros(6, 5);
        assert!(HandKernel::new([(Pose::IDENTITY, &map)]).is_none());
    }
}
