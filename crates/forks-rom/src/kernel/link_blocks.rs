//! Rest poses and maps of links, four links to a block, and the kernel that displaces them.

use alloc::{vec, vec::Vec};

use forks_lie::{
    Pose, Twist,
    glam::{DQuat, DVec3},
};
use forks_linalg::{
    Matrix,
    simd::{Arithmetic, Kernel, LANES, Lanes, Wide},
};

use super::{
    Isa,
    pose::{FAR_LIMIT, displaced},
};

/// Entries of a pose: position, then quaternion (x, y, z, w).
pub const POSE: usize = 7;

/// Links in blocks of four. A block is its rest poses (7 entries), then for each coordinate the
/// twist per unit (6 entries) in world axes; an entry is the four links' numbers side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkBlocks {
    data: Vec<Lanes>,
    columns: usize,
    links: usize,
}

impl LinkBlocks {
    /// From rest poses and body twists per coordinate (6 × columns, in the links' frames).
    pub fn new<'a>(
        columns: usize,
        links: impl ExactSizeIterator<Item = (Pose, &'a Matrix, &'a Matrix)>,
    ) -> Self {
        let count = links.len();
        let stride = POSE + 6 * columns;
        let mut data = vec![Lanes::default(); count.div_ceil(LANES) * stride];
        // Padding lanes hold a pose too: their numbers must not become NaN.
        data.chunks_exact_mut(stride.max(1)).for_each(|b| b[POSE - 1] = Lanes([1.0; LANES]));
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
    pub fn blocks(&self) -> usize {
        self.links.div_ceil(LANES)
    }

    /// Reduced coordinates and servos.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Entries of a block.
    pub fn stride(&self) -> usize {
        POSE + 6 * self.columns
    }

    /// Entries of some blocks.
    pub fn range(&self, first: usize, count: usize) -> &[Lanes] {
        &self.data[first * self.stride()..(first + count) * self.stride()]
    }

    /// Poses of the blocks from `first` on, as many as `out` takes (7 entries a block), at reduced
    /// coordinates `eta` and servo targets `drive` (none: all are 0).
    pub fn displace(&self, isa: Isa, first: usize, eta: &[f64], drive: &[f64], out: &mut [Lanes]) {
        let stride = self.stride();
        let count = out.len() / POSE;
        let blocks = &self.data[first * stride..(first + count) * stride];
        if isa.run(Displace { blocks, stride, eta, drive, out: &mut *out }) {
            self.displace_far(first, eta, drive, out);
        }
    }

    /// Corrects the links that turn by more than 16π.
    #[cold]
    fn displace_far(&self, first: usize, eta: &[f64], drive: &[f64], out: &mut [Lanes]) {
        let stride = self.stride();
        for (b, out) in out.chunks_exact_mut(POSE).enumerate() {
            let block = &self.data[(first + b) * stride..][..stride];
            for lane in 0..LANES {
                let t = Twist::from_array(core::array::from_fn(|k| {
                    let x = eta.iter().chain(drive).enumerate();
                    x.map(|(j, x)| block[POSE + 6 * j + k].0[lane] * x).sum()
                }));
                if 0.25 * t.angular.length_squared() > FAR_LIMIT {
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

#[inline(always)]
fn load_rest<L: Arithmetic>(l: L, entries: &[Lanes]) -> [Wide<L>; POSE] {
    let mut rest = [l.splat(0.0); POSE];
    for (r, x) in rest.iter_mut().zip(entries) {
        *r = l.load(x);
    }
    rest
}

/// Entries of a pose as blocks hold them.
pub fn pose_entries(p: &Pose) -> [f64; POSE] {
    let (t, q) = (p.translation, p.rotation);
    [t.x, t.y, t.z, q.x, q.y, q.z, q.w]
}

/// The pose of seven entries.
pub fn pose_of([px, py, pz, x, y, z, w]: [f64; POSE]) -> Pose {
    Pose::new(DQuat::from_xyzw(x, y, z, w), DVec3::new(px, py, pz))
}

/// H exp(X η) for every link (\[A16\] Eq. 6, 22); returns true if some turn by more than 16π.
struct Displace<'a> {
    blocks: &'a [Lanes],
    stride: usize,
    eta: &'a [f64],
    drive: &'a [f64],
    out: &'a mut [Lanes],
}

impl Kernel for Displace<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> bool {
        // Six coordinates, one free effector, are the common case: everything about a block is
        // known when compiling.
        match (<&[f64; 6]>::try_from(self.eta), self.blocks.as_chunks::<SIX>()) {
            (Ok(eta), (blocks, [])) if self.stride == SIX => six(l, blocks, eta, self.out),
            _ => self.all(l),
        }
    }
}

/// Stride of blocks with six coordinates.
const SIX: usize = POSE + 6 * 6;

/// [`Displace`] for six coordinates and no servos; the sums are those of [`column_sum`].
#[inline(always)]
fn six<L: Arithmetic>(l: L, blocks: &[[Lanes; SIX]], eta: &[f64; 6], out: &mut [Lanes]) -> bool {
    // Loops and no closures: those may stay calls, without the instruction set.
    let mut x = [l.splat(0.0); 6];
    for (v, eta) in x.iter_mut().zip(eta) {
        *v = l.splat(*eta);
    }
    let mut beyond = false;
    let (out, _) = out.as_chunks_mut::<POSE>();
    for (block, out) in blocks.iter().zip(out) {
        let mut twist = [l.splat(0.0); 6];
        for (k, t) in twist.iter_mut().enumerate() {
            let mut even = l.load(&block[POSE + k]) * x[0] + 0.0;
            even = l.load(&block[POSE + 12 + k]) * x[2] + even;
            even = l.load(&block[POSE + 24 + k]) * x[4] + even;
            let mut odd = l.load(&block[POSE + 6 + k]) * x[1] + 0.0;
            odd = l.load(&block[POSE + 18 + k]) * x[3] + odd;
            odd = l.load(&block[POSE + 30 + k]) * x[5] + odd;
            *t = even + odd;
        }
        let pose = displaced(l, load_rest(l, &block[..POSE]), twist, &mut beyond);
        for (o, p) in out.iter_mut().zip(pose) {
            *o = p.store();
        }
    }
    beyond
}

impl Displace<'_> {
    #[inline(always)]
    fn all<L: Arithmetic>(self, l: L) -> bool {
        let mut beyond = false;
        for (block, out) in
            self.blocks.chunks_exact(self.stride).zip(self.out.chunks_exact_mut(POSE))
        {
            let (rest, columns) = block.split_at(POSE);
            let (columns, driven) = columns.split_at(6 * self.eta.len());
            let mut twist = column_sum(l, columns, self.eta);
            if !self.drive.is_empty() {
                let more = column_sum(l, driven, self.drive);
                for k in 0..6 {
                    twist[k] += more[k];
                }
            }
            let pose = displaced(l, load_rest(l, rest), twist, &mut beyond);
            for (o, p) in out.iter_mut().zip(pose) {
                *o = p.store();
            }
        }
        beyond
    }
}

/// Σ column x; even and odd columns are summed apart, and the sum of the odd ones is added last.
#[inline(always)]
fn column_sum<L: Arithmetic>(l: L, columns: &[Lanes], x: &[f64]) -> [Wide<L>; 6] {
    let (columns, _) = columns.as_chunks::<6>();
    let mut even = [l.splat(0.0); 6];
    let mut odd = even;
    let (pairs, last) = x.as_chunks::<2>();
    let (column_pairs, _) = columns.as_chunks::<2>();
    for (x, column) in pairs.iter().zip(column_pairs) {
        let (x0, x1) = (l.splat(x[0]), l.splat(x[1]));
        for k in 0..6 {
            even[k] += l.load(&column[0][k]) * x0;
        }
        for k in 0..6 {
            odd[k] += l.load(&column[1][k]) * x1;
        }
    }
    if let [x] = last {
        let x = l.splat(*x);
        for k in 0..6 {
            even[k] += l.load(&columns[2 * pairs.len()][k]) * x;
        }
    }
    for k in 0..6 {
        even[k] += odd[k];
    }
    even
}
