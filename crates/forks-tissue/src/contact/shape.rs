//! Signed distances of points to shapes.

use forks_deform::dynamics::mechanism::lie::glam::DVec3;
use forks_geometry::Geometry;

/// Distance of a point to a form about its own frame (m, negative inside) and the outward normal at
/// the nearest point of its surface; `None` for forms without a formula.
pub(crate) fn distance(form: &Geometry, x: DVec3) -> Option<(f64, DVec3)> {
    Some(match form {
        Geometry::Plane => (x.z, DVec3::Z),
        Geometry::Sphere { radius } => from_point(x, *radius),
        Geometry::Capsule { radius, half_length } => {
            let on_axis = DVec3::new(0.0, 0.0, x.z.clamp(-half_length, *half_length));
            from_point(x - on_axis, *radius)
        }
        Geometry::Box { half_extents } => cuboid(x, *half_extents),
        Geometry::Cylinder { radius, half_length } => cylinder(x, *radius, *half_length),
        _ => return None,
    })
}

fn from_point(x: DVec3, radius: f64) -> (f64, DVec3) {
    (x.length() - radius, x.normalize_or(DVec3::Z))
}

/// Outside the nearest point is where coordinates are clamped; inside it is on the nearest face.
fn cuboid(x: DVec3, half: DVec3) -> (f64, DVec3) {
    let beyond = x.abs() - half;
    let outside = beyond.max(DVec3::ZERO);
    if outside != DVec3::ZERO {
        let length = outside.length();
        return (length, outside / length * signs(x));
    }
    let depth = beyond.max_element();
    let axis = match depth {
        d if d == beyond.x => DVec3::X,
        d if d == beyond.y => DVec3::Y,
        _ => DVec3::Z,
    };
    (depth, axis * signs(x))
}

fn signs(x: DVec3) -> DVec3 {
    DVec3::new(1f64.copysign(x.x), 1f64.copysign(x.y), 1f64.copysign(x.z))
}

fn cylinder(x: DVec3, radius: f64, half: f64) -> (f64, DVec3) {
    let away = DVec3::new(x.x, x.y, 0.0);
    let out = away.normalize_or(DVec3::X);
    let up = DVec3::Z * 1f64.copysign(x.z);
    let (side, end) = (away.length() - radius, x.z.abs() - half);
    if side > 0.0 && end > 0.0 {
        let length = side.hypot(end);
        return (length, (out * side + up * end) / length);
    }
    if side > end { (side, out) } else { (end, up) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms() -> Vec<Geometry> {
        vec![
            Geometry::Plane,
            Geometry::Sphere { radius: 0.7 },
            Geometry::Capsule { radius: 0.3, half_length: 0.5 },
            Geometry::Box { half_extents: DVec3::new(0.4, 0.6, 0.2) },
            Geometry::Cylinder { radius: 0.5, half_length: 0.4 },
        ]
    }

    /// Normals are gradients of unit length, and along them the surface is as far as is said.
    #[test]
    fn distances_fall_to_zero_along_their_normals() {
        let mut rng = forks_deform::dynamics::mechanism::lie::SplitMix64::new(3);
        for form in forms() {
            for _ in 0..500 {
                let x = DVec3::from_array([0; 3].map(|_| rng.range(-1.0, 1.0)));
                let (d, n) = distance(&form, x).unwrap();
                assert!((n.length() - 1.0).abs() < 1e-14, "{form:?} {x}");
                let (left, _) = distance(&form, x - n * d).unwrap();
                assert!(left.abs() < 1e-12, "{form:?} {x}: {left}");
                let h = 1e-6;
                let rise = |e: DVec3| {
                    let at = |s: f64| distance(&form, x + e * (s * h)).unwrap().0;
                    (at(1.0) - at(-1.0)) / (2.0 * h)
                };
                let gradient = DVec3::new(rise(DVec3::X), rise(DVec3::Y), rise(DVec3::Z));
                // But at edges of the inner skeleton, where another face becomes the nearest.
                if (gradient.length() - 1.0).abs() < 1e-6 {
                    assert!((gradient - n).length() < 1e-5, "{form:?} {x} {gradient} {n}");
                }
            }
        }
        assert!(distance(&Geometry::Ellipsoid { radii: DVec3::ONE }, DVec3::ZERO).is_none());
    }
}
