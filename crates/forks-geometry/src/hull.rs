//! Convex hull of points \[BDH96\]: from a tetrahedron outwards. Every face
//! keeps the points that it sees; the farthest of them replaces the faces that see it by a cone
//! over their outline.

use std::collections::{HashMap, HashSet};

use forks_lie::glam::DVec3;

/// Points closer to a face than this times the size of all points lie in it.
const FLAT: f64 = 1e-12;

/// A face with its outward unit normal, its distance from the origin, and the points outside that
/// are left to it.
struct Face {
    corners: [usize; 3],
    normal: DVec3,
    offset: f64,
    outside: Vec<usize>,
}

impl Face {
    fn height(&self, p: DVec3) -> f64 {
        self.normal.dot(p) - self.offset
    }

    /// Directed edges; the face on the other side has them the other way round.
    fn edges(&self) -> [(usize, usize); 3] {
        let [a, b, c] = self.corners;
        [(a, b), (b, c), (c, a)]
    }
}

/// Triangles of the hull, seen from outside counter-clockwise; `None` where all points lie in a
/// plane.
pub fn convex_hull(points: &[DVec3]) -> Option<Vec<[usize; 3]>> {
    let mean = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
    let size = points.iter().map(|p| p.distance(mean)).fold(0.0, f64::max);
    let flat = FLAT * size;
    let [a, b, c, d] = tetrahedron(points, flat)?;
    let mut hull = Hull { points, flat, faces: vec![], at_edge: HashMap::new() };
    // The fourth point is behind the first face.
    let normal = (points[b] - points[a]).cross(points[c] - points[a]);
    let (b, c) = if normal.dot(points[d] - points[a]) > 0.0 { (c, b) } else { (b, c) };
    for corners in [[a, b, c], [b, a, d], [c, b, d], [a, c, d]] {
        hull.add(corners);
    }
    let rest = (0..points.len()).filter(|i| ![a, b, c, d].contains(i));
    hull.share(rest.collect(), 0);
    let mut next = 0;
    while next < hull.faces.len() {
        hull.grow(next);
        next += 1;
    }
    Some(hull.faces.iter().flatten().map(|f| f.corners).collect())
}

struct Hull<'a> {
    points: &'a [DVec3],
    flat: f64,
    /// All faces so far; `None` for those that were replaced.
    faces: Vec<Option<Face>>,
    at_edge: HashMap<(usize, usize), usize>,
}

impl Hull<'_> {
    fn add(&mut self, corners: [usize; 3]) {
        let [a, b, c] = corners.map(|i| self.points[i]);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let face = Face { corners, normal, offset: normal.dot(a), outside: vec![] };
        self.at_edge.extend(face.edges().map(|e| (e, self.faces.len())));
        self.faces.push(Some(face));
    }

    /// Gives each point to the first of the faces from `first` on that sees it; those that none
    /// sees are inside.
    fn share(&mut self, points: Vec<usize>, first: usize) {
        for i in points {
            let sees = |f: &&mut Face| f.height(self.points[i]) > self.flat;
            if let Some(f) = self.faces[first..].iter_mut().flatten().find(sees) {
                f.outside.push(i);
            }
        }
    }

    /// Moves the hull out to the farthest point that a face sees.
    fn grow(&mut self, start: usize) {
        let Some(face) = &self.faces[start] else { return };
        let height = |i: &usize| face.height(self.points[*i]);
        let Some(&p) = face.outside.iter().max_by(|i, j| height(i).total_cmp(&height(j))) else {
            return;
        };
        let (seen, outline) = self.seen_from(p, start);
        let mut left = Vec::new();
        for f in seen {
            let Some(face) = self.faces[f].take() else { continue };
            for e in face.edges() {
                self.at_edge.remove(&e);
            }
            left.extend(face.outside.into_iter().filter(|&i| i != p));
        }
        let first = self.faces.len();
        outline.into_iter().for_each(|(i, j)| self.add([i, j, p]));
        self.share(left, first);
    }

    /// The faces that see a point, connected to one that does, and the edges around them.
    fn seen_from(&self, p: usize, start: usize) -> (Vec<usize>, Vec<(usize, usize)>) {
        let (mut seen, mut outline) = (vec![start], Vec::new());
        let mut known = HashSet::from([start]);
        let mut at = 0;
        while at < seen.len() {
            for (i, j) in self.faces[seen[at]].iter().flat_map(Face::edges) {
                // Without a neighbour, which only rounding can cause, the edge belongs to the
                // outline.
                let other = self.at_edge.get(&(j, i)).copied();
                if other.is_some_and(|o| known.contains(&o)) {
                    continue;
                }
                let face = other.and_then(|o| self.faces[o].as_ref().map(|f| (o, f)));
                match face.filter(|(_, f)| f.height(self.points[p]) > self.flat) {
                    Some((o, _)) => {
                        known.insert(o);
                        seen.push(o);
                    }
                    None => outline.push((i, j)),
                }
            }
            at += 1;
        }
        (seen, outline)
    }
}

/// Four points that are far from a common plane.
fn tetrahedron(points: &[DVec3], flat: f64) -> Option<[usize; 4]> {
    let farthest = |distance: &dyn Fn(DVec3) -> f64| {
        let far = |i: &usize, j: &usize| distance(points[*i]).total_cmp(&distance(points[*j]));
        (0..points.len()).max_by(far).filter(|&i| distance(points[i]) > flat)
    };
    let a = farthest(&|p| p.distance(points[0])).or((points.len() > 3).then_some(0))?;
    let b = farthest(&|p| p.distance(points[a]))?;
    let along = (points[b] - points[a]).normalize();
    let c = farthest(&|p| (p - points[a]).reject_from_normalized(along).length())?;
    let normal = along.cross(points[c] - points[a]).normalize();
    let d = farthest(&|p| (p - points[a]).dot(normal).abs())?;
    Some([a, b, c, d])
}
