//! Flat faces against corners.
//!
//! Let a face look along n, and another convex form reach down to depth d below it (d < 0: up to −d
//! above). If a point v of that form lies so deep, and every other face of the first has v at least
//! d below it, then n is a direction of least translation: the ball of radius d about v is inside
//! the first form, so every translation that takes v out of it is d or longer, and d along n is
//! enough. Where d < 0 and v is above the face, the distance is −d: the face's plane keeps the
//! forms so far apart.
//!
//! Points are the corners of the other form's face, cut to the outline of the first's.

use forks_lie::{Pose, glam::DVec3};

use super::{
    Sink,
    clip::{Corner, Polygon},
    polytope::Polytope,
};

/// A face of a polytope that another form may lie on.
pub(super) struct Flat<'a> {
    pub(super) polytope: &'a Polytope,
    pub(super) face: usize,
    /// How far the other form is from the face's plane; negative below it.
    pub(super) separation: f64,
    /// World from the polytope.
    pub(super) pose: &'a Pose,
    /// The polytope is the test's second form.
    pub(super) second: bool,
}

impl Flat<'_> {
    /// Cuts a face or side of the other form, in the polytope's frame, to the outline of this face.
    pub(super) fn cut(&self, polygon: &mut Polygon) {
        let sides = self.polytope.faces[self.face].sides.iter();
        sides.enumerate().for_each(|(k, (out, offset))| polygon.cut(*out, *offset, k as u32));
    }

    /// Cuts it to what lies over this face along another direction than its normal.
    pub(super) fn cut_along(&self, along: DVec3, polygon: &mut Polygon) {
        let corners = &self.polytope.faces[self.face].corners;
        for (k, i) in corners.iter().enumerate() {
            let from = self.polytope.points[*i as usize];
            let to = self.polytope.points[corners[(k + 1) % corners.len()] as usize];
            let out = (to - from).cross(along);
            polygon.cut(out, out.dot(from), k as u32);
        }
    }

    /// True if one of the corners left shows that the normal is a direction of least translation.
    pub(super) fn is_best(&self, corners: &[Corner], tie: f64) -> bool {
        corners.iter().any(|c| {
            let height = self.height(c.point);
            height <= self.separation + tie
                && (height >= 0.0 || self.is_inside(c.point, height + tie))
        })
    }

    /// True if a point is below all other faces by what it is below this one.
    fn is_inside(&self, p: DVec3, height: f64) -> bool {
        let others = self.polytope.faces.iter().enumerate().filter(|(k, _)| *k != self.face);
        others.into_iter().all(|(_, f)| f.normal.dot(p) - f.offset <= height)
    }

    fn height(&self, p: DVec3) -> f64 {
        let face = &self.polytope.faces[self.face];
        face.normal.dot(p) - face.offset
    }

    /// Adds the other form's deepest corner, in the polytope's frame, where it is outside the
    /// outline and nothing left is as deep.
    pub(super) fn add_deepest(&self, points: &[DVec3], corners: &mut Vec<Corner>, tie: f64) {
        if corners.iter().any(|c| self.height(c.point) <= self.separation + tie) {
            return;
        }
        let heights = points.iter().enumerate().map(|(k, p)| (k, self.height(*p)));
        if let Some((k, _)) = heights.min_by(|a, b| a.1.total_cmp(&b.1)) {
            corners.push(Corner { point: points[k], name: k as u32, side: 0 });
        }
    }

    /// Hands over the corners.
    pub(super) fn push(&self, corners: &[Corner], sink: &mut Sink<'_>) {
        let normal = self.polytope.faces[self.face].normal;
        let outward = self.pose.rotation * normal;
        self.push_along(corners, [normal, outward], None, sink);
    }

    /// Hands over the corners with gaps along another direction (in the polytope's frame, and
    /// world) than the face's normal, away from it: where forms touch at edges, a face and a side
    /// that almost lie on each other have more points that may touch soon. Leaves out `known`.
    pub(super) fn push_along(
        &self,
        corners: &[Corner],
        [along, outward]: [DVec3; 2],
        known: Option<DVec3>,
        sink: &mut Sink<'_>,
    ) {
        let cosine = self.polytope.faces[self.face].normal.dot(along);
        let normal = if self.second { -outward } else { outward };
        let part = 2 * self.face as u32 + 1 + u32::from(self.second);
        for c in corners {
            let gap = self.height(c.point) / cosine;
            let is_known = |p: DVec3| p.distance(c.point) <= gap.abs() + sink.tie;
            if gap <= sink.prediction && !known.is_some_and(is_known) {
                let middle = self.pose.transform_point(c.point) - outward * (0.5 * gap);
                sink.push([part, c.name], middle, normal, gap);
            }
        }
    }

    /// True if a direction is so near to the face's normal that other points than the first may
    /// matter.
    pub(super) fn is_aligned(&self, along: DVec3) -> bool {
        self.polytope.faces[self.face].normal.dot(along) > ALIGNED
    }
}

/// Cosine of 60°.
const ALIGNED: f64 = 0.5;
