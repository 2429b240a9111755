//! Clipping of polygons and segments by planes \[SH74\]. Corners of the result
//! have names that stay the same from step to step.

use forks_lie::glam::DVec3;

/// A corner of a polygon and the side that begins there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    pub(super) point: DVec3,
    /// Tells corners of a polygon apart.
    pub(super) name: u32,
    /// The same for sides.
    pub(super) side: u32,
}

/// Names of sides are below this.
const SIDES: u32 = 128;
/// Names of sides that lie in a clipping plane begin here.
const CUT: u32 = 64;

/// Name of the new corner where a side meets a plane; original corners have smaller names.
fn meeting(side: u32, plane: u32) -> u32 {
    SIDES + side * SIDES + plane
}

/// A polygon to clip; its buffers are kept for the next pair.
#[derive(Clone, Debug, Default)]
pub(super) struct Polygon {
    pub(super) corners: Vec<Corner>,
    spare: Vec<Corner>,
}

impl Polygon {
    /// Starts with the corners of a face; sides and corners are named by their numbers.
    #[inline(always)]
    pub(super) fn start(&mut self, points: impl Iterator<Item = (u32, DVec3)>) {
        self.corners.clear();
        for (k, (name, point)) in points.enumerate() {
            self.corners.push(Corner { point, name, side: k as u32 });
        }
    }

    /// Keeps the part where n · x ≤ offset. The number of the plane goes into the names of new
    /// corners.
    pub(super) fn clip(&mut self, normal: DVec3, offset: f64, plane: u32) {
        let height = |c: &Corner| normal.dot(c.point) - offset;
        if self.corners.iter().all(|c| height(c) <= 0.0) {
            return;
        }
        self.spare.clear();
        let closed = self.corners.len() > 2;
        for (k, p) in self.corners.iter().enumerate() {
            let q = &self.corners[(k + 1) % self.corners.len()];
            let (above_p, above_q) = (height(p), height(q));
            if above_p <= 0.0 {
                self.spare.push(*p);
            }
            // The two corners of a segment have one side only.
            if (above_p <= 0.0) != (above_q <= 0.0) && (closed || k == 0) {
                let point = p.point + (q.point - p.point) * (above_p / (above_p - above_q));
                let side = if above_p <= 0.0 { CUT + plane } else { p.side };
                self.spare.push(Corner { point, name: meeting(p.side, plane), side });
            }
        }
        std::mem::swap(&mut self.corners, &mut self.spare);
    }
}
