//! The reference face of a pair of convex shapes, and contact points on it.
//!
//! Let the reference face have the outward normal n, and let the other shape reach to depth d below
//! its plane (d < 0: it stays −d above). If a point v of the other shape lies at that depth, and is
//! at least d below the planes of all other faces, then d n is a minimum translation vector: the
//! ball of radius d about v lies inside the first shape, so every translation that takes v out has
//! at least the length d, and d along n is enough. Where d < 0 and v is above the face itself, the
//! distance of the shapes is −d, because the face's plane separates them by that.
//!
//! Contact points are the corners of the incident face (the face of the other shape that looks most
//! against n), clipped by the sides of the reference face.

use forks_lie::{Pose, glam::DVec3};

use super::{
    Sink,
    clip::{Corner, Polygon},
    polytope::Polytope,
};

/// A face of a polytope whose normal is a candidate for the separating axis.
pub(super) struct ReferenceFace<'a> {
    pub(super) polytope: &'a Polytope,
    pub(super) face: usize,
    /// Signed distance of the other shape from the face's plane, m; negative below it.
    pub(super) separation: f64,
    /// World from the polytope.
    pub(super) pose: &'a Pose,
    /// The polytope is the test's second form.
    pub(super) second: bool,
}

impl ReferenceFace<'_> {
    /// Clips an incident face or edge, in the polytope's frame, by the sides of this face.
    pub(super) fn clip(&self, polygon: &mut Polygon) {
        let sides = self.polytope.faces[self.face].sides.iter();
        sides.enumerate().for_each(|(k, (out, offset))| polygon.clip(*out, *offset, k as u32));
    }

    /// Clips to what lies over this face, seen along another direction than its normal.
    pub(super) fn clip_along(&self, along: DVec3, polygon: &mut Polygon) {
        let corners = &self.polytope.faces[self.face].corners;
        for (k, i) in corners.iter().enumerate() {
            let from = self.polytope.points[*i as usize];
            let to = self.polytope.points[corners[(k + 1) % corners.len()] as usize];
            let out = (to - from).cross(along);
            polygon.clip(out, out.dot(from), k as u32);
        }
    }

    /// True if one of the clipped corners proves that the normal is the direction of the minimum
    /// translation (module documentation).
    pub(super) fn is_minimum_translation(&self, corners: &[Corner], tie: f64) -> bool {
        corners.iter().any(|c| {
            let height = self.height(c.point);
            height <= self.separation + tie
                && (height >= 0.0 || self.is_inside(c.point, height + tie))
        })
    }

    /// True if a point is as deep below all other faces as below this one.
    fn is_inside(&self, p: DVec3, height: f64) -> bool {
        let others = self.polytope.faces.iter().enumerate().filter(|(k, _)| *k != self.face);
        others.into_iter().all(|(_, f)| f.normal.dot(p) - f.offset <= height)
    }

    fn height(&self, p: DVec3) -> f64 {
        let face = &self.polytope.faces[self.face];
        face.normal.dot(p) - face.offset
    }

    /// Adds the deepest corner of the other shape, in the polytope's frame, if clipping has removed
    /// it and no remaining corner is as deep.
    pub(super) fn add_deepest(&self, points: &[DVec3], corners: &mut Vec<Corner>, tie: f64) {
        if corners.iter().any(|c| self.height(c.point) <= self.separation + tie) {
            return;
        }
        let heights = points.iter().enumerate().map(|(k, p)| (k, self.height(*p)));
        if let Some((k, _)) = heights.min_by(|a, b| a.1.total_cmp(&b.1)) {
            corners.push(Corner { point: points[k], name: k as u32, side: 0 });
        }
    }

    /// Reports the corners as contact points.
    pub(super) fn push(&self, corners: &[Corner], sink: &mut Sink<'_>) {
        let normal = self.polytope.faces[self.face].normal;
        let outward = self.pose.rotation * normal;
        self.push_along(corners, [normal, outward], None, sink);
    }

    /// Reports the corners with gaps along another outward direction (in the polytope's frame, and
    /// in the world) than the face's normal. Where shapes touch at edges, two faces that are almost
    /// parallel have more points that may touch soon. Leaves out the point `known`.
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

    /// True if a direction is within 60° of the face's normal, so that more points than the first
    /// may matter.
    pub(super) fn is_aligned(&self, along: DVec3) -> bool {
        self.polytope.faces[self.face].normal.dot(along) > ALIGNED
    }
}

/// Cosine of 60°.
const ALIGNED: f64 = 0.5;
