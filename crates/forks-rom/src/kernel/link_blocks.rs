//! Rest poses and maps of links, four links to a block, and the kernel that displaces them.

use alloc::{vec, vec::Vec};

use forks_lie::{
    Matrix, Pose, Twist,
    glam::{DQuat, DVec3},
};

use super::{
    Isa, Kernel, Lane4, Lanes,
    lanes::LANES,
    pose::{MAX_QUARTER_ANGLE_SQUARED, displaced},
};

/// Entries of a pose: position, then quaternion (x, y, z, w).
pub(crate) const POSE: usize = 7;

/// Links in blocks of four. A block is its rest poses (7 entries), then for each coordinate the twist per unit
/// (6 entries) in world axes; an entry is the four links' numbers side by side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LinkBlocks {
    data: Vec<Lane4>,
    columns: usize,
    links: usize,
}

impl LinkBlocks {
    /// From rest poses and body twists per coordinate (6 × columns, in the links' frames).
    pub(crate) fn new<'a>(
        columns: usize,
        links: impl ExactSizeIterator<Item = (Pose, &'a Matrix, &'a Matrix)>,
    ) -> Self {
        let count = links.len();
        let stride = POSE + 6 * columns;
        let mut data = vec![Lane4::default(); count.div_ceil(LANES) * stride];
        // Padding lanes hold a pose too: their numbers must not become NaN.
        data.chunks_exact_mut(stride.max(1)).for_each(|b| b[POSE - 1] = Lane4([1.0; LANES]));
        for (i, (rest, map, servo_map)) in links.enumerate() {
            let block = &mut data[i / LANES * stride..][..stride];
            for (entry, x) in block.iter_mut().zip(pose_entries(&rest)) {
                entry.0[i % LANES] = x;
            }
            let all = (0..map.columns()).map(|j| (map, j));
            let all = all.chain((0..servo_map.columns()).map(|j| (servo_map, j)));
            for (j, (m, column)) in all.enumerate() {
                let t = Twist::from_array(core::array::from_fn(|k| m[(k, column)]));
                let world = Twist::new(rest.rotation * t.linear, rest.rotation * t.angular);
                for (k, x) in world.to_array().into_iter().enumerate() {
                    block[POSE + 6 * j + k].0[i % LANES] = x;
                }
            }
        }
        Self { data, columns, links: count }
    }

    /// Number of blocks.
    pub(crate) fn blocks(&self) -> usize {
        self.links.div_ceil(LANES)
    }

    /// Reduced coordinates and servos.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// The numbers of one block.
    #[inline(always)]
    pub(crate) fn block(&self, i: usize) -> &[Lane4] {
        &self.data[i * self.stride()..(i + 1) * self.stride()]
    }

    fn stride(&self) -> usize {
        POSE + 6 * self.columns
    }

    /// Poses of the blocks from `first` on, as many as `out` takes (7 entries a block), at reduced coordinates
    /// `eta` and servo targets `drive` (none: all are 0).
    pub(crate) fn displace(
        &self,
        isa: Isa,
        first: usize,
        eta: &[f64],
        drive: &[f64],
        out: &mut [Lane4],
    ) {
        let stride = self.stride();
        let count = out.len() / POSE;
        let blocks = &self.data[first * stride..(first + count) * stride];
        let largest = isa.run(Displace { blocks, stride, eta, drive, out: &mut *out });
        if largest > MAX_QUARTER_ANGLE_SQUARED {
            self.displace_far(first, eta, drive, out);
        }
    }

    /// Corrects the links that turn by more than π, where the polynomials do not hold.
    #[cold]
    fn displace_far(&self, first: usize, eta: &[f64], drive: &[f64], out: &mut [Lane4]) {
        let stride = self.stride();
        for (b, out) in out.chunks_exact_mut(POSE).enumerate() {
            let block = &self.data[(first + b) * stride..][..stride];
            for lane in 0..LANES {
                let t = Twist::from_array(core::array::from_fn(|k| {
                    let x = eta.iter().chain(drive).enumerate();
                    x.map(|(j, x)| block[POSE + 6 * j + k].0[lane] * x).sum()
                }));
                if 0.25 * t.angular.length_squared() > MAX_QUARTER_ANGLE_SQUARED {
                    let rest = pose_of(core::array::from_fn(|k| block[k].0[lane]));
                    let turn = Pose::exp(t);
                    let pose = Pose::new(
                        turn.rotation * rest.rotation,
                        rest.translation + turn.translation,
                    );
                    for (entry, x) in out.iter_mut().zip(pose_entries(&pose)) {
                        entry.0[lane] = x;
                    }
                }
            }
        }
    }
}

/// Twists (world axes) and rest poses of a block, ready to be displaced.
#[inline(always)]
pub(crate) fn block_pose<L: Lanes>(l: L, block: &[Lane4], eta: &[f64]) -> ([L::V; POSE], L::V) {
    let (rest, columns) = block.split_at(POSE);
    let mut twist = [l.splat(0.0); 6];
    add_columns(l, columns, eta, &mut twist);
    displaced(l, core::array::from_fn(|k| l.load(&rest[k])), twist)
}

/// Entries of a pose as blocks hold them.
pub(crate) fn pose_entries(p: &Pose) -> [f64; POSE] {
    let (t, q) = (p.translation, p.rotation);
    [t.x, t.y, t.z, q.x, q.y, q.z, q.w]
}

/// The pose of seven entries.
pub(crate) fn pose_of([px, py, pz, x, y, z, w]: [f64; POSE]) -> Pose {
    Pose::new(DQuat::from_xyzw(x, y, z, w), DVec3::new(px, py, pz))
}

/// H exp(X η) for every link (\[A16\] Eq. 6, 22); returns the largest ‖ω‖²/4.
struct Displace<'a> {
    blocks: &'a [Lane4],
    stride: usize,
    eta: &'a [f64],
    drive: &'a [f64],
    out: &'a mut [Lane4],
}

impl Kernel for Displace<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> f64 {
        // Six coordinates, one free effector, are the common case: the loop over them is unrolled.
        match self.eta.len() {
            6 => self.all::<L, 6>(l),
            _ => self.all::<L, 0>(l),
        }
    }
}

impl Displace<'_> {
    /// `N` coordinates where that is known when compiling, else 0.
    #[inline(always)]
    fn all<L: Lanes, const N: usize>(self, l: L) -> f64 {
        let mut largest = l.splat(0.0);
        for (block, out) in
            self.blocks.chunks_exact(self.stride).zip(self.out.chunks_exact_mut(POSE))
        {
            let (rest, columns) = block.split_at(POSE);
            let mut twist = [l.splat(0.0); 6];
            let eta = if N == 0 { self.eta } else { &self.eta[..N] };
            let (columns, driven) = columns.split_at(6 * eta.len());
            add_columns(l, columns, eta, &mut twist);
            add_columns(l, driven, self.drive, &mut twist);
            let rest = core::array::from_fn(|k| l.load(&rest[k]));
            let (pose, y) = displaced(l, rest, twist);
            largest = l.max(largest, y);
            for (o, p) in out.iter_mut().zip(pose) {
                *o = l.store(p);
            }
        }
        let Lane4(y) = l.store(largest);
        y.into_iter().fold(0.0, f64::max)
    }
}

/// twist += Σ column x.
#[inline(always)]
fn add_columns<L: Lanes>(l: L, columns: &[Lane4], x: &[f64], twist: &mut [L::V; 6]) {
    for (x, column) in x.iter().zip(columns.chunks_exact(6)) {
        let x = l.splat(*x);
        for (t, c) in twist.iter_mut().zip(column) {
            *t = l.mul_add(l.load(c), x, *t);
        }
    }
}
