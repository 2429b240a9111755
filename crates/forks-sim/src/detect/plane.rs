//! Planes against plain forms: the points that lie deepest.

use forks_lie::{Pose, glam::DVec3};

use super::{Placed, Sink, Solid, solid::Round};

/// Points between a plane and another form; false for forms that have no test.
#[inline(always)]
pub(super) fn collide(plane: &Pose, other: &Placed, sink: &mut Sink<'_>) -> bool {
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
        Solid::Box(half, _) => face.cuboid(*half, sink),
        Solid::Hull(hull) => face.hull(&hull.points, sink),
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

impl Face<'_> {
    #[inline(always)]
    fn height(&self, local: DVec3) -> f64 {
        self.origin - self.down.dot(local)
    }

    /// A point of the form, `thickness` above its lowest surface.
    #[inline(always)]
    fn push(&self, feature: u32, local: DVec3, thickness: f64, sink: &mut Sink<'_>) {
        let height = self.height(local);
        if height - thickness <= sink.prediction {
            let middle =
                self.pose.transform_point(local) - self.normal * (0.5 * (height + thickness));
            sink.push([0, feature], middle, self.normal, height - thickness);
        }
    }

    fn capsule(&self, form: Round, sink: &mut Sink<'_>) {
        for (feature, z) in [(1, -form.half_length), (2, form.half_length)] {
            self.push(feature, DVec3::Z * z, form.radius, sink);
        }
    }

    #[inline(always)]
    fn cylinder(&self, form: Round, sink: &mut Sink<'_>) {
        let (points, names, count) = form.lowest(self.down);
        for (point, name) in points.into_iter().zip(names).take(count) {
            self.push(name, point, 0.0, sink);
        }
    }

    /// The corners of the face that looks down.
    #[inline(always)]
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
