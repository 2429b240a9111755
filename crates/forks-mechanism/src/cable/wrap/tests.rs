//! Lengths past spheres and cylinders against closed forms, polygons and differences.

use forks_lie::SplitMix64;

use super::*;

/// Cases of all kinds that wrap, points away from where the way changes.
fn cases(kind: ObstacleKind, inside: bool, seed: u64) -> Vec<(f64, [DVec3; 2], Option<DVec3>)> {
    let mut r = SplitMix64::new(seed);
    let mut out = Vec::new();
    while out.len() < 100 {
        let radius = r.range(0.5, 1.0);
        let ends = [0, 1].map(|_| r.direction() * r.range(1.2, 3.0));
        let side = match (inside, out.len() % 2 == 0) {
            (true, _) => Some(r.direction() * (0.1 * radius)),
            (false, true) => Some(r.direction() * 5.0),
            (false, false) => None,
        };
        let Some(wrap) = Wrap::new(kind, radius, ends[0], ends[1], side) else { continue };
        let flat = ends.map(|p| wrap.plane.project(p));
        let far = flat.iter().all(|p| p.length() > 1.1 * radius);
        let angle = flat[0].angle_to(flat[1]).abs();
        if far && (0.2..2.9).contains(&angle) {
            out.push((radius, ends, side));
        }
    }
    out
}

fn all() -> Vec<(ObstacleKind, f64, [DVec3; 2], Option<DVec3>)> {
    let mut out = Vec::new();
    for kind in [ObstacleKind::Sphere, ObstacleKind::Cylinder] {
        for inside in [false, true] {
            let some = cases(kind, inside, 7);
            out.extend(some.into_iter().map(|(r, ends, side)| (kind, r, ends, side)));
        }
    }
    out
}

#[test]
fn derivatives_are_those_of_differences() {
    let h = 1e-5;
    let (mut first, mut second) = (0.0f64, 0.0f64);
    for (kind, radius, ends, side) in all() {
        let at = |ends: [DVec3; 2]| {
            Wrap::new(kind, radius, ends[0], ends[1], side).expect("wraps nearby too")
        };
        let d = at(ends).derivatives();
        for i in 0..2 {
            for axis in 0..3 {
                let moved = |s: f64| {
                    let mut e = ends;
                    e[i][axis] += s;
                    at(e)
                };
                let (up, down) = (moved(h), moved(-h));
                let slope = (up.length() - down.length()) / (2.0 * h);
                first = first.max((d.gradient[i][axis] - slope).abs());
                let (up, down) = (up.derivatives().gradient, down.derivatives().gradient);
                for k in 0..2 {
                    let slope = (up[k] - down[k]) / (2.0 * h);
                    let exact = match (i, k) {
                        (0, 0) => d.hessian[0].col(axis),
                        (0, 1) => d.hessian[1].transpose().col(axis),
                        (1, 0) => d.hessian[1].col(axis),
                        _ => d.hessian[2].col(axis),
                    };
                    second = second.max((exact - slope).abs().max_element());
                }
            }
        }
    }
    assert!(first < 1e-8, "gradient off by {first:e}");
    assert!(second < 1e-7, "second derivative off by {second:e}");
}

#[test]
fn the_length_is_that_of_a_dense_polygon_along_the_contour() {
    for (kind, radius, ends, side) in all() {
        let wrap = Wrap::new(kind, radius, ends[0], ends[1], side).expect("wraps");
        let mut points = vec![ends[0]];
        points.extend(wrap.contour(2000));
        points.push(ends[1]);
        let polygon: f64 = points.windows(2).map(|w| w[0].distance(w[1])).sum();
        assert!((polygon - wrap.length()).abs() < 1e-6 * wrap.length());
        for p in &points[1..points.len() - 1] {
            let distance = match kind {
                ObstacleKind::Sphere => p.length(),
                ObstacleKind::Cylinder => p.truncate().length(),
            };
            assert!((distance - radius).abs() < 1e-13, "on the surface");
        }
    }
}

#[test]
fn a_helix_has_the_length_of_its_closed_form() {
    // Half a turn of the unit cylinder between tangents of length 2, while the path rises by 3.
    let ends = [DVec3::new(-2.0, 1.0, 0.0), DVec3::new(-2.0, -1.0, 3.0)];
    let side = Some(DVec3::X * 4.0);
    let wrap = Wrap::new(ObstacleKind::Cylinder, 1.0, ends[0], ends[1], side).expect("wraps");
    let exact = (4.0 + core::f64::consts::PI).hypot(3.0);
    assert!((wrap.length() - exact).abs() < 1e-14);
}

#[test]
fn points_inside_the_obstacle_or_in_sight_of_each_other_are_joined_straight() {
    let side = Some(DVec3::Y * 4.0);
    for kind in [ObstacleKind::Sphere, ObstacleKind::Cylinder] {
        let wrap = |u, v, side| Wrap::new(kind, 1.0, u, v, side);
        assert_eq!(wrap(DVec3::X * 0.5, DVec3::X * 3.0, None), None);
        let (u, v) = (DVec3::new(-2.0, 1.5, 0.0), DVec3::new(2.0, 1.5, 0.0));
        assert_eq!(wrap(u, v, None), None);
        assert_eq!(wrap(u, v, side), None);
        assert!(wrap(u, v, side.map(|s| -s)).is_some());
    }
}
