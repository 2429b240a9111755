//! Vertices four at a time.

use forks_rom::{
    Isa,
    internal::{half_angle_coefficients, pose_entries},
    lie::{Pose, Twist, glam::DVec3},
    linalg::{
        Matrix,
        simd::{Arithmetic, Kernel, LANES, Lanes, Wide, WideVectors},
    },
};

/// Quarter of the square of the angle from which a vertex is placed on its own: 16π.
const FAR: f64 = 64.0 * std::f64::consts::PI * std::f64::consts::PI;

/// Positions in a block: x, y, z of four vertices.
pub(crate) const PLACE: usize = 3;

/// Vertices in blocks of four: three entries of the place, then `rows` entries per column; an entry
/// is the four vertices' numbers side by side.
#[derive(Clone, Debug)]
pub(crate) struct VertexBlocks {
    data: Vec<Lanes>,
    rows: usize,
    pub(crate) columns: usize,
    count: usize,
}

impl VertexBlocks {
    pub(crate) fn new(places: &[DVec3], map: &Matrix, rows: usize, columns: usize) -> Self {
        let count = places.len();
        let stride = PLACE + rows * columns;
        let mut data = vec![Lanes::default(); count.div_ceil(LANES) * stride];
        for (v, place) in places.iter().enumerate() {
            let (block, lane) = (&mut data[v / LANES * stride..][..stride], v % LANES);
            for (entry, x) in block.iter_mut().zip(place.to_array()) {
                entry.0[lane] = x;
            }
            for j in 0..columns {
                for k in 0..rows {
                    block[PLACE + rows * j + k].0[lane] = map[(rows * v + k, j)];
                }
            }
        }
        Self { data, rows, columns, count }
    }

    pub(crate) fn blocks(&self) -> usize {
        self.count.div_ceil(LANES)
    }

    fn stride(&self) -> usize {
        PLACE + self.rows * self.columns
    }

    /// X + V(ω) v for all vertices.
    pub(crate) fn by_twist(&self, isa: Isa, eta: &[f64], drive: &[f64], out: &mut [Lanes]) {
        let stride = self.stride();
        if isa.run(ByTwist { blocks: &self.data, stride, eta, drive, out: &mut *out }) {
            self.by_far_twist(eta, drive, out);
        }
    }

    /// Corrects the vertices that turn by more than 16π.
    #[cold]
    fn by_far_twist(&self, eta: &[f64], drive: &[f64], out: &mut [Lanes]) {
        let stride = self.stride();
        for (block, out) in self.data.chunks_exact(stride).zip(out.chunks_exact_mut(PLACE)) {
            for lane in 0..LANES {
                let twist = Twist::from_array(std::array::from_fn(|k| {
                    let x = eta.iter().chain(drive).enumerate();
                    x.map(|(j, x)| block[PLACE + 6 * j + k].0[lane] * x).sum()
                }));
                if 0.25 * twist.angular.length_squared() > FAR {
                    let moved = Pose::exp(twist).translation.to_array();
                    for k in 0..PLACE {
                        out[k].0[lane] = block[k].0[lane] + moved[k];
                    }
                }
            }
        }
    }

    /// H_l (r + u) for all vertices; `slots` has the four links of every block, places in `poses`.
    pub(crate) fn in_links(
        &self,
        isa: Isa,
        (poses, slots): (&[PoseRow], &[[u32; LANES]]),
        eta: &[f64],
        drive: &[f64],
        out: &mut [Lanes],
    ) {
        let stride = self.stride();
        isa.run(InLinks { blocks: &self.data, stride, poses, slots, eta, drive, out });
    }
}

/// A link's pose: place and first entry of the quaternion, then the others.
pub(crate) type PoseRow = [Lanes; 2];

/// A pose as a row.
pub(crate) fn pose_row(pose: &Pose) -> PoseRow {
    let [px, py, pz, x, y, z, w] = pose_entries(pose);
    [Lanes([px, py, pz, x]), Lanes([y, z, w, 0.0])]
}

struct ByTwist<'a> {
    blocks: &'a [Lanes],
    stride: usize,
    eta: &'a [f64],
    drive: &'a [f64],
    out: &'a mut [Lanes],
}

impl Kernel for ByTwist<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> bool {
        let mut beyond = false;
        let blocks = self.blocks.chunks_exact(self.stride);
        for (block, out) in blocks.zip(self.out.chunks_exact_mut(PLACE)) {
            let (place, columns) = block.split_at(PLACE);
            let [vx, vy, vz, wx, wy, wz] = sum::<L, 6>(l, columns, self.eta, self.drive);
            let (v, w) = (WideVectors([vx, vy, vz]), WideVectors([wx, wy, wz]));
            let y = (w.dot(w) * 0.25).rounded();
            let [a, b, c] = half_angle_coefficients(l, y, &mut beyond);
            // V(ω) v = a b v + ½ b² ω×v + ¼ (4c) (ω·v) ω.
            let along = (0.25 * c).rounded() * w.dot(v);
            let half = ((0.5 * b).rounded() * b).rounded();
            let moved = v.scaled((a * b).rounded()).plus_scaled(w.cross(v), half);
            let moved = moved.plus_scaled(w, along.rounded());
            for k in 0..PLACE {
                out[k] = (l.load(&place[k]) + moved[k]).store();
            }
        }
        beyond
    }
}

struct InLinks<'a> {
    blocks: &'a [Lanes],
    stride: usize,
    poses: &'a [PoseRow],
    slots: &'a [[u32; LANES]],
    eta: &'a [f64],
    drive: &'a [f64],
    out: &'a mut [Lanes],
}

impl Kernel for InLinks<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let blocks = self.blocks.chunks_exact(self.stride).zip(self.slots);
        for ((block, slots), out) in blocks.zip(self.out.chunks_exact_mut(PLACE)) {
            // Rows of four links to entries of four vertices.
            let rows = slots.map(|slot| &self.poses[slot as usize]);
            let [px, py, pz, x] = l.transposed(rows.map(|row| l.load(&row[0])));
            let [y, z, w, _] = l.transposed(rows.map(|row| l.load(&row[1])));
            let (place, columns) = block.split_at(PLACE);
            let u = sum::<L, 3>(l, columns, self.eta, self.drive);
            let r = WideVectors([
                l.load(&place[0]) + u[0],
                l.load(&place[1]) + u[1],
                l.load(&place[2]) + u[2],
            ]);
            // R r = r + 2 d × (d × r + c r).
            let d = WideVectors([x, y, z]);
            let inner = d.cross(r).plus_scaled(r, w);
            let turned = r.plus_scaled(d.cross(inner), l.splat(2.0));
            for (k, p) in [px, py, pz].into_iter().enumerate() {
                out[k] = (p + turned[k]).store();
            }
        }
    }
}

/// Σ column x over reduced coordinates, then servo targets; even and odd columns apart.
#[inline(always)]
fn sum<L: Arithmetic, const R: usize>(
    l: L,
    columns: &[Lanes],
    eta: &[f64],
    drive: &[f64],
) -> [Wide<L>; R] {
    let (columns, _) = columns.as_chunks::<R>();
    let (own, driven) = columns.split_at(eta.len());
    let mut even = [l.splat(0.0); R];
    let mut odd = even;
    let (pairs, last) = eta.as_chunks::<2>();
    let (column_pairs, _) = own.as_chunks::<2>();
    for (x, column) in pairs.iter().zip(column_pairs) {
        let (x0, x1) = (l.splat(x[0]), l.splat(x[1]));
        for k in 0..R {
            even[k] += l.load(&column[0][k]) * x0;
        }
        for k in 0..R {
            odd[k] += l.load(&column[1][k]) * x1;
        }
    }
    if let [x] = last {
        let x = l.splat(*x);
        for k in 0..R {
            even[k] += l.load(&own[2 * pairs.len()][k]) * x;
        }
    }
    for (x, column) in drive.iter().zip(driven) {
        let x = l.splat(*x);
        for k in 0..R {
            even[k] += l.load(&column[k]) * x;
        }
    }
    for k in 0..R {
        even[k] += odd[k];
    }
    even
}
