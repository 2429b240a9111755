//! Convex hull of points: incremental, from a tetrahedron outwards. A point that sees faces replaces them by a cone over
//! their outline.

use std::collections::HashSet;

use forks_mechanism::lie::glam::DVec3;

/// Points closer to a face than this times the size of all points lie in it.
const FLAT: f64 = 1e-12;

/// A face with its outward unit normal and distance from the origin.
#[derive(Clone, Copy)]
struct Face {
    corners: [usize; 3],
    normal: DVec3,
    offset: f64,
}

/// Triangles of the hull, seen from outside counter-clockwise; `None` where all points lie in a plane.
pub(crate) fn convex_hull(points: &[DVec3]) -> Option<Vec<[usize; 3]>> {
    let mean = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
    let size = points.iter().map(|p| p.distance(mean)).fold(0.0, f64::max);
    let flat = FLAT * size;
    let first = tetrahedron(points, flat)?;
    let inside = first.iter().map(|&i| points[i]).sum::<DVec3>() / 4.0;
    let face = |a: usize, b: usize, c: usize| {
        let normal = (points[b] - points[a]).cross(points[c] - points[a]).normalize_or_zero();
        let offset = normal.dot(points[a]);
        if normal.dot(inside) > offset {
            Face { corners: [a, c, b], normal: -normal, offset: -offset }
        } else {
            Face { corners: [a, b, c], normal, offset }
        }
    };
    let [a, b, c, d] = first;
    let mut faces = vec![face(a, b, c), face(a, b, d), face(a, c, d), face(b, c, d)];
    // Far points first: they leave few faces to look at for the others.
    let mut order: Vec<usize> = (0..points.len()).filter(|i| !first.contains(i)).collect();
    order.sort_by(|&i, &j| {
        points[j].distance_squared(inside).total_cmp(&points[i].distance_squared(inside))
    });
    for p in order {
        let sees = |f: &Face| f.normal.dot(points[p]) > f.offset + flat;
        if !faces.iter().any(sees) {
            continue;
        }
        let mut edges = HashSet::new();
        faces.retain(|f| {
            let seen = sees(f);
            if seen {
                let [a, b, c] = f.corners;
                edges.extend([(a, b), (b, c), (c, a)]);
            }
            !seen
        });
        // The outline: edges whose other side stays. Sorted, because sets have no order of their own.
        let mut outline: Vec<_> =
            edges.iter().filter(|(i, j)| !edges.contains(&(*j, *i))).copied().collect();
        outline.sort_unstable();
        faces.extend(outline.into_iter().map(|(i, j)| face(i, j, p)));
    }
    Some(faces.iter().map(|f| f.corners).collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hulls_contain_their_points_and_close() {
        let mut state = 5u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for n in [4, 5, 20, 400] {
            let mut p: Vec<DVec3> =
                (0..n).map(|_| DVec3::new(next(), 2.0 * next(), 3.0 * next())).collect();
            // Doubled points and points in faces change nothing.
            p.push(p[0]);
            p.push((p[0] + p[1]) * 0.5);
            let faces = convex_hull(&p).unwrap();
            let edges: HashSet<(usize, usize)> =
                faces.iter().flat_map(|f| [(f[0], f[1]), (f[1], f[2]), (f[2], f[0])]).collect();
            assert_eq!(edges.len(), 3 * faces.len(), "{n}: an edge is used twice");
            assert!(edges.iter().all(|(i, j)| edges.contains(&(*j, *i))), "{n}: open");
            for f in &faces {
                let [a, b, c] = f.map(|i| p[i]);
                let normal = (b - a).cross(c - a).normalize();
                assert!(p.iter().all(|x| (*x - a).dot(normal) < 1e-11), "{n}: a point is outside");
            }
        }
    }

    #[test]
    fn flat_clouds_have_none() {
        let square = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y];
        assert!(convex_hull(&square).is_none());
        assert!(convex_hull(&[DVec3::ONE; 5]).is_none() && convex_hull(&[]).is_none());
    }
}
