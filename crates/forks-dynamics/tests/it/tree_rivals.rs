//! The O(n) algorithms of the tree against each other and against dense algebra.
//!
//! Tolerances are c·κ·ε: κ is the condition number of the mass matrix where it is solved with, c =
//! 64 per coordinate covers the rounding of the sweeps on both sides.

use crate::tree_support;

use forks_dynamics::{
    mass_matrix,
    mechanism::linalg::{Matrix, dense},
    tree::{
        AbaWorkspace, CrbaWorkspace, LinkLoads, RneaWorkspace, Tree, aba, bias, crba, hybrid, rnea,
    },
};
use tree_support::{Case, cases, condition, largest, largest_difference, reference_mass};

const C: f64 = 64.0 * f64::EPSILON;

fn tree_mass(case: &Case) -> Matrix {
    let n = case.tree.velocity_count();
    let mut m = Matrix::zeros(n, n);
    crba(&case.tree, &mut CrbaWorkspace::new(&case.tree), &case.q, &mut m);
    m
}

fn bias_of(case: &Case) -> Vec<f64> {
    let mut out = vec![0.0; case.tree.velocity_count()];
    let mut ws = RneaWorkspace::new(&case.tree);
    bias(&case.tree, &mut ws, &case.q, &case.v, &case.loads(), &mut out);
    out
}

#[test]
fn the_mass_matrix_is_the_sum_over_bodies() {
    for case in cases(80) {
        let m = tree_mass(&case);
        let expected = reference_mass(&case);
        let n = m.rows() as f64;
        let error = largest_difference(&m, &expected) / expected.max_abs();
        assert!(error < C * n, "seed {}: {error:e}", case.seed);
        for i in 0..m.rows() {
            for j in 0..i {
                assert_eq!(m[(i, j)].to_bits(), m[(j, i)].to_bits());
            }
        }
    }
}

/// Coordinates of loop-closing joints carry their armature and nothing else.
#[test]
fn the_whole_mass_matrix_adds_the_rotors_of_closing_joints() {
    let mut rotors = 0;
    for case in cases(60) {
        let (m, whole) = (&case.mechanism, mass_matrix(&case.mechanism, &case.full_q));
        let tree = reference_mass(&case);
        let n = tree.rows();
        let mut expected = Matrix::zeros(m.velocity_count(), m.velocity_count());
        for i in 0..n {
            expected.row_mut(i)[..n].copy_from_slice(tree.row(i));
        }
        for &id in m.forest().closures() {
            for (k, armature) in m.velocity_range(id).zip(&m.joint(id).armature) {
                expected[(k, k)] = *armature;
                rotors += usize::from(*armature != 0.0);
            }
        }
        let error = largest_difference(&whole, &expected) / expected.max_abs();
        assert!(error < C * n as f64, "seed {}: {error:e}", case.seed);
    }
    assert!(rotors > 20, "{rotors}");
}

/// τ = M θ̈ + bias, and the accelerations that forward dynamics finds for τ are those put in.
#[test]
fn forward_dynamics_inverts_inverse_dynamics() {
    let mut worst: f64 = 0.0;
    for case in cases(120) {
        let n = case.tree.velocity_count();
        let (mut tau, mut back) = (vec![0.0; n], vec![0.0; n]);
        let mut ws = RneaWorkspace::new(&case.tree);
        rnea(&case.tree, &mut ws, &case.q, &case.v, &case.values, &case.loads(), &mut tau);
        let m = tree_mass(&case);
        let (b, ma) = (bias_of(&case), m.mul_vec(&case.values));
        let size = largest(&tau).max(largest(&b)).max(largest(&ma));
        for i in 0..n {
            assert!((tau[i] - ma[i] - b[i]).abs() < C * n as f64 * size, "seed {}", case.seed);
        }
        let mut ws = AbaWorkspace::new(&case.tree);
        aba(&case.tree, &mut ws, &case.q, &case.v, &tau, &case.loads(), &mut back).unwrap();
        let kappa = condition(&m);
        let size = largest(&case.values).max(size / m.max_abs());
        let error = (0..n).map(|i| (back[i] - case.values[i]).abs()).fold(0.0, f64::max) / size;
        worst = worst.max(error / (kappa * n as f64 * f64::EPSILON));
        assert!(error < C * n as f64 * kappa, "seed {}: {error:e}, κ {kappa:e}", case.seed);
    }
    println!("RNEA∘ABA: worst {worst:.2} n κ ε");
}

#[test]
fn forward_dynamics_is_the_dense_solve() {
    let mut worst: f64 = 0.0;
    for case in cases(120) {
        let n = case.tree.velocity_count();
        let m = tree_mass(&case);
        let b = bias_of(&case);
        let rhs = Matrix::from_fn(n, 1, |i, _| case.values[i] - b[i]);
        let expected = dense::cholesky_solve(&m, &rhs).expect("positive definite");
        let mut found = vec![0.0; n];
        let mut ws = AbaWorkspace::new(&case.tree);
        aba(&case.tree, &mut ws, &case.q, &case.v, &case.values, &case.loads(), &mut found)
            .unwrap();
        let kappa = condition(&m);
        let size = expected.max_abs();
        let error = (0..n).map(|i| (found[i] - expected[(i, 0)]).abs()).fold(0.0, f64::max) / size;
        worst = worst.max(error / (kappa * n as f64 * f64::EPSILON));
        assert!(error < C * n as f64 * kappa, "seed {}: {error:e}, κ {kappa:e}", case.seed);
    }
    println!("ABA against Cholesky: worst {worst:.2} n κ ε");
}

#[test]
fn hybrid_dynamics_has_forward_and_inverse_dynamics_as_limits() {
    for case in cases(60) {
        let (n, loads) = (case.tree.velocity_count(), case.loads());
        let mut ws = AbaWorkspace::new(&case.tree);
        let (mut a, mut t) = (vec![0.0; n], vec![0.0; n]);
        let (mut expected, free) = (vec![0.0; n], vec![false; n]);
        aba(&case.tree, &mut ws, &case.q, &case.v, &case.values, &loads, &mut expected).unwrap();
        hybrid(&case.tree, &mut ws, &case.q, &case.v, &free, &case.values, &loads, &mut a, &mut t)
            .unwrap();
        assert_eq!(a, expected, "seed {}", case.seed);
        assert_eq!(t, case.values);
        let all = vec![true; n];
        hybrid(&case.tree, &mut ws, &case.q, &case.v, &all, &case.values, &loads, &mut a, &mut t)
            .unwrap();
        assert_eq!(a, case.values);
        let mut inverse = RneaWorkspace::new(&case.tree);
        rnea(&case.tree, &mut inverse, &case.q, &case.v, &a, &loads, &mut expected);
        let size = largest(&expected);
        for i in 0..n {
            assert!((t[i] - expected[i]).abs() < C * n as f64 * size, "seed {}", case.seed);
        }
    }
}

/// Mixed coordinates, also within one joint, against the partitioned dense system
/// M_ff θ̈_f = τ_f − b_f − M_fp θ̈_p, τ_p = M_pf θ̈_f + M_pp θ̈_p + b_p (EQUATIONS 2.2).
#[test]
fn mixed_hybrid_dynamics_is_the_partitioned_solve() {
    let mut mixed_within_a_joint = 0;
    for case in cases(160) {
        let n = case.tree.velocity_count();
        mixed_within_a_joint += usize::from(case.mixes_within_a_joint());
        let (m, b) = (tree_mass(&case), bias_of(&case));
        let free: Vec<usize> = (0..n).filter(|&i| !case.prescribed[i]).collect();
        let mut expected = case.values.clone();
        let mut kappa = 1.0;
        if !free.is_empty() {
            let mff = Matrix::from_fn(free.len(), free.len(), |i, j| m[(free[i], free[j])]);
            kappa = condition(&mff);
            let rhs = Matrix::from_fn(free.len(), 1, |i, _| {
                let given: f64 = (0..n)
                    .filter(|&j| case.prescribed[j])
                    .map(|j| m[(free[i], j)] * case.values[j])
                    .sum();
                case.values[free[i]] - b[free[i]] - given
            });
            let x = dense::cholesky_solve(&mff, &rhs).expect("positive definite");
            free.iter().enumerate().for_each(|(i, &f)| expected[f] = x[(i, 0)]);
        }
        let tau: Vec<f64> = m.mul_vec(&expected).iter().zip(&b).map(|(x, b)| x + b).collect();
        let (mut a, mut t) = (vec![0.0; n], vec![0.0; n]);
        let mut ws = AbaWorkspace::new(&case.tree);
        let (p, values, loads) = (&case.prescribed, &case.values, case.loads());
        hybrid(&case.tree, &mut ws, &case.q, &case.v, p, values, &loads, &mut a, &mut t).unwrap();
        let bound = C * n as f64 * kappa;
        let size = largest(&expected);
        let force = largest(&tau).max(largest(&b)).max(m.max_abs() * size);
        for i in 0..n {
            let error = (a[i] - expected[i]).abs() / size;
            assert!(error < bound, "seed {} coordinate {i}: {error:e}", case.seed);
            let error = (t[i] - tau[i]).abs() / force;
            assert!(error < bound, "seed {} force {i}: {error:e}", case.seed);
        }
    }
    assert!(mixed_within_a_joint > 40, "{mixed_within_a_joint}");
}

#[test]
fn the_third_call_equals_the_first() {
    for case in cases(40) {
        let (n, loads) = (case.tree.velocity_count(), case.loads());
        let other: Vec<f64> = case.values.iter().map(|x| 0.5 - x).collect();
        let mut ws = AbaWorkspace::new(&case.tree);
        let mut inverse = RneaWorkspace::new(&case.tree);
        let mut results = vec![];
        for values in [&case.values, &other, &case.values] {
            let (mut a, mut h, mut t, mut r) =
                (vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]);
            aba(&case.tree, &mut ws, &case.q, &case.v, values, &loads, &mut a).unwrap();
            let p = &case.prescribed;
            hybrid(&case.tree, &mut ws, &case.q, &case.v, p, values, &loads, &mut h, &mut t)
                .unwrap();
            rnea(&case.tree, &mut inverse, &case.q, &case.v, values, &loads, &mut r);
            results.push([a, h, t, r]);
        }
        assert_eq!(results[0], results[2], "seed {}", case.seed);
        assert_ne!(results[0], results[1], "seed {}", case.seed);
    }
}

/// Wrenches on links act as Σ Jᵀ w, gravity as the weights do.
#[test]
fn loads_are_what_the_jacobians_say() {
    use forks_dynamics::mechanism::kinematics::pull_back_wrenches;
    use forks_dynamics::{Loads, generalized_forces};
    for case in cases(60) {
        let (n, rest) = (case.tree.velocity_count(), vec![0.0; case.tree.velocity_count()]);
        let mut ws = RneaWorkspace::new(&case.tree);
        let mut found = vec![0.0; n];
        bias(&case.tree, &mut ws, &case.q, &rest, &LinkLoads::GRAVITY, &mut found);
        let m = case.without_springs();
        let expected = generalized_forces(&m, &case.full_q, &case.poses(), &Loads::gravity());
        let size = largest(&expected);
        for i in 0..n {
            assert!((found[i] + expected[i]).abs() < C * n as f64 * size, "seed {}", case.seed);
        }
        let only = LinkLoads { gravity: false, wrenches: &case.wrenches };
        bias(&case.tree, &mut ws, &case.q, &rest, &only, &mut found);
        let expected = pull_back_wrenches(&case.mechanism, &case.full_q, &case.wrenches);
        let size = largest(&expected);
        for i in 0..n {
            assert!((found[i] + expected[i]).abs() < C * n as f64 * size, "seed {}", case.seed);
        }
    }
}

#[test]
#[should_panic(expected = "length of q")]
fn lengths_are_checked() {
    let case = &cases(1)[0];
    let n = case.tree.velocity_count();
    let mut out = vec![0.0; n];
    let mut ws = AbaWorkspace::new(&case.tree);
    let long = vec![0.0; case.q.len() + 1];
    let loads = LinkLoads::NONE;
    let _ = aba(&case.tree, &mut ws, &long, &case.v, &case.values, &loads, &mut out);
}

#[test]
fn a_tree_of_the_ground_alone_is_nothing() {
    let m = forks_dynamics::mechanism::MechanismBuilder::new("empty").build().unwrap();
    let tree = Tree::new(&m);
    let mut ws = AbaWorkspace::new(&tree);
    aba(&tree, &mut ws, &[], &[], &[], &LinkLoads::GRAVITY, &mut []).unwrap();
}
