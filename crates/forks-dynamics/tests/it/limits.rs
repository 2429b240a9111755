//! Progressive springs beyond joints' limits: energy, forces, tangent, equilibria and motion, and
//! that nothing changes where they are off or inside the ranges.

use forks_dynamics::{
    Loads, elastic_energy, generalized_forces,
    integrate::{Integrator, Simulation, SimulationOptions, SimulationStatus},
    passive::{PassiveWorkspace, passive_forces},
    statics::{EquilibriumOptions, EquilibriumStatus, solve_equilibrium},
    tangent_stiffness,
};
use forks_mechanism::{
    Joint, JointKind, Limit, Link, LinkId, Mechanism, MechanismBuilder,
    kinematics::loops,
    lie::{
        SpatialInertia, Wrench,
        glam::{DMat3, DVec3},
    },
};
use forks_models::{HelixJoints, Parametric};

const K: f64 = 800.0;

/// Every second hinge limited to a small range.
fn limited(p: &Parametric, half: f64) -> Mechanism {
    let mut b = MechanismBuilder::from_mechanism(&p.mechanism);
    for (i, j) in b.joints_mut().iter_mut().enumerate() {
        if j.kind.has_scalar_coordinates() && j.dof() == 1 && i % 2 == 0 {
            j.limits[0] = Some(Limit { lower: -half, upper: 1.5 * half });
        }
    }
    b.build().unwrap()
}

fn cases() -> [(&'static str, Mechanism); 2] {
    [
        ("helix", limited(&forks_models::helix(6, HelixJoints::Hinge3), 0.05)),
        ("ladder", limited(&forks_models::irregular_ladder(4), 0.05)),
    ]
}

/// Positions that pass some limits and not others.
fn somewhere(m: &Mechanism) -> Vec<f64> {
    let mut q = m.start_positions();
    let v: Vec<f64> = (0..m.velocity_count()).map(|i| 0.14 * ((7 * i + 2) as f64).sin()).collect();
    m.integrate(&mut q, &v);
    q
}

#[test]
fn forces_are_the_gradient_and_the_tangent_is_the_hessian() {
    for (name, m) in cases() {
        let m = m.with_limit_springs(K).unwrap();
        let q = somewhere(&m);
        let n = m.velocity_count();
        let loads = Loads::none();
        let moved = |k: usize, h: f64| {
            let mut q = q.clone();
            let mut v = vec![0.0; n];
            v[k] = h;
            m.integrate(&mut q, &v);
            q
        };
        let energy = |q: &[f64]| elastic_energy(&m, q, &m.link_poses(q));
        let forces = |q: &[f64]| generalized_forces(&m, q, &m.link_poses(q), &loads);
        let f = forces(&q);
        let zero = vec![0.0; loops::constraint_rows(&m)];
        let k = tangent_stiffness(&m, &q, &m.link_poses(&q), &loads, &zero);
        let h = 1e-5;
        let mut passed = 0;
        for j in 0..n {
            let (a, b) = (moved(j, -h), moved(j, h));
            let slope = (energy(&b) - energy(&a)) / (2.0 * h);
            // Third derivative K/w, rounding ε E/h.
            assert!((slope + f[j]).abs() < 1e-5, "{name} {j}: {slope} {}", f[j]);
            let (below, above) = (forces(&a), forces(&b));
            for i in 0..n {
                let slope = (above[i] - below[i]) / (2.0 * h);
                let error = (slope + k[(i, j)]).abs();
                assert!(error < 1e-5 * (1000.0 + K), "{name} {i} {j}: {slope} {}", k[(i, j)]);
            }
            passed += usize::from(k[(j, j)] > 1.01 * 1000.0);
        }
        assert!(passed > 1, "{name}: {passed}");
        // Another way to the same forces.
        let (mut ws, mut passive) = (PassiveWorkspace::new(&m), vec![0.0; n]);
        passive_forces(&m, &mut ws, &q, &vec![0.0; n], &mut passive);
        assert!(passive.iter().zip(&f).all(|(a, b)| (a - b).abs() < 1e-10), "{name}");
    }
}

#[test]
fn inside_the_ranges_and_switched_off_nothing_changes() {
    for (name, m) in cases() {
        let on = m.with_limit_springs(K).unwrap();
        let off = on.with_limit_springs(0.0).unwrap();
        let outside = somewhere(&m);
        let mut inside = m.start_positions();
        let v: Vec<f64> = (0..m.velocity_count()).map(|i| 0.04 * (i as f64).sin()).collect();
        m.integrate(&mut inside, &v);
        let energy = |m: &Mechanism, q: &[f64]| elastic_energy(m, q, &m.link_poses(q));
        assert_eq!(energy(&m, &outside), energy(&off, &outside), "{name}");
        assert_eq!(energy(&m, &inside), energy(&on, &inside), "{name}");
        assert!(energy(&on, &outside) > 1.001 * energy(&m, &outside), "{name}");
        assert!(on.with_tangent_limits(&inside).is_none());
        assert!(off.with_tangent_limits(&outside).is_none());
        assert!(on.with_tangent_limits(&outside).is_some());
    }
    let m = cases()[0].1.clone();
    assert!(m.with_limit_springs(-1.0).is_err() && m.with_limit_springs(f64::NAN).is_err());
}

#[test]
fn a_tangent_mechanism_has_the_same_stiffness() {
    for (name, m) in cases() {
        let m = m.with_limit_springs(K).unwrap();
        let q = somewhere(&m);
        let t = m.with_tangent_limits(&q).unwrap();
        let zero = vec![0.0; loops::constraint_rows(&m)];
        let at = |m: &Mechanism| tangent_stiffness(m, &q, &m.link_poses(&q), &Loads::none(), &zero);
        assert!(at(&m).sub(&at(&t)).max_abs() < 1e-10, "{name}");
    }
}

/// A pendulum on a sprung hinge about y with a stop.
fn pendulum(stiffness: f64, lower: f64, upper: f64) -> Mechanism {
    let mut b = MechanismBuilder::new("pendulum");
    b.set_gravity(DVec3::ZERO);
    let inertia = SpatialInertia {
        mass: 0.5,
        center_of_mass: DVec3::new(0.0, 0.0, -0.4),
        inertia: DMat3::from_diagonal(DVec3::splat(0.01)),
    };
    let bob = b.add_link(Link { inertia, ..Link::new("bob") });
    let kind = JointKind::Revolute { axis: DVec3::Y };
    let mut j = Joint::new("hinge", kind, LinkId::WORLD, bob);
    if stiffness > 0.0 {
        j = j.with_stiffness(stiffness);
    }
    j.limits[0] = Some(Limit { lower, upper });
    b.add_joint(j);
    b.build().unwrap().with_limit_springs(K).unwrap()
}

#[test]
fn a_torque_presses_a_hinge_to_where_the_closed_form_says() {
    for (stiffness, torque) in [(30.0, 40.0), (5.0, 400.0)] {
        let m = pendulum(stiffness, -0.3, 0.5);
        let wrench = Wrench::new(DVec3::ZERO, DVec3::Y * torque);
        let loads = Loads::none().with_body_wrench(LinkId::new(1), wrench);
        let options = EquilibriumOptions::default();
        let e = solve_equilibrium(&m, &m.start_positions(), &loads, &options);
        assert_eq!(e.status, EquilibriumStatus::Converged);
        // k θ + K δ²/(2w) = T with δ = θ − 0.5, w = 0.04.
        let w = 0.04;
        let (a, b, c) = (K / (2.0 * w), stiffness, stiffness * 0.5 - torque);
        let delta = (-b + (b * b - 4.0 * a * c).sqrt()) / (2.0 * a);
        assert!((e.q[0] - 0.5 - delta).abs() < 1e-10, "{stiffness}: {} {delta}", e.q[0] - 0.5);
    }
}

#[test]
fn a_joint_that_starts_beyond_its_limit_is_unstressed_at_first_and_goes_back() {
    let m = pendulum(30.0, -0.3, 0.5);
    let mut q = m.start_positions();
    q[0] = 0.7;
    let e = solve_equilibrium(&m, &q, &Loads::none(), &EquilibriumOptions::default());
    assert_eq!(e.status, EquilibriumStatus::Converged);
    // The spring rests at 0: so does the equilibrium.
    assert!(e.q[0].abs() < 1e-9, "{}", e.q[0]);
}

#[test]
fn a_swing_against_the_stop_comes_back_without_more_energy() {
    let m = pendulum(0.0, -0.3, 0.5);
    for integrator in [Integrator::Implicit, Integrator::RungeKutta4, Integrator::Adaptive] {
        let options = SimulationOptions { integrator, gravity: false, ..Default::default() };
        let mut s = Simulation::new(&m, &[0.2], &[3.0], options);
        let start = s.energy().total();
        let (mut farthest, mut turned) = (0.2f64, false);
        for _ in 0..4000 {
            assert_eq!(s.step(1e-4), SimulationStatus::Completed);
            farthest = farthest.max(s.state().q[0]);
            turned |= s.state().v[0] < 0.0;
            let growth = s.energy().total() - start;
            assert!(growth < 1e-6 * start, "{integrator:?}: {growth}");
        }
        // ½ I v² = K δ³/(6 w), I = 0.01 + 0.5 · 0.16, w = 0.04.
        let expected = 0.5 + (6.0 * 0.04 * start / K).cbrt();
        let tolerance = if integrator == Integrator::Implicit { 2e-3 } else { 1e-5 };
        assert!((farthest - expected).abs() < tolerance, "{integrator:?}: {farthest} {expected}");
        assert!(turned, "{integrator:?}");
    }
    // The implicit scheme takes long steps against a stiff stop.
    let stiff = m.with_limit_springs(1e6).unwrap();
    let mut s = Simulation::new(
        &stiff,
        &[0.2],
        &[3.0],
        SimulationOptions { gravity: false, ..Default::default() },
    );
    let start = s.energy().total();
    for _ in 0..200 {
        assert_eq!(s.step(0.01), SimulationStatus::Completed);
        assert!(s.energy().total() <= start * (1.0 + 1e-12));
    }
    assert!(s.state().q[0] < 0.55);
}
