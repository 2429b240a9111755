//! Reduction of mechanisms with cables: against dense rivals, and a tensegrity prism's closed form.

use crate::{loaded, unloaded};

use forks_dynamics::{
    Loads,
    statics::{EquilibriumOptions, EquilibriumStatus, solve_equilibrium},
};
use forks_mechanism::{
    Cable, Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia, Wrench,
        glam::{DMat3, DVec3},
    },
};
use forks_reduce::{Effector, Linearisation, MassModel, Problem, ReduceOptions};
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
