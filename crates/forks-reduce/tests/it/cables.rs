//! Reduction of mechanisms with cables: against dense rivals, and a tensegrity prism's closed form.

use crate::{loaded, unloaded};

use forks_dynamics::{
    Loads,
    statics::{EquilibriumOptions, EquilibriumStatus, solve_equilibrium},
};
use forks_mechanism::{
    Cable, Combination, Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder, Servo,
    ServoSpring, Transmission,
    lie::{
        Pose, SpatialInertia, Wrench,
        glam::{DMat3, DVec3},
    },
};
use forks_reduce::{Effector, Linearisation, MassModel, Problem, ProblemOptions, ReduceOptions};
use forks_testkit::{RandomMechanismOptions, Rng, random_effectors, random_mechanism};

#[test]
fn random_graphs_with_cables_agree_with_kkt() {
    let mut worst: f64 = 0.0;
    for seed in 0..150 {
        let options = RandomMechanismOptions {
            cables: 1 + seed as usize % 3,
            ..RandomMechanismOptions::mixed(seed)
        };
        let m = random_mechanism(seed, &options);
        let error = unloaded::compare(seed, &m, &random_effectors(seed, &m, 2));
        worst = worst.max(error);
        assert!(error < 1e-8, "seed {seed}: {error:e}");
    }
    println!("worst {worst:e}");
}

#[test]
fn random_graphs_with_stretched_cables_agree_with_neighbouring_equilibria() {
    let (mut worst, mut checked) = (0.0f64, 0);
    for seed in 0..60 {
        let options = RandomMechanismOptions {
            links: 6,
            cables: 2,
            preload: 0.1,
            stiffness_decades: 0.5,
            conditioning: 1e-3,
            stiffness: 300.0,
            springless_fraction: 0.0,
            ..RandomMechanismOptions::mixed(seed)
        };
        let m = random_mechanism(seed, &options);
        let effectors = random_effectors(seed, &m, 2);
        let mut rng = Rng::new(seed);
        let mut wrench = |_: &LinkId| {
            let (f, t) = (rng.vector(), rng.vector());
            Wrench::new(DVec3::from_array(f) * 20.0, DVec3::from_array(t) * 5.0)
        };
        let w: Vec<Wrench> = effectors.iter().map(&mut wrench).collect();
        let start = m.start_positions();
        let first = loaded::loads(true, &effectors, &m.link_poses(&start), &w);
        let e = solve_equilibrium(&m, &start, &first, &EquilibriumOptions::default());
        if e.status != EquilibriumStatus::Converged {
            continue;
        }
        let Some(error) = loaded::check(&format!("seed {seed}"), &m, &effectors, &w, true) else {
            continue;
        };
        checked += 1;
        worst = worst.max(error);
        assert!(error < 1e-5, "seed {seed}: {error:e}");
    }
    println!("worst {worst:e} of {checked}");
    assert!(checked > 25, "{checked}");
}

const RADIUS: f64 = 0.4;
const HEIGHT: f64 = 0.7;
const BAR: f64 = 4e4;
const STRING: f64 = 9e3;

/// A plate above the ground on three bars and three strings, twisted by a sixth of half a turn;
/// every string has the force density q, every bar −q.
fn prism(q: f64) -> Mechanism {
    let mut b = MechanismBuilder::new("prism");
    b.set_gravity(DVec3::ZERO);
    let inertia = SpatialInertia::new(1.0, DVec3::ZERO, DMat3::IDENTITY * 0.05);
    let plate = b.add_link(Link::new("plate").with_inertia(inertia));
    let at = Pose::from_translation(DVec3::Z * HEIGHT);
    let mut joint = Joint::new("", JointKind::Free, LinkId::WORLD, plate);
    joint.start[..3].copy_from_slice(&at.translation.to_array());
    b.add_joint(joint);
    let corner = |angle: f64| DVec3::new(angle.cos(), angle.sin(), 0.0) * RADIUS;
    let third = 2.0 * std::f64::consts::FRAC_PI_3;
    for k in 0..3 {
        let foot = (LinkId::WORLD, corner(third * f64::from(k)));
        for (name, turn, stiffness, q) in
            [("string", third / 4.0, STRING, q), ("bar", 1.25 * third, BAR, -q)]
        {
            let head = (plate, corner(third * f64::from(k) + turn));
            let (length, _) = length(turn);
            let rest = length * (1.0 - q / stiffness);
            b.add_cable(Cable::straight(format!("{name} {k}"), [foot, head], stiffness, rest));
        }
    }
    b.build().expect("a prism")
}

/// Length of a strut between corners that are apart by an angle, and its derivatives by height and
/// twist.
fn length(turn: f64) -> (f64, [f64; 5]) {
    let (z, square) = (HEIGHT, RADIUS * RADIUS);
    let l = (2.0 * square * (1.0 - turn.cos()) + z * z).sqrt();
    let (dz, dt) = (z / l, square * turn.sin() / l);
    (l, [dz, dt, (1.0 - dz * dz) / l, -dz * dt / l, (square * turn.cos() - dt * dt) / l])
}

#[test]
fn a_tensegrity_prism_is_as_compliant_as_its_closed_form() {
    for q in [1.0, 40.0, 400.0] {
        let m = prism(q);
        let start = m.start_positions();
        let e = solve_equilibrium(&m, &start, &Loads::none(), &EquilibriumOptions::default());
        assert_eq!(e.status, EquilibriumStatus::Converged);
        let off = m.difference(&start, &e.q).iter().fold(0.0f64, |m, x| m.max(x.abs()));
        assert!(off < 1e-9, "it is built in equilibrium: {off:e}");
        let loads = Loads::none();
        let plate = LinkId::new(1);
        let problem = Problem::unprepared(m.clone(), vec![Effector::of_link(&m, plate)]);
        let r = problem.response(Linearisation::equilibrium(&e, &loads)).expect("it is resisted");
        // Second derivatives of 3 Σ ½ k (ℓ − rest)² by height and twist.
        let third = 2.0 * std::f64::consts::FRAC_PI_3;
        let mut k = [0.0; 3];
        for (turn, stiffness, q) in [(third / 4.0, STRING, q), (1.25 * third, BAR, -q)] {
            let (l, [z, t, zz, zt, tt]) = length(turn);
            k[0] += 3.0 * (stiffness * z * z + q * l * zz);
            k[1] += 3.0 * (stiffness * z * t + q * l * zt);
            k[2] += 3.0 * (stiffness * t * t + q * l * tt);
        }
        let det = k[0] * k[2] - k[1] * k[1];
        let exact = [[k[2] / det, -k[1] / det], [-k[1] / det, k[0] / det]];
        let mut worst = 0.0f64;
        for (i, row) in exact.iter().enumerate() {
            for (j, c) in row.iter().enumerate() {
                let at = [2, 5];
                worst = worst.max((r.compliance[(at[i], at[j])] / c - 1.0).abs());
                // Nothing else moves with height and twist.
                for other in [0, 1, 3, 4] {
                    let beside = r.compliance[(at[i], other)];
                    assert!(beside.abs() < 1e-9 * c.abs(), "{beside:e}");
                }
            }
        }
        println!("q = {q}: twist {:.3e} rad/(N m), off by {worst:.1e}", exact[1][1]);
        assert!(worst < 1e-8, "q = {q}: {worst:e}");
    }
}

#[test]
fn all_modes_of_a_prism_are_those_of_the_full_mechanism() {
    let m = prism(300.0);
    let problem = Problem::unprepared(m.clone(), vec![Effector::of_link(&m, LinkId::new(1))]);
    let loads = Loads::none();
    let e = solve_equilibrium(&m, &m.start_positions(), &loads, &EquilibriumOptions::default());
    let options =
        ReduceOptions { mass: MassModel::CraigBampton { modes: 10 }, ..ReduceOptions::default() };
    let r = problem.reduce(Linearisation::equilibrium(&e, &loads), &options).expect("reducible");
    let (reduced, full) = (r.frequencies(), r.linear.full_frequencies());
    assert_eq!(full.len(), 6);
    let worst = reduced.iter().zip(&full).fold(0.0f64, |w, (a, b)| w.max((a / b - 1.0).abs()));
    assert!(worst < 1e-8, "{worst:e}");
}

/// An arm of links on sprung hinges with a string beside it, which a servo shortens.
fn driven_arm(axes: &[DVec3]) -> Mechanism {
    let mut b = MechanismBuilder::new("arm");
    b.set_gravity(DVec3::new(0.0, 0.0, -2.0));
    let inertia = SpatialInertia::new(0.3, DVec3::X * 0.1, DMat3::IDENTITY * 1e-3);
    let (mut inner, mut at) = (LinkId::WORLD, 0.0);
    let mut points = vec![(LinkId::WORLD, DVec3::new(-0.05, 0.01, 0.04))];
    for (k, &axis) in axes.iter().enumerate() {
        let outer = b.add_link(Link::new(format!("link{k}")).with_inertia(inertia));
        let joint = Joint::new(format!("j{k}"), JointKind::Revolute { axis }, inner, outer);
        b.add_joint(joint.at(Pose::from_translation(DVec3::X * at)).with_stiffness(8.0));
        points.push((outer, DVec3::new(0.15, 0.02, 0.03)));
        (inner, at) = (outer, 0.2);
    }
    let string = b.add_cable(Cable::straight("string", points, 0.0, 0.0));
    b.add_servo(Servo {
        name: "winch".into(),
        transmission: Transmission::Cable(string),
        combination: Combination { terms: vec![], offset: 0.0 },
        stiffness: 400.0,
        damping: 2.0,
    });
    b.build().expect("an arm")
}

#[test]
fn a_servo_on_a_cable_moves_the_reduced_model_as_it_moves_the_full_one() {
    let m = driven_arm(&[DVec3::Y, DVec3::new(0.0, 1.0, 0.3), DVec3::new(0.0, 1.0, 0.6)]);
    let problem = Problem::new(&m, &["link2"], &ProblemOptions::default()).expect("a problem");
    assert_eq!(problem.servos.len(), 1);
    let ServoSpring::Cable(id) = problem.prepared.servo_springs[0].1 else { panic!("a cable") };
    let options = EquilibriumOptions { tolerance: 1e-13, ..EquilibriumOptions::default() };
    let loads = Loads::gravity();
    let e = problem.equilibrium(&loads, &options);
    let at = Linearisation::equilibrium(&e, &loads);
    let r = problem.reduce(at, &ReduceOptions::default()).expect("reducible");
    let eta = r.model.rest_coordinates(&[1.0]);
    let found = r.model.effector_twist(0, &eta);
    let tip = m.find_link("link2").expect("the tip").index();
    let poses = |s: f64| {
        let mut b = MechanismBuilder::from_mechanism(problem.mechanism());
        b.cables_mut()[id.index()].rest.iter_mut().for_each(|rest| *rest += s);
        let m = b.build().expect("another target");
        solve_equilibrium(&m, &e.q, &loads, &options).world_from_link[tip]
    };
    let h = 1e-4;
    let rest = e.world_from_link[tip];
    let slope = (rest.twist_to(&poses(h)) - rest.twist_to(&poses(-h))) * (0.5 / h);
    let off = (slope - found).norm() / slope.norm();
    println!("off by {off:.1e}");
    assert!(off < 1e-5, "{off:e}");
    // ∂U/∂s is the negative force of the spring that stands for the servo.
    let terms = problem.servo_terms(&e.q, r.model.data());
    let c = problem.mechanism().cable(id);
    let pull = c.tension(c.length(&e.world_from_link)).force;
    assert!((terms.force[0] + pull).abs() < 1e-12 * pull.abs().max(1.0));
}

#[test]
fn joint_loads_beside_a_cable_change_as_neighbouring_equilibria_say() {
    // Six hinges: the effector can move in every way, so that its motion tells all loads.
    let m = driven_arm(&[DVec3::Y, DVec3::Z, DVec3::X, DVec3::Y, DVec3::Z, DVec3::X]);
    let problem = Problem::new(&m, &["link5"], &ProblemOptions::default()).expect("a problem");
    let options = EquilibriumOptions { tolerance: 1e-13, ..EquilibriumOptions::default() };
    let tip = m.find_link("link5").expect("the tip");
    let at = |force: DVec3| {
        let loads = Loads::gravity().with_world_wrench(tip, Wrench::new(force, DVec3::ZERO));
        let e = problem.equilibrium(&loads, &options);
        assert_eq!(e.status, EquilibriumStatus::Converged);
        let at = Linearisation::equilibrium(&e, &loads);
        let r = problem.reduce(at, &ReduceOptions::default()).expect("reducible");
        (r.model.data().clone(), r.linear.basis)
    };
    let start = DVec3::new(1.0, 0.5, -2.0);
    let (rest, basis) = at(start);
    let h = 4e-4;
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        // Slopes of the effector's motion, then of all loads, by differences and one step of
        // Richardson's.
        let slopes = |h: f64| -> (Vec<f64>, Vec<f64>) {
            let ((plus, _), (minus, _)) = (at(start + axis * h), at(start - axis * h));
            let twist = |d: &forks_rom::data::ModelData| {
                rest.effectors[0].rest.twist_to(&d.effectors[0].rest).to_array()
            };
            let (a, b) = (twist(&plus), twist(&minus));
            let motion = a.iter().zip(b).map(|(a, b)| (a - b) / (2.0 * h)).collect();
            let loads = plus.joints.iter().zip(&minus.joints);
            let loads =
                loads.flat_map(|(a, b)| ((a.static_load - b.static_load) * (0.5 / h)).to_array());
            (motion, loads.collect())
        };
        let (near, far) = (slopes(h), slopes(2.0 * h));
        let better = |a: &[f64], b: &[f64]| -> Vec<f64> {
            a.iter().zip(b).map(|(a, b)| (4.0 * a - b) / 3.0).collect()
        };
        let (motion, expected) = (better(&near.0, &far.0), better(&near.1, &far.1));
        let eta = basis.dual.transpose_mul_vec(&motion);
        let found: Vec<f64> = rest.joints.iter().flat_map(|j| j.load_map.mul_vec(&eta)).collect();
        let size = expected.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let off = found.iter().zip(&expected).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        println!("{axis}: {:.1e}", off / size);
        assert!(off < 1e-4 * size, "{axis}: {off:e} of {size:e}");
    }
}
