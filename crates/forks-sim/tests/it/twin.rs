//! Full mechanisms in worlds, against the full solver alone, closed forms and reduced models.

use std::sync::Arc;

use crate::support::{self, G, add_ball, at, smooth};
use forks_dynamics::integrate::{Integrator, Simulation, SimulationOptions};
use forks_mechanism::{
    Frame, Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder, Preparation, Servo,
    Transmission, kinematics::loops,
};
use forks_models::{HelixJoints, Parametric, four_bar, helix, irregular_ladder, ladder};
use forks_record::compare::{Subject, compare, compare_driven};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_sim::{
    CollisionShape, Geometry, Material, MechanismHandle, Owner, RigidBody, World, WorldSettings,
    WorldStatus,
    lie::{
        Pose, SpatialInertia, Twist, Wrench,
        glam::{DMat3, DQuat, DVec3},
    },
    rom::LoadFrame,
    twin::{FullMechanism, Gravity},
};

const RADIUS: f64 = 0.03;

/// Largest difference of two lists.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

fn step(world: &mut World) {
    let report = world.step();
    let good = [WorldStatus::Completed, WorldStatus::ContactInexact];
    assert!(good.contains(&report.status), "{report:?}");
}

pub(crate) fn full(m: &Mechanism, effector: &str) -> FullMechanism {
    let preparation = Preparation { servos: true, ..Preparation::default() };
    FullMechanism::new(m, &preparation, &[effector]).unwrap()
}

pub(crate) fn world(step: f64, gravity: DVec3) -> World {
    let mut settings = WorldSettings { step, gravity, ..WorldSettings::default() };
    settings.contact.tolerance = 1e-12;
    settings.contact.max_sweeps = 1000;
    World::new(settings).unwrap()
}

fn tip(mechanism: MechanismHandle) -> Owner {
    Owner::Effector { mechanism, effector: 0 }
}

fn add_tip(world: &mut World, m: MechanismHandle, material: Material) {
    let ball = CollisionShape::new("tip", Geometry::Sphere { radius: RADIUS }).of(material);
    world.add_shape(tip(m), &ball).unwrap();
}

/// A plane through a point with a normal.
fn add_plane(world: &mut World, point: DVec3, normal: DVec3, material: Material) {
    let pose = Pose::new(DQuat::from_rotation_arc(DVec3::Z, normal), point);
    let plane = CollisionShape::new("plane", Geometry::Plane).at(pose).of(material);
    world.add_shape(Owner::World, &plane).unwrap();
}

fn speed(world: &World, m: MechanismHandle) -> f64 {
    world.velocities(m).unwrap().iter().fold(0.0, |m, v| m.max(v.abs()))
}

/// Steps until the mechanism rests.
pub(crate) fn settle(world: &mut World, m: MechanismHandle, limit: f64) {
    let steps = (limit / world.settings().step) as usize;
    for i in 0..steps {
        step(world);
        if i > 100 && speed(world, m) < 1e-10 {
            println!("rests after {} s", world.time());
            return;
        }
    }
    panic!("moves at {:e} after {} s", speed(world, m), world.time());
}

/// World and solver side by side: largest difference of positions over the largest displacement.
fn against_the_solver(joints: HelixJoints, wrench: Wrench, h: f64, time: f64) -> f64 {
    let helix = helix(20, joints);
    let m = &helix.mechanism;
    let mut world = world(h, DVec3::ZERO);
    let placement = Pose::new(DQuat::from_rotation_y(0.4), DVec3::new(1.0, 2.0, 3.0));
    let full = full(m, &m.link(helix.effectors[0]).name).under(Gravity::Off);
    let id = world.add_full("helix", &full, placement).unwrap();
    world.set_effector_load(id, 0, wrench, LoadFrame::Body).unwrap();

    let options = SimulationOptions {
        integrator: Integrator::Implicit,
        gravity: false,
        ..SimulationOptions::default()
    };
    let start = m.start_positions();
    let mut solver = Simulation::new(m, &start, &vec![0.0; m.tree_velocity_count()], options);
    let mut external = vec![Wrench::ZERO; m.links().len()];
    external[helix.effectors[0].index()] = wrench;
    solver.set_loads(&vec![0.0; m.tree_velocity_count()], &external);
    let (mut worst, mut moved) = (0.0f64, 0.0f64);
    for _ in 0..(time / h).round() as usize {
        step(&mut world);
        assert_eq!(solver.step(h).name(), "completed");
        let q = &solver.state().q;
        worst = worst.max(apart(world.coordinates(id).unwrap(), q));
        moved = moved.max(apart(q, &start));
    }
    assert_eq!(solver.statistics().rejected, 0);
    worst / moved
}

#[test]
fn without_contact_a_full_mechanism_moves_as_the_solver_alone() {
    let wrench = Wrench::new(DVec3::new(3.0, 5.0, -20.0), DVec3::ZERO);
    for joints in [HelixJoints::Alternating, HelixJoints::Hinge3] {
        let errors = [2e-3, 1e-3, 5e-4].map(|h| against_the_solver(joints, wrench, h, 0.2));
        println!("{joints:?}: 0.2 s {errors:?}");
        // The step's matrix is symmetric here, and the load turns with the tip: what is left out is
        // of the order h.
        assert!(errors[2] < 1e-3 && errors[1] < 0.6 * errors[0] && errors[2] < 0.6 * errors[1]);
    }
}

#[test]
fn a_helix_pressed_gently_carries_what_its_reduced_model_does() {
    let helix = helix(20, HelixJoints::Hinge3);
    let m = &helix.mechanism;
    let name = m.link(helix.effectors[0]).name.clone();
    let problem = Problem::new(m, &[&name], &ProblemOptions::default()).unwrap();
    let model =
        Arc::new(problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap().model);
    let rest = model.data().effectors[0].rest.translation.z;
    let placement = Pose::new(DQuat::from_rotation_z(0.7), DVec3::new(1.0, -2.0, 0.5));
    let built = |is_full: bool| {
        let mut world = world(0.02, DVec3::ZERO);
        let m = match is_full {
            true => world.add_full("helix", &FullMechanism::of(&problem), placement),
            false => world.add_mechanism("helix", model.clone(), placement),
        };
        let m = m.unwrap();
        add_tip(&mut world, m, smooth());
        let ground = DVec3::Z * (rest - RADIUS - 5e-5 + 0.5);
        add_plane(&mut world, ground, DVec3::Z, smooth());
        let pull = Wrench::new(DVec3::new(0.0, 0.0, -0.01), DVec3::ZERO);
        world.set_effector_load(m, 0, pull, LoadFrame::World).unwrap();
        (world, m)
    };
    let [(mut reduced, m), (mut full, _)] = [built(false), built(true)];
    let subject = Subject { owner: tip(m), size: 1e-4 };
    let way = compare(&mut reduced, &mut full, 1000, &[subject]).unwrap();
    let [ours, twin] = [&reduced, &full].map(|w| w.contact_force(tip(m)).z);
    let d = way.deviations[0];
    println!("forces {ours} and {twin}, apart by {:e}; {d:?}", (ours - twin) / twin);
    assert!(twin > 0.002 && speed(&full, m) < 1e-6);
    assert!((ours - twin).abs() < 1e-3 * twin);
    assert!(d.last_position < 1e-2);
}

/// A rod on a hinge about y at the origin that hangs down, with a servo.
pub(crate) fn finger() -> Mechanism {
    let mut b = MechanismBuilder::new("finger");
    b.set_gravity(DVec3::new(0.0, 0.0, -G));
    let moments = DMat3::from_diagonal(DVec3::new(2e-4, 2e-4, 1e-5));
    let inertia = SpatialInertia::new(0.2, DVec3::new(0.0, 0.0, -0.06), moments);
    let rod = b.add_link(Link::new("rod").with_inertia(inertia));
    let hinge = JointKind::Revolute { axis: DVec3::Y };
    let hinge = b.add_joint(Joint::new("hinge", hinge, LinkId::WORLD, rod).with_damping(0.01));
    b.add_servo(Servo {
        name: "servo".into(),
        transmission: Transmission::Joint,
        combination: forks_mechanism::Combination::of(hinge),
        stiffness: 2.0,
        damping: 0.1,
    });
    let end = Pose::from_translation(DVec3::new(0.0, 0.0, -0.1));
    b.add_frame(Frame { name: "tip".into(), link: rod, link_from_frame: end });
    b.build().unwrap()
}

#[test]
fn a_finger_presses_a_wall_as_torques_about_its_hinge_say() {
    let finger = finger();
    let mut world = world(1e-3, DVec3::new(0.0, 0.0, -G));
    // Leaning forward by `lean` about the hinge's axis, after a turn about the vertical one.
    let lean = 0.3;
    let turn = DQuat::from_rotation_z(0.5) * DQuat::from_rotation_y(lean);
    let placement = Pose::new(turn, DVec3::new(1.0, 2.0, 3.0));
    let m = world.add_full("finger", &full(&finger, "site:tip"), placement).unwrap();
    add_tip(&mut world, m, smooth());
    // The tip moves to −x for positive angles; the wall stands there.
    let wall = 0.08;
    let point = placement.transform_point(DVec3::new(-wall, 0.0, 0.0));
    let normal = turn * DVec3::X;
    add_plane(&mut world, point, normal, smooth());
    for target in [0.7, 1.2, 0.9] {
        world.set_servo_targets(m, &[target]).unwrap();
        settle(&mut world, m, 5.0);
        let angle = ((wall - RADIUS) / 0.1f64).asin();
        let torque = 2.0 * (target - angle) - 0.2 * G * 0.06 * (angle + lean).sin();
        let force = torque / (0.1 * angle.cos());
        let found = world.contact_force(tip(m));
        let q = world.coordinates(m).unwrap()[0];
        println!("{found} against {force}; angle {q} against {angle}");
        assert!((found - normal * force).length() < 1e-6 * force);
        assert!((q - angle).abs() < 1e-7);
        let center = turn * (DQuat::from_rotation_y(q) * DVec3::new(0.0, 0.0, -0.06));
        let weight = 0.2 * G * (center.z + placement.translation.z);
        assert!((world.energy().gravitational - weight).abs() < 1e-12 * weight);
    }
}

#[test]
fn a_limit_holds_a_finger_against_its_servo() {
    let finger = finger();
    let mut world = world(1e-3, DVec3::new(0.0, 0.0, -G));
    let m = world.add_full("finger", &full(&finger, "site:tip"), Pose::IDENTITY).unwrap();
    let limit = world.add_limit(m, "hinge", 0, -0.2, 0.3).unwrap();
    for (target, stop) in [(0.8, 0.3), (-0.7, -0.2)] {
        world.set_servo_targets(m, &[target]).unwrap();
        settle(&mut world, m, 5.0);
        let angle = world.joint_coordinate(m, "hinge", 0).unwrap();
        let torque = 2.0 * (target - stop) - 0.2 * G * 0.06 * f64::sin(stop);
        let found = world.limit_force(limit).unwrap();
        println!("{angle}; {found} against {torque}");
        assert!((angle - stop).abs() < 1e-9 && (found + torque).abs() < 1e-6 * torque.abs());
    }
}

#[test]
fn joints_of_loops_count_as_in_the_reduced_model() {
    let p = four_bar();
    let name = p.mechanism.link(p.effectors[0]).name.clone();
    let problem = Problem::new(&p.mechanism, &[&name], &ProblemOptions::default()).unwrap();
    let model =
        Arc::new(problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap().model);
    let mut world = world(1e-3, DVec3::ZERO);
    let reduced = world.add_mechanism("reduced", model, Pose::IDENTITY).unwrap();
    let full = FullMechanism::of(&problem).under(Gravity::Off);
    let full = world.add_full("full", &full, Pose::IDENTITY).unwrap();
    let push = Wrench::new(DVec3::new(0.5, 0.0, 0.3), DVec3::ZERO);
    for m in [reduced, full] {
        world.set_effector_load(m, 0, push, LoadFrame::World).unwrap();
    }
    let before = ["crank", "coupler", "rocker", "closure"]
        .map(|j| [reduced, full].map(|m| world.joint_coordinate(m, j, 0).unwrap()));
    (0..500).for_each(|_| step(&mut world));
    for (j, before) in ["crank", "coupler", "rocker", "closure"].iter().zip(before) {
        let after = [reduced, full].map(|m| world.joint_coordinate(m, j, 0).unwrap());
        let moved = after[1] - before[1];
        println!("{j}: {before:?} to {after:?}");
        assert!((before[0] - before[1]).abs() < 1e-12);
        assert!(moved.abs() > 1e-6 && (after[0] - after[1]).abs() < 0.01 * moved.abs());
    }
}

/// Largest residual of the loop equations.
fn gap(m: &Mechanism, q: &[f64]) -> f64 {
    loops::constraint_residual(m, q, &m.link_poses(q)).iter().fold(0.0, |m, x| m.max(x.abs()))
}

#[test]
fn mechanisms_with_loops_keep_them_in_contact_and_rest() {
    let cases: [(Parametric, DVec3); 3] = [
        (four_bar(), DVec3::new(0.0, 0.0, -0.002)),
        (ladder(5), DVec3::new(0.01, 0.0, 0.0)),
        (irregular_ladder(5), DVec3::new(0.01, 0.0, 0.0)),
    ];
    for (p, toward) in cases {
        let mut b = MechanismBuilder::from_mechanism(&p.mechanism);
        b.set_gravity(DVec3::new(0.0, 0.0, -G));
        let mechanism = b.build().unwrap();
        let name = mechanism.link(p.effectors[0]).name.clone();
        let mut world = world(5e-3, DVec3::new(0.0, 0.0, -G));
        let m = world.add_full(mechanism.name(), &full(&mechanism, &name), Pose::IDENTITY).unwrap();
        add_tip(&mut world, m, Material::with_friction(0.3));
        let start = world.effector_pose(m, 0).unwrap().translation;
        let direction = toward.normalize();
        let wall = start + toward + direction * RADIUS;
        add_plane(&mut world, wall, -direction, Material::with_friction(0.3));
        let pull = Wrench::new(direction * 400.0, DVec3::ZERO);
        world.set_effector_load(m, 0, pull, LoadFrame::World).unwrap();
        let (mut worst, mut steps) = (0.0f64, 0);
        while steps < 200 || (speed(&world, m) > 1e-8 && steps < 20_000) {
            step(&mut world);
            steps += 1;
            worst = worst.max(gap(&mechanism, world.coordinates(m).unwrap()));
        }
        let force = world.contact_force(tip(m));
        let [motions, tree] = [world.velocities(m).unwrap().len(), mechanism.tree_velocity_count()];
        println!(
            "{}: {motions} motions of {tree}; gap {worst:e}, rests after {steps} steps, {force}",
            mechanism.name()
        );
        assert!(motions < tree && worst < 1e-8 && speed(&world, m) <= 1e-8);
        assert!(force.dot(-direction) > 1.0);
    }
}

#[test]
fn a_cube_dropped_on_a_helix_finds_no_energy_in_it() {
    let helix = helix(20, HelixJoints::Hinge3);
    let m = &helix.mechanism;
    let mut world = World::new(WorldSettings::default()).unwrap();
    let full = full(m, &m.link(helix.effectors[0]).name).under(Gravity::Off);
    let m = world.add_full("helix", &full, Pose::IDENTITY).unwrap();
    let dish = Geometry::Box { half_extents: DVec3::new(0.3, 0.3, 0.01) };
    let dish = CollisionShape::new("dish", dish).of(Material::with_friction(0.9));
    world.add_shape(tip(m), &dish).unwrap();
    let rest = world.effector_pose(m, 0).unwrap().translation;
    let start = Pose::from_translation(rest + DVec3::new(0.0, 0.0, 0.1));
    let cube = support::add_box(&mut world, DVec3::splat(0.05), start, smooth());
    let before = world.energy().total();
    let after_a_step = |_| {
        step(&mut world);
        world.energy().total()
    };
    let record: Vec<f64> = (0..1000).map(after_a_step).collect();
    let highest = record.iter().copied().fold(f64::MIN, f64::max);
    let grown = record.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
    let local = world.effector_pose(m, 0).unwrap().inverse() * world.body_pose(cube).unwrap();
    println!("energy {before} J, then at most {highest}; largest growth {grown:e}; {local:?}");
    assert!(highest <= before + 1e-9 * G);
    assert!((local.translation.z - 0.06).abs() < 1e-3);
}

/// Two rods joined by a sprung hinge, floating.
fn floating() -> Mechanism {
    let mut b = MechanismBuilder::new("floating");
    let moments = DMat3::from_diagonal(DVec3::new(1e-3, 3e-3, 3e-3));
    let inertia = SpatialInertia::new(0.5, DVec3::new(0.1, 0.02, 0.0), moments);
    let [first, second] =
        ["first", "second"].map(|n| b.add_link(Link::new(n).with_inertia(inertia)));
    b.add_joint(Joint::new("free", JointKind::Free, LinkId::WORLD, first));
    let hinge = JointKind::Revolute { axis: DVec3::new(0.0, 0.6, 0.8) };
    let end = Pose::from_translation(DVec3::new(0.2, 0.0, 0.0));
    b.add_joint(Joint::new("hinge", hinge, first, second).at(end).with_stiffness(5.0));
    b.build().unwrap()
}

/// Linear and angular momentum lost in a collision with a ball, over what the ball brought.
fn lost_momentum(h: f64) -> [f64; 2] {
    let mut world = world(h, DVec3::ZERO);
    let m = world.add_full("rods", &full(&floating(), "second"), Pose::IDENTITY).unwrap();
    add_tip(&mut world, m, Material::with_friction(0.3));
    let start = at(0.2, 0.01, 0.2);
    let ball = add_ball(&mut world, 0.05, start, Material::with_friction(0.3));
    let speed = DVec3::new(0.3, 0.0, -2.0);
    world.set_body(ball, start, Twist::new(speed, DVec3::ZERO)).unwrap();
    let total = |w: &World| {
        let (a, b) = w.body_momentum(ball).unwrap();
        let (c, d) = w.mechanism_momentum(m).unwrap().unwrap();
        [a + c, b + d]
    };
    let before = total(&world);
    let mut hit = false;
    for _ in 0..(0.3 / h).round() as usize {
        step(&mut world);
        hit |= world.contact_force(tip(m)).length() > 0.0;
    }
    assert!(hit);
    let after = total(&world);
    [0, 1].map(|i| (after[i] - before[i]).length() / before[i].length())
}

#[test]
fn momentum_is_kept_in_a_collision_to_first_order() {
    let lost = [2e-3, 1e-3, 5e-4].map(lost_momentum);
    println!("momentum lost: {lost:?}");
    for i in 0..2 {
        assert!(lost[2][i] < 0.7 * lost[1][i] && lost[1][i] < 0.7 * lost[0][i]);
        assert!(lost[2][i] < 1e-2);
    }
}

#[test]
fn a_snapshot_of_a_full_world_goes_on_with_the_same_bits() {
    let p = irregular_ladder(2);
    let name = p.mechanism.link(p.effectors[0]).name.clone();
    let mut world = World::new(WorldSettings::default()).unwrap();
    let m = world.add_full("ladder", &full(&p.mechanism, &name), Pose::IDENTITY).unwrap();
    add_tip(&mut world, m, Material::default());
    let start = world.effector_pose(m, 0).unwrap().translation;
    let below = start - DVec3::Z * (RADIUS + 1e-4) + DVec3::X * 0.05;
    add_plane(&mut world, below, DVec3::new(-0.2, 0.0, 1.0).normalize(), Material::default());
    let pull = Wrench::new(DVec3::new(50.0, 0.0, 0.0), DVec3::ZERO);
    world.set_effector_load(m, 0, pull, LoadFrame::World).unwrap();
    (0..50).for_each(|_| step(&mut world));
    let snapshot = world.snapshot();
    let end = |world: &mut World| {
        (0..100).for_each(|_| step(world));
        world.snapshot()
    };
    let first = end(&mut world);
    world.restore(&snapshot).unwrap();
    assert!(end(&mut world) == first);
    assert!(first != snapshot);
}

#[test]
fn what_does_not_fit_is_named() {
    let finger = finger();
    let mut world = World::new(WorldSettings::default()).unwrap();
    let wrong = full(&finger, "rod").from_positions(&[]);
    let error = world.add_full("finger", &wrong, Pose::IDENTITY).unwrap_err().to_string();
    assert!(error.contains("\"finger\"") && error.contains("start positions"), "{error}");
    let wrong = full(&finger, "rod").from_positions(&[f64::NAN]);
    let error = world.add_full("finger", &wrong, Pose::IDENTITY).unwrap_err().to_string();
    assert!(error.contains("a start position is NaN"), "{error}");
    let right = world.add_full("finger", &full(&finger, "rod"), Pose::IDENTITY).unwrap();
    let owner = tip(right);
    let mut other = world.clone();
    let error = compare(&mut world, &mut other, 1, &[Subject { owner, size: 0.0 }]).unwrap_err();
    assert!(error.to_string().contains("the size is 0"), "{error}");
    assert_eq!(world.failure(right).unwrap(), None);
}

/// Two fingers of two links each that hang down on both sides of the z axis, hinges y, servos at
/// all of them.
fn gripper() -> Mechanism {
    let mut b = MechanismBuilder::new("gripper");
    b.set_gravity(DVec3::ZERO);
    let (down, moments) = (DVec3::new(0.0, 0.0, -0.025), DMat3::from_diagonal(DVec3::splat(2e-5)));
    let inertia = SpatialInertia::new(0.05, down, moments);
    for (side, x) in [("left", -0.07), ("right", 0.07)] {
        let mut parent = LinkId::WORLD;
        let mut at = Pose::from_translation(DVec3::new(x, 0.0, 0.0));
        for k in 0..2 {
            let name = format!("{side}{k}");
            let link = b.add_link(Link::new(&name).with_inertia(inertia));
            let kind = JointKind::Revolute { axis: DVec3::Y };
            let hinge = Joint::new(&name, kind, parent, link).at(at).with_damping(0.01);
            let hinge = b.add_joint(hinge);
            b.add_servo(Servo {
                name,
                transmission: Transmission::Joint,
                combination: forks_mechanism::Combination::of(hinge),
                stiffness: 5.0,
                damping: 0.05,
            });
            (parent, at) = (link, Pose::from_translation(down * 2.0));
        }
        let end = Frame { name: side.into(), link: parent, link_from_frame: at };
        b.add_frame(end);
    }
    b.build().unwrap()
}

#[test]
fn a_gripped_ball_stays_where_the_reduced_gripper_holds_it() {
    let gripper = gripper();
    let options = ProblemOptions::default();
    let problem = Problem::new(&gripper, &["site:left", "site:right"], &options).unwrap();
    let model =
        Arc::new(problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap().model);
    assert_eq!(model.data().servos, ["left0", "left1", "right0", "right1"]);
    let (tip_radius, radius) = (0.01, 0.05);
    let built = |is_full: bool| {
        let mut world = World::new(WorldSettings::default()).unwrap();
        let m = match is_full {
            // The reduced model knows no gravity.
            true => {
                let full = FullMechanism::of(&problem).under(Gravity::Own);
                world.add_full("gripper", &full, Pose::IDENTITY)
            }
            false => world.add_mechanism("gripper", model.clone(), Pose::IDENTITY),
        };
        let mechanism = m.unwrap();
        let surface = Material::with_friction(0.8);
        for effector in 0..2 {
            let form = Geometry::Sphere { radius: tip_radius };
            let tip = CollisionShape::new("tip", form).of(surface);
            world.add_shape(Owner::Effector { mechanism, effector }, &tip).unwrap();
        }
        let half = DVec3::new(0.05, 0.02, 0.02);
        let inertia = support::box_inertia(0.1, half);
        let body = RigidBody::at_rest("box", inertia, at(0.0, 0.0, -0.1));
        let body = world.add_body(&body).unwrap();
        let shape = CollisionShape::new("box", Geometry::Box { half_extents: half }).of(surface);
        world.add_shape(Owner::Body(body), &shape).unwrap();
        (world, mechanism, Owner::Body(body))
    };
    let [(mut reduced, m, body), (mut twin, ..)] = [built(false), built(true)];
    let subjects = [Subject { owner: body, size: radius }, Subject { owner: tip(m), size: radius }];
    // The fingers close within 50 ms, gravity pulls from the start: friction catches the box.
    let squeeze = |world: &mut World, step: usize| {
        let s = 0.3 * (step as f64 / 50.0).min(1.0);
        world.set_servo_targets(m, &[-s, -s, s, s])
    };
    let way = compare_driven(&mut reduced, &mut twin, 1000, &subjects, squeeze).unwrap();
    let later = compare(&mut reduced, &mut twin, 1000, &subjects).unwrap();
    println!("{way:?}\n{later:?}");
    assert_eq!((way.steps, later.steps), (1000, 1000));
    assert!(way.position() < 0.05 && later.position() < 0.05);
    // Nothing creeps.
    assert!(later.deviations[0].moved < 1e-3 && later.deviations[0].turned < 1e-3);
}
