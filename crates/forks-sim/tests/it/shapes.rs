//! Every form: bodies that come to rest on and with them, and forms that are refused.

use crate::support;

use forks_sim::{
    CollisionShape, Geometry, Material, Owner, RigidBody, SimError, World, WorldSettings,
    lie::{
        Pose,
        glam::{DQuat, DVec2, DVec3},
    },
};
use support::{add_ball, at, ball_inertia, run, smooth, tilted};

/// Height at which a body of some form rests on the ground.
fn rests_at(form: Geometry, turn: DQuat) -> f64 {
    let mut world = tilted(WorldSettings::default(), 0.0, Material::with_friction(0.8));
    let body = RigidBody::at_rest("body", ball_inertia(1.0, 0.1), at(0.0, 0.0, 0.3));
    let body = world.add_body(&body).unwrap();
    let shape = CollisionShape::new("shape", form).at(Pose::from_rotation(turn));
    world.add_shape(Owner::Body(body), &shape).unwrap();
    run(&mut world, 2.0);
    world.body_pose(body).unwrap().translation.z
}

#[test]
fn bodies_of_every_form_rest_on_the_ground() {
    let upright = DQuat::IDENTITY;
    let lying = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let (radius, half_length) = (0.05, 0.1);
    let corners = |s: f64| {
        let bit = |i: usize, k: usize| if i >> k & 1 == 0 { -s } else { s };
        (0..8).map(|i| DVec3::new(bit(i, 0), bit(i, 1), bit(i, 2))).collect()
    };
    let cases = [
        (Geometry::Sphere { radius }, upright, 0.05),
        (Geometry::Capsule { radius, half_length }, lying, 0.05),
        (Geometry::Cylinder { radius, half_length }, upright, 0.1),
        (Geometry::Cylinder { radius, half_length }, lying, 0.05),
        (Geometry::Box { half_extents: DVec3::new(0.1, 0.05, 0.02) }, upright, 0.02),
        (Geometry::Hull { points: corners(0.07) }, upright, 0.07),
    ];
    for (form, turn, expected) in cases {
        let name = format!("{form:?}");
        let z = rests_at(form, turn);
        // What a tolerance of 1e-5 on g h leaves in a second, and the geometry library's own.
        assert!((z - expected).abs() < 2e-5, "{name}: {z}");
    }
    let radii = DVec3::new(0.1, 0.08, 0.05);
    let z = rests_at(Geometry::Ellipsoid { radii }, upright);
    assert!((z - 0.05).abs() < 0.01 * 0.05, "ellipsoid: {z}");
}

/// A floor of two triangles, counter-clockwise from above.
fn floor() -> Geometry {
    let vertices = [(-2.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.0, 2.0)];
    Geometry::Mesh {
        vertices: vertices.map(|(x, y)| DVec3::new(x, y, 0.0)).to_vec(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    }
}

#[test]
fn meshes_and_height_fields_carry_like_planes() {
    // A field whose height is x/4 + y/8, with x and y told apart.
    let (columns, rows) = (5, 3);
    let size = DVec2::new(4.0, 2.0);
    let height = |k: usize| {
        let (i, j) = (k % columns, k / columns);
        let x = size.x * (i as f64 / (columns - 1) as f64 - 0.5);
        let y = size.y * (j as f64 / (rows - 1) as f64 - 0.5);
        x / 4.0 + y / 8.0
    };
    let field =
        Geometry::HeightField { size, columns, heights: (0..rows * columns).map(height).collect() };
    for (form, slope) in [(floor(), DVec2::ZERO), (field, DVec2::new(0.25, 0.125))] {
        let mut world = World::new(WorldSettings::default()).unwrap();
        let ground = CollisionShape::new("ground", form).of(smooth());
        world.add_shape(Owner::World, &ground).unwrap();
        let radius = 0.05;
        let normal = DVec3::new(-slope.x, -slope.y, 1.0).normalize();
        let ball = add_ball(&mut world, radius, Pose::from_translation(normal * radius), smooth());
        run(&mut world, 0.4);
        // Without friction it slides down the plane.
        let down = DVec3::NEG_Z - normal * DVec3::NEG_Z.dot(normal);
        let expected = normal * radius + down * (0.5 * support::G * 0.4 * 0.4);
        let p = world.body_pose(ball).unwrap().translation;
        assert!((p - expected).length() < 0.01 * (expected.length() + 0.1), "{p} {expected}");
        assert!((p.dot(normal) - radius).abs() < 1e-5, "{p}");
    }
}

#[test]
fn boxes_slide_over_the_edges_of_a_mesh() {
    let mut world = World::new(WorldSettings::default()).unwrap();
    world.add_shape(Owner::World, &CollisionShape::new("floor", floor()).of(smooth())).unwrap();
    let half = DVec3::new(0.1, 0.1, 0.05);
    let start = at(-1.0, -0.9, half.z);
    let body = support::add_box(&mut world, half, start, smooth());
    let ahead = forks_sim::lie::Twist::new(DVec3::new(1.0, 0.9, 0.0), DVec3::ZERO);
    world.set_body(body, start, ahead).unwrap();
    run(&mut world, 1.5);
    let pose = world.body_pose(body).unwrap();
    let expected = DVec3::new(0.5, 0.45, half.z);
    assert!((pose.translation - expected).length() < 1e-3, "{pose:?}");
}

#[test]
fn forms_that_are_none_are_refused_by_name() {
    let mut world = World::new(WorldSettings::default()).unwrap();
    let body = RigidBody::at_rest("b", ball_inertia(1.0, 0.1), Pose::IDENTITY);
    let body = world.add_body(&body).unwrap();
    let mut refused = |owner, form: Geometry| {
        world.add_shape(owner, &CollisionShape::new("odd", form)).unwrap_err().to_string()
    };
    let x = DVec3::X;
    let field = |columns, heights| Geometry::HeightField { size: DVec2::ONE, columns, heights };
    let mesh = |triangles| Geometry::Mesh { vertices: vec![x, DVec3::Y, DVec3::Z], triangles };
    for (owner, form, words) in [
        (Owner::World, Geometry::Sphere { radius: -1.0 }, "the radius is -1"),
        (Owner::World, Geometry::Sphere { radius: f64::NAN }, "the radius is NaN"),
        (Owner::Body(body), Geometry::Plane, "plane can only belong to the world"),
        (Owner::Body(body), floor(), "mesh can only belong to the world"),
        (Owner::World, Geometry::Hull { points: vec![] }, "in one plane (at 0)"),
        (Owner::World, Geometry::Hull { points: vec![x; 9] }, "in one plane (at 9)"),
        (Owner::World, Geometry::Hull { points: vec![x / 0.0; 9] }, "not finite (at 0)"),
        (Owner::World, mesh(vec![[0, 1, 7]]), "no vertex (at 0)"),
        (Owner::World, mesh(vec![[0, 1, 2], [0, 1, 1]]), "no area (at 1)"),
        (Owner::World, mesh(vec![]), "no mesh"),
        (Owner::World, field(0, vec![]), "two whole rows"),
        (Owner::World, field(2, vec![0.0; 5]), "two whole rows"),
        (Owner::World, field(2, vec![0.0, 1.0, f64::NAN, 0.0]), "not finite (at 2)"),
    ] {
        let said = refused(owner, form);
        assert!(said.contains(words) && said.contains("\"odd\""), "{said}");
    }
    let mut rough = CollisionShape::new("odd", Geometry::Plane);
    rough.material.restitution = 1.5;
    let said = world.add_shape(Owner::World, &rough).unwrap_err();
    assert!(matches!(said, SimError::OutOfRange { value: 1.5, .. }), "{said}");
    let settings = WorldSettings { substeps: 0, ..WorldSettings::default() };
    assert!(World::new(settings).unwrap_err().to_string().contains("substeps"));
}
