//! Boxes, hulls and cylinders against each other. The rival is the definition: the signed distance
//! of convex forms is the most by which a direction separates them, so that the normal must
//! separate by the gap, and no other direction by more.

use forks_lie::{
    Pose,
    glam::{DQuat, DVec3},
};

use super::{NEAR, ROUNDING, Random, TIE, deepest, ours, pair, placed, rivals};
use crate::{
    detect::{Placed, Solid},
    manifold::Found,
};
use forks_mechanism::Geometry;

/// Farthest point of a form along a direction.
fn support(p: &Placed, along: DVec3) -> f64 {
    let d = p.pose.rotation.conjugate() * along;
    let own = match &p.solid {
        Solid::Box(half, _) => half.dot(d.abs()),
        Solid::Cylinder(c) => c.radius * d.x.hypot(d.z) + c.half_length * d.y.abs(),
        Solid::Hull(h) => h.points.iter().map(|p| p.dot(d)).fold(f64::NEG_INFINITY, f64::max),
        _ => unreachable!("no such form in these tests"),
    };
    own + along.dot(p.pose.translation)
}

/// By how much a direction separates two forms.
fn separation(a: &Placed, b: &Placed, along: DVec3) -> f64 {
    -support(b, -along) - support(a, along)
}

/// Fails unless the deepest point has the gap and the normal of the definition.
fn check(a: &Placed, b: &Placed, found: &[Found], random: &mut Random, label: &str) {
    let best = deepest(found).unwrap();
    let n = best.normal;
    assert!((n.length() - 1.0).abs() < ROUNDING, "{label}");
    let along = separation(a, b, n);
    assert!((along - best.gap).abs() <= TIE, "{label}: {along} {}", best.gap);
    for k in 0..400 {
        let near = [1.0, 1e-1, 1e-2, 1e-4][k % 4];
        let m = (n * (1.0 - near) + random.direction() * near).normalize_or(n);
        let other = separation(a, b, m);
        assert!(other <= best.gap + TIE, "{label}: {other} along {m} beyond {}", best.gap);
    }
    for f in found {
        assert_eq!(f.normal, n, "{label}");
        // Half the gap from both surfaces, or outside the rest of them by no more than that.
        for (p, sign) in [(a, 1.0), (b, -1.0)] {
            let on = f.point - n * (sign * 0.5 * f.gap);
            let excess = outside(p, on);
            assert!(excess <= f.gap.abs() + ROUNDING, "{label}: {f:?} is {excess} outside");
        }
    }
}

/// Distance of a point from a form, or a lower bound of it; 0 inside.
fn outside(p: &Placed, point: DVec3) -> f64 {
    let local = p.pose.rotation.conjugate() * (point - p.pose.translation);
    match &p.solid {
        Solid::Cylinder(c) => {
            (local.x.hypot(local.z) - c.radius).max(local.y.abs() - c.half_length).max(0.0)
        }
        solid => {
            let faces = &solid.polytope().unwrap().faces;
            faces.iter().map(|f| f.normal.dot(local) - f.offset).fold(0.0, f64::max)
        }
    }
}

/// Pairs of kinds: 3 cylinder, 4 box, 5 hull.
const KINDS: [[usize; 2]; 6] = [[4, 4], [4, 5], [5, 4], [5, 5], [3, 4], [5, 3]];

#[test]
fn forms_with_faces_are_separated_most_along_the_normal() {
    for kinds in KINDS {
        let mut random = Random::new(700 + 10 * kinds[0] as u64 + kinds[1] as u64);
        let (mut known, mut near, mut inside) = (0, 0, 0);
        for case in 0..4000 {
            let [a, b] = pair(&mut random, kinds);
            let label = format!("{kinds:?}, {case}");
            let rival = deepest(&rivals(&a, &b, NEAR));
            near += usize::from(rival.is_some());
            let Some(found) = ours(&a, &b, NEAR) else { continue };
            if found.is_empty() {
                assert!(rival.is_none_or(|r| r.gap > NEAR - LIBRARY), "{label}: {rival:?}");
                continue;
            }
            known += 1;
            inside += usize::from(deepest(&found).unwrap().gap < 0.0);
            check(&a, &b, &found, &mut random, &label);
        }
        assert!(known > near / 5 && inside > 300, "{kinds:?}: {known} of {near}, {inside} inside");
    }
}

/// To what the library tells distances of small gaps, m.
const LIBRARY: f64 = 1e-5;

/// Two forms on each other: the second's lower side, turned about the vertical, lies on the first's
/// upper side.
fn stacked(random: &mut Random, kinds: [usize; 2], tilt: f64, gap: f64) -> [Placed; 2] {
    let mut form = |kind| -> (Geometry, f64) {
        let half = random.extents();
        let corners = (0..8).map(|i| {
            let sign = |k: i32| if i >> k & 1 == 0 { -1.0 } else { 1.0 };
            half * DVec3::new(sign(0), sign(1), sign(2))
        });
        match kind {
            3 => (Geometry::Cylinder { radius: half.x, half_length: half.z }, half.z),
            4 => (Geometry::Box { half_extents: half }, half.z),
            _ => (Geometry::Hull { points: corners.collect() }, half.z),
        }
    };
    let [(a, low), (b, high)] = kinds.map(&mut form);
    let base = Pose::new(random.rotation(), random.direction());
    let turn = DQuat::from_rotation_x(tilt) * DQuat::from_rotation_z(random.between(0.0, 6.0));
    let aside = DVec3::new(random.between(-0.1, 0.1), random.between(-0.1, 0.1), 0.0);
    let above = Pose::new(turn, aside + DVec3::Z * (low + high + gap));
    [placed(&a, base, 1), placed(&b, base * above, 2)]
}

#[test]
fn faces_on_faces_are_decided_and_have_points_around_what_they_share() {
    for kinds in KINDS {
        let mut random = Random::new(900 + 10 * kinds[0] as u64 + kinds[1] as u64);
        let (mut alike, mut decided) = (0, 0);
        for case in 0..2000 {
            let tilt = [0.0, 1e-9, 1e-4, 1e-3][case % 4];
            let gap = [0.0, 1e-6, -1e-6, -1e-3][case / 4 % 4];
            let [a, b] = stacked(&mut random, kinds, tilt, gap);
            let label = format!("{kinds:?}, {case}, tilt {tilt}, gap {gap}");
            let rival = rivals(&a, &b, NEAR);
            let Some(found) = ours(&a, &b, NEAR) else { continue };
            decided += 1;
            let Some(theirs) = deepest(&rival) else {
                // Beside each other.
                assert!(found.is_empty(), "{label}: {found:?}");
                continue;
            };
            check(&a, &b, &found, &mut random, &label);
            let best = deepest(&found).unwrap();
            assert!((best.gap - theirs.gap).abs() < LIBRARY, "{label}: {best:?} {theirs:?}");
            // No point of the library's is outside ours, seen along any direction across the
            // normal; rims are polygons.
            if !kinds.contains(&3) && tilt == 0.0 {
                let across = best.normal.any_orthonormal_vector();
                let far = |points: &[Found]| {
                    points.iter().map(|f| across.dot(f.point)).fold(f64::NEG_INFINITY, f64::max)
                };
                assert!(
                    (far(&found) - far(&rival)).abs() < LIBRARY,
                    "{label}: {found:?} {rival:?}"
                );
                alike += 1;
            }
        }
        assert!(
            decided > 1500 && (alike > 450 || kinds.contains(&3)),
            "{kinds:?}: {decided}, {alike}"
        );
    }
}

#[test]
fn a_peg_that_leans_on_the_edge_of_its_hole_has_its_lower_end_near_the_wall_too() {
    // A wall behind the plane x = 0 up to z = 0, chamfered above.
    let corners = [-0.1, 0.1].map(|y| {
        [(0.0, -0.2), (0.1, -0.2), (0.1, 0.05), (0.05, 0.05), (0.0, 0.0)]
            .map(|(x, z)| DVec3::new(x, y, z))
    });
    let wall =
        placed(&Geometry::Hull { points: corners.as_flattened().to_vec() }, Pose::IDENTITY, 0);
    let (radius, half_length) = (0.02, 0.1);
    let peg = Geometry::Cylinder { radius, half_length };
    let mut random = Random::new(3);
    for lean in [-0.02, -1e-4, 0.0, 1e-4, 0.02f64] {
        for gap in [0.0, 2e-4, -2e-4f64] {
            // Its line on the side passes the edge at the gap, 30 mm above its middle.
            let turn = DQuat::from_rotation_y(lean);
            let at = turn * DVec3::new(-radius - gap, 0.0, -0.03);
            let peg = placed(&peg, Pose::new(turn, at), 1);
            let found = ours(&peg, &wall, 5e-3).unwrap();
            let label = format!("{lean} {gap}: {found:?}");
            check(&peg, &wall, &found, &mut random, &label);
            let has = |z: f64| found.iter().any(|f| (f.point.z - z).abs() < 1e-2);
            assert!(has(0.0) && has(-0.13) && found.len() == 2, "{label}");
        }
    }
}

#[test]
fn extreme_sizes_and_coincident_middles_give_finite_points_and_unit_normals() {
    let cube = |scale: f64| {
        let sign = |i: u32, k: u32| if i >> k & 1 == 0 { -scale } else { scale };
        (0..8).map(|i| DVec3::new(sign(i, 0), 1.5 * sign(i, 1), sign(i, 2))).collect()
    };
    let form = |kind: usize, scale: f64, flat: f64| -> Geometry {
        match kind {
            3 => Geometry::Cylinder { radius: scale, half_length: scale * flat },
            4 => Geometry::Box { half_extents: DVec3::new(scale, scale * flat, scale) },
            _ => Geometry::Hull { points: cube(scale) },
        }
    };
    let mut random = Random::new(77);
    let mut decided = 0;
    for kinds in KINDS {
        for (one, two) in [(1e-6, 1e-6), (1e-6, 1e6), (1e6, 1e-6f64), (1e6, 1e6), (1.0, 1.0)] {
            for flat in [1e-3, 1.0, 1e3] {
                let size = f64::max(one, two);
                let turns = [DQuat::IDENTITY, random.rotation()];
                let offsets =
                    [DVec3::ZERO, DVec3::X * size, DVec3::Z * (one + two), DVec3::ONE * 1e-160];
                for (turn, offset) in turns.iter().flat_map(|t| offsets.map(|o| (*t, o))) {
                    let a = placed(&form(kinds[0], one, flat), Pose::IDENTITY, 1);
                    let b = placed(&form(kinds[1], two, flat), Pose::new(turn, offset), 2);
                    let label = format!("{kinds:?} {one} {two} {flat} {turn} {offset}");
                    let Some(found) = ours(&a, &b, 1e-3 * f64::min(one, two)) else { continue };
                    decided += 1;
                    for f in found {
                        let unit = (f.normal.length() - 1.0).abs() <= 16.0 * f64::EPSILON;
                        let finite = f.gap.is_finite() && f.point.is_finite();
                        assert!(unit && finite, "{label}: {f:?}");
                        // To roundings of the larger.
                        let along = separation(&a, &b, f.normal);
                        assert!(
                            f.gap - along >= -1e-14 * f64::max(flat, 1.0) * size,
                            "{label}: {f:?} {along}"
                        );
                    }
                }
            }
        }
    }
    assert!(decided > 400, "{decided}");
}
