//! Our tests of pairs against the geometry library's and closed forms, on random poses.

mod faces;
mod fields;

use forks_lie::{
    Pose, SplitMix64,
    glam::{DQuat, DVec2, DVec3},
};
use forks_mechanism::Geometry;

use super::{Broad, Detector, Found, Placed, Solid};
use crate::shape::prepare;

/// Random numbers of one seed.
pub(super) struct Random(SplitMix64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.uniform()
    }

    pub(super) fn direction(&mut self) -> DVec3 {
        loop {
            let v = DVec3::from_array([(); 3].map(|()| self.between(-1.0, 1.0)));
            if (0.01..1.0).contains(&v.length_squared()) {
                return v.normalize();
            }
        }
    }

    pub(super) fn rotation(&mut self) -> DQuat {
        let (axis, angle) = (self.direction(), self.between(0.0, 3.1));
        DQuat::from_axis_angle(axis, angle)
    }

    pub(super) fn size(&mut self) -> f64 {
        self.between(0.02, 0.3)
    }

    fn form(&mut self, kind: usize) -> Geometry {
        let (radius, half_length) = (self.size(), self.size());
        match kind {
            0 => Geometry::Sphere { radius },
            1 => Geometry::Plane,
            2 => Geometry::Capsule { radius, half_length },
            3 => Geometry::Cylinder { radius, half_length },
            4 => Geometry::Box { half_extents: self.extents() },
            _ => {
                Geometry::Hull { points: (0..12).map(|_| self.direction() * self.size()).collect() }
            }
        }
    }

    pub(super) fn extents(&mut self) -> DVec3 {
        DVec3::new(self.size(), self.size(), self.size())
    }
}

pub(super) fn placed(form: &Geometry, pose: Pose, owner: usize) -> Placed {
    let prepared = prepare("shape", form).unwrap();
    Placed::new(prepared.shape, pose * prepared.shape_from_prepared, 0.0, owner)
}

/// Points by our own test; `None` where there is none.
pub(super) fn ours(a: &Placed, b: &Placed, prediction: f64) -> Option<Vec<Found>> {
    let mut detector = Detector::default();
    detector.own([0, 1], [a, b], prediction, TIE).then_some(detector.found)
}

/// Points by the library.
pub(super) fn rivals(a: &Placed, b: &Placed, prediction: f64) -> Vec<Found> {
    let mut detector = Detector::default();
    detector.library.narrow(&mut detector.found, [0, 1], [a, b], prediction);
    detector.found
}

pub(super) fn deepest(found: &[Found]) -> Option<Found> {
    found.iter().copied().min_by(|a, b| a.gap.total_cmp(&b.gap))
}

/// Two shapes about as far apart as their bounding spheres allow.
fn pair(random: &mut Random, kinds: [usize; 2]) -> [Placed; 2] {
    let [a, b] = kinds.map(|k| random.form(k));
    let a = placed(&a, Pose::new(random.rotation(), random.direction()), 1);
    let mut b = placed(&b, Pose::new(random.rotation(), DVec3::ZERO), 2);
    let radii = [a.radius, b.radius].into_iter().filter(|r| r.is_finite()).sum::<f64>();
    let reach = radii * random.between(0.05, 1.05);
    b.pose.translation = a.pose.translation + random.direction() * reach;
    [a, b]
}

/// Lengths are below 2 m; the library normalises by reciprocals and goes through the second shape's
/// frame and back.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Depths that count as equal, m.
const TIE: f64 = 1e-12;

/// Prediction, m.
const NEAR: f64 = 0.02;

#[test]
fn plain_pairs_are_where_the_library_has_them() {
    // Sphere, plane, capsule, cylinder, box, hull.
    let pairs = [
        [0, 0],
        [0, 1],
        [1, 0],
        [0, 2],
        [0, 3],
        [0, 4],
        [4, 0],
        [0, 5],
        [1, 2],
        [1, 3],
        [3, 1],
        [1, 4],
        [1, 5],
        [2, 2],
    ];
    for kinds in pairs {
        let mut random = Random::new(100 + 10 * kinds[0] as u64 + kinds[1] as u64);
        let (mut near, mut inside) = (0, 0);
        for case in 0..4000 {
            let [a, b] = pair(&mut random, kinds);
            let (own, rival) = (ours(&a, &b, NEAR).unwrap(), rivals(&a, &b, NEAR));
            let label = format!("{kinds:?}, {case}: {own:?} {rival:?} {a:?} {b:?}");
            // The library looks at one face of a hull only, which need not have the deepest corner.
            let best = lowest_corner(&a, &b).or(deepest(&rival));
            let (Some(one), Some(two)) = (deepest(&own), best) else {
                // At the very limit.
                let only = deepest(&own).or(best);
                assert!(only.is_none_or(|f| f.gap > NEAR - ROUNDING), "{label}");
                continue;
            };
            near += 1;
            inside += usize::from(one.gap < 0.0);
            assert!((one.gap - two.gap).abs() <= ROUNDING, "{label}");
            let Some(slope) = slope(&a, &b, &one) else { continue };
            let slack = ROUNDING * (1.0 + slope + 1.0 / subtracted(&a, &b, one.gap));
            assert!((one.normal - two.normal).length() <= slack, "{label}");
            // Every point of the library's is one of ours, except where capsules lie side by side
            // and two stand for one.
            for theirs in rival.iter().filter(|_| kinds != [2, 2] || own.len() == 1) {
                let apart = |f: &Found| (f.point - theirs.point).length();
                let nearest = own.iter().map(apart).fold(f64::INFINITY, f64::min);
                assert!(nearest <= slack, "{label}");
            }
        }
        assert!(near > 1000 && inside > 300, "{kinds:?}: {near} near, {inside} inside");
    }
}

/// Length of the difference of points whose direction is the normal: between axes, or from a
/// sphere's centre to its projection on a surface, which is how the library has it.
fn subtracted(a: &Placed, b: &Placed, gap: f64) -> f64 {
    match (&a.solid, &b.solid) {
        (Solid::Capsule(a), Solid::Capsule(b)) => gap + a.radius + b.radius,
        (Solid::Sphere { radius }, _) | (_, Solid::Sphere { radius }) => (gap + radius).abs(),
        _ => 1.0,
    }
}

/// The deepest corner of a hull below a plane, if it is near.
fn lowest_corner(plane: &Placed, hull: &Placed) -> Option<Found> {
    let (Solid::Plane, Solid::Hull(form)) = (&plane.solid, &hull.solid) else { return None };
    let normal = plane.pose.rotation * DVec3::Z;
    let corners = form.points.iter().map(|p| hull.pose.transform_point(*p));
    let heights = corners.map(|p| (p, (p - plane.pose.translation).dot(normal)));
    let (p, gap) = heights.min_by(|a, b| a.1.total_cmp(&b.1))?;
    (gap <= NEAR).then_some(Found { key: [0; 6], point: p - normal * (0.5 * gap), normal, gap })
}

/// How fast the normal turns as the second shape moves, rad/m; `None` where several directions are
/// about as good, as for centres near an axis or equally far from two faces.
fn slope(a: &Placed, b: &Placed, found: &Found) -> Option<f64> {
    const STEP: f64 = 1e-7;
    let mut slope = 0f64;
    for by in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().flat_map(|d| [d * STEP, d * -STEP]) {
        let mut c = b.clone();
        c.pose.translation += by;
        for f in ours(a, &c, 1.0)? {
            slope = slope.max((f.normal - found.normal).length() / STEP);
        }
    }
    (slope * STEP < 0.1).then_some(slope)
}

#[test]
fn swapped_shapes_have_the_same_points_and_opposite_normals() {
    for kinds in [[0, 0], [0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [1, 3], [1, 4], [1, 5], [2, 2]] {
        let mut random = Random::new(300 + 10 * kinds[0] as u64 + kinds[1] as u64);
        for case in 0..300 {
            let [a, b] = pair(&mut random, kinds);
            let (one, two) = (ours(&a, &b, 1.0).unwrap(), ours(&b, &a, 1.0).unwrap());
            assert_eq!(one.len(), two.len());
            let Some(slope) = deepest(&one).and_then(|f| slope(&a, &b, &f)) else { continue };
            for (f, g) in one.iter().zip(&two) {
                let slack = ROUNDING * (1.0 + slope);
                let same = (f.gap - g.gap).abs() <= slack && (f.point - g.point).length() <= slack;
                let opposite = (f.normal + g.normal).length() <= slack;
                // Equal forms: what is first decides the order of points.
                assert!((same && opposite) || kinds == [2, 2], "{kinds:?}, {case}: {f:?} {g:?}");
            }
            let (one, two) = (deepest(&one).unwrap(), deepest(&two).unwrap());
            assert!((one.gap - two.gap).abs() <= ROUNDING, "{kinds:?}, {case}");
        }
    }
}

#[test]
fn extreme_sizes_and_coincident_centres_have_unit_normals() {
    let mut random = Random::new(5);
    let mut form = |kind: usize, scale: f64| -> Geometry {
        let (radius, half_length) = (scale, scale * random.between(0.1, 10.0));
        match kind {
            0 => Geometry::Sphere { radius },
            1 => Geometry::Plane,
            2 => Geometry::Capsule { radius, half_length },
            3 => Geometry::Cylinder { radius, half_length },
            _ => Geometry::Box { half_extents: DVec3::new(scale, half_length, scale) },
        }
    };
    for kinds in [[0, 0], [0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [1, 3], [1, 4], [2, 2]] {
        for (one, two) in [(1e-6, 1e-6), (1e-6, 1e6), (1e6, 1e-6), (1e6, 1e6), (1.0, 1.0)] {
            let turn = DQuat::from_rotation_x(0.3);
            // Along their axes, across, and in the same place.
            for offset in [DVec3::ZERO, DVec3::X * one, DVec3::Z * two, DVec3::ONE * 1e-160] {
                let a = placed(&form(kinds[0], one), Pose::from_rotation(turn), 1);
                let b = placed(&form(kinds[1], two), Pose::new(turn, offset), 2);
                let found = ours(&a, &b, f64::INFINITY).unwrap();
                assert!(!found.is_empty(), "{kinds:?} {one} {two} {offset}");
                for f in found {
                    let unit = (f.normal.length() - 1.0).abs() <= 8.0 * f64::EPSILON;
                    let finite = f.gap.is_finite() && f.point.is_finite();
                    assert!(unit && finite, "{kinds:?} {one} {two} {offset}: {f:?}");
                }
            }
        }
    }
}

#[test]
fn capsules_side_by_side_touch_at_both_ends_of_what_they_share() {
    let capsule = |half_length| Geometry::Capsule { radius: 0.1, half_length };
    let lying = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2);
    let a = placed(&capsule(0.5), Pose::from_rotation(lying), 1);
    for tilt in [0.0, 1e-12, 1e-7, 5e-3] {
        let turned = DQuat::from_rotation_y(tilt) * lying;
        let b = placed(&capsule(0.3), Pose::new(turned, DVec3::new(0.4, 0.0, 0.2)), 2);
        let found = ours(&a, &b, 0.01).unwrap();
        let places: Vec<f64> = found.iter().map(|f| f.point.x).collect();
        assert!(found.len() == 2, "{tilt}: {found:?}");
        assert!((places[0] - 0.1).abs() < 1e-3 && (places[1] - 0.5).abs() < 1e-3, "{places:?}");
        for f in &found {
            // The second axis at x is 0.2 − tan(tilt) (x − 0.4) above the first.
            let expected = -tilt.tan() * (f.point.x - 0.4);
            assert!((f.gap - expected).abs() < 1e-15 + tilt * tilt, "{tilt}: {f:?}");
            assert!(f.normal.z > 0.9999, "{f:?}");
        }
        let exact = 0.2 - tilt.tan() * 0.1 - 0.2;
        assert!((deepest(&found).unwrap().gap - exact).abs() < 1e-15 + tilt * tilt, "{tilt}");
    }
}

#[test]
fn pairs_are_those_whose_bounding_spheres_meet() {
    let mut random = Random::new(11);
    for count in [2, 8, 20, 25, 60, 200] {
        let mut shapes: Vec<Placed> = (0..count)
            .map(|i| {
                let kind = if i % 9 == 4 { 1 } else { i % 6 };
                let at = random.direction() * random.between(0.0, 3.0);
                let form = random.form(kind);
                placed(
                    &form,
                    Pose::new(random.rotation(), at),
                    if kind == 1 { 0 } else { i / 2 + 1 },
                )
            })
            .collect();
        shapes.iter_mut().for_each(|p| p.speed = random.between(0.0, 2.0));
        let (margin, h) = (0.01, 0.05);
        let mut excluded: Vec<[usize; 2]> =
            (0..count / 3).map(|i| [i, i + 1 + i % 3]).filter(|p| p[1] < count).collect();
        excluded.sort_unstable();
        let mut broad = Broad::default();
        // Twice: nothing is kept.
        for _ in 0..2 {
            broad.find(&shapes, &excluded, margin, h);
        }
        let mut expected = Vec::new();
        for j in 0..count {
            for i in 0..j {
                let (a, b) = (&shapes[i], &shapes[j]);
                let near = a.radius + b.radius + margin + h * (a.speed + b.speed);
                let meets = a.middle().distance(b.middle()) <= near && a.owner != b.owner;
                if meets && !excluded.contains(&[i, j]) {
                    expected.push([i as u32, j as u32]);
                }
            }
        }
        expected.sort_unstable();
        assert_eq!(broad.pairs, expected, "{count}");
        assert!(count < 8 || !expected.is_empty());
    }
}

#[test]
fn what_was_looked_at_before_changes_nothing() {
    let mut random = Random::new(17);
    let mut used = Detector::default();
    let field = |random: &mut Random| {
        let heights = (0..35).map(|_| random.between(-0.1, 0.1)).collect();
        Geometry::HeightField { size: DVec2::splat(0.8), columns: 7, heights }
    };
    let mut points = 0;
    for case in 0..600 {
        let mut shapes: Vec<Placed> = (0..6)
            .map(|owner| {
                let kind = if owner == 0 { 1 } else { (case + owner * owner) % 6 };
                let kind = if kind == 1 && owner > 0 { 0 } else { kind };
                let pose = Pose::new(random.rotation(), random.direction() * 0.3);
                placed(&random.form(kind), pose, owner)
            })
            .collect();
        let pose = Pose::new(random.rotation(), random.direction() * 0.2);
        shapes.push(placed(&field(&mut random), pose, 0));
        let mut fresh = Detector::default();
        fresh.detect(&shapes, &[], 0.01, 0.0);
        used.detect(&shapes, &[], 0.01, 0.0);
        assert_eq!(fresh.found, used.found, "{case}");
        assert!(fresh.found.is_sorted_by_key(|f| f.shapes()), "{case}");
        points += fresh.found.len();
    }
    assert!(points > 5000, "{points}");
}

#[test]
fn small_shapes_away_from_large_ones_are_left_out_and_none_that_are_near() {
    let mut random = Random::new(29);
    let (mut clear, mut near) = (0, 0);
    let cube: Vec<DVec3> = (0..8)
        .map(|i| DVec3::new(f64::from(i & 1), 2.0 * f64::from(i >> 1 & 1), 3.0 * f64::from(i >> 2)))
        .collect();
    let heights: Vec<f64> = (0..20).map(|_| random.between(-0.1, 0.1)).collect();
    let floor: Geometry = Geometry::Box { half_extents: DVec3::new(3.0, 0.2, 2.0) };
    let triangles = vec![[0, 1, 2], [0, 2, 3]];
    let vertices = [(-2.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.0, 2.0)];
    let vertices = vertices.map(|(x, y)| DVec3::new(x, y, 0.0)).to_vec();
    let large = [
        floor,
        Geometry::Hull { points: cube },
        Geometry::HeightField { size: DVec2::splat(4.0), columns: 5, heights },
        Geometry::Mesh { vertices, triangles },
    ];
    for case in 0..2000 {
        let at = Pose::new(random.rotation(), random.direction());
        let a = placed(&large[case % 4], at, 0);
        let form = random.form(2 + case % 4);
        let at = Pose::new(random.rotation(), random.direction() * random.between(0.0, 3.0));
        let b = placed(&form, at, 1);
        let rival = rivals(&a, &b, NEAR);
        if a.is_clear_of(&b, NEAR) {
            clear += 1;
            assert!(rival.is_empty(), "{case}: {rival:?} {a:?} {b:?}");
        }
        near += usize::from(!rival.is_empty());
    }
    assert!(clear > 500 && near > 200, "{clear} {near}");
}
