//! Spheres on height fields, against all triangles one by one and the geometry library.

use forks_lie::{
    Pose,
    glam::{DQuat, DVec2, DVec3},
};
use forks_mechanism::Geometry;

use super::{NEAR, ROUNDING, Random, deepest, ours, placed, rivals};
use crate::detect::Placed;

const COLUMNS: usize = 9;
const ROWS: usize = 7;
const SIZE: DVec2 = DVec2::new(1.6, 0.9);

/// Heights in the order of the form.
fn field(pose: Pose, heights: &[f64]) -> Placed {
    let heights = heights.to_vec();
    placed(&Geometry::HeightField { size: SIZE, columns: COLUMNS, heights }, pose, 0)
}

fn ball(radius: f64, at: DVec3) -> Placed {
    placed(&Geometry::Sphere { radius }, Pose::from_translation(at), 1)
}

/// Corner of a field in the form's frame: z up, rows along y.
fn corner(heights: &[f64], row: usize, column: usize) -> DVec3 {
    let x = SIZE.x * (column as f64 / (COLUMNS - 1) as f64 - 0.5);
    let y = SIZE.y * (row as f64 / (ROWS - 1) as f64 - 0.5);
    DVec3::new(x, y, heights[row * COLUMNS + column])
}

/// All triangles, as the library halves cells: along the diagonal that is the same for all of them.
fn triangles(heights: &[f64]) -> Vec<[DVec3; 3]> {
    let mut out = Vec::new();
    for row in 0..ROWS - 1 {
        for column in 0..COLUMNS - 1 {
            let [a, b, c, d] =
                [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| corner(heights, row + i, column + j));
            out.push([a, d, c]);
            out.push([a, b, d]);
        }
    }
    out
}

/// The point of a triangle nearest to p: of its face if p is above it, else of its edges.
fn nearest([a, b, c]: [DVec3; 3], p: DVec3) -> DVec3 {
    let normal = (b - a).cross(c - a);
    let sides = [(a, b), (b, c), (c, a)];
    if sides.iter().all(|(from, to)| (*to - *from).cross(p - *from).dot(normal) >= 0.0) {
        return p - normal * ((p - a).dot(normal) / normal.length_squared());
    }
    let on_side = |(from, to): &(DVec3, DVec3)| {
        let along = *to - *from;
        *from + along * ((p - *from).dot(along) / along.length_squared()).clamp(0.0, 1.0)
    };
    let points = sides.iter().map(on_side);
    points.min_by(|x, y| x.distance(p).total_cmp(&y.distance(p))).unwrap()
}

/// Height of the surface at a place.
fn height(triangles: &[[DVec3; 3]], p: DVec3) -> f64 {
    let inside = |t: &&[DVec3; 3]| {
        let turn = |a: DVec3, b: DVec3| (b - a).truncate().perp_dot((p - a).truncate());
        turn(t[0], t[1]) >= 0.0 && turn(t[1], t[2]) >= 0.0 && turn(t[2], t[0]) >= 0.0
    };
    let t = triangles.iter().find(inside).unwrap();
    let normal = (t[1] - t[0]).cross(t[2] - t[0]);
    t[0].z - ((p.x - t[0].x) * normal.x + (p.y - t[0].y) * normal.y) / normal.z
}

fn random_heights(random: &mut Random, rough: f64) -> Vec<f64> {
    (0..ROWS * COLUMNS).map(|_| random.between(-rough, rough)).collect()
}

#[test]
fn the_nearest_place_of_a_field_is_found_and_all_others_are_nearest_among_their_neighbours() {
    let mut random = Random::new(41);
    let (mut several, mut agree) = (0, 0);
    for case in 0..4000 {
        let heights = random_heights(&mut random, [0.0, 0.01, 0.05, 0.2][case % 4]);
        let all = triangles(&heights);
        let pose = Pose::new(random.rotation(), random.direction());
        let place = DVec3::new(random.between(-0.79, 0.79), random.between(-0.44, 0.44), 0.0);
        let radius = random.between(0.01, 0.2);
        // Above the surface, so that the sphere about touches it.
        let above = height(&all, place) + radius * random.between(0.01, 1.3);
        let center = place + DVec3::Z * above;
        let (a, b) = (ball(radius, pose.transform_point(center)), field(pose, &heights));
        let found = ours(&a, &b, NEAR).unwrap();
        let distance =
            |p: DVec3| all.iter().map(|t| nearest(*t, p).distance(p)).fold(f64::INFINITY, f64::min);
        let gap = distance(center) - radius;
        let label = format!("{case}: {found:?} {gap}");
        let Some(best) = deepest(&found) else {
            assert!(gap > NEAR - ROUNDING, "{label}");
            continue;
        };
        assert!((best.gap - gap).abs() < ROUNDING, "{label}");
        several += usize::from(found.len() > 1);
        for f in &found {
            // The surface's point, and beside it.
            let on = f.point + f.normal * (0.5 * f.gap);
            let local = pose.inverse().transform_point(on);
            assert!(distance(local) < ROUNDING, "{label}");
            assert!(((center - local).length() - radius - f.gap).abs() < ROUNDING, "{label}");
            let step = 1e-6;
            let beside = (0..24).map(|k| {
                let (s, c) = (0.2618 * f64::from(k)).sin_cos();
                let p = local + DVec3::new(step * c, step * s, 0.0);
                let inside = p.x.abs() < 0.8 && p.y.abs() < 0.45;
                if inside { p.with_z(height(&all, p)).distance(center) } else { f64::INFINITY }
            });
            assert!(beside.fold(f64::INFINITY, f64::min) > radius + f.gap - 1e-12, "{label}");
        }
        // The library moves normals at edges: it has the same where none of that happened.
        let theirs = deepest(&rivals(&a, &b, NEAR));
        agree += usize::from(theirs.is_some_and(|t| {
            (t.gap - best.gap).abs() < ROUNDING && (t.normal - best.normal).length() < 1e-9
        }));
    }
    assert!(several > 500 && agree > 1500, "{several} {agree}");
}

#[test]
fn coplanar_cells_are_one_plane_for_a_ball_that_rolls_over_them() {
    let slope = |p: DVec3| 0.3 * p.x - 0.2 * p.y;
    let flat: Vec<f64> = (0..ROWS * COLUMNS)
        .map(|k| slope(corner(&[0.0; ROWS * COLUMNS], k / COLUMNS, k % COLUMNS)))
        .collect();
    let pose = Pose::new(DQuat::from_rotation_x(0.4), DVec3::new(0.1, 0.2, 0.3));
    let b = field(pose, &flat);
    let normal = DVec3::new(-0.3, 0.2, 1.0).normalize();
    let mut random = Random::new(43);
    for case in 0..3000 {
        // Over borders and corners of cells, too.
        let at = match case % 3 {
            0 => corner(&flat, 1 + case % 5, 1 + case % 7),
            1 => corner(&flat, 1 + case % 5, 1 + case % 7).lerp(corner(&flat, 2, 3), 0.5),
            _ => DVec3::new(random.between(-0.6, 0.6), random.between(-0.3, 0.3), 0.0),
        };
        let at = at.with_z(slope(at));
        let a = ball(0.05, pose.transform_point(at + normal * 0.0495));
        let found = ours(&a, &b, NEAR).unwrap();
        assert!(found.len() == 1, "{case}: {found:?}");
        let off = (found[0].normal + pose.rotation * normal).length();
        assert!((found[0].gap + 5e-4).abs() < ROUNDING && off < ROUNDING, "{case}: {found:?}");
    }
}

#[test]
fn a_ball_over_a_ridge_turns_with_it_and_one_below_the_surface_is_pushed_out() {
    // A ridge along y at x = 0.
    let ridge: Vec<f64> =
        (0..ROWS * COLUMNS).map(|k| -0.5 * corner(&[0.0; 63], 0, k % COLUMNS).x.abs()).collect();
    let b = field(Pose::IDENTITY, &ridge);
    let mut last: Option<DVec3> = None;
    for k in 0..=400 {
        let x = 1e-3 * f64::from(k) - 0.2;
        // Rolls over at a constant distance: along one face, about the ridge, along the other.
        let (radius, lean) = (0.1, 0.5f64.atan());
        let angle = (x / radius).clamp(-lean, lean);
        let along = (x.abs() - radius * lean).max(0.0) * x.signum();
        let on = DVec3::new(lean.cos() * along, 0.03, -lean.sin() * along.abs());
        let normal = DVec3::new(angle.sin(), 0.0, angle.cos());
        let found = ours(&ball(radius, on + normal * radius), &b, 1e-3).unwrap();
        assert!(found.len() == 1 && found[0].gap.abs() < ROUNDING, "{x}: {found:?}");
        assert!((found[0].normal + normal).length() < ROUNDING, "{x}: {found:?} {normal}");
        if let Some(before) = last {
            assert!(found[0].normal.distance(before) < 0.011, "{x}");
        }
        last = Some(found[0].normal);
    }
    for depth in [1e-9, 0.01, 0.3] {
        let found = ours(&ball(0.05, DVec3::new(0.3, 0.1, -0.15 - depth)), &b, 1e-3).unwrap();
        let expected = -depth / 1.25f64.sqrt() - 0.05;
        assert!(found.len() == 1 && (found[0].gap - expected).abs() < ROUNDING, "{found:?}");
        assert!(found[0].normal.z < -0.8, "{found:?}");
    }
    // Beside the field, and above its border.
    assert!(ours(&ball(0.05, DVec3::new(0.86, 0.0, -0.3)), &b, 1e-3).unwrap().is_empty());
    let over = ours(&ball(0.05, DVec3::new(0.83, 0.01, -0.36)), &b, 1e-3).unwrap();
    assert!(over.len() == 1 && (over[0].gap - 0f64).abs() < ROUNDING, "{over:?}");
}
