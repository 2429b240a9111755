//! Loop-constrained accelerations: multipliers, ranks that change with the configuration, failures.

use forks_dynamics::{
    constrained::{ConstrainedDynamics, DynamicsStatus},
    mass_matrix,
    mechanism::{
        Coordinate, Coupling, Joint, JointId, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
        kinematics::loops,
        lie::{
            SpatialInertia,
            glam::{DMat3, DVec3},
        },
    },
    passive::{PassiveWorkspace, passive_forces},
};
use forks_models::parallelogram;
use forks_testkit::{
    RandomMechanismOptions,
    dynamics::{StateOptions, random_state},
    random_mechanism,
};

/// Largest |M v̇ + b − τ − passive − Gᵀλ| over all coordinates, and the largest term.
fn balance(m: &Mechanism, seed: u64) -> (f64, f64) {
    let s = random_state(seed, m, &StateOptions { wrench: 0.0, ..StateOptions::default() });
    let d = ConstrainedDynamics::new(m);
    let mut work = d.workspace();
    let (q, v, n) = (s.tree_q(m), s.tree_v(m), m.tree_velocity_count());
    let found = d.accelerations(q, v, &s.tau, &[], &mut work);
    assert_eq!(found.status, DynamicsStatus::Solved, "seed {seed}: {}", found.residual);
    let bias = d.bias(q, v, &mut work);
    let mut passive = vec![0.0; m.velocity_count()];
    passive_forces(m, &mut PassiveWorkspace::new(m), &s.q, &s.v, &mut passive);
    let mass = mass_matrix(m, &s.q);
    let reaction = loops::constraint_jacobian(m, &s.q, &m.link_poses(&s.q))
        .transpose_mul_vec(&found.multipliers);
    let (mut worst, mut size) = (0.0f64, 0.0f64);
    for i in 0..m.velocity_count() {
        let mut sum = -passive[i] - reaction[i];
        let mut terms = passive[i].abs() + reaction[i].abs();
        if i < n {
            for k in 0..n {
                sum += mass[(i, k)] * found.acceleration[k];
                terms += (mass[(i, k)] * found.acceleration[k]).abs();
            }
            sum += bias[i] - s.tau[i];
            terms += bias[i].abs() + s.tau[i].abs();
        }
        worst = worst.max(sum.abs());
        size = size.max(terms);
    }
    (worst, size)
}

#[test]
fn multipliers_balance_all_forces() {
    let (mut worst, mut redundant) = (0.0f64, 0);
    for seed in 0..100 {
        let options = RandomMechanismOptions {
            links: 3 + seed as usize % 8,
            extra_loops: 1 + seed as usize % 3,
            couplings: seed as usize % 3,
            planar: seed % 4 == 3,
            ..RandomMechanismOptions::default()
        };
        let m = random_mechanism(seed, &options);
        let (left, size) = balance(&m, seed);
        let d = ConstrainedDynamics::new(&m);
        let q = &m.start_positions()[..m.tree_position_count()];
        let zero = vec![0.0; m.tree_velocity_count()];
        let s = d.accelerations(q, &zero, &zero, &[], &mut d.workspace());
        redundant += usize::from(s.rank < s.rows);
        worst = worst.max(left / size);
        assert!(left < 1e-9 * size, "seed {seed}: {left:e} of {size:e}");
    }
    println!("worst balance {worst:e}; {redundant} of 100 with redundant rows");
    assert!(redundant > 20);
}

#[test]
fn the_rank_of_a_parallelogram_falls_where_it_is_flat() {
    let m = parallelogram().mechanism;
    let d = ConstrainedDynamics::new(&m);
    let mut work = d.workspace();
    let q = m.start_positions()[..m.tree_position_count()].to_vec();
    let zero = vec![0.0; q.len()];
    let upright = d.accelerations(&q, &zero, &zero, &[], &mut work);
    // Five rows of a hinge, three of them about motion out of the plane, which no joint allows.
    assert_eq!((upright.rows, upright.rank), (5, 2));
    // Both bars turned by a quarter: all four hinges on one line, a second motion appears.
    let mut full = m.start_positions();
    for i in 0..m.joints().len() {
        let id = JointId::new(i);
        let j = m.joint(id);
        let bar = j.parent == LinkId::WORLD;
        full[m.position_range(id)][0] += if bar { 1.0 } else { -1.0 } * std::f64::consts::FRAC_PI_2;
    }
    full.truncate(q.len());
    let q = full;
    assert!(d.loop_gap(&q, &mut work) < 1e-14);
    let flat = d.accelerations(&q, &zero, &zero, &[], &mut work);
    assert_eq!((flat.rows, flat.rank), (5, 1));
    assert_eq!(flat.status, DynamicsStatus::Solved);
}

/// Two wheels of 2 and 3 kg·m² about x.
fn wheels(coefficients: Vec<f64>) -> Mechanism {
    let mut b = MechanismBuilder::new("wheels");
    let mut wheel = |name: &str, inertia: f64| {
        let inertia = SpatialInertia::new(1.0, DVec3::ZERO, DMat3::IDENTITY * inertia);
        let link = b.add_link(Link::new(name).with_inertia(inertia));
        b.add_joint(Joint::new(name, JointKind::Revolute { axis: DVec3::X }, LinkId::WORLD, link))
    };
    let (y, x) = (wheel("y", 2.0), wheel("x", 3.0));
    b.add_coupling(Coupling::polynomial(
        "gear",
        Coordinate::of(y),
        Coordinate::of(x),
        coefficients,
    ));
    b.build().unwrap()
}

#[test]
fn a_polynomial_coupling_accelerates_with_its_second_derivative() {
    // y = x²/2 + x³: y″ = p′ x″ + p″ x′²; (3 + 2 p′²) x″ + 2 p′ p″ x′² = τ_x + p′ τ_y.
    let m = wheels(vec![0.0, 0.0, 0.5, 1.0]);
    let d = ConstrainedDynamics::new(&m);
    let (x, rate) = (0.4f64, 1.7);
    let (p, slope, second) = (x * x / 2.0 + x.powi(3), x + 3.0 * x * x, 1.0 + 6.0 * x);
    let s = d.accelerations(&[p, x], &[slope * rate, rate], &[5.0, -3.0], &[], &mut d.workspace());
    let a = (-3.0 + slope * 5.0 - 2.0 * slope * second * rate * rate) / (3.0 + 2.0 * slope * slope);
    assert!((s.acceleration[1] - a).abs() < 1e-13 * a.abs());
    assert!((s.acceleration[0] - (slope * a + second * rate * rate)).abs() < 1e-12);
    // On y: 2 y″ = 5 + λ.
    assert!((s.multipliers[0] - (2.0 * s.acceleration[0] - 5.0)).abs() < 1e-12);
    assert_eq!((s.rows, s.rank, s.status), (1, 1, DynamicsStatus::Solved));
}

#[test]
fn contradictions_and_bad_numbers_have_a_status() {
    let m = wheels(vec![0.0, 2.0]);
    let d = ConstrainedDynamics::new(&m);
    let mut work = d.workspace();
    let s = d.accelerations(&[0.0, f64::NAN], &[0.0; 2], &[0.0; 2], &[], &mut work);
    assert_eq!(s.status, DynamicsStatus::NotFinite);
    assert!(s.acceleration.iter().all(|a| *a == 0.0));
    // The next call does not remember it.
    let s = d.accelerations(&[0.0; 2], &[0.0; 2], &[1.0, 0.0], &[], &mut work);
    assert!((s.acceleration[1] - 2.0 / 11.0).abs() < 1e-15);
    // A point mass in its own hinge.
    let mut b = MechanismBuilder::new("point");
    let point = SpatialInertia::new(1.0, DVec3::ZERO, DMat3::ZERO);
    let link = b.add_link(Link::new("point").with_inertia(point));
    let hinge = JointKind::Revolute { axis: DVec3::X };
    let hinge = b.add_joint(Joint::new("hinge", hinge, LinkId::WORLD, link));
    let m = b.build().unwrap();
    let d = ConstrainedDynamics::new(&m);
    let s = d.accelerations(&[0.0], &[0.0], &[1.0], &[], &mut d.workspace());
    assert_eq!(s.status, DynamicsStatus::Massless(hinge));
}
