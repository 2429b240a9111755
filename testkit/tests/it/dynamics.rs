//! The naive forward dynamics against closed forms, energy balance and itself.

use forks_mechanism::{
    Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
    },
};
use forks_testkit::{
    JointChoice, RandomMechanismOptions,
    dynamics::{
        Acceleration, State, StateOptions, energies, forward_dynamics, random_state,
        tree_forward_dynamics,
    },
    kinematics::{constraints, displace, link_poses},
    random_mechanism,
};

fn options(seed: u64) -> RandomMechanismOptions {
    let mut joint_kinds = JointChoice::USUAL.to_vec();
    joint_kinds.extend([JointChoice::Free, JointChoice::Fixed]);
    RandomMechanismOptions {
        joint_kinds,
        armature: seed.is_multiple_of(2),
        floating_base: seed.is_multiple_of(3),
        massless_fraction: if seed.is_multiple_of(4) { 0.3 } else { 0.0 },
        preload: 0.2,
        resisted: None,
        ..RandomMechanismOptions::mixed(seed)
    }
}

fn point(mass: f64, at: DVec3) -> SpatialInertia {
    SpatialInertia::new(mass, at, DMat3::ZERO)
}

fn hinge(parent: LinkId, child: LinkId, at: DVec3) -> Joint {
    Joint::new("", JointKind::Revolute { axis: DVec3::Y }, parent, child)
        .at(Pose::from_translation(at))
}

/// Point masses on massless rods: with both angles from straight down, φ₂ = φ₁ + q₂,
/// (m₁+m₂) l₁² φ̈₁ + m₂ l₁ l₂ (cos Δ φ̈₂ + sin Δ φ̇₂²) + (m₁+m₂) g l₁ sin φ₁ = 0,
/// m₂ l₂² φ̈₂ + m₂ l₁ l₂ (cos Δ φ̈₁ − sin Δ φ̇₁²) + m₂ g l₂ sin φ₂ = 0, Δ = φ₁ − φ₂.
#[test]
fn double_pendulum() {
    let (m, l, g) = ([1.3, 0.7], [0.8, 0.5], 9.81);
    let mut b = MechanismBuilder::new("double pendulum");
    b.set_gravity(DVec3::new(0.0, 0.0, -g));
    let body =
        |i: usize| Link::new(format!("{i}")).with_inertia(point(m[i], DVec3::new(0.0, 0.0, -l[i])));
    let links = [b.add_link(body(0)), b.add_link(body(1))];
    b.add_joint(hinge(LinkId::WORLD, links[0], DVec3::ZERO));
    b.add_joint(hinge(links[0], links[1], DVec3::new(0.0, 0.0, -l[0])));
    let model = b.build().expect("valid");
    let (phi, rate): ([f64; 2], [f64; 2]) = ([0.4, -0.9], [1.7, -2.2]);
    let mut s = State::rest(&model);
    (s.q, s.v) = (vec![phi[0], phi[1] - phi[0]], vec![rate[0], rate[1] - rate[0]]);
    let x = forward_dynamics(&model, &s);
    let (a, delta) = ([x.joints[0], x.joints[0] + x.joints[1]], phi[0] - phi[1]);
    let (total, c) = (m[0] + m[1], m[1] * l[0] * l[1]);
    // A hinge about y swings a hanging mass towards −x for positive angles: the equations are even.
    let first = total * l[0] * l[0] * a[0]
        + c * (delta.cos() * a[1] + delta.sin() * rate[1] * rate[1])
        + total * g * l[0] * phi[0].sin();
    let second = m[1] * l[1] * l[1] * a[1]
        + c * (delta.cos() * a[0] - delta.sin() * rate[0] * rate[0])
        + m[1] * g * l[1] * phi[1].sin();
    // Terms of size 10, a dozen roundings.
    assert!(first.abs() < 2e-14 && second.abs() < 2e-14, "{first:e} {second:e}");
    // The upper hinge carries both weights and the accelerations of both masses.
    let force = x.wrenches[0];
    let lift = |i: usize| l[i] * (phi[i].sin() * a[i] + phi[i].cos() * rate[i] * rate[i]);
    let vertical = -force[0] * phi[0].sin() + force[2] * phi[0].cos();
    let expected = total * (g + lift(0)) + m[1] * lift(1);
    assert!((vertical - expected).abs() < 2e-14, "{vertical} {expected}");
}

/// Torque-free rotation about the centre of mass: I ω̇ = −ω × I ω, free fall in body axes.
#[test]
fn free_body() {
    let mut b = MechanismBuilder::new("free body");
    let moments = DVec3::new(0.3, 0.5, 0.6);
    let inertia = SpatialInertia::new(2.0, DVec3::ZERO, DMat3::from_diagonal(moments));
    let link = b.add_link(Link::new("body").with_inertia(inertia));
    b.add_joint(Joint::new("", JointKind::Free, LinkId::WORLD, link));
    b.set_gravity(DVec3::new(0.0, 0.0, -9.81));
    let m = b.build().expect("valid");
    let mut s = State::rest(&m);
    s.v = vec![0.2, -0.4, 0.3, 1.0, -2.0, 0.5];
    let (v, w) = (DVec3::from_slice(&s.v[..3]), DVec3::from_slice(&s.v[3..]));
    let turn = -w.cross(moments * w) / moments;
    let linear = DVec3::new(0.0, 0.0, -9.81) - w.cross(v);
    let expected = [linear.to_array(), turn.to_array()].concat();
    let x = forward_dynamics(&m, &s);
    for (a, e) in x.joints.iter().zip(&expected) {
        assert!((a - e).abs() < 4.0 * f64::EPSILON * 10.0, "{a} {e}");
    }
}

/// The state after time h: positions to third, velocities to second order.
fn after(m: &Mechanism, s: &State, x: &Acceleration, h: f64) -> State {
    let step: Vec<f64> = s.v.iter().zip(&x.joints).map(|(v, a)| h * v + 0.5 * h * h * a).collect();
    let v = s.v.iter().zip(&x.joints).map(|(v, a)| v + h * a).collect();
    State { q: displace(m, &s.q, &step), v, ..s.clone() }
}

/// Power of torques, wrenches and dampers at the start of a motion.
fn power(m: &Mechanism, s: &State) -> f64 {
    let torques: f64 = s.tau.iter().zip(&s.v).map(|(t, v)| t * v).sum();
    let system = forks_testkit::System::new(m, &s.q);
    let n = s.v.len();
    let dampers: f64 = (0..n)
        .flat_map(|i| (0..n).map(move |j| (i, j)))
        .map(|(i, j)| s.v[i] * system.damping[(i, j)] * s.v[j])
        .sum();
    let mut wrenches = 0.0;
    for (w, j) in s.wrenches.iter().zip(&system.first.links) {
        for i in 0..6 {
            wrenches += w[i] * (0..n).map(|k| j[(i, k)] * s.v[k]).sum::<f64>();
        }
    }
    torques + wrenches - dampers
}

#[test]
fn energy_grows_by_the_power_of_forces() {
    for seed in 0..60_u64 {
        // System's damping matrix is that of unstressed bushings.
        let bushings = usize::from(seed.is_multiple_of(5));
        let o = RandomMechanismOptions { bushings, damping: bushings == 0, ..options(seed) };
        let m = random_mechanism(seed, &o);
        let s = random_state(seed, &m, &StateOptions::default());
        let x = forward_dynamics(&m, &s);
        // Central differences: the error falls as h², by 4 between the two steps, down to rounding.
        let slope = |h: f64| {
            let e = |h: f64| energies(&m, &after(&m, &s, &x, h)).total();
            (e(h) - e(-h)) / (2.0 * h)
        };
        let largest =
            s.v.iter()
                .zip(&x.joints)
                .fold(1.0, |m: f64, (v, a)| m.max(v.abs()).max(a.abs().sqrt()));
        let h = 1e-4 / largest;
        let extrapolated = (4.0 * slope(h) - slope(2.0 * h)) / 3.0;
        let expected = power(&m, &s);
        let e = energies(&m, &s);
        let size = (e.kinetic + e.elastic + e.gravitational.abs()) * largest + expected.abs();
        // h⁴ of the remainder and ε/h of rounding, times the fastest rate.
        assert!(
            (extrapolated - expected).abs() < 3e-10 * size,
            "seed {seed}: {extrapolated} instead of {expected}, of {size}"
        );
    }
}

#[test]
fn gaps_of_loops_grow_with_the_cube_of_time() {
    let mut seen = 0;
    for seed in 0..60 {
        let m = random_mechanism(seed, &options(seed));
        let s = random_state(seed, &m, &StateOptions::default());
        let x = forward_dynamics(&m, &s);
        let largest = |h: f64| {
            let q = after(&m, &s, &x, h).q;
            let still = vec![0.0; s.v.len()];
            let gaps = constraints(&m, &q, &still, &link_poses(&m, &q, &still));
            gaps.iter().fold(0.0, |m: f64, g| m.max(g.abs()))
        };
        let rate =
            s.v.iter()
                .zip(&x.joints)
                .fold(1.0, |m: f64, (v, a)| m.max(v.abs()).max(a.abs().sqrt()));
        let h = 4e-3 / rate;
        if largest(h) < 1e-11 {
            continue; // No loop, or one that does not move.
        }
        let order = (largest(h) / largest(0.5 * h)).log2();
        assert!((order - 3.0).abs() < 0.2, "seed {seed}: order {order}");
        seen += 1;
    }
    assert!(seen >= 20, "only {seen} moving loops");
}

#[test]
fn dense_solution_and_elimination_of_trees_agree() {
    for seed in 0..60 {
        let o = RandomMechanismOptions { extra_loops: 0, couplings: 0, ..options(seed) };
        let m = random_mechanism(seed, &o);
        let s = random_state(seed, &m, &StateOptions::default());
        let (x, y) = (forward_dynamics(&m, &s), tree_forward_dynamics(&m, &s));
        // Both are exact before the last rounding.
        for (a, b) in x.joints.iter().zip(&y.joints) {
            assert!((a - b).abs() <= f64::EPSILON * a.abs(), "seed {seed}: {a} {b}");
        }
        let (a, b) = (x.links.iter().flatten(), y.links.iter().flatten());
        for (a, b) in a.zip(b) {
            assert!((a - b).abs() <= f64::EPSILON * a.abs() + 1e-18, "seed {seed}: {a} {b}");
        }
        assert!(x.refinement < 1e-20);
    }
}
