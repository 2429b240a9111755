//! Boxes and hulls of few faces against each other: separating axes (Gottschalk, Lin & Manocha
//! 1996).
//!
//! Forms that overlap are taken apart least along the normal of a face or across an edge of each,
//! of which the best is taken. Where forms are apart, that is their distance only if both nearest
//! points are inside these features; else the library looks.

use forks_lie::{
    Pose,
    glam::{DMat3, DVec3},
};

use super::{Sink, clip::Polygon, flat::Flat, polytope::Polytope};

/// Memory of one pair.
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

/// The two edges across which forms are taken apart.
struct Crossing {
    separation: f64,
    /// From the first to the second, in the first's frame.
    normal: DVec3,
    /// Edges of the first and the second.
    edges: [usize; 2],
    /// Points nearest to each other on both lines, in the first's frame.
    points: [DVec3; 2],
    /// Both are on the edges.
    inside: bool,
}

/// Points between two polytopes; false where the library has to look.
pub(super) fn against(
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
    let first = Flat { polytope: one.1, face, separation, pose: one.0, second: false };
    let (face, separation) = two.1.separation(first_moved);
    if separation > sink.prediction {
        return true;
    }
    let second = Flat { polytope: two.1, face, separation, pose: two.0, second: true };
    let flats = [
        (&first, two.1, &one_from_two, &*second_moved),
        (&second, one.1, &two_from_one, &*first_moved),
    ];
    for (flat, other, pose, points) in flats {
        lay(flat, other, pose, points, polygon);
        if flat.is_best(&polygon.corners, sink.tie) {
            flat.push(&polygon.corners, sink);
            return true;
        }
    }
    let best = first.separation.max(second.separation);
    // No point where the forms would touch, taken apart, is farther than this from either.
    let reach = sink.prediction.max(-best);
    edges.clear();
    edges_near(&first, two.1, &one_from_two, second_moved, reach, edges);
    let crossing = best_crossing(one.1, &second, first_moved, edges, reach);
    // Edges of faces that lie on each other separate like these.
    if let Some(c) = crossing.filter(|c| c.separation > best + sink.tie) {
        if c.separation > sink.prediction {
            return true;
        }
        if c.separation <= 0.0 || c.inside {
            c.push(one.0, sink);
            // The rest of faces that almost lie on each other.
            let face = one.1.facing(c.normal);
            let flat = Flat { face, separation: c.separation, ..first };
            if flat.is_aligned(c.normal) {
                let other = two.1.facing(one_from_two.rotation.conjugate() * -c.normal);
                let corners = two.1.faces[other].corners.iter();
                polygon.start(corners.map(|i| (*i, second_moved[*i as usize])));
                flat.cut_along(c.normal, polygon);
                let directions = [c.normal, one.0.rotation * c.normal];
                flat.push_along(&polygon.corners, directions, Some(c.points[1]), sink);
            }
            return true;
        }
        return false;
    }
    if best > 0.0 {
        return false;
    }
    // They overlap least along this face's normal.
    let k = usize::from(second.separation > first.separation);
    let (flat, other, pose, points) = flats[k];
    lay(flat, other, pose, points, polygon);
    flat.add_deepest(points, &mut polygon.corners, sink.tie);
    flat.push(&polygon.corners, sink);
    true
}

fn move_all(pose: &Pose, points: &[DVec3], out: &mut Vec<DVec3>) {
    let rotation = DMat3::from_quat(pose.rotation);
    out.clear();
    out.extend(points.iter().map(|p| rotation * *p + pose.translation));
}

/// The face of the other form that lies on this one, cut to its outline.
fn lay(flat: &Flat<'_>, other: &Polytope, pose: &Pose, points: &[DVec3], polygon: &mut Polygon) {
    let normal = flat.polytope.faces[flat.face].normal;
    let down = pose.rotation.conjugate() * -normal;
    let face = &other.faces[other.facing(down)];
    polygon.start(face.corners.iter().map(|i| (*i, points[*i as usize])));
    flat.cut(polygon);
}

/// Edges of the second that come as near to the plane of the first's best face.
fn edges_near(
    first: &Flat<'_>,
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

/// Of all edges of the first that come as near to the second's best face, with those of the second:
/// the pair that separates most.
///
/// The common perpendicular of two edges separates the forms only if each form has its edge, and
/// nothing else, farthest along it.
fn best_crossing(
    one: &Polytope,
    second: &Flat<'_>,
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

/// Sine below which edges are parallel: faces separate as well as they.
const PARALLEL: f64 = 1e-9;

/// Points nearest to each other on two lines that the normal is perpendicular to, clamped to their
/// ends, and if they were inside.
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

/// Names of edges of the first form begin here.
const EDGES: u32 = 1 << 16;
