//! Discs that roll, wobble and fall over on their rims.
//!
//! Contact points of a step's start held a rim that touches in others at its end: discs of 25 mm
//! sank in by 2 mm, and what took the overlap away gave them energy.

use std::f64::consts::PI;

use forks_lie::SplitMix64;
use forks_sim::{
    CollisionShape, Geometry, Material, Owner, RigidBody, World, WorldSettings, WorldStatus,
    lie::{
        Pose, SpatialInertia, Twist,
        glam::{DMat3, DQuat, DVec3},
    },
};

/// A disc of 0.1 kg.
struct Disc {
    radius: f64,
    half: f64,
    /// Of the disc's plane from the vertical, rad.
    tilt: f64,
    /// About the vertical and in the rolling direction, rad/s.
    spin: f64,
    roll: f64,
}

impl Disc {
    /// Height of the centre above the lowest point, from the axis' vertical component alone.
    fn height(&self, axis: DVec3) -> f64 {
        self.radius * (1.0 - axis.z * axis.z).max(0.0).sqrt() + self.half * axis.z.abs()
    }

    /// Largest overlap over time with the ground at z = 0, m, and how far the energy was above its
    /// start, relative to it.
    fn run(&self, ground: &CollisionShape, h: f64, time: f64) -> [f64; 2] {
        let mut world = World::new(WorldSettings { step: h, ..WorldSettings::default() }).unwrap();
        let material = Material::with_friction(0.8);
        world.add_shape(Owner::World, &ground.clone().of(material)).unwrap();
        let (m, r, l) = (0.1, self.radius, self.half);
        let across = m * (3.0 * r * r + 4.0 * l * l) / 12.0;
        let moments = DVec3::new(across, across, 0.5 * m * r * r);
        let inertia = SpatialInertia::new(m, DVec3::ZERO, DMat3::from_diagonal(moments));
        let rotation = DQuat::from_rotation_x(0.5 * PI + self.tilt);
        let start = DVec3::new(0.0, 0.0, self.height(rotation * DVec3::Z) + 1e-6);
        let pose = Pose::new(rotation, start);
        let linear = rotation.conjugate() * DVec3::X * (self.roll * r);
        let angular = rotation.conjugate() * DVec3::new(0.0, self.roll, self.spin);
        let twist = Twist::new(linear, angular);
        let body = RigidBody { name: "disc".into(), inertia, pose, twist };
        let body = world.add_body(&body).unwrap();
        let form = Geometry::Cylinder { radius: r, half_length: l };
        world
            .add_shape(Owner::Body(body), &CollisionShape::new("disc", form).of(material))
            .unwrap();
        let first = world.energy().total();
        let (mut overlap, mut most): (f64, f64) = (0.0, first);
        for k in 0..(time / h).round() as usize {
            let status = world.step().status;
            assert_eq!(status, WorldStatus::Completed, "step {k}");
            let pose = world.body_pose(body).unwrap();
            overlap = overlap.max(self.height(pose.rotation * DVec3::Z) - pose.translation.z);
            most = most.max(world.energy().total());
        }
        [overlap, (most - first) / first]
    }
}

#[test]
fn a_disc_rolls_on_its_rim_without_sinking_in_or_gaining_energy() {
    let plane = CollisionShape::new("ground", Geometry::Plane);
    // Steps of the requirement; at 5 ms impacts, after which discs turn in other ways, let rims in
    // by more.
    for (tilt, spin, roll) in [
        (0.0, 0.0, 20.0),
        (0.17, 0.0, 20.0),
        (0.35, 3.0, 10.0),
        (0.7, 20.0, 5.0),
        (1.05, 30.0, 0.0),
    ] {
        for half in [2e-4, 2e-3, 1e-2] {
            for h in [1e-3, 2e-3] {
                let disc = Disc { radius: 0.025, half, tilt, spin, roll };
                let [overlap, growth] = disc.run(&plane, h, 2.0);
                println!("tilt {tilt} half {half} h {h}: overlap {overlap:e}, growth {growth:e}");
                assert!(overlap < 1e-4 && growth < 1e-3);
            }
        }
    }
}

#[test]
fn discs_of_all_sizes_stay_on_planes_and_boxes() {
    let mut random = SplitMix64::new(16);
    let (mut deepest, mut grown): (f64, f64) = (0.0, 0.0);
    for k in 0..60 {
        let radius = 5e-3 * 200f64.powf(random.uniform());
        let scale = (0.025 / radius).sqrt();
        let disc = Disc {
            radius,
            half: radius * 10f64.powf(random.range(-2.0, 0.3)),
            tilt: random.range(0.0, 1.2),
            spin: random.range(-30.0, 30.0) * scale,
            roll: random.range(-25.0, 25.0) * scale,
        };
        let half_extents = DVec3::new(50.0, 50.0, 0.5);
        let ground = match k % 2 {
            0 => CollisionShape::new("ground", Geometry::Plane),
            _ => CollisionShape::new("ground", Geometry::Box { half_extents })
                .at(Pose::from_translation(DVec3::new(0.0, 0.0, -0.5))),
        };
        let [overlap, growth] = disc.run(&ground, 2e-3, 2.0);
        assert!(
            overlap < 0.01 * radius && growth < 1e-3,
            "{k}: {overlap:e} of {radius}, {growth:e}"
        );
        deepest = deepest.max(overlap / radius);
        grown = grown.max(growth);
    }
    println!("overlap {deepest:e} of the radius, growth {grown:e}");
}
