//! The mechanisms of scenes with contact, reduced: rank, compliance, frequencies, and how far they
//! give way.

use std::sync::Arc;

use forks_dynamics::{
    AppliedWrench, Loads, WrenchFrame, modes::unloaded_modes, statics::EquilibriumOptions,
};
use forks_mechanism::{
    Joint, JointKind, LinkId, Mechanism, MechanismBuilder, Mount, Preparation, Slide,
    lie::{Pose, Wrench, glam::DVec3},
    linalg::dense::{generalized_symmetric_eigen, symmetric_eigen},
};
use forks_models::Parametric;
use forks_reduce::{Problem, ProblemOptions, ReduceOptions, Reduction, relative_displacement};
use forks_rom::{EffectorLoad, LoadFrame, State, StepStatus, Stepper, System};

const GRAVITY: f64 = 9.81;

fn problem(m: &Mechanism, effectors: &[LinkId]) -> Problem {
    let names: Vec<&str> = effectors.iter().map(|&l| m.link(l).name.as_str()).collect();
    Problem::new(m, &names, &ProblemOptions::default()).unwrap()
}

fn reduced(problem: &Problem) -> Reduction<'_> {
    problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap()
}

/// Frequencies (rad/s) of the mechanism and of the model.
fn frequencies(problem: &Problem, r: &Reduction<'_>) -> [Vec<f64>; 2] {
    let poses = &r.linear.response.world_from_link;
    let full = unloaded_modes(problem.mechanism(), &problem.start, poses).unwrap().frequencies();
    let data = r.model.data();
    let (squares, _) = generalized_symmetric_eigen(&data.hessian, &data.mass).unwrap();
    [full, squares.iter().map(|x| x.sqrt()).collect()]
}

/// Condensed mass never gives lower frequencies than the mechanism has.
fn frequencies_are_bounded(problem: &Problem, r: &Reduction<'_>, lowest: f64) {
    let [full, own] = frequencies(problem, r);
    for (own, full) in own.iter().zip(&full) {
        assert!(*own >= full * (1.0 - 1e-9), "{own} {full}");
    }
    assert!(own[0] <= 1.1 * full[0], "{} {}", own[0], full[0]);
    assert!((full[0] - lowest).abs() < 1e-3 * lowest, "lowest {}", full[0]);
}

/// Principal compliances with lengths over the size, ascending.
fn compliances(r: &Reduction<'_>) -> Vec<f64> {
    let scale = |i: usize| if i % 6 < 3 { 1.0 / r.linear.response.radius } else { 1.0 };
    let c = &r.linear.compliance;
    let scaled = forks_mechanism::linalg::Matrix::from_fn(c.rows(), c.columns(), |i, j| {
        scale(i) * scale(j) * c[(i, j)]
    });
    symmetric_eigen(&scaled).unwrap().0
}

/// Pose of a link under a force on it that keeps its direction.
fn pressed(problem: &Problem, link: LinkId, force: DVec3) -> Pose {
    let loads = Loads {
        gravity: true,
        wrenches: vec![AppliedWrench {
            link,
            link_from_point: Pose::IDENTITY,
            wrench: Wrench::new(force, DVec3::ZERO),
            frame: WrenchFrame::World,
        }],
    };
    let e = problem.equilibrium(&loads, &EquilibriumOptions::default());
    assert!(e.status.is_equilibrium(), "{:?}", e.status);
    e.world_from_link[link.index()]
}

#[test]
fn a_trampoline_gives_way_by_a_hand_s_breadth() {
    let p = forks_models::firefighters();
    let problem = problem(&p.mechanism, &p.effectors);
    let r = reduced(&problem);
    assert_eq!(r.linear.basis.rank, 6);
    assert!(r.linear.basis.gap > 1e9 && r.linear.closure_residual() < 1e-14);
    let c = compliances(&r);
    println!("compliances, lengths over {}: {c:?}", r.linear.response.radius);
    assert!(c[0] > 1e-5 && c[5] < 1e-2);
    // Mirrored in both vertical planes: motions of different parity are apart.
    let largest = c[5];
    for (i, j) in [(0, 1), (0, 2), (1, 2), (0, 3), (1, 4), (2, 3), (2, 4), (2, 5), (3, 4), (4, 5)] {
        assert!(r.linear.compliance[(i, j)].abs() < 1e-14 * largest, "{i} {j}");
    }
    frequencies_are_bounded(&problem, &r, 33.46);
    // The fabric alone is 1/3600 of it.
    let linear = 60.0 * GRAVITY * r.linear.compliance[(2, 2)];
    assert!(r.linear.compliance[(2, 2)] > 1.0 / 3600.0);
    for (mass, from, to) in [(10.0, 0.02, 0.05), (60.0, 0.15, 0.30), (75.0, 0.18, 0.30)] {
        let pose = pressed(&problem, p.effectors[0], DVec3::Z * (-mass * GRAVITY));
        let sag = 1.0 - pose.translation.z;
        let rest = Pose::from_translation(DVec3::Z);
        let relative = relative_displacement(&rest, &pose, r.linear.response.radius);
        println!("{mass} kg: {sag} m, relative {relative}; linear {}", linear * mass / 60.0);
        assert!(sag > from && sag < to && relative < 0.3, "{mass} kg: {sag} {relative}");
        // Arms that bend are all that is not linear.
        assert!((sag - linear * mass / 60.0).abs() < 0.05 * sag, "{mass} kg: {sag}");
    }
}

/// The lowest place of a body of the given mass that fell by `height` and stays where it hit the
/// fabric, and the same of a mass on a linear spring: ½ z²/C = m g z + ½ (m + m_bed) v², with v the
/// speed after the impact.
fn deepest(mass: f64, height: f64) -> [f64; 2] {
    let p = forks_models::firefighters();
    let mut b = MechanismBuilder::from_mechanism(&p.mechanism);
    let bed = &mut b.links_mut()[p.effectors[0].index()].inertia;
    let share = mass / (mass + bed.mass);
    bed.mass += mass;
    let m = b.build().unwrap();
    let problem = problem(&m, &p.effectors);
    let r = reduced(&problem);
    let sag = mass * GRAVITY * r.linear.compliance[(2, 2)];
    let spring = sag * (1.0 + (1.0 + 2.0 * share * height / sag).sqrt());
    let model = Arc::new(r.model);
    let stepper = Stepper::new(model.clone(), 1e-3).unwrap();
    let mut state = State::new(&model);
    let mut work = stepper.workspace();
    // Straight down through the middle: B⁺ of a twist.
    let speed = share * (2.0 * GRAVITY * height).sqrt();
    let velocity: Vec<f64> = (0..6).map(|k| -speed * r.linear.basis.dual[(2, k)]).collect();
    state.set(&[0.0; 6], &velocity).unwrap();
    let wrench = Wrench::new(DVec3::Z * (-mass * GRAVITY), DVec3::ZERO);
    let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::World };
    let mut lowest: f64 = 0.0;
    for _ in 0..600 {
        assert_eq!(stepper.step(&mut state, &mut work, &[load]), StepStatus::Completed);
        lowest = lowest.min(model.effector_twist(0, state.coordinates()).linear.z);
    }
    [-lowest, spring]
}

#[test]
fn a_body_that_falls_is_caught_above_the_ground() {
    for (mass, height) in [(10.0, 1.0), (60.0, 1.0), (60.0, 1.5), (75.0, 2.0)] {
        let [depth, spring] = deepest(mass, height);
        println!("{mass} kg from {height} m: {depth} m, spring {spring} m");
        // Above the ground, and never farther than the same spring without the fabric's damping.
        assert!(depth > 0.1 && depth < 0.85, "{mass} kg from {height} m: {depth}");
        assert!(depth < spring, "{mass} kg from {height} m: {depth} beside {spring}");
    }
}

#[test]
fn a_hexapod_sags_by_millimetres() {
    let p = forks_models::hexapod();
    let problem = problem(&p.mechanism, &p.effectors);
    let r = reduced(&problem);
    assert_eq!(r.linear.basis.rank, 18);
    let c = compliances(&r);
    println!("compliances, lengths over {}: {:?}", r.linear.response.radius, [c[18], c[35]]);
    // 36 coordinates of six feet, 18 of which the servos leave.
    assert!(c[17] < 1e-12 * c[35] && c[18] > 1e-3 * c[35]);
    let [full, own] = frequencies(&problem, &r);
    for (own, full) in own.iter().zip(&full) {
        assert!((own - full).abs() < 1e-9 * full, "as many joints as coordinates: {own} {full}");
    }
    assert!((full[0] - 75.73).abs() < 0.1, "{}", full[0]);
    let floating = ReduceOptions { floating: true, ..ReduceOptions::default() };
    assert!(problem.reduce(problem.at_rest(), &floating).is_ok());

    // On feet that do not slide: what hangs under a held body, then the ground's forces on it.
    let e = problem.equilibrium(&Loads::gravity(), &EquilibriumOptions::default());
    let foot = p.effectors[0].index();
    let rest = r.linear.response.world_from_link[foot];
    let hanging =
        rest.rotation.conjugate() * (e.world_from_link[foot].translation - rest.translation);
    let c = |i: usize, j: usize| r.linear.compliance[(i, j)];
    let carried = p.mechanism.total_mass() * GRAVITY / 6.0;
    let across = -(hanging.x + c(0, 2) * carried) / c(0, 0);
    let linear = hanging.z + c(2, 2) * carried + c(2, 0) * across;
    let sag = pinned_sag(&p);
    let sliding = hanging.z + c(2, 2) * carried;
    println!("sag {sag} m on feet that stick, linear {linear}, {sliding} if they slide");
    assert!(sag > 1e-3 && sag < 3e-3 && sliding < 5e-3);
    assert!((sag - linear).abs() < 0.03 * sag, "{sag} {linear}");
}

/// How far the body sinks with its feet tied to the ground by balls.
fn pinned_sag(p: &Parametric) -> f64 {
    let m = &p.mechanism;
    let poses = m.link_poses(&m.start_positions());
    let mut b = MechanismBuilder::from_mechanism(m);
    for (i, &foot) in p.effectors.iter().enumerate() {
        let pin = Joint::new(format!("pin{i}"), JointKind::Spherical, LinkId::WORLD, foot);
        b.add_joint(pin.at(poses[foot.index()]));
    }
    let prepared = Preparation { servos: true, ..Default::default() }.apply(&b.build().unwrap());
    let m = prepared.unwrap().mechanism;
    let start = m.start_positions();
    let loads = Loads::gravity();
    let e = forks_dynamics::statics::solve_equilibrium(
        &m,
        &start,
        &loads,
        &EquilibriumOptions::default(),
    );
    assert!(e.status.is_equilibrium(), "{:?}", e.status);
    let body = m.find_link("body").unwrap().index();
    poses[body].translation.z - e.world_from_link[body].translation.z
}

#[test]
fn a_peg_yields_sideways_by_millimetres() {
    let p = forks_models::peg_arm();
    let problem = problem(&p.mechanism, &p.effectors);
    let r = reduced(&problem);
    assert_eq!(r.linear.basis.rank, 6);
    assert!(r.linear.basis.gap > 1e9);
    let c = compliances(&r);
    println!("compliances, lengths over {}: {c:?}", r.linear.response.radius);
    assert!(c[0] > 1e-6 && c[5] < 5e-2);
    frequencies_are_bounded(&problem, &r, 50.65);
    // Σ lever²/k of the three hinges about y; the elbow is √(0.3² − 0.2²) above the wrist.
    let (elbow, own): (f64, f64) = (0.14 + 0.05f64.sqrt(), 0.14);
    let across = own * own / 1200.0 + elbow * elbow / 1200.0 + own * own / 100.0;
    assert!((r.linear.compliance[(0, 0)] - across).abs() < 1e-12 * across);
    for direction in [DVec3::X, DVec3::Y] {
        let pose = pressed(&problem, p.effectors[0], direction * 10.0);
        let rest = r.linear.response.world_from_link[p.effectors[0].index()];
        let way = (pose.translation - rest.translation).dot(direction);
        println!("10 N along {direction}: {way} m");
        assert!(way > 1e-3 && way < 5e-3, "{direction}: {way}");
    }
}

/// On a carriage a peg goes down straight in the model too; by its own joints a linear model goes
/// aside.
#[test]
fn a_carriage_lowers_a_peg_straight() {
    let p = forks_models::peg_arm();
    let slide = Slide::new("lift", DVec3::Z, 5e4, 1e3);
    let m = p.mechanism.mounted(&Mount::new(2.0, vec![slide])).unwrap();
    let peg = m.find_link("peg").unwrap();
    let lifted = problem(&m, &[peg]);
    let r = reduced(&lifted);
    let rest = r.linear.response.world_from_link[peg.index()];
    let mut targets = vec![0.0; m.servos().len()];
    targets[0] = -0.06;
    let twist = r.model.effector_twist(0, &r.model.rest_coordinates(&targets));
    let reached = rest.displaced(twist);
    let below = rest.translation - DVec3::Z * 0.06;
    assert!(reached.translation.distance(below) < 1e-14, "{reached:?}");

    let problem = problem(&p.mechanism, &p.effectors);
    let r = reduced(&problem);
    let targets = forks_models::peg_arm_targets(&p, DVec3::Z * -0.06).unwrap();
    let twist = r.model.effector_twist(0, &r.model.rest_coordinates(&targets));
    let aside = rest.displaced(twist).translation - below;
    println!("linear model of the arm's own joints: {aside}");
    assert!((aside.length() - 4.5e-3).abs() < 1e-4);
}
