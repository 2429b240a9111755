//! Convex hulls, for showing: the incremental algorithm, points × faces operations.

use std::collections::BTreeSet;

use forks_lie::glam::DVec3;

/// Distance over size within which a point belongs to a face's plane.
const FLATNESS: f64 = 1e-9;

/// Triangles of the hull over the points, counter-clockwise from outside; `None` if the points have
/// no volume.
pub(crate) fn hull(points: &[DVec3]) -> Option<Vec<[u32; 3]>> {
    let (first, size) = tetrahedron(points)?;
    let mut faces: Vec<[u32; 3]> = first.to_vec();
    for (i, p) in points.iter().enumerate() {
        let (seen, kept): (Vec<_>, Vec<_>) =
            faces.iter().partition(|f| height(points, f, *p) > FLATNESS * size);
        if seen.is_empty() {
            continue;
        }
        let edges: BTreeSet<[u32; 2]> = seen.iter().flat_map(edges).collect();
        let horizon = edges.iter().filter(|[a, b]| !edges.contains(&[*b, *a]));
        faces = kept;
        faces.extend(horizon.map(|[a, b]| [*a, *b, i as u32]));
    }
    Some(faces)
}

fn edges([a, b, c]: &[u32; 3]) -> [[u32; 2]; 3] {
    [[*a, *b], [*b, *c], [*c, *a]]
}

/// Height of a point above the plane of a face.
fn height(points: &[DVec3], face: &[u32; 3], p: DVec3) -> f64 {
    let [a, b, c] = face.map(|i| points[i as usize]);
    (b - a).cross(c - a).normalize_or_zero().dot(p - a)
}

/// Four points that span as much as extreme ones do, as faces that look outward, and the largest
/// distance between two of them.
fn tetrahedron(points: &[DVec3]) -> Option<([[u32; 3]; 4], f64)> {
    let farthest = |measure: &dyn Fn(DVec3) -> f64| {
        (0..points.len()).max_by(|i, j| measure(points[*i]).total_cmp(&measure(points[*j])))
    };
    let start = *points.first()?;
    let a = farthest(&|p| p.distance(start))?;
    let b = farthest(&|p| p.distance(points[a]))?;
    let side = points[b] - points[a];
    let size = side.length();
    let along = side.try_normalize()?;
    let c = farthest(&|p| (p - points[a]).cross(along).length())?;
    let normal = side.cross(points[c] - points[a]);
    if normal.length() <= FLATNESS * size * size {
        return None;
    }
    let normal = normal.normalize();
    let d = farthest(&|p| (p - points[a]).dot(normal).abs())?;
    let above = (points[d] - points[a]).dot(normal);
    if above.abs() <= FLATNESS * size {
        return None;
    }
    let [a, b, c, d] = [a, b, c, d].map(|i| i as u32);
    let (b, c) = if above > 0.0 { (c, b) } else { (b, c) };
    Some(([[a, b, c], [a, c, d], [c, b, d], [b, a, d]], size))
}

#[cfg(test)]
mod tests {
    use forks_lie::exp_rotation;

    use super::*;

    /// Volume, and whether every edge has its twin.
    fn volume(points: &[DVec3], faces: &[[u32; 3]]) -> (f64, bool) {
        let corners = faces.iter().map(|f| f.map(|i| points[i as usize]));
        let six: f64 = corners.map(|[a, b, c]| a.dot(b.cross(c))).sum();
        let all: BTreeSet<[u32; 2]> = faces.iter().flat_map(edges).collect();
        let closed =
            all.len() == 3 * faces.len() && all.iter().all(|[a, b]| all.contains(&[*b, *a]));
        (six / 6.0, closed)
    }

    #[test]
    fn a_box_with_points_on_and_in_it() {
        // All points of a 4 × 4 × 4 lattice: most are inside, on faces or on edges.
        let lattice =
            |i: u32| DVec3::new(f64::from(i % 4), f64::from(i / 4 % 4), f64::from(i / 16));
        let turned = exp_rotation(DVec3::new(0.3, -0.7, 1.1));
        let points: Vec<DVec3> = (0..64).map(|i| turned * lattice(i)).collect();
        let faces = hull(&points).unwrap();
        let (v, closed) = volume(&points, &faces);
        assert!((v - 27.0).abs() < 1e-6, "{v}");
        assert!(closed);
    }

    #[test]
    fn all_points_of_a_sphere_are_corners() {
        // Radii within 1e-12: no four of the points are in one plane.
        let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
        let points: Vec<DVec3> = (0..200)
            .map(|i| {
                let z = (f64::from(i) + 0.5) / 100.0 - 1.0;
                let out = exp_rotation(DVec3::Z * (golden * f64::from(i))) * DVec3::X;
                out * (1.0 - z * z).sqrt() + DVec3::Z * z
            })
            .collect();
        let faces = hull(&points).unwrap();
        // Euler: V − E + F = 2 with 2E = 3F.
        assert_eq!(faces.len(), 2 * 200 - 4);
        let (v, closed) = volume(&points, &faces);
        let ball = 4.0 / 3.0 * std::f64::consts::PI;
        assert!(closed && v < ball && v > 0.95 * ball, "{v}");
        for p in &points {
            assert!(faces.iter().all(|f| height(&points, f, *p) < 1e-12));
        }
    }

    #[test]
    fn points_without_volume_have_none() {
        assert!(hull(&[]).is_none());
        assert!(hull(&[DVec3::ONE; 8]).is_none());
        assert!(hull(&[DVec3::ZERO, DVec3::X, DVec3::X * 2.0, DVec3::X * 3.0]).is_none());
        let square = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y, DVec3::X * 0.5];
        assert!(hull(&square).is_none());
    }
}
