//! Parametric mechanisms against closed forms and separately computed numbers.

use forks_mechanism::{
    Mechanism,
    kinematics::{link_jacobian, loops},
    lie::glam::DVec3,
    linalg::{Matrix, dense},
};
use forks_models::{HelixJoints, Parametric};

/// Frequencies (rad/s, ascending) at the start pose: M = Σ Jᵀ I J and K on the nullspace of the
/// loops.
fn frequencies(m: &Mechanism) -> Vec<f64> {
    let q = m.start_positions();
    let poses = m.link_poses(&q);
    let nv = m.velocity_count();
    let mut mass = Matrix::zeros(nv, nv);
    for (id, link) in m.moving_links() {
        let j = link_jacobian(m, &q, &poses, id);
        let i6 = link.inertia.matrix();
        let i = Matrix::from_fn(6, 6, |r, c| i6.get(r, c));
        let add = j.transpose_mul(&i.mul(&j));
        mass = Matrix::from_fn(nv, nv, |r, c| mass[(r, c)] + add[(r, c)]);
    }
    let basis = admissible(m, &q);
    let stiffness = joint_stiffness(m);
    let reduced = |a: &Matrix| basis.transpose_mul(&a.mul(&basis)).symmetric_part();
    let (values, _) =
        dense::generalized_symmetric_eigen(&reduced(&stiffness), &reduced(&mass)).unwrap();
    values.iter().map(|x| x.max(0.0).sqrt()).collect()
}

fn admissible(m: &Mechanism, q: &[f64]) -> Matrix {
    let g = loops::constraint_jacobian(m, q, &m.link_poses(q));
    dense::nullspace(&g, 1e-10).unwrap().1
}

fn joint_stiffness(m: &Mechanism) -> Matrix {
    let mut k = Matrix::zeros(m.velocity_count(), m.velocity_count());
    for (i, j) in m.joints().iter().enumerate() {
        let r = m.velocity_range(forks_mechanism::JointId::new(i));
        if let Some(s) = &j.spring {
            for a in 0..j.dof() {
                for b in 0..j.dof() {
                    k[(r.start + a, r.start + b)] = s.stiffness.get(a, b);
                }
            }
        }
    }
    k
}

/// Compliance J K⁻¹ Jᵀ of the first effector on the admissible motions.
fn compliance(p: &Parametric) -> Matrix {
    let m = &p.mechanism;
    let q = m.start_positions();
    let basis = admissible(m, &q);
    let j = link_jacobian(m, &q, &m.link_poses(&q), p.effectors[0]).mul(&basis);
    let k = basis.transpose_mul(&joint_stiffness(m).mul(&basis)).symmetric_part();
    j.mul(&dense::cholesky_solve(&k, &j.transpose()).unwrap())
}

fn all() -> Vec<Parametric> {
    vec![
        forks_models::helix(20, HelixJoints::Hinge3),
        forks_models::helix(50, HelixJoints::HingeZ),
        forks_models::helix(7, HelixJoints::Alternating),
        forks_models::ladder(5),
        forks_models::irregular_ladder(4),
        forks_models::y_mechanism(),
        forks_models::arm20(),
        forks_models::four_bar(),
        forks_models::scott_russell(),
        forks_models::two_joint_example(0.7).unwrap(),
        forks_models::parallelogram(),
        forks_models::octahedral_truss(),
        forks_models::bicycle_chain(30),
        forks_models::coil(30),
        forks_models::dill(31),
        forks_models::four_bar_chain(6),
        forks_models::molecules::chain(100, 1),
        forks_models::molecules::polymer(100, 2),
        forks_models::molecules::bushy(100, 3),
        forks_models::millipede(4, 4),
    ]
}

#[test]
fn every_mechanism_starts_closed_and_unstressed() {
    for p in all() {
        let m = &p.mechanism;
        let q = m.start_positions();
        let poses = m.link_poses(&q);
        let r = m.bounding_radius(&poses);
        // Closures: a few roundings per link on the way round.
        let bound = 8.0 * m.links().len() as f64 * f64::EPSILON * (1.0 + r);
        for x in loops::constraint_residual(m, &q, &poses) {
            assert!(x.abs() < bound, "{}: closure residual {x}", m.name());
        }
        for (i, j) in m.joints().iter().enumerate() {
            let range = m.position_range(forks_mechanism::JointId::new(i));
            if let Some(s) = &j.spring {
                for d in j.kind.difference(&s.rest, &q[range]) {
                    assert!(d.abs() < bound, "{}: spring of {} stretched by {d}", m.name(), j.name);
                }
            }
            assert!(j.limits.iter().all(Option::is_none));
        }
        assert_eq!(m.gravity(), DVec3::ZERO);
        assert!(!p.effectors.is_empty());
        assert!(m.links().iter().skip(1).all(|l| l.auxiliary == l.inertia.is_zero()));
    }
}

/// True lowest modes that were computed separately for the design, to the digits given there.
#[test]
fn lowest_modes() {
    let near = |m: &Mechanism, expected: &[f64], digits: f64| {
        let f = frequencies(m);
        for (a, b) in f.iter().zip(expected) {
            assert!((a - b).abs() <= 0.5 * digits, "{}: {:?} for {expected:?}", m.name(), &f[..3]);
        }
    };
    near(&forks_models::helix(20, HelixJoints::Hinge3).mechanism, &[11.65, 11.94, 18.91], 0.0101);
    near(&forks_models::helix(50, HelixJoints::HingeZ).mechanism, &[6.19, 8.34, 8.85], 0.0101);
    near(&forks_models::ladder(5).mechanism, &[72.5], 0.101);
}

#[test]
fn ladders_by_links_and_by_rungs() {
    let m = forks_models::ladder_of_links(48).mechanism;
    assert_eq!(m.links().len() - 1, 48);
    assert_eq!(m.forest().closures().len(), 16);
    assert_eq!(forks_models::ladder_of_links(36).mechanism.forest().closures().len(), 12);
    let m = forks_models::irregular_ladder_of_links(9).mechanism;
    let poses = m.link_poses(&m.start_positions());
    let rung = m.find_link("rung2").unwrap();
    // The centre of mass of a rung is halfway between the two lower ends.
    let centre = poses[rung.index()].transform_point(m.link(rung).inertia.center_of_mass);
    let expected = DVec3::new(0.25, 0.0, 0.5 * (-0.9 + 0.05 - 0.81));
    assert!(centre.distance(expected) < 8.0 * f64::EPSILON);
}

/// The tip's compliance along the second link vanishes towards the stretched pose.
#[test]
fn two_joint_compliance_vanishes_when_stretched() {
    for bend in [1.2, 0.6, 0.1, 0.0] {
        let c = compliance(&forks_models::two_joint_example(bend).unwrap());
        let expected = (0.5 * f64::sin(bend)).powi(2) / 1000.0;
        assert!((c[(0, 0)] - expected).abs() < 64.0 * f64::EPSILON * 1e-3, "{bend}: {}", c[(0, 0)]);
        assert!(c[(2, 2)] > 2e-4);
    }
    assert!(forks_models::two_joint_example(f64::NAN).is_err());
}

#[test]
fn parallelogram_compliance() {
    let c = compliance(&forks_models::parallelogram());
    for i in 0..6 {
        for j in 0..6 {
            let expected = if (i, j) == (0, 0) { 2.5e-4 } else { 0.0 };
            // κ = 1 here; the nullspace is good to a few roundings.
            assert!((c[(i, j)] - expected).abs() < 64.0 * f64::EPSILON * 1e-3, "({i},{j})");
        }
    }
}

/// The tracing end moves along z only.
#[test]
fn scott_russell_traces_a_straight_line() {
    let c = compliance(&forks_models::scott_russell());
    // dz/dφ = 2 a cos φ = 0.5 m in body axes = world axes.
    assert!((c[(2, 2)] - 0.25e-3).abs() < 64.0 * f64::EPSILON * 1e-3, "{}", c[(2, 2)]);
    assert!(c[(0, 0)].abs() < 64.0 * f64::EPSILON * 1e-3, "{}", c[(0, 0)]);
}

#[test]
fn sizes() {
    let count = |p: Parametric| p.mechanism.moving_links().filter(|(_, l)| !l.auxiliary).count();
    assert_eq!(count(forks_models::helix(20, HelixJoints::Hinge3)), 20);
    assert_eq!(count(forks_models::y_mechanism()), 30);
    assert_eq!(count(forks_models::arm20()), 20);
    assert_eq!(count(forks_models::bicycle_chain(30)), 30);
    assert_eq!(count(forks_models::molecules::chain(50_000, 1)), 50_000);
    assert_eq!(count(forks_models::molecules::polymer(50_000, 1)), 50_000);
    assert_eq!(count(forks_models::millipede(1000, 1)), 13_000);
    assert_eq!(count(forks_models::helix(0, HelixJoints::HingeZ)), 1);
}

#[test]
fn bushy_trees_have_bounded_degree_and_equal_seeds_give_equal_trees() {
    let m = forks_models::molecules::bushy(5_000, 7).mechanism;
    let mut degree = vec![0; m.links().len()];
    for j in m.joints() {
        degree[j.parent.index()] += 1;
        degree[j.child.index()] += 1;
    }
    assert_eq!(degree[1..].iter().max(), Some(&4));
    assert_eq!(m.joints(), forks_models::molecules::bushy(5_000, 7).mechanism.joints());
    assert_ne!(m.joints(), forks_models::molecules::bushy(5_000, 8).mechanism.joints());
}

#[test]
fn polymer_has_two_link_side_chains() {
    let m = forks_models::molecules::polymer(30, 1).mechanism;
    let mut children = vec![0; m.links().len()];
    for j in m.joints() {
        children[j.parent.index()] += 1;
    }
    // Nine backbone links carry the next one and a side chain, the last only a side chain.
    assert_eq!(children[1..].iter().filter(|&&c| c == 2).count(), 9);
    assert_eq!(children[1..].iter().filter(|&&c| c == 0).count(), 10);
}

#[test]
fn loaded_links() {
    let m = forks_models::molecules::chain(100, 1).mechanism;
    let near = forks_models::molecules::neighbouring_links(&m, 10);
    assert_eq!(near.len(), 10);
    assert_eq!(near[0].index(), 51);
    assert_eq!(near[9].index(), 60);
    let far = forks_models::molecules::scattered_links(&m, 30, 3);
    assert_eq!(far.len(), 30);
    assert!(far.windows(2).all(|w| w[0] < w[1]));
    assert_eq!(forks_models::molecules::scattered_links(&m, 1000, 3).len(), 100);
}

/// The tip of a coil stays near its root, all rods are equal, neighbouring axes are skewed.
#[test]
fn coil_is_rolled_up() {
    let n = 120;
    let p = forks_models::coil(n);
    let m = &p.mechanism;
    assert_eq!((m.links().len(), m.velocity_count()), (n + 1, n));
    let poses = m.link_poses(&m.start_positions());
    for pose in &poses[1..] {
        let t = pose.translation;
        assert!((t.truncate().length() - 0.2).abs() < 1e-14, "{t}");
        // Ten turns of 0.05 m.
        assert!(t.z <= 1e-14 && t.z > -0.5, "{t}");
    }
    let length = poses[1].translation.distance(poses[2].translation);
    for w in poses[1..].windows(2) {
        assert!((w[0].translation.distance(w[1].translation) - length).abs() < 1e-14);
    }
    assert!((m.total_mass() - n as f64).abs() < 1e-12);
}

/// Levels of a dill halve in length, and masses fall by eight: 1 + 2/8 + 4/64 + 8/512 kg.
#[test]
fn dill_tapers_level_by_level() {
    let p = forks_models::dill(15);
    let m = &p.mechanism;
    assert!((m.total_mass() - (1.0 + 0.25 + 0.0625 + 0.015625)).abs() < 1e-15);
    let poses = m.link_poses(&m.start_positions());
    let at = |k: usize| poses[k + 1].translation;
    for k in 1..7 {
        // Both children of a rod start at its far end, 2^-level from its own start.
        assert_eq!(at(2 * k + 1), at(2 * k + 2));
        let length = 0.5f64.powi((k + 1).ilog2() as i32);
        assert!((at(2 * k + 1).distance(at(k)) - length).abs() < 1e-15);
    }
}

/// Every loop of a chain of four-bars is closed at the start and leaves one motion: k of them.
#[test]
fn chain_of_four_bars_has_one_motion_per_loop() {
    let p = forks_models::four_bar_chain(6);
    let m = &p.mechanism;
    let q = m.start_positions();
    assert_eq!(m.forest().closures().len(), 6);
    let residual = loops::constraint_residual(m, &q, &m.link_poses(&q));
    assert!(residual.iter().all(|x| x.abs() < 1e-14), "{residual:?}");
    assert_eq!(admissible(m, &q).columns(), 6);
}
