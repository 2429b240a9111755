//! Polytopes of few faces: boxes and small hulls.

use std::collections::BTreeMap;

use forks_lie::glam::DVec3;
use parry3d_f64::shape::ConvexPolyhedron;

use crate::convert::from_vector;

/// Corners and faces up to which all of them are looked at; names of features rest on it.
pub(super) const FEW: usize = 32;

/// A convex polytope in its shape's frame.
#[derive(Clone, Debug)]
pub(super) struct Polytope {
    pub(super) points: Vec<DVec3>,
    pub(super) faces: Vec<Face>,
    pub(super) edges: Vec<Edge>,
    /// Faces at each corner, in order.
    around: Vec<Vec<u32>>,
}

/// A face n · x = offset.
#[derive(Clone, Debug)]
pub(super) struct Face {
    /// Outwards, of unit length.
    pub(super) normal: DVec3,
    pub(super) offset: f64,
    /// Corners, counter-clockwise from outside.
    pub(super) corners: Vec<u32>,
    /// Planes (n, offset) through the sides that begin at the corners, across the face; n points
    /// away from it.
    pub(super) sides: Vec<(DVec3, f64)>,
}

/// An edge between two faces.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) ends: [u32; 2],
    /// In each of the two faces, across the edge and away from it.
    pub(super) inwards: [DVec3; 2],
}

impl Polytope {
    /// A box of these half extents.
    pub(super) fn cuboid(half: DVec3) -> Self {
        let sign = |i: u32, k: u32| if i >> k & 1 == 0 { -1.0 } else { 1.0 };
        let corner = |i: u32| half * DVec3::new(sign(i, 0), sign(i, 1), sign(i, 2));
        // Faces −x, +x, −y, +y, −z, +z.
        let faces =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let loops = faces.map(|f| f.to_vec()).to_vec();
        let normals = [DVec3::X, DVec3::Y, DVec3::Z].into_iter().flat_map(|n| [-n, n]).collect();
        let built = Self::new((0..8).map(corner).collect(), loops, normals);
        built.expect("every edge of a box has two faces")
    }

    /// A hull, if it has few faces.
    pub(super) fn hull(hull: &ConvexPolyhedron) -> Option<Self> {
        let points: Vec<DVec3> = hull.points().iter().map(|p| from_vector(*p)).collect();
        if points.len() > FEW || hull.faces().len() > FEW {
            return None;
        }
        let (mut loops, mut normals) = (Vec::new(), Vec::new());
        for f in hull.faces() {
            let first = f.first_vertex_or_edge as usize;
            let corners = first..first + f.num_vertices_or_edges as usize;
            let corners = hull.vertices_adj_to_face().get(corners)?.to_vec();
            loops.push(corners);
            normals.push(from_vector(f.normal));
        }
        Self::new(points, loops, normals)
    }

    /// From corners, their loops around faces and the faces' normals; `None` where the faces do not
    /// close.
    fn new(points: Vec<DVec3>, loops: Vec<Vec<u32>>, normals: Vec<DVec3>) -> Option<Self> {
        let mut sides = BTreeMap::new();
        for (f, corners) in loops.iter().enumerate() {
            for (k, i) in corners.iter().enumerate() {
                sides.insert((*i, corners[(k + 1) % corners.len()]), f);
            }
        }
        let mut edges = Vec::new();
        for (&(i, j), &f) in sides.iter().filter(|((i, j), _)| i < j) {
            let g = *sides.get(&(j, i))?;
            let along = (*points.get(j as usize)? - *points.get(i as usize)?).try_normalize()?;
            // The loop runs counter-clockwise: inside is to its left.
            let inwards = [normals[f].cross(along), along.cross(normals[g])];
            edges.push(Edge { ends: [i, j], inwards });
        }
        // Each side was met once in each direction.
        if 2 * edges.len() != sides.len() {
            return None;
        }
        let faces = loops.into_iter().zip(normals).map(|(corners, normal)| {
            let offset = points.iter().map(|p| normal.dot(*p)).fold(f64::NEG_INFINITY, f64::max);
            let at = |k: usize| points[corners[k % corners.len()] as usize];
            let side = |k: usize| {
                let out = (at(k + 1) - at(k)).cross(normal);
                (out, out.dot(at(k)))
            };
            let sides = (0..corners.len()).map(side).collect();
            Face { normal, offset, sides, corners }
        });
        let faces: Vec<Face> = faces.collect();
        let mut around = vec![Vec::new(); points.len()];
        for (k, face) in faces.iter().enumerate() {
            face.corners.iter().for_each(|i| around[*i as usize].push(k as u32));
        }
        Some(Self { faces, points, edges, around })
    }

    /// The face from whose plane the points are farthest (or least deep), and by how much.
    pub(super) fn separation(&self, points: &[DVec3]) -> (usize, f64) {
        let mut best = (0, f64::NEG_INFINITY);
        for (k, face) in self.faces.iter().enumerate() {
            let lowest = points.iter().map(|p| face.normal.dot(*p)).fold(f64::INFINITY, f64::min);
            if lowest - face.offset > best.1 {
                best = (k, lowest - face.offset);
            }
        }
        best
    }

    /// Of the faces at the corner that lies farthest along a direction, the one that looks most
    /// along it.
    pub(super) fn facing(&self, direction: DVec3) -> usize {
        let mut corner = (0, f64::NEG_INFINITY);
        for (k, p) in self.points.iter().enumerate() {
            let along = direction.dot(*p);
            if along > corner.1 {
                corner = (k, along);
            }
        }
        self.facing_at(corner.0, direction)
    }

    /// Of the faces at a corner, the one that looks most along a direction.
    #[inline(always)]
    pub(super) fn facing_at(&self, corner: usize, direction: DVec3) -> usize {
        let mut best = (0, f64::NEG_INFINITY);
        for &k in &self.around[corner] {
            let steep = direction.dot(self.faces[k as usize].normal);
            if steep > best.1 {
                best = (k as usize, steep);
            }
        }
        best.0
    }
}
