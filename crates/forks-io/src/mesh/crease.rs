//! Normals of triangles that come without: smooth over blunt edges, sharp over the others.

use std::collections::BTreeMap;

use forks_lie::glam::DVec3;

use super::Surface;

/// Cosine of the angle between faces from which an edge is drawn sharp: 40°.
const SHARP: f64 = 0.766_044_443_118_978;

/// A surface whose corner normals average the faces around that are not beyond a sharp edge.
///
/// Corners at the same place are one corner (files of meshes often repeat them); triangles without
/// area are left out.
pub(super) fn creased(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Surface {
    let corners = welded(vertices);
    // Twice the area along the normal of each triangle, and the triangles around each corner.
    let mut faces: Vec<([usize; 3], DVec3)> = Vec::new();
    let mut around: Vec<Vec<usize>> = vec![Vec::new(); vertices.len()];
    for t in triangles {
        let [a, b, c] = t.map(|i| corners[i as usize]);
        let area = (vertices[b] - vertices[a]).cross(vertices[c] - vertices[a]);
        if area.try_normalize().is_some() {
            for corner in [a, b, c] {
                around[corner].push(faces.len());
            }
            faces.push(([a, b, c], area));
        }
    }
    let mut surface = Surface::empty();
    // Corners whose normals agree to the last bit are written once.
    let mut known: BTreeMap<(usize, [u32; 3]), u32> = BTreeMap::new();
    for (face, area) in &faces {
        let own = area.normalize();
        surface.triangles.push(face.map(|corner| {
            let smooth = |f: &&usize| faces[**f].1.normalize().dot(own) >= SHARP;
            let sum: DVec3 = around[corner].iter().filter(smooth).map(|f| faces[*f].1).sum();
            let normal = sum.normalize_or(own).as_vec3().to_array();
            let next = surface.positions.len() as u32;
            *known.entry((corner, normal.map(f32::to_bits))).or_insert_with(|| {
                surface.positions.push(vertices[corner].as_vec3().to_array());
                surface.normals.push(normal);
                next
            })
        }));
    }
    surface
}

/// For each vertex the first one at the same place.
fn welded(vertices: &[DVec3]) -> Vec<usize> {
    let mut first: BTreeMap<[u64; 3], usize> = BTreeMap::new();
    let bits = |v: &DVec3| v.to_array().map(|x| (x + 0.0).to_bits()); // −0 and 0 are one place
    vertices.iter().enumerate().map(|(i, v)| *first.entry(bits(v)).or_insert(i)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two unit squares that share the edge x = 0, the second turned up by an angle.
    fn fold(angle: f64) -> Surface {
        let (s, c) = angle.sin_cos();
        let v = [(-1.0, 0.0), (0.0, 0.0), (c, s)];
        let vertices: Vec<DVec3> = v
            .iter()
            .flat_map(|(x, z)| [DVec3::new(*x, 0.0, *z), DVec3::new(*x, 1.0, *z)])
            .collect();
        creased(&vertices, &[[0, 2, 3], [0, 3, 1], [2, 4, 5], [2, 5, 3]])
    }

    #[test]
    fn blunt_edges_are_smooth_and_sharp_ones_are_not() {
        let blunt = fold(0.6);
        assert_eq!(blunt.positions.len(), 6, "corners on the edge are shared");
        // Each square weighs with its triangles at the corner, so the normal lies between the
        // faces'.
        let n = blunt.normals[blunt.positions.iter().position(|p| p[0] == 0.0).unwrap()];
        let tilt = f64::from(-n[0]).atan2(f64::from(n[2]));
        assert!(tilt > 0.1 && tilt < 0.5, "{tilt}");
        let sharp = fold(0.8);
        assert_eq!(sharp.positions.len(), 8, "corners on the edge are doubled");
        assert_eq!(sharp.normals[0], [0.0, 0.0, 1.0]);
    }

    #[test]
    fn repeated_corners_are_one_and_slivers_are_left_out() {
        let square = [DVec3::ZERO, DVec3::X, DVec3::X + DVec3::Y, DVec3::Y];
        let repeated = [0, 1, 2, 0, 2, 3].map(|i: usize| square[i]);
        let surface = creased(&repeated, &[[0, 1, 2], [3, 4, 5], [0, 1, 1]]);
        assert_eq!((surface.positions.len(), surface.triangles.len()), (4, 2));
    }
}
