//! The shortest way from point to point around a circle at the origin of a plane.

use core::f64::consts::TAU;

use forks_lie::glam::DVec2;

/// Points closer than this are one.
const ONE_POINT: f64 = 1e-15;
const NEWTON_STEPS: usize = 60;

/// How a path passes a circle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Turn {
    /// Round it: leaves the straight line at `points` and sweeps `angle` from one to the other.
    Around {
        /// From the first to the second point in the mathematically positive sense.
        positive: bool,
        /// On the circle, rad.
        angle: f64,
        points: [DVec2; 2],
    },
    /// It touches the circle from within.
    Inside {
        /// Where.
        point: DVec2,
    },
}

/// The way from `a` to `b` around a circle of radius `r`; `None` where it is the straight line.
///
/// It is the short way where the straight line meets the circle. With a side (of any length) it is
/// the other way, whether the line meets the circle or not, where the line crosses the ray from the
/// centre away from the side.
pub(crate) fn around(a: DVec2, b: DVec2, r: f64, side: Option<DVec2>) -> Option<Turn> {
    let d = b - a;
    let outside = a.length_squared() >= r * r && b.length_squared() >= r * r;
    if !outside || r < ONE_POINT || d.length_squared() < ONE_POINT {
        return None;
    }
    let short = a.perp_dot(b);
    // −side = αa + βb, both not negative.
    let beyond = side.is_some_and(|s| {
        short != 0.0 && s.perp_dot(b) / short <= 0.0 && a.perp_dot(s) / short <= 0.0
    });
    let part = (-d.dot(a) / d.length_squared()).clamp(0.0, 1.0);
    if (a + d * part).length_squared() > r * r && !beyond {
        return None;
    }
    let positive = (short >= 0.0) != beyond;
    let points = [tangent_point(a, r, positive), tangent_point(b, r, !positive)];
    let swept = points[0].perp_dot(points[1]).atan2(points[0].dot(points[1]));
    let swept = if positive { swept } else { -swept };
    let angle = if swept < 0.0 { swept + TAU } else { swept };
    Some(Turn::Around { positive, angle, points })
}

/// Where a line from `p` touches the circle, seen from which it goes on in the positive sense or
/// against it.
fn tangent_point(p: DVec2, r: f64, positive: bool) -> DVec2 {
    let square = p.length_squared();
    let reach = (square - r * r).max(0.0).sqrt();
    let across = p.perp() * if positive { 1.0 } else { -1.0 };
    (p * (r * r) + across * (r * reach)) / square
}

/// The way from `a` to `b` through a ring of radius `r` whose middle it has to pass near; `None`
/// where the straight line goes through the ring.
pub(crate) fn inside(a: DVec2, b: DVec2, r: f64) -> Option<Turn> {
    let (la, lb) = (a.length(), b.length());
    if la <= r || lb <= r || r < ONE_POINT {
        return None;
    }
    let d = b - a;
    if d.length_squared() > ONE_POINT {
        let part = -d.dot(a) / d.length_squared();
        if part > 0.0 && part < 1.0 && (a + d * part).length() <= r {
            return None;
        }
    }
    let angle = a.perp_dot(b).atan2(a.dot(b));
    if angle.abs() > core::f64::consts::PI - 1e-12 {
        return None;
    }
    // The touching point lies between the two directions, at equal angles of incidence: the slope
    // of the length changes its sign there.
    let (mut low, mut high) = (0.0, 1.0);
    let mut x = 0.5;
    let at = |x: f64| DVec2::from_angle(x * angle).rotate(a / la) * r;
    for _ in 0..NEWTON_STEPS {
        let t = at(x);
        let (slope, curvature) = slope(a, b, t);
        let (slope, curvature) = (slope * angle * r, curvature * (angle * r) * (angle * r));
        if slope == 0.0 || angle == 0.0 {
            break;
        }
        if slope < 0.0 {
            low = x
        } else {
            high = x
        }
        let newton = x - slope / curvature;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - x).abs() <= f64::EPSILON {
            break;
        }
        x = next;
    }
    Some(Turn::Inside { point: at(x) })
}

/// First and second derivative of |a − t| + |b − t| as t moves on the circle, by arc length.
fn slope(a: DVec2, b: DVec2, t: DVec2) -> (f64, f64) {
    let r = t.length();
    let (normal, tangent) = (t / r, t.perp() / r);
    let mut out = (0.0, 0.0);
    for p in [a, b] {
        let distance = p.distance(t);
        let n = (p - t) / distance;
        let along = n.dot(tangent);
        out.0 -= along;
        out.1 += (1.0 - along * along) / distance + n.dot(normal) / r;
    }
    out
}

#[cfg(test)]
mod tests {
    use forks_lie::SplitMix64;

    use super::*;

    fn point(r: &mut SplitMix64) -> DVec2 {
        DVec2::from_angle(r.range(-3.2, 3.2)) * r.range(1.01, 3.0)
    }

    fn length(a: DVec2, b: DVec2, turn: &Turn) -> f64 {
        match turn {
            Turn::Around { angle, points, .. } => {
                a.distance(points[0]) + angle + points[1].distance(b)
            }
            Turn::Inside { point } => a.distance(*point) + b.distance(*point),
        }
    }

    #[test]
    fn a_quarter_turn_has_the_length_of_its_closed_form() {
        // From (1, −5) straight up, round the unit circle's quarter, off to (−5, 1).
        let (a, b) = (DVec2::new(1.0, -5.0), DVec2::new(-5.0, 1.0));
        let turn = around(a, b, 1.0, Some(DVec2::ONE)).expect("the side is behind the circle");
        let exact = 10.0 + core::f64::consts::FRAC_PI_2;
        assert!((length(a, b, &turn) - exact).abs() < 1e-14);
        assert!(matches!(turn, Turn::Around { positive: true, .. }));
    }

    #[test]
    fn the_way_around_is_the_limit_of_polygons_of_tangents() {
        let mut r = SplitMix64::new(1);
        let mut wrapped = 0;
        for _ in 0..2000 {
            let (a, b) = (point(&mut r), point(&mut r));
            let Some(turn) = around(a, b, 1.0, None) else { continue };
            wrapped += 1;
            let Turn::Around { positive, angle, points } = turn else { panic!("not inside") };
            for (p, t) in [(a, points[0]), (b, points[1])] {
                assert!((t.length() - 1.0).abs() < 1e-14);
                assert!((p - t).dot(t).abs() < 1e-13, "tangent");
            }
            assert!(angle <= core::f64::consts::PI);
            let sense = if positive { 1.0 } else { -1.0 };
            // The corners of the polygon of tangents lie outside the circle.
            let step = sense * angle / 200.0;
            let mut polygon = vec![a];
            polygon.extend((0..200).map(|k| {
                let at = DVec2::from_angle(step * (f64::from(k) + 0.5));
                at.rotate(points[0]) / (0.5 * step).cos()
            }));
            polygon.push(b);
            let longer: f64 = polygon.windows(2).map(|w| w[0].distance(w[1])).sum();
            let exact = length(a, b, &turn);
            assert!(longer > exact - 1e-13 && longer < exact + 1e-3, "{longer} {exact}");
        }
        assert!(wrapped > 300);
    }

    #[test]
    fn a_ring_is_touched_where_the_path_is_shortest() {
        let mut r = SplitMix64::new(2);
        let mut touched = 0;
        for _ in 0..2000 {
            let (a, b) = (point(&mut r), point(&mut r));
            let Some(turn) = inside(a, b, 1.0) else { continue };
            touched += 1;
            let Turn::Inside { point: t } = turn else { panic!("not around") };
            let shortest = length(a, b, &turn);
            for angle in [-1e-4, 1e-4, 1e-3, -1e-3] {
                let point = DVec2::from_angle(angle).rotate(t);
                let other = length(a, b, &Turn::Inside { point });
                assert!(other > shortest - 1e-14);
            }
            assert!(slope(a, b, t).0.abs() < 1e-13, "equal angles");
        }
        assert!(touched > 300);
    }
}
