//! Boxes and hulls of few faces: the separating axis test \[GLM96\], then
//! clipping of the incident face.
//!
//! The axis of the minimum translation of two overlapping polytopes is the normal of a face of one,
//! or the cross product of an edge of each. All are tried. Where the polytopes are apart, the
//! greatest separation along an axis is their distance only if the nearest points are inside these
//! features; else the geometry library decides.

use forks_lie::{
    Pose,
    glam::{DMat3, DVec3},
};

use super::{Sink, clip::Polygon, polytope::Polytope, reference_face::ReferenceFace};

/// Buffers of one pair.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// Each form's corners in the other's frame.
    moved: [Vec<DVec3>; 2],
    /// Edges of the second in the first's frame.
    edges: Vec<MovedEdge>,
    pub(super) polygon: Polygon,
}

#[derive(Clone, Copy, Debug)]
struct MovedEdge {
    from: DVec3,
    to: DVec3,
    inwards: [DVec3; 2],
    number: usize,
}

/// A separating axis across an edge of each shape.
struct Crossing {
    separation: f64,
    /// From the first to the second, in the first's frame.
    normal: DVec3,
    /// Edges of the first and the second.
    edges: [usize; 2],
    /// The nearest points of both edges, in the first's frame.
    points: [DVec3; 2],
    /// Both points are between the ends of their edges.
    inside: bool,
}

/// Contact points of two polytopes; false where the geometry library has to decide.
pub(super) fn collide(
    one: (&Pose, &Polytope),
    two: (&Pose, &Polytope),
    scratch: &mut Scratch,
    sink: &mut Sink<'_>,
) -> bool {
    let Scratch { moved: [first_moved, second_moved], edges, polygon } = scratch;
    let one_from_two = one.0.inverse() * *two.0;
    let two_from_one = one_from_two.inverse();
    move_all(&two_from_one, &one.1.points, first_moved);
    move_all(&one_from_two, &two.1.points, second_moved);
    let (face, separation) = one.1.separation(second_moved);
    if separation > sink.prediction {
        return true;
    }
    let first = ReferenceFace { polytope: one.1, face, separation, pose: one.0, second: false };
    let (face, separation) = two.1.separation(first_moved);
    if separation > sink.prediction {
        return true;
    }
    let second = ReferenceFace { polytope: two.1, face, separation, pose: two.0, second: true };
    let candidates = [
        (&first, two.1, &one_from_two, &*second_moved),
        (&second, one.1, &two_from_one, &*first_moved),
    ];
    for (reference, other, pose, points) in candidates {
        clip_incident_face(reference, other, pose, points, polygon);
        if reference.is_minimum_translation(&polygon.corners, sink.tie) {
            reference.push(&polygon.corners, sink);
            return true;
        }
    }
    let best = first.separation.max(second.separation);
    // Once moved apart, the shapes touch in points that are no farther than this from either face.
    let reach = sink.prediction.max(-best);
    edges.clear();
    edges_near(&first, two.1, &one_from_two, second_moved, reach, edges);
    let crossing = best_crossing(one.1, &second, first_moved, edges, reach);
    // Where faces lie on each other their edges separate as much as they do: faces win ties.
    if let Some(c) = crossing.filter(|c| c.separation > best + sink.tie) {
        if c.separation > sink.prediction {
            return true;
        }
        if c.separation <= 0.0 || c.inside {
            c.push(one.0, sink);
            // More points of two faces that are almost parallel.
            let face = one.1.facing(c.normal);
            let reference = ReferenceFace { face, separation: c.separation, ..first };
            if reference.is_aligned(c.normal) {
                let other = two.1.facing(one_from_two.rotation.conjugate() * -c.normal);
                let corners = two.1.faces[other].corners.iter();
                polygon.start(corners.map(|i| (*i, second_moved[*i as usize])));
                reference.clip_along(c.normal, polygon);
                let directions = [c.normal, one.0.rotation * c.normal];
                reference.push_along(&polygon.corners, directions, Some(c.points[1]), sink);
            }
            return true;
        }
        return false;
    }
    if best > 0.0 {
        return false;
    }
    // The normal of this face is the axis of the minimum translation.
    let k = usize::from(second.separation > first.separation);
    let (reference, other, pose, points) = candidates[k];
    clip_incident_face(reference, other, pose, points, polygon);
    reference.add_deepest(points, &mut polygon.corners, sink.tie);
    reference.push(&polygon.corners, sink);
    true
}

fn move_all(pose: &Pose, points: &[DVec3], out: &mut Vec<DVec3>) {
    let rotation = DMat3::from_quat(pose.rotation);
    out.clear();
    out.extend(points.iter().map(|p| rotation * *p + pose.translation));
}

/// The incident face of the other shape, clipped by the sides of the reference face.
fn clip_incident_face(
    reference: &ReferenceFace<'_>,
    other: &Polytope,
    pose: &Pose,
    points: &[DVec3],
    polygon: &mut Polygon,
) {
    let normal = reference.polytope.faces[reference.face].normal;
    let down = pose.rotation.conjugate() * -normal;
    let face = &other.faces[other.facing(down)];
    polygon.start(face.corners.iter().map(|i| (*i, points[*i as usize])));
    reference.clip(polygon);
}

/// Edges of the second shape within `reach` of the plane of the first's best face.
fn edges_near(
    first: &ReferenceFace<'_>,
    second: &Polytope,
    one_from_two: &Pose,
    points: &[DVec3],
    reach: f64,
    out: &mut Vec<MovedEdge>,
) {
    let rotation = DMat3::from_quat(one_from_two.rotation);
    let face = &first.polytope.faces[first.face];
    for (number, e) in second.edges.iter().enumerate() {
        let [from, to] = e.ends.map(|i| points[i as usize]);
        if face.normal.dot(from).min(face.normal.dot(to)) - face.offset <= reach {
            let inwards = e.inwards.map(|v| rotation * v);
            out.push(MovedEdge { from, to, inwards, number });
        }
    }
}

/// The pair of edges with the greatest separation, among edges of the first shape within `reach` of
/// the second's best face and the given edges of the second.
///
/// The cross product of two edges is a separating axis only if each edge is the extreme feature of
/// its shape along it (Gauss map test).
fn best_crossing(
    one: &Polytope,
    second: &ReferenceFace<'_>,
    first_in_second: &[DVec3],
    edges: &[MovedEdge],
    reach: f64,
) -> Option<Crossing> {
    let face = &second.polytope.faces[second.face];
    let mut best: Option<(f64, DVec3, usize, &MovedEdge)> = None;
    for (number, e) in one.edges.iter().enumerate() {
        let heights = e.ends.map(|i| face.normal.dot(first_in_second[i as usize]) - face.offset);
        if heights[0].min(heights[1]) > reach {
            continue;
        }
        let [from, to] = e.ends.map(|i| one.points[i as usize]);
        for other in edges {
            let across = (to - from).cross(other.to - other.from);
            let [a, b] = e.inwards.map(|v| v.dot(across));
            let [c, d] = other.inwards.map(|v| v.dot(across));
            let sign = if a <= 0.0 && b <= 0.0 && c >= 0.0 && d >= 0.0 {
                1.0
            } else if a >= 0.0 && b >= 0.0 && c <= 0.0 && d <= 0.0 {
                -1.0
            } else {
                continue;
            };
            let length = across.length();
            if length <= PARALLEL * (to - from).length() * (other.to - other.from).length() {
                continue;
            }
            let normal = across * (sign / length);
            let separation = normal.dot(other.from - from);
            if best.is_none_or(|b| separation > b.0) {
                best = Some((separation, normal, number, other));
            }
        }
    }
    let (separation, normal, number, other) = best?;
    let [from, to] = one.edges[number].ends.map(|i| one.points[i as usize]);
    let (points, inside) = nearest(from, to, other.from, other.to, normal);
    Some(Crossing { separation, normal, edges: [number, other.number], points, inside })
}

/// Sine of the angle below which edges are parallel: then a face normal separates as well.
const PARALLEL: f64 = 1e-9;

/// The nearest points of two segments whose common perpendicular is the normal, clamped to their
/// ends, and whether both were between the ends.
fn nearest(a: DVec3, b: DVec3, c: DVec3, d: DVec3, normal: DVec3) -> ([DVec3; 2], bool) {
    let (u, v, w) = (b - a, d - c, c - a);
    // a + s u and c + t v differ by a multiple of the normal.
    let across = u.cross(v).dot(normal);
    let s = w.cross(v).dot(normal) / across;
    let t = w.cross(u).dot(normal) / across;
    let within = |x: f64| (0.0..=1.0).contains(&x);
    ([a + u * s.clamp(0.0, 1.0), c + v * t.clamp(0.0, 1.0)], within(s) && within(t))
}

impl Crossing {
    fn push(&self, pose: &Pose, sink: &mut Sink<'_>) {
        let middle = pose.transform_point((self.points[0] + self.points[1]) * 0.5);
        let [e, f] = self.edges.map(|k| k as u32);
        let normal = pose.rotation * self.normal;
        sink.push([EDGES + e, f + 1], middle, normal, self.separation);
    }
}

/// Names of edges of the first shape begin here.
const EDGES: u32 = 1 << 16;
