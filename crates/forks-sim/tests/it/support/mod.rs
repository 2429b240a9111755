//! Bodies and worlds that several tests use.

use forks_dynamics::{
    Loads, WrenchFrame,
    statics::{Equilibrium, EquilibriumOptions},
};
use forks_reduce::Problem;
use forks_sim::{
    BodyHandle, CollisionShape, Geometry, Material, MechanismHandle, Owner, RigidBody, World,
    WorldSettings, WorldStatus,
    lie::{
        Pose, SpatialInertia, Wrench,
        glam::{DMat3, DQuat, DVec3},
    },
    rom::{EffectorLoad, LoadFrame, StaticSolution, StaticStatus},
};

pub(crate) const G: f64 = 9.81;

pub(crate) fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(DVec3::new(x, y, z))
}

/// A homogeneous box.
pub(crate) fn box_inertia(mass: f64, half: DVec3) -> SpatialInertia {
    let [x, y, z] = (half * half).to_array();
    let moments = DVec3::new(y + z, x + z, x + y) * (mass / 3.0);
    SpatialInertia::new(mass, DVec3::ZERO, DMat3::from_diagonal(moments))
}

/// A homogeneous ball.
pub(crate) fn ball_inertia(mass: f64, radius: f64) -> SpatialInertia {
    let moment = 0.4 * mass * radius * radius;
    SpatialInertia::new(mass, DVec3::ZERO, DMat3::from_diagonal(DVec3::splat(moment)))
}

pub(crate) fn add_box(world: &mut World, half: DVec3, pose: Pose, m: Material) -> BodyHandle {
    let body = RigidBody::at_rest("box", box_inertia(1.0, half), pose);
    let body = world.add_body(&body).unwrap();
    let shape = CollisionShape::new("box", Geometry::Box { half_extents: half }).of(m);
    world.add_shape(Owner::Body(body), &shape).unwrap();
    body
}

pub(crate) fn add_ball(world: &mut World, radius: f64, pose: Pose, m: Material) -> BodyHandle {
    let body = RigidBody::at_rest("ball", ball_inertia(1.0, radius), pose);
    let body = world.add_body(&body).unwrap();
    let shape = CollisionShape::new("ball", Geometry::Sphere { radius }).of(m);
    world.add_shape(Owner::Body(body), &shape).unwrap();
    body
}

/// A world with a ground that is tilted by an angle about y: downhill is +x.
pub(crate) fn tilted(settings: WorldSettings, angle: f64, material: Material) -> World {
    let mut world = World::new(settings).unwrap();
    let pose = Pose::from_rotation(DQuat::from_rotation_y(angle));
    let ground = CollisionShape::new("ground", Geometry::Plane).at(pose).of(material);
    world.add_shape(Owner::World, &ground).unwrap();
    world
}

pub(crate) fn smooth() -> Material {
    Material::with_friction(0.0)
}

/// Steps for a time, each as exactly as asked.
pub(crate) fn run(world: &mut World, time: f64) {
    run_watched(world, time, |_| {});
}

/// The same with a look at the world after every step.
pub(crate) fn run_watched(world: &mut World, time: f64, mut watch: impl FnMut(&World)) {
    let steps = (time / world.settings().step).round() as usize;
    let mut sweeps = 0;
    for i in 0..steps {
        let report = world.step();
        assert_eq!(report.status, WorldStatus::Completed, "step {i}: {report:?}");
        watch(world);
        sweeps += report.sweeps;
    }
    println!("{} sweeps per step", sweeps / steps.max(1));
}

/// Steps until the mechanism rests.
pub(crate) fn settle(world: &mut World, m: MechanismHandle, limit: f64) {
    let steps = (limit / world.settings().step) as usize;
    for _ in 0..steps {
        let report = world.step();
        assert!(matches!(report.status, WorldStatus::Completed | WorldStatus::ContactInexact));
        let velocity = world.velocities(m).unwrap();
        if world.step_count() > 1000 && velocity.iter().all(|v| v.abs() < 1e-8) {
            println!("rests at {} s", world.time());
            return;
        }
    }
    let velocity = world.velocities(m).unwrap();
    panic!("it does not come to rest: {velocity:?}, {:?}", world.contacts());
}

/// The equilibrium of a problem under a dead force at its first effector, and the loads there.
pub(crate) fn pulled(problem: &Problem, force: DVec3) -> (Equilibrium, Loads) {
    let e = &problem.effectors[0];
    let loads = Loads::none().with(e.applied(Wrench::new(force, DVec3::ZERO), WrenchFrame::World));
    let at = problem.equilibrium(&loads, &EquilibriumOptions::default());
    assert!(at.status.is_equilibrium());
    (at, loads)
}

/// A world without gravity with one mechanism, and a ball at its first effector.
pub(crate) fn ball_at_tip(
    radius: f64,
    step: f64,
    add: impl FnOnce(&mut World) -> MechanismHandle,
) -> (World, MechanismHandle) {
    let mut settings = WorldSettings { step, gravity: DVec3::ZERO, ..WorldSettings::default() };
    settings.contact.tolerance = 1e-12;
    let mut world = World::new(settings).unwrap();
    let m = add(&mut world);
    let tip = Owner::Effector { mechanism: m, effector: 0 };
    let shape = CollisionShape::new("tip", Geometry::Sphere { radius }).of(smooth());
    world.add_shape(tip, &shape).unwrap();
    (world, m)
}

/// The force along z that holds the first effector at `height` against a pull down, by bisection,
/// and the coordinates there.
pub(crate) fn force_that_holds(
    pull: f64,
    height: f64,
    solve: impl Fn(EffectorLoad) -> StaticSolution,
    height_of: impl Fn(&[f64]) -> f64,
) -> (f64, Vec<f64>) {
    let at_rest = |up: f64| {
        let wrench = Wrench::new(DVec3::new(0.0, 0.0, up - pull), DVec3::ZERO);
        let found = solve(EffectorLoad { effector: 0, wrench, frame: LoadFrame::World });
        assert_eq!(found.status, StaticStatus::Converged);
        found.coordinates
    };
    let (mut low, mut high) = (0.0, pull);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if height_of(&at_rest(middle)) < height { low = middle } else { high = middle }
    }
    (low, at_rest(low))
}
