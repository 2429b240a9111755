//! Cylinders against boxes and hulls of few faces.
//!
//! As for reference faces ([`super::reference_face`]): a point of one shape that lies d deep in the
//! other, at least d away from the rest of its surface, and that is extreme along the normal there,
//! gives the minimum translation; where the shapes are apart, their distance. The point may be a
//! corner over a cap, a corner or a point of an edge beside the curved side, or a point of the
//! cylinder on a face. Pairs that none of these decides go to the geometry library.

use forks_lie::{
    Pose,
    glam::{DMat3, DVec3},
};

use super::{
    Sink,
    clip::{Corner, Polygon},
    direction::direction,
    polytope::{FEW, Polytope},
    reference_face::ReferenceFace,
    solid::Round,
};

/// Memory of one pair.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// The polytope's corners in the cylinder's frame.
    moved: Vec<DVec3>,
    pub(super) polygon: Polygon,
    /// Where a face's outline and the rim meet.
    cut: Vec<Corner>,
}

/// Points between a cylinder and a polytope; false where the library has to look.
#[inline(always)]
pub(super) fn collide(
    cylinder: (&Pose, Round),
    two: (&Pose, &Polytope),
    scratch: &mut Scratch,
    sink: &mut Sink<'_>,
) -> bool {
    let (pose, form) = cylinder;
    let cylinder_from_two = pose.inverse() * *two.0;
    let rotation = DMat3::from_quat(cylinder_from_two.rotation);
    let middle = -(rotation.transpose() * cylinder_from_two.translation);
    let Scratch { moved, polygon, cut } = scratch;
    let offset = cylinder_from_two.translation;
    let view = View { pose, form, polytope: two.1, rotation, offset, middle };
    let cap = view.cap();
    // No ball inside the cylinder is larger than these.
    let shallow = -cap.separation <= form.radius.min(form.half_length) + sink.tie;
    if cap.separation > sink.prediction || (shallow && view.on_cap(&cap, polygon, cut, sink)) {
        return true;
    }
    let (face, separation) = view.face();
    if separation > sink.prediction {
        return true;
    }
    let reference = ReferenceFace { polytope: two.1, face, separation, pose: two.0, second: true };
    if view.on_face(&reference, polygon, sink) {
        return true;
    }
    moved.clear();
    moved.extend(two.1.points.iter().map(|p| view.moved(*p)));
    view.at_side(&reference, moved, polygon, sink)
}

/// A polytope as a cylinder sees it.
struct View<'a> {
    pose: &'a Pose,
    form: Round,
    polytope: &'a Polytope,
    /// Cylinder from the polytope.
    rotation: DMat3,
    /// The polytope's origin.
    offset: DVec3,
    /// The cylinder's middle in the polytope's frame.
    middle: DVec3,
}

/// The cap from whose plane the polytope is farther.
struct Cap {
    /// 1 for the cap at the end of the axis, −1 for that at its start.
    side: f64,
    separation: f64,
    /// The polytope's corner that is deepest.
    corner: usize,
}

impl View<'_> {
    /// A point of the polytope as the cylinder sees it.
    #[inline(always)]
    fn moved(&self, p: DVec3) -> DVec3 {
        self.rotation * p + self.offset
    }

    #[inline(always)]
    fn cap(&self) -> Cap {
        let mut ends = [(f64::INFINITY, 0), (f64::NEG_INFINITY, 0)];
        let axis = self.rotation.row(1);
        for (k, p) in self.polytope.points.iter().enumerate() {
            let y = axis.dot(*p) + self.offset.y;
            if y < ends[0].0 {
                ends[0] = (y, k);
            }
            if y > ends[1].0 {
                ends[1] = (y, k);
            }
        }
        let [(low, lowest), (high, highest)] = ends;
        let (above, below) = (low - self.form.half_length, -high - self.form.half_length);
        if above >= below {
            Cap { side: 1.0, separation: above, corner: lowest }
        } else {
            Cap { side: -1.0, separation: below, corner: highest }
        }
    }

    /// The polytope's face on a cap: corners inside the rim; where the rim cuts it, also the points
    /// there and of the rim.
    #[inline(always)]
    fn on_cap(
        &self,
        cap: &Cap,
        polygon: &mut Polygon,
        cut: &mut Vec<Corner>,
        sink: &mut Sink<'_>,
    ) -> bool {
        let up = DVec3::Y * cap.side;
        let height = |p: DVec3| p.y * cap.side - self.form.half_length;
        // Along the polytope's axes.
        let down = self.rotation.row(1) * -cap.side;
        let number = self.polytope.facing_at(cap.corner, down);
        let face = &self.polytope.faces[number];
        let corner = |i: u32| (i, self.moved(self.polytope.points[i as usize]));
        polygon.start(face.corners.iter().map(|i| corner(*i)));
        self.cut_by_rim(polygon, face.normal, cap, cut);
        let from_axis = |p: DVec3| (p.x * p.x + p.z * p.z).sqrt();
        let best = cut.iter().any(|c| {
            let h = height(c.point);
            // Away from the side, and from the other cap.
            let room =
                || (self.form.radius - from_axis(c.point)).min(2.0 * self.form.half_length + h);
            h <= cap.separation + sink.tie && (h >= 0.0 || room() >= -h - sink.tie)
        });
        if !best {
            return false;
        }
        let rotation = DMat3::from_quat(self.pose.rotation);
        let part = CAPS + u32::from(cap.side > 0.0);
        for c in cut.iter() {
            let h = height(c.point);
            if h <= sink.prediction {
                let middle = rotation * (c.point - up * (0.5 * h)) + self.pose.translation;
                sink.push([part, c.name], middle, rotation.y_axis * cap.side, h);
            }
        }
        true
    }

    /// Of a face with a normal in the polytope's frame, its corners inside the rim, and where the
    /// rim cuts it.
    #[inline(always)]
    fn cut_by_rim(&self, polygon: &Polygon, normal: DVec3, cap: &Cap, out: &mut Vec<Corner>) {
        let radius = self.form.radius;
        let corners = &polygon.corners;
        let inside = |p: DVec3| p.x * p.x + p.z * p.z <= radius * radius;
        out.clear();
        for c in corners {
            if inside(c.point) {
                out.push(*c);
            }
        }
        if out.len() == corners.len() {
            return;
        }
        let names = |k: usize, second: bool| Corner {
            name: CROSSINGS + 2 * k as u32 + u32::from(second),
            ..corners[k]
        };
        for (k, c) in corners.iter().enumerate() {
            let to = corners[(k + 1) % corners.len()].point;
            for (second, s) in crossings(c.point, to - c.point, radius).into_iter().enumerate() {
                if (0.0..=1.0).contains(&s) {
                    out.push(Corner {
                        point: c.point + (to - c.point) * s,
                        ..names(k, second == 1)
                    });
                }
            }
        }
        // Points of the rim below the face, in its plane.
        let normal = self.rotation * normal;
        if normal.y == 0.0 {
            return;
        }
        for (k, d) in [DVec3::X, DVec3::Z, DVec3::NEG_X, DVec3::NEG_Z].into_iter().enumerate() {
            let at = d * radius;
            let rise = normal.dot(corners[0].point - at) / normal.y;
            let point = at + DVec3::Y * rise;
            let is_left = |(k, c): (usize, &Corner)| {
                let to = corners[(k + 1) % corners.len()].point;
                // The face looks at the cap: from the cap's side its corners run clockwise.
                let turn = (to - c.point).cross(point - c.point).y * cap.side;
                turn <= 0.0
            };
            if corners.iter().enumerate().all(is_left) {
                out.push(Corner { point, name: RIM + k as u32, side: 0 });
            }
        }
    }

    /// The polytope's face from whose plane the cylinder is farthest (or least deep), and by how
    /// much.
    fn face(&self) -> (usize, f64) {
        // Over the cylinder n · x is least at n · c − r |n × a| − l |n · a|, with its middle c and
        // axis a in the polytope's frame.
        let axis = self.rotation.row(1);
        let mut best = (0, f64::NEG_INFINITY);
        for (k, f) in self.polytope.faces.iter().enumerate() {
            let across = f.normal.cross(axis).length();
            let along = f.normal.dot(axis).abs();
            let reach = self.form.radius * across + self.form.half_length * along;
            let separation = f.normal.dot(self.middle) - f.offset - reach;
            if separation > best.1 {
                best = (k, separation);
            }
        }
        best
    }

    /// The cylinder's side or cap on a face.
    fn on_face(
        &self,
        reference: &ReferenceFace<'_>,
        polygon: &mut Polygon,
        sink: &mut Sink<'_>,
    ) -> bool {
        let normal = self.polytope.faces[reference.face].normal;
        let (points, names, count) = self.form.lowest(self.rotation * -normal);
        let back = self.rotation.transpose();
        let moved = points[..count].iter().map(|p| back * *p + self.middle);
        polygon.start(names.into_iter().zip(moved));
        reference.clip(polygon);
        let best = reference.is_minimum_translation(&polygon.corners, sink.tie);
        if best {
            reference.push(&polygon.corners, sink);
        }
        best
    }

    /// The polytope's edge or corner at the side: the point of its surface nearest to the axis.
    /// Most often it is at the face that separates best.
    fn at_side(
        &self,
        reference: &ReferenceFace<'_>,
        points: &[DVec3],
        polygon: &mut Polygon,
        sink: &mut Sink<'_>,
    ) -> bool {
        let corners = &self.polytope.faces[reference.face].corners;
        let next = |k: usize| corners[(k + 1) % corners.len()];
        let around = corners.iter().enumerate().map(|(k, i)| [*i, next(k)]);
        let all = self.polytope.edges.iter().map(|e| e.ends);
        let side = self.side(points, around, sink.tie);
        let Some(side) = side.or_else(|| self.side(points, all, sink.tie)) else {
            return false;
        };
        let (p, outward, gap) = (side.point, side.outward, side.gap);
        let middle = self.pose.transform_point(p - outward * (0.5 * gap));
        let normal = self.pose.rotation * outward;
        sink.push([SIDE, side.name], middle, normal, gap);
        // The rest of the line on the side that lies on the face.
        let back = self.rotation.transpose();
        let along = back * -outward;
        if reference.is_aligned(along) {
            let ends = [-self.form.half_length, self.form.half_length];
            let ends = ends.map(|y| outward * self.form.radius + DVec3::Y * y);
            polygon.start([1, 2].into_iter().zip(ends.map(|p| back * p + self.middle)));
            reference.clip_along(along, polygon);
            let known = Some(back * p + self.middle);
            reference.push_along(&polygon.corners, [along, -normal], known, sink);
        }
        true
    }

    /// Of edges, the point nearest to the axis, if it decides.
    fn side(
        &self,
        points: &[DVec3],
        edges: impl Iterator<Item = [u32; 2]>,
        tie: f64,
    ) -> Option<Side> {
        let mut best = (f64::INFINITY, DVec3::ZERO, [0; 2]);
        for ends in edges {
            let [a, b] = ends.map(|i| points[i as usize]);
            let along = b - a;
            let flat = along.x * along.x + along.z * along.z;
            let s = if flat > 0.0 { -(a.x * along.x + a.z * along.z) / flat } else { 0.5 };
            let p = a + along * s.clamp(0.0, 1.0);
            let squared = p.x * p.x + p.z * p.z;
            if squared < best.0 {
                best = (squared, p, ends);
            }
        }
        let (_, point, [i, j]) = best;
        let (distance, outward) = direction(DVec3::new(point.x, 0.0, point.z))?;
        let gap = distance - self.form.radius;
        // Nothing of the polytope is nearer along the normal, and the caps are not nearer to the
        // point than the side.
        let is_farther = |q: &DVec3| outward.dot(*q) >= distance - tie;
        let room = self.form.half_length - point.y.abs();
        if room < (-gap).max(0.0) || !points.iter().all(is_farther) {
            return None;
        }
        let name = 1 + i.min(j) * FEW as u32 + i.max(j);
        Some(Side { point, outward, gap, name })
    }
}

/// Where a polytope is at a cylinder's side.
struct Side {
    /// Of the polytope.
    point: DVec3,
    /// From the axis to the point.
    outward: DVec3,
    gap: f64,
    name: u32,
}

/// Parts of a segment p + s u, 0 ≤ s ≤ 1, at which it is a distance r from the y axis; NaN where it
/// is not.
fn crossings(p: DVec3, u: DVec3, r: f64) -> [f64; 2] {
    let (a, b, c) = (u.x * u.x + u.z * u.z, p.x * u.x + p.z * u.z, p.x * p.x + p.z * p.z - r * r);
    let root = (b * b - a * c).sqrt();
    [(-b - root) / a, (-b + root) / a]
}

/// Names of caps, of where sides of a face meet the rim, of the rim's points, and of the cylinder's
/// side.
const CAPS: u32 = 1 << 8;
const CROSSINGS: u32 = 1 << 9;
const RIM: u32 = 1 << 10;
const SIDE: u32 = 1 << 11;
