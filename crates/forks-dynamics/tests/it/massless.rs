//! Links without mass whose motion couplings or loops determine: M is singular, on the motions that
//! the loops admit it is not. Rivals: closed forms, the dense solution on a basis of those motions,
//! and the limit of light links.

use forks_dynamics::{
    constrained::{ConstrainedDynamics, DynamicsStatus, Solution},
    integrate::{Integrator, Simulation, SimulationOptions, SimulationStatus},
    mass_matrix,
    modes::admissible_motions,
};
use forks_mechanism::{
    Coordinate, Coupling, Joint, JointId, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
    },
    linalg::{Matrix, dense},
};
use forks_testkit::{RandomMechanismOptions, Rng, random_mechanism};

const HINGE: JointKind = JointKind::Revolute { axis: DVec3::Y };

/// An arm of 1 kg, M = 0.02, and an empty link on it whose hinge turns twice as far, or is tied to
/// nothing.
fn follower(coupled: bool) -> Mechanism {
    let mut b = MechanismBuilder::new("follower");
    let inertia = SpatialInertia::new(1.0, DVec3::X * 0.1, DMat3::IDENTITY * 0.01);
    let arm = b.add_link(Link::new("a").with_inertia(inertia));
    let empty = b.add_link(Link::new("b"));
    let m = b.add_joint(Joint::new("m", HINGE, LinkId::WORLD, arm));
    let at = Pose::from_translation(DVec3::X * 0.2);
    let s = b.add_joint(Joint::new("s", HINGE, arm, empty).at(at));
    if coupled {
        let terms = vec![(Coordinate::of(s), 1.0), (Coordinate::of(m), -2.0)];
        b.add_coupling(Coupling::linear("s", terms, 0.0));
    }
    b.build().unwrap()
}

/// Four bars of which the coupler and the last are empty: the first one's mass is all there is.
fn four_bar() -> Mechanism {
    let mut b = MechanismBuilder::new("four bars");
    let inertia = SpatialInertia::new(2.0, DVec3::X * 0.1, DMat3::IDENTITY * 0.01);
    let crank = b.add_link(Link::new("crank").with_inertia(inertia));
    let coupler = b.add_link(Link::new("coupler"));
    let rocker = b.add_link(Link::new("rocker"));
    let place = |x: f64, z: f64| Pose::from_translation(DVec3::new(x, 0.0, z));
    b.add_joint(Joint::new("a", HINGE, LinkId::WORLD, crank));
    b.add_joint(Joint::new("b", HINGE, crank, coupler).at(place(0.1, 0.0)));
    b.add_joint(Joint::new("c", HINGE, LinkId::WORLD, rocker).at(place(0.05, 0.3)));
    let end = Joint::new("d", HINGE, coupler, rocker).at(place(0.2, 0.4));
    b.add_joint(end.child_at(place(0.25, 0.1)));
    b.build().unwrap()
}

fn solve(m: &Mechanism, q: &[f64], v: &[f64]) -> Solution {
    let d = ConstrainedDynamics::new(m);
    d.accelerations(q, v, &vec![0.0; v.len()], &[], &mut d.workspace())
}

fn about(x: f64, y: f64, tolerance: f64) {
    assert!((x - y).abs() <= tolerance * y.abs().max(1.0), "{x} is not {y}");
}

/// "No mass resists joint s", said the factorisation of the open tree.
#[test]
fn an_empty_follower_moves_with_its_leader() {
    let m = follower(true);
    let s = solve(&m, &[0.0; 2], &[0.0; 2]);
    assert_eq!((s.status, s.rank, s.rows), (DynamicsStatus::Solved, 1, 1));
    // 0.981 N·m on 0.02 kg·m²; the coupling carries nothing.
    about(s.acceleration[0], 49.05, 1e-14);
    about(s.acceleration[1], 98.1, 1e-14);
    about(s.multipliers[0], 0.0, 1e-12);
    // A torque on the empty link arrives twice as strong: 0.981 + 2 · 0.1.
    let d = ConstrainedDynamics::new(&m);
    let s = d.accelerations(&[0.0; 2], &[0.0; 2], &[0.0, 0.1], &[], &mut d.workspace());
    about(s.acceleration[0], 1.181 / 0.02, 1e-14);
    about(s.multipliers[0].abs(), 0.1, 1e-13);
}

/// A motion that nothing determines is refused by the name of its joint, in every scheme.
#[test]
fn an_empty_link_that_is_free_is_refused_by_name() {
    let m = follower(false);
    let joint = JointId::new(1);
    assert_eq!(solve(&m, &[0.0; 2], &[0.0; 2]).status, DynamicsStatus::Massless(joint));
    for integrator in [Integrator::RungeKutta4, Integrator::SemiImplicitEuler, Integrator::Implicit]
    {
        let options = SimulationOptions { integrator, ..SimulationOptions::default() };
        let status = Simulation::new(&m, &[0.0; 2], &[0.0; 2], options).step(1e-3);
        assert_eq!(status, SimulationStatus::Massless(joint), "{integrator:?}");
    }
    // A coupling of two empty links leaves them one motion without mass.
    let mut b = MechanismBuilder::from_mechanism(&m);
    let third = b.add_link(Link::new("c"));
    let t = b.add_joint(Joint::new("t", HINGE, LinkId::new(2), third));
    let terms = vec![(Coordinate::of(joint), 1.0), (Coordinate::of(t), -1.0)];
    b.add_coupling(Coupling::linear("tied", terms, 0.0));
    let m = b.build().unwrap();
    let status = solve(&m, &[0.0; 3], &[0.0; 3]).status;
    assert!(matches!(status, DynamicsStatus::Massless(j) if j == joint || j == t), "{status:?}");
}

/// The motion of the loaded link alone is a pendulum's; the empty one moves twice as far.
#[test]
fn all_schemes_move_followers() {
    let m = follower(true);
    let alone = {
        let mut b = MechanismBuilder::new("alone");
        let arm = b.add_link(m.links()[1].clone());
        b.add_joint(Joint::new("m", HINGE, LinkId::WORLD, arm));
        b.build().unwrap()
    };
    for integrator in [
        Integrator::RungeKutta4,
        Integrator::SemiImplicitEuler,
        Integrator::Implicit,
        Integrator::Adaptive,
    ] {
        let options = SimulationOptions { integrator, ..SimulationOptions::default() };
        let mut pair = Simulation::new(&m, &[0.0; 2], &[0.0; 2], options);
        let mut one = Simulation::new(&alone, &[0.0], &[0.0], options);
        for _ in 0..200 {
            assert_eq!(pair.step(1e-3), SimulationStatus::Completed, "{integrator:?}");
            assert_eq!(one.step(1e-3), SimulationStatus::Completed);
        }
        let (a, b) = (&pair.state().q, one.state().q[0]);
        assert!(b.abs() > 0.5);
        let tolerance = if integrator == Integrator::Adaptive { 1e-7 } else { 1e-11 };
        about(a[0], b, tolerance);
        about(a[1], 2.0 * a[0], 1e-12);
    }
}

/// Loops that determine empty links: energy is kept, and the first step is that of the dense
/// solution.
#[test]
fn empty_bars_of_a_loop_follow_the_crank() {
    let m = four_bar();
    let options =
        SimulationOptions { integrator: Integrator::RungeKutta4, ..SimulationOptions::default() };
    let n = m.tree_velocity_count();
    let q = m.start_positions()[..m.tree_position_count()].to_vec();
    let mut s = Simulation::new(&m, &q, &vec![0.0; n], options);
    let start = s.energy();
    for _ in 0..200 {
        assert_eq!(s.step(1e-3), SimulationStatus::Completed);
    }
    let end = s.energy();
    assert!(end.kinetic > 0.01, "{end:?}");
    about(end.total(), start.total(), 1e-7);
    let options = SimulationOptions::default();
    let mut s = Simulation::new(&m, &q, &vec![0.0; n], options);
    for _ in 0..100 {
        assert_eq!(s.step(1e-3), SimulationStatus::Completed);
    }
    assert!(s.loop_gap() < 1e-9);
}

/// Mechanisms with loops and couplings of which some links are emptied. Where the admitted motions
/// still have mass, the accelerations at rest are those on a basis N of them, N (NᵀMN)⁻¹Nᵀ f, and
/// moving ones those of light links; where not, a joint is named.
#[test]
fn emptied_links_of_random_mechanisms() {
    let mut rng = Rng::new(49);
    let (mut solved, mut refused) = (0, 0);
    for seed in 0..200 {
        let options = RandomMechanismOptions {
            links: 3 + seed as usize % 6,
            extra_loops: 1 + seed as usize % 2,
            couplings: seed as usize % 3,
            springless_fraction: 1.0,
            damping: false,
            gravity: 9.81,
            resisted: None,
            ..RandomMechanismOptions::default()
        };
        let m = random_mechanism(seed, &options);
        let emptied: Vec<bool> = m.links().iter().map(|_| rng.chance(0.4)).collect();
        let with = |part: f64| {
            let mut b = MechanismBuilder::from_mechanism(&m);
            for (l, empty) in b.links_mut().iter_mut().zip(&emptied) {
                if *empty {
                    let i = l.inertia;
                    l.inertia =
                        SpatialInertia::new(part * i.mass, i.center_of_mass, i.inertia * part);
                }
            }
            b.build().unwrap()
        };
        let empty = with(0.0);
        let n = m.tree_velocity_count();
        let all = m.start_positions();
        let q = &all[..m.tree_position_count()];
        // The basis on which mass is judged, over the tree coordinates.
        let basis = admissible_motions(&m, &all, &m.link_poses(&all));
        let on_basis =
            |m: &Mechanism| basis.transpose_mul(&mass_matrix(m, &all).mul(&basis)).symmetric_part();
        let mass = on_basis(&empty);
        let largest = |m: &Matrix| Some(*dense::symmetric_eigen(m)?.0.last()?);
        let (Some((values, _)), Some(full)) =
            (dense::symmetric_eigen(&mass), largest(&on_basis(&m)))
        else {
            continue;
        };
        // Of the motions of the full mechanism, how heavy is the lightest one?
        let ratio = values[0] / full;
        let s = solve(&empty, q, &vec![0.0; n]);
        if ratio < 1e-13 {
            assert!(matches!(s.status, DynamicsStatus::Massless(_)), "seed {seed}: {:?}", s.status);
            refused += 1;
            continue;
        }
        if ratio < 1e-4 {
            continue;
        }
        assert_eq!(s.status, DynamicsStatus::Solved, "seed {seed}, {ratio:e}");
        let d = ConstrainedDynamics::new(&empty);
        let weight = d.bias(q, &vec![0.0; n], &mut d.workspace());
        let tree = Matrix::from_fn(n, basis.columns(), |i, j| basis[(i, j)]);
        let force: Vec<f64> = weight.iter().map(|x| -x).collect();
        let right = Matrix::from_fn(basis.columns(), 1, |i, _| {
            (0..n).map(|k| tree[(k, i)] * force[k]).sum()
        });
        let rate = dense::cholesky_solve(&mass, &right).unwrap();
        let expected = tree.mul(&rate);
        let size = expected.max_abs().max(1.0);
        for (a, e) in s.acceleration.iter().zip(expected.as_slice()) {
            assert!((a - e).abs() < 1e-9 * size / ratio, "seed {seed}: {a} {e}");
        }
        // Moving: the limit of light links, to first order in their mass.
        let rates: Vec<f64> = (0..basis.columns()).map(|_| rng.symmetric()).collect();
        let v = tree.mul_vec(&rates);
        let [exact, near] = [0.0, 1e-8].map(|part| solve(&with(part), q, &v));
        assert_eq!(exact.status, DynamicsStatus::Solved, "seed {seed}");
        let size = near.acceleration.iter().fold(1.0f64, |m, x| m.max(x.abs()));
        for (a, e) in exact.acceleration.iter().zip(&near.acceleration) {
            assert!((a - e).abs() < 1e-6 * size / ratio, "seed {seed}: {a} {e}");
        }
        solved += 1;
    }
    assert!(solved > 20 && refused > 20, "{solved} solved, {refused} refused");
}
