//! Spheres against plain forms: the surface's point nearest to the centre.

use forks_lie::{Pose, glam::DVec3};

use super::{Sink, Solid, direction::direction, polytope::Polytope, solid::Round};

/// Signed distance of a point from a form's surface (negative inside), and the direction, from the
/// form outwards, in which it grows; of unit length also where it is not unique.
type Nearest = (f64, DVec3);

/// One point between a sphere and another form; false for forms that have no test.
#[inline(always)]
pub(super) fn collide(
    center: DVec3,
    radius: f64,
    pose: &Pose,
    solid: &Solid,
    sink: &mut Sink<'_>,
) -> bool {
    let offset = center - pose.translation;
    let (distance, outward) = if let Solid::Sphere { radius } = solid {
        sphere(offset, *radius)
    } else {
        let local = pose.rotation.conjugate() * offset;
        let (distance, outward) = match solid {
            Solid::Plane => (local.z, DVec3::Z),
            Solid::Capsule(form) => capsule(local, *form),
            Solid::Cylinder(form) => cylinder(local, *form),
            Solid::Box(half, _) => cuboid(local, *half),
            solid => match solid.polytope() {
                Some(polytope) => hull(local, polytope),
                None => return false,
            },
        };
        (distance, pose.rotation * outward)
    };
    let middle = center - outward * (0.5 * (distance + radius));
    sink.push([0, 1], middle, -outward, distance - radius);
    true
}

#[inline(always)]
fn sphere(p: DVec3, radius: f64) -> Nearest {
    let (length, outward) = direction(p).unwrap_or((0.0, DVec3::Z));
    (length - radius, outward)
}

fn capsule(p: DVec3, form: Round) -> Nearest {
    let on_axis = DVec3::Z * p.z.clamp(-form.half_length, form.half_length);
    let (length, outward) = direction(p - on_axis).unwrap_or((0.0, DVec3::X));
    (length - form.radius, outward)
}

fn cylinder(p: DVec3, form: Round) -> Nearest {
    let flat = DVec3::new(p.x, 0.0, p.z);
    let (length, radial) = direction(flat).unwrap_or((0.0, DVec3::X));
    let up = DVec3::new(0.0, 1f64.copysign(p.y), 0.0);
    let (side, cap) = (length - form.radius, p.y.abs() - form.half_length);
    match (side > 0.0, cap > 0.0) {
        (true, true) => {
            let from_rim = radial * side + up * cap;
            direction(from_rim).unwrap_or((0.0, radial))
        }
        (true, false) => (side, radial),
        (false, true) => (cap, up),
        (false, false) if cap > side => (cap, up),
        (false, false) => (side, radial),
    }
}

fn cuboid(p: DVec3, half: DVec3) -> Nearest {
    let outside = p - p.clamp(-half, half);
    if let Some(found) = direction(outside) {
        return found;
    }
    let depth = half - p.abs();
    let axis = if depth.x <= depth.y && depth.x <= depth.z {
        DVec3::X
    } else if depth.y <= depth.z {
        DVec3::Y
    } else {
        DVec3::Z
    };
    (-depth.min_element(), axis * DVec3::ONE.copysign(p))
}

/// The face that the point is farthest outside of (or least inside) if the point is inside or over
/// it; else the nearest edge.
fn hull(p: DVec3, polytope: &Polytope) -> Nearest {
    let heights = polytope.faces.iter().map(|f| f.normal.dot(p) - f.offset);
    let first = (0, f64::NEG_INFINITY);
    let (best, height) =
        heights.enumerate().fold(first, |best, h| if h.1 > best.1 { h } else { best });
    let face = &polytope.faces[best];
    if height <= 0.0 || face.sides.iter().all(|(out, offset)| out.dot(p) <= *offset) {
        return (height, face.normal);
    }
    let mut nearest = DVec3::INFINITY;
    for e in &polytope.edges {
        let [a, b] = e.ends.map(|i| polytope.points[i as usize]);
        let along = b - a;
        let s = (p - a).dot(along) / along.length_squared();
        let out = p - (a + along * s.clamp(0.0, 1.0));
        if out.length_squared() < nearest.length_squared() {
            nearest = out;
        }
    }
    direction(nearest).unwrap_or((height, face.normal))
}
