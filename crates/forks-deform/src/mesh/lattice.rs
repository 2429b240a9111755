//! Tetrahedra around a closed surface, without a mesher: the body-centred cells that meet what it
//! encloses.
//!
//! Cubes with a node in the middle; between the middles of two cubes with a common face lie four
//! tetrahedra, one at every edge of the face. All have the same form.

use std::collections::HashMap;

use forks_dynamics::mechanism::{geometry::mesh::Mesh, lie::glam::DVec3};

use super::{MeshError, TetMesh, signed_volume};
use crate::winding::Winding;

/// Points on triangles of the surface are nearer to each other than this part of a cell.
const SPACING: f64 = 0.2;

/// How far within the surface its points are looked for, over a cell and over a triangle.
const WITHIN: f64 = 1e-10;

/// Cubes at most.
const MOST: f64 = 1e6;

/// Whole numbers of cubes along x, y and z.
type Cube = [i32; 3];

/// A tetrahedron by its place: the lower of its two cubes, the axis from one to the other, and the
/// edge of their common face.
type Key = (Cube, usize, usize);

/// The cubes.
struct Grid {
    low: DVec3,
    cell: f64,
}

impl Grid {
    fn cube(&self, x: DVec3) -> Cube {
        ((x - self.low) / self.cell).floor().to_array().map(|c| c as i32)
    }

    fn corner(&self, at: Cube) -> DVec3 {
        self.low + vector(at) * self.cell
    }

    fn middle(&self, cube: Cube) -> DVec3 {
        self.corner(cube) + DVec3::splat(0.5 * self.cell)
    }

    /// Corners of the grid at the ends of an edge of a face.
    fn edge(&(cube, axis, side): &Key) -> [Cube; 2] {
        let (u, v) = (unit((axis + 1) % 3), unit((axis + 2) % 3));
        let around = [[0; 3], u, sum(u, v), v];
        let first = sum(cube, unit(axis));
        [sum(first, around[side]), sum(first, around[(side + 1) % 4])]
    }

    fn corners(&self, key: &Key) -> [DVec3; 4] {
        let [a, b] = Self::edge(key).map(|c| self.corner(c));
        [self.middle(key.0), self.middle(sum(key.0, unit(key.1))), a, b]
    }

    /// The tetrahedron that a point is in.
    fn around(&self, x: DVec3) -> Key {
        let cube = self.cube(x);
        let away = x - self.middle(cube);
        // The face of the cube whose pyramid the point is in, and the edge of it that is nearest.
        let size = away.abs();
        let axis = match size.max_element() {
            m if m == size.x => 0,
            m if m == size.y => 1,
            _ => 2,
        };
        let lower = if away[axis] >= 0.0 { cube } else { sum(cube, unit(axis).map(|c| -c)) };
        let (u, v) = (away[(axis + 1) % 3], away[(axis + 2) % 3]);
        let side = match (v.abs() >= u.abs(), u > 0.0, v > 0.0) {
            (true, _, false) => 0,
            (false, true, _) => 1,
            (true, _, true) => 2,
            (false, false, _) => 3,
        };
        (lower, axis, side)
    }
}

fn unit(axis: usize) -> Cube {
    [0, 1, 2].map(|i| i32::from(i == axis))
}

fn sum(a: Cube, b: Cube) -> Cube {
    [0, 1, 2].map(|i| a[i] + b[i])
}

fn vector(a: Cube) -> DVec3 {
    DVec3::from_array(a.map(f64::from))
}

impl TetMesh {
    /// Tetrahedra around a closed surface, from cubes of a size (m): all that its triangles pass
    /// through, and all whose middle it encloses.
    ///
    /// # Errors
    /// Cells that are not positive, or so small that there would be more than a million cubes; a
    /// surface without triangles or with places that are not finite.
    pub fn lattice(surface: &Mesh, cell: f64) -> Result<Self, MeshError> {
        if surface.faces.is_empty() {
            return Err(MeshError::Empty);
        }
        if let Some(node) = surface.vertices.iter().position(|x| !x.is_finite()) {
            let position = surface.vertices[node].to_array();
            return Err(MeshError::NotFinite { node, position });
        }
        let first = surface.vertices[surface.faces[0][0]];
        let used = surface.faces.iter().flatten().map(|&v| surface.vertices[v]);
        let (low, high) = used.fold((first, first), |(l, h), x| (l.min(x), h.max(x)));
        let cubes = (high - low) / cell + 3.0;
        let size = cubes.x * cubes.y * cubes.z;
        if !(cell > 0.0 && cell.is_finite() && size <= MOST) {
            return Err(MeshError::Cell { cell, cubes: size });
        }
        // The surface in the middle of whole cubes, so that what is symmetric stays so.
        let whole = ((high - low) / cell).ceil();
        let grid = Grid { low: 0.5 * (low + high) - whole * (0.5 * cell), cell };
        let mut kept: Vec<Key> = Vec::new();
        let mut known: HashMap<Key, ()> = HashMap::new();
        let mut keep = |key: Key| {
            if known.insert(key, ()).is_none() {
                kept.push(key);
            }
        };
        for f in &surface.faces {
            let [a, b, c] = f.map(|v| surface.vertices[v]);
            let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
            let n = (longest / (SPACING * cell)).ceil().max(1.0) as usize;
            // A little within, so that cells that the surface only touches stay out.
            let inward = (b - a).cross(c - a).normalize_or_zero() * (-WITHIN * cell);
            let middle = (a + b + c) / 3.0;
            for i in 0..=n {
                for j in 0..=n - i {
                    let [s, t] = [i, j].map(|k| k as f64 / n as f64);
                    let x = a + (b - a) * s + (c - a) * t;
                    keep(grid.around(x + (middle - x) * WITHIN + inward));
                }
            }
        }
        let winding = Winding::new(surface);
        let count = whole.to_array().map(|c| c as i32 + 1);
        for i in -1..=count[0] {
            for j in -1..=count[1] {
                for k in -1..=count[2] {
                    for axis in 0..3 {
                        for side in 0..4 {
                            let key = ([i, j, k], axis, side);
                            let middle = grid.corners(&key).iter().sum::<DVec3>() * 0.25;
                            let near = middle.cmpge(low).all() && middle.cmple(high).all();
                            if near && winding.is_inside(middle) {
                                keep(key);
                            }
                        }
                    }
                }
            }
        }
        kept.sort_unstable();
        numbered(&grid, &kept)
    }
}

/// The mesh of the tetrahedra that are kept; nodes in the order in which they are needed.
fn numbered(grid: &Grid, kept: &[Key]) -> Result<TetMesh, MeshError> {
    // Corners of cubes and middles are told apart by their parity at half the spacing.
    let mut index: HashMap<Cube, usize> = HashMap::new();
    let (mut nodes, mut elements) = (Vec::new(), Vec::with_capacity(kept.len()));
    for key in kept {
        let [a, b] = Grid::edge(key).map(|c| c.map(|i| 2 * i));
        let middles = [key.0, sum(key.0, unit(key.1))].map(|c| c.map(|i| 2 * i + 1));
        let mut element = [middles[0], middles[1], a, b].map(|at| {
            *index.entry(at).or_insert_with(|| {
                nodes.push(grid.low + vector(at) * (0.5 * grid.cell));
                nodes.len() - 1
            })
        });
        if signed_volume(element.map(|n| nodes[n])) < 0.0 {
            element.swap(2, 3);
        }
        elements.push(element);
    }
    TetMesh::new(nodes, &elements)
}

#[cfg(test)]
mod tests {
    use forks_dynamics::mechanism::lie::SplitMix64;

    use super::*;

    /// A point is in the tetrahedron that is found for it.
    #[test]
    fn points_are_in_their_cells() {
        let grid = Grid { low: DVec3::new(0.1, -0.2, 0.3), cell: 0.25 };
        let mut rng = SplitMix64::new(5);
        for _ in 0..2000 {
            let x = DVec3::from_array([0; 3].map(|_| rng.range(-2.0, 2.0)));
            let corners = grid.corners(&grid.around(x));
            let whole = signed_volume(corners);
            for i in 0..4 {
                let mut part = corners;
                part[i] = x;
                assert!(signed_volume(part) / whole > -1e-12, "{x} {corners:?}");
            }
        }
    }
}
