//! Shapes that touch exactly: the difference of both has the origin on its surface, where rounding
//! decides what is found.

use crate::support;

use forks_sim::{
    CollisionShape, Geometry, Owner, RigidBody, World, WorldSettings,
    lie::{
        Pose,
        glam::{DQuat, DVec2, DVec3},
    },
    scene::{Fidelity, Scene},
};
use std::{f64::consts::FRAC_PI_2, path::Path};
use support::ball_inertia;

/// A world without gravity.
fn empty() -> World {
    World::new(WorldSettings { step: 5e-3, gravity: DVec3::ZERO, ..WorldSettings::default() })
        .unwrap()
}

fn add(world: &mut World, form: &Geometry, pose: Pose) -> forks_sim::BodyHandle {
    let body = RigidBody::at_rest("body", ball_inertia(1.0, 0.1), pose);
    let body = world.add_body(&body).unwrap();
    world.add_shape(Owner::Body(body), &CollisionShape::new("shape", form.clone())).unwrap();
    body
}

/// Corners of a prism of n sides, of radius 0.1 and half height 0.3.
fn prism(n: usize) -> Vec<DVec3> {
    let angle = |k: usize| std::f64::consts::TAU * k as f64 / n as f64;
    let corner = |k: usize, z: f64| DVec3::new(0.1 * angle(k).cos(), 0.1 * angle(k).sin(), z);
    (0..n).flat_map(|k| [corner(k, -0.3), corner(k, 0.3)]).collect()
}

#[test]
fn all_pairs_of_forms_that_touch_stay_where_they_are() {
    let (radius, half_length) = (0.1, 0.3);
    let tall = DVec3::new(0.1, 0.1, 0.3);
    // With half heights.
    let forms: [(&str, Geometry, f64); 7] = [
        ("sphere", Geometry::Sphere { radius }, 0.1),
        ("capsule", Geometry::Capsule { radius, half_length }, 0.4),
        ("cylinder", Geometry::Cylinder { radius, half_length }, 0.3),
        ("box", Geometry::Box { half_extents: tall }, 0.3),
        ("ellipsoid", Geometry::Ellipsoid { radii: tall }, 0.3),
        ("hull8", Geometry::Hull { points: prism(8) }, 0.3),
        ("hull48", Geometry::Hull { points: prism(48) }, 0.3),
    ];
    let yawed = DQuat::from_rotation_z(30f64.to_radians());
    let lying = DQuat::from_rotation_x(FRAC_PI_2);
    let id = DQuat::IDENTITY;
    let mut bad = Vec::new();
    let mut count = 0;
    for (i, (a, one, height)) in forms.iter().enumerate() {
        for (b, two, other) in &forms[i..] {
            let side = DVec3::X * 0.2;
            let cases = [
                ("side", [id, id], side),
                ("side, 1e-16 apart", [id, id], DVec3::X * (0.2 + 1e-16)),
                ("side, 1e-16 into each other", [id, id], DVec3::X * (0.2 - 1e-16)),
                ("side, shifted", [id, id], side + DVec3::Z * 0.1),
                ("stacked", [id, id], DVec3::Z * (height + other)),
                ("both yawed", [yawed, yawed], yawed * side),
                ("crossed", [id, lying], side),
                ("both lying", [lying, lying], side),
            ];
            for (how, [turn, other_turn], offset) in cases {
                count += 1;
                let mut world = empty();
                let bodies = [
                    add(&mut world, one, Pose::from_rotation(turn)),
                    add(&mut world, two, Pose::new(other_turn, offset)),
                ];
                let before = bodies.map(|b| world.body_pose(b).unwrap().translation);
                let mut depth = 0f64;
                for _ in 0..20 {
                    let _ = world.step();
                    depth = world.contacts().iter().fold(depth, |d, c| d.max(-c.gap));
                }
                let after = bodies.map(|b| world.body_pose(b).unwrap().translation);
                let moved = before[0].distance(after[0]).max(before[1].distance(after[1]));
                // A face of a prism stands out of the circle by nothing, its corners are on it.
                if depth > 1e-9 || moved > 1e-6 {
                    bad.push(format!("{a}, {b}, {how}: overlap {depth:e}, moved {moved:e}"));
                }
            }
        }
    }
    assert_eq!(count, 224);
    assert!(bad.is_empty(), "{} of {count}\n{}", bad.len(), bad.join("\n"));
}

#[test]
fn two_cans_beside_each_other_stay() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/ends/two_cans.toml");
    let mut scene = Scene::load(&file, Fidelity::Reduced).unwrap();
    let mut depth = 0f64;
    for _ in 0..scene.step_count() {
        let _ = scene.step();
        depth = scene.world.contacts().iter().fold(depth, |d, c| d.max(-c.gap));
    }
    for (name, x) in [("left", 0.0), ("right", 0.2)] {
        let at = scene.world.body_pose(scene.body(name).unwrap()).unwrap().translation;
        assert!(at.distance(DVec3::new(x, 0.0, 0.5)) < 1e-6, "{name}: {at}");
    }
    assert!(depth < 1e-6, "{depth:e}");
}

/// Random numbers of one seed.
struct Random(forks_lie::SplitMix64);

impl Random {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.uniform()
    }

    fn direction(&mut self) -> DVec3 {
        loop {
            let v = DVec3::from_array([(); 3].map(|()| self.between(-1.0, 1.0)));
            if (0.01..1.0).contains(&v.length_squared()) {
                return v.normalize();
            }
        }
    }

    /// At random, or a quarter turn about an axis.
    fn rotation(&mut self) -> DQuat {
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        match self.between(0.0, 4.0) as usize {
            3 => DQuat::from_axis_angle(self.direction(), self.between(0.0, 3.1)),
            k => DQuat::from_axis_angle(axes[k], FRAC_PI_2 * self.between(0.0, 4.0).floor()),
        }
    }

    fn form(&mut self, kind: usize, scale: f64) -> Geometry {
        let (radius, half_length) =
            (scale * self.between(0.3, 1.0), scale * self.between(0.3, 1.0));
        match kind {
            0 => Geometry::Sphere { radius },
            1 => Geometry::Capsule { radius, half_length },
            2 => Geometry::Cylinder { radius, half_length },
            3 => Geometry::Box { half_extents: DVec3::new(radius, half_length, scale) },
            4 => Geometry::Hull { points: (0..12).map(|_| self.direction() * scale).collect() },
            5 => Geometry::Hull { points: (0..60).map(|_| self.direction() * scale).collect() },
            _ => Geometry::Hull { points: prism(48).iter().map(|p| *p * (3.0 * scale)).collect() },
        }
    }
}

/// The point of a form that is farthest along a direction, in its frame.
fn farthest(form: &Geometry, n: DVec3) -> DVec3 {
    match form {
        Geometry::Sphere { radius } => n * *radius,
        Geometry::Capsule { radius, half_length } => {
            n * *radius + DVec3::Z * half_length.copysign(n.z)
        }
        Geometry::Cylinder { radius, half_length } => {
            let flat = DVec3::new(n.x, n.y, 0.0).normalize_or_zero();
            flat * *radius + DVec3::Z * half_length.copysign(n.z)
        }
        Geometry::Box { half_extents } => half_extents.copysign(n),
        Geometry::Hull { points } => {
            points.iter().copied().max_by(|a, b| a.dot(n).total_cmp(&b.dot(n))).unwrap()
        }
        _ => unreachable!(),
    }
}

/// Deepest gap of the points of two forms, if there are any.
fn gap(a: (&Geometry, Pose), b: (&Geometry, Pose), fixed: bool) -> Option<f64> {
    let mut world = empty();
    if fixed {
        world.add_shape(Owner::World, &CollisionShape::new("ground", a.0.clone()).at(a.1)).unwrap();
    } else {
        add(&mut world, a.0, a.1);
    }
    add(&mut world, b.0, b.1);
    let _ = world.step();
    world.contacts().iter().map(|c| c.gap).min_by(f64::total_cmp)
}

const GAPS: [f64; 9] = [0.0, 1e-16, -1e-16, 1e-12, -1e-12, 1e-9, -1e-9, 1e-6, -1e-6];

#[test]
fn forms_put_at_each_other_along_a_direction_are_as_far_apart_as_they_were_put() {
    let mut random = Random(forks_lie::SplitMix64::new(41));
    let mut bad = Vec::new();
    let mut count = 0;
    for case in 0..6000 {
        let kinds = [case % 7, case / 7 % 7];
        let scale = [0.1, 1e-3, 0.1, 100.0, 0.1][case / 49 % 5];
        let other = if case % 3 == 0 { scale } else { scale * random.between(0.05, 1.0) };
        let [one, two] = [random.form(kinds[0], scale), random.form(kinds[1], other)];
        let (p, q) = (random.rotation(), random.rotation());
        let n = match random.between(0.0, 3.0) as usize {
            0 => random.direction(),
            // Along a normal or an axis of one of them.
            1 => p * [DVec3::X, DVec3::Y, DVec3::Z][case % 3],
            _ => q * [DVec3::X, DVec3::Y, DVec3::Z][case % 3],
        };
        let far = if case % 4 == 3 { 1e3 } else { 0.0 };
        let wanted = GAPS[case % 9] * (scale / 0.1).min(1.0);
        let at = DVec3::new(far, -far, 0.3 * far);
        let place = at + p * farthest(&one, p.conjugate() * n) + n * wanted
            - q * farthest(&two, q.conjugate() * -n);
        let found = gap((&one, Pose::new(p, at)), (&two, Pose::new(q, place)), false);
        count += 1;
        // Places and corners are rounded. Where a cylinder's rim meets what is round the library's
        // search ends early.
        let rim = kinds.contains(&2) && kinds.contains(&1);
        let slack =
            if rim { 1e-3 } else { 1e-9 } * other + 16.0 * f64::EPSILON * (2.0 * far + scale);
        match found {
            Some(g) if g >= wanted.min(0.0) - slack && g <= wanted.max(0.0) + EARLY => {}
            _ => {
                bad.push(format!("{case} {kinds:?} {scale} {other:.2e} {wanted:e} {n}: {found:?}"))
            }
        }
    }
    let shown = bad.len().min(60);
    assert!(bad.is_empty(), "{} of {count}\n{}", bad.len(), bad[..shown].join("\n"));
}

/// How far beyond the nearest one a point may be that stands for it, m: a small part of the margin
/// within which points are looked for.
const EARLY: f64 = 5e-5;

/// A dome of triangles or of heights over a square of 2 m.
fn dome(mesh: bool, bend: f64, n: usize) -> (Geometry, Vec<[DVec3; 3]>) {
    let at = |k: usize| 2.0 * k as f64 / (n - 1) as f64 - 1.0;
    let height = |x: f64, y: f64| -bend * (x * x + y * y);
    let point = |i: usize, j: usize| DVec3::new(at(j), at(i), height(at(j), at(i)));
    let vertices: Vec<DVec3> = (0..n * n).map(|k| point(k / n, k % n)).collect();
    let mut triangles = Vec::new();
    for i in 0..n - 1 {
        for j in 0..n - 1 {
            let k = (i * n + j) as u32;
            let m = n as u32;
            triangles.push([k, k + 1, k + m + 1]);
            triangles.push([k, k + m + 1, k + m]);
        }
    }
    let corners = triangles.iter().map(|t| t.map(|i| vertices[i as usize])).collect::<Vec<_>>();
    let form = if mesh {
        Geometry::Mesh { vertices, triangles }
    } else {
        let heights = vertices.iter().map(|v| v.z).collect();
        Geometry::HeightField { size: DVec2::splat(2.0), columns: n, heights }
    };
    (form, corners)
}

#[test]
fn forms_put_on_triangles_are_as_far_from_them_as_they_were_put() {
    let mut random = Random(forks_lie::SplitMix64::new(43));
    let mut bad = Vec::new();
    let mut count = 0;
    for case in 0..2400 {
        let mesh = case % 2 == 0;
        let bend = [0.0, 0.3][case / 2 % 2];
        let (form, triangles) = dome(mesh, bend, 9);
        let kind = case / 4 % 7;
        let scale = [0.1, 0.3, 0.02][case % 3];
        let two = random.form(kind, scale);
        let q = random.rotation();
        let t = triangles[(random.between(0.0, 1.0) * triangles.len() as f64) as usize];
        // A bent field is cut along the other diagonals: its corners are what both share.
        let [a, b, c] = t;
        let n = if bend == 0.0 { DVec3::Z } else { (b - a).cross(c - a).normalize() };
        let point = match (bend == 0.0, case % 5) {
            (true, 0) => a,
            (true, 1) => (a + b) * 0.5,
            _ if !mesh && bend != 0.0 => continue,
            _ => (a + b + c) / 3.0,
        };
        let wanted = GAPS[case % 9];
        let place = point + n * wanted - q * farthest(&two, q.conjugate() * -n);
        // All of the form lies over the field.
        if bend == 0.0 && (place.x.abs() > 0.3 || place.y.abs() > 0.3) {
            continue;
        }
        let found = gap((&form, Pose::IDENTITY), (&two, Pose::new(q, place)), true);
        count += 1;
        let slack = 1e-9 * scale;
        match found {
            Some(g) if g >= wanted.min(0.0) - slack && g <= wanted.max(0.0) + slack => {}
            _ => bad.push(format!(
                "{case} mesh {mesh} {bend} {kind} {scale} {wanted:e} {n}: {found:?}"
            )),
        }
    }
    let shown = bad.len().min(60);
    assert!(count > 300, "{count}");
    assert!(bad.is_empty(), "{} of {count}\n{}", bad.len(), bad[..shown].join("\n"));
}
