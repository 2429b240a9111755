//! Planes against plain forms: the points that lie deepest.

use forks_lie::{Pose, glam::DVec3};

use super::{Placed, Sink, Solid, solid::Round, sphere::direction};

/// Points between a plane and another form; false for forms that have no test.
pub(super) fn against(plane: &Pose, other: &Placed, sink: &mut Sink<'_>) -> bool {
    let normal = plane.rotation * DVec3::Z;
    if normal.dot(other.middle() - plane.translation) - other.radius > sink.prediction {
        return true;
    }
    let pose = &other.pose;
    let face = Face {
        normal,
        down: -(pose.rotation.conjugate() * normal),
        origin: normal.dot(pose.translation - plane.translation),
        pose,
    };
    match &other.solid {
        Solid::Capsule(form) => face.capsule(*form, sink),
        Solid::Cylinder(form) => face.cylinder(*form, sink),
        Solid::Box(half) => face.cuboid(*half, sink),
        Solid::Hull(points) => face.hull(points, sink),
        _ => return false,
    }
    true
}

/// A plane as another form sees it.
struct Face<'a> {
    /// World.
    normal: DVec3,
    /// Into the plane, in the form's axes.
    down: DVec3,
    /// Height of the form's origin.
    origin: f64,
    /// World from the form.
    pose: &'a Pose,
}

/// Cosine of the angle between a cylinder's axis and the plane's normal below which it touches with its side.
const SIDE: f64 = 0.5;
/// Tilt, rad, below which a cylinder stands upright: its lowest rim point would jump with roundings.
const UPRIGHT: f64 = 1e-6;

impl Face<'_> {
    fn height(&self, local: DVec3) -> f64 {
        self.origin - self.down.dot(local)
    }

    /// A point of the form, `thickness` above its lowest surface.
    fn push(&self, feature: u32, local: DVec3, thickness: f64, sink: &mut Sink<'_>) {
        let height = self.height(local);
        if height - thickness <= sink.prediction {
            let middle =
                self.pose.transform_point(local) - self.normal * (0.5 * (height + thickness));
            sink.push(feature, middle, self.normal, height - thickness);
        }
    }

    fn capsule(&self, form: Round, sink: &mut Sink<'_>) {
        for (feature, z) in [(1, -form.half_length), (2, form.half_length)] {
            self.push(feature, DVec3::Z * z, form.radius, sink);
        }
    }

    /// Either the two ends of the lowest line on the side, or four points of the lower rim with the lowest among them.
    fn cylinder(&self, form: Round, sink: &mut Sink<'_>) {
        let lowest = direction(DVec3::new(self.down.x, 0.0, self.down.z));
        let (tilt, radial) = lowest.unwrap_or((0.0, DVec3::X));
        let radial = if tilt < UPRIGHT { DVec3::X } else { radial } * form.radius;
        if self.down.y.abs() < SIDE {
            for (feature, y) in [(1, -form.half_length), (2, form.half_length)] {
                self.push(feature, radial + DVec3::Y * y, 0.0, sink);
            }
            return;
        }
        let cap = DVec3::Y * form.half_length.copysign(self.down.y);
        let across = DVec3::new(-radial.z, 0.0, radial.x);
        let first = if self.down.y < 0.0 { 1 } else { 2 };
        for (k, rim) in [radial, across, -radial, -across].into_iter().enumerate() {
            self.push(first + 2 * k as u32, cap + rim, 0.0, sink);
        }
    }

    /// The corners of the face that looks down.
    fn cuboid(&self, half: DVec3, sink: &mut Sink<'_>) {
        let steep = self.down.abs();
        let axis = if steep.x >= steep.y && steep.x >= steep.z {
            0
        } else if steep.y >= steep.z {
            1
        } else {
            2
        };
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut corner = half.copysign(self.down);
        for (a, b) in [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)] {
            corner[u] = half[u] * a;
            corner[v] = half[v] * b;
            let bits = (0..3).filter(|k| corner[*k] > 0.0).map(|k| 1 << k);
            self.push(1 + bits.sum::<u32>(), corner, 0.0, sink);
        }
    }

    fn hull(&self, points: &[DVec3], sink: &mut Sink<'_>) {
        for (k, p) in points.iter().enumerate() {
            self.push(1 + k as u32, *p, 0.0, sink);
        }
    }
}
