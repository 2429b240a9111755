//! Capsules against each other: the nearest points of two segments.

use forks_lie::{Pose, glam::DVec3};

use super::{Sink, direction::direction, solid::Round};

/// Squared sine of the angle between two axes up to which capsules that lie side by side touch in
/// two points.
const SIDE_BY_SIDE: f64 = 1e-4;
/// Cosine of the angle between the normal and an axis up to which capsules lie side by side.
const ACROSS: f64 = 0.1;
/// Length of what they share, in radii, from which two points are told apart.
const SHARED: f64 = 1e-3;

/// The nearest point of two capsules; where they lie side by side, both ends of what they share.
pub(super) fn collide(one: (&Pose, Round), two: (&Pose, Round), sink: &mut Sink<'_>) -> bool {
    let [u, v] = [one, two].map(|(pose, _)| pose.rotation * DVec3::Z);
    let ((origin, a), (other, b)) = ((one.0.translation, one.1), (two.0.translation, two.1));
    let w = origin - other;
    let (s, t) = nearest(u, a.half_length, v, b.half_length, w);
    let (length, normal) = direction(v * t - u * s - w).unwrap_or_else(|| {
        // The axes cross: out of both of them.
        let out = u.cross(v).try_normalize();
        (0.0, out.unwrap_or_else(|| u.any_orthonormal_vector()))
    });
    let mut push = |feature, s: f64, distance: f64| {
        let gap = distance - a.radius - b.radius;
        let middle = origin + u * s + normal * (a.radius + 0.5 * gap);
        sink.push([0, feature], middle, normal, gap);
    };
    if u.cross(v).length_squared() < SIDE_BY_SIDE && normal.dot(u).abs() < ACROSS {
        let (low, high) = shared(u.dot(v), w.dot(u), a.half_length, b.half_length);
        if high - low > SHARED * (a.radius + b.radius) {
            for (feature, s) in [(2, low), (3, high)] {
                let t = (s * u.dot(v) + w.dot(v)).clamp(-b.half_length, b.half_length);
                push(feature, s, normal.dot(v * t - u * s - w));
            }
            return true;
        }
    }
    push(1, s, length);
    true
}

/// Places along two segments of half lengths a and b where they are nearest; w from the middle of
/// the second to that of the first.
///
/// The squared distance |w + s u − t v|² is convex: for a given s the best t is the clamped (s u +
/// w) · v, and the best s without the ends of the second segment is ((w · v)(u · v) − w · u)/(1 −
/// (u · v)²), clamped.
fn nearest(u: DVec3, a: f64, v: DVec3, b: f64, w: DVec3) -> (f64, f64) {
    let (uv, wu, wv) = (u.dot(v), w.dot(u), w.dot(v));
    // 1 − (u · v)² without cancellation.
    let sine = u.cross(v).length_squared();
    let free = if sine > 0.0 { (wv * uv - wu) / sine } else { 0.0 };
    let s = free.clamp(-a, a);
    let t = s * uv + wv;
    if t.abs() <= b {
        return (s, t);
    }
    let t = t.clamp(-b, b);
    ((t * uv - wu).clamp(-a, a), t)
}

/// Part of the first segment that lies beside the second.
fn shared(uv: f64, wu: f64, a: f64, b: f64) -> (f64, f64) {
    let reach = b * uv.abs();
    ((-wu - reach).max(-a), (-wu + reach).min(a))
}
