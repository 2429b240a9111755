//! Derivatives of accelerations: central differences with step 1 (the map is affine, so they are
//! exact), transposes, and [K08] Table 6 as corrected in EQUATIONS 2.3 with each printed fault on
//! its own.

use crate::tree_support;

use forks_dynamics::{
    mechanism::{
        lie::{Twist, Wrench},
        linalg::Matrix,
    },
    tree::{AbaWorkspace, DerivativeWorkspace, LinkLoads, acceleration_derivatives, hybrid},
};
use tree_support::{
    Case, cases, condition, largest, reference_mass,
    table6::{Fault, Table6},
};

const C: f64 = 64.0 * f64::EPSILON;

/// dθ̈, dτ and link accelerations.
type Response = (Vec<f64>, Vec<f64>, Vec<Twist>);

fn hybrid_at(case: &Case, values: &[f64]) -> Response {
    let n = case.tree.velocity_count();
    let mut ws = AbaWorkspace::new(&case.tree);
    let (mut a, mut t) = (vec![0.0; n], vec![0.0; n]);
    let p = &case.prescribed;
    hybrid(&case.tree, &mut ws, &case.q, &case.v, p, values, &case.loads(), &mut a, &mut t)
        .unwrap();
    let mut links = vec![Twist::ZERO; case.tree.link_count()];
    ws.link_accelerations(&case.tree, &mut links);
    (a, t, links)
}

/// Central difference with step 1, and the size of what was subtracted.
fn difference(case: &Case, z: usize) -> (Response, f64) {
    let mut values = case.values.clone();
    values[z] += 1.0;
    let up = hybrid_at(case, &values);
    values[z] -= 2.0;
    let down = hybrid_at(case, &values);
    let half =
        |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| 0.5 * (x - y)).collect::<Vec<_>>();
    let links: Vec<Twist> = up.2.iter().zip(&down.2).map(|(x, y)| (*x - *y) * 0.5).collect();
    let size = up.2.iter().map(|t| largest(&t.to_array())).fold(largest(&up.0), f64::max);
    ((half(&up.0, &down.0), half(&up.1, &down.1), links), size.max(largest(&up.1)))
}

fn free_condition(case: &Case) -> f64 {
    let m = reference_mass(case);
    let free: Vec<usize> = (0..m.rows()).filter(|&i| !case.prescribed[i]).collect();
    condition(&Matrix::from_fn(free.len(), free.len(), |i, j| m[(free[i], free[j])]))
}

#[test]
fn columns_are_central_differences_with_step_one() {
    for case in cases(60) {
        let n = case.tree.velocity_count();
        let bound = C * n as f64 * free_condition(&case);
        let mut ws = DerivativeWorkspace::new(&case.tree);
        let mut d =
            acceleration_derivatives(&case.tree, &mut ws, &case.q, &case.prescribed).unwrap();
        let (mut a, mut t) = (vec![0.0; n], vec![0.0; n]);
        let mut links = vec![Twist::ZERO; case.tree.link_count()];
        for z in 0..n {
            d.apply_unit(z, &mut a, &mut t);
            d.link_accelerations(&mut links);
            let (expected, size) = difference(&case, z);
            for i in 0..n {
                let error = (a[i] - expected.0[i]).abs().max((t[i] - expected.1[i]).abs());
                assert!(error < bound * size, "seed {} ({i}, {z}): {error:e}", case.seed);
            }
            for (l, x) in links.iter().enumerate() {
                let error = largest(&(*x - expected.2[l]).to_array());
                assert!(error < bound * size, "seed {} link {l}, {z}: {error:e}", case.seed);
            }
        }
    }
}

#[test]
fn operators_are_the_columns_and_their_transpose() {
    for case in cases(60) {
        let (n, links) = (case.tree.velocity_count(), case.tree.link_count());
        let bound = C * n as f64 * free_condition(&case);
        let mut ws = DerivativeWorkspace::new(&case.tree);
        let mut d =
            acceleration_derivatives(&case.tree, &mut ws, &case.q, &case.prescribed).unwrap();
        let mut dense = Matrix::zeros(6 * links, n);
        d.dense(&mut dense);
        let (mut a, mut t) = (vec![0.0; n], vec![0.0; n]);
        let mut twists = vec![Twist::ZERO; links];
        d.apply(&case.values, &[], &mut a, &mut t);
        d.link_accelerations(&mut twists);
        let expected = dense.mul_vec(&case.values);
        let size = dense.max_abs() * largest(&case.values).max(1.0);
        for (l, x) in twists.iter().enumerate() {
            for (i, x) in x.to_array().iter().enumerate() {
                let error = (x - expected[6 * l + i]).abs();
                assert!(error < bound * size, "seed {} link {l}: {error:e}", case.seed);
            }
        }
        d.apply_transpose(&case.wrenches, &mut a);
        let weights: Vec<f64> = case.wrenches.iter().flat_map(|w| w.to_array()).collect();
        for z in 0..n {
            let expected: f64 = (0..6 * links).map(|r| dense[(r, z)] * weights[r]).sum();
            let error = (a[z] - expected).abs();
            assert!(error < bound * size * links as f64, "seed {} {z}: {error:e}", case.seed);
        }
    }
}

/// Wrenches on links enter as `hybrid` takes them.
#[test]
fn wrenches_act_as_in_hybrid_dynamics() {
    for case in cases(40) {
        let n = case.tree.velocity_count();
        let bound = C * n as f64 * free_condition(&case);
        let (rest, p) = (vec![0.0; n], &case.prescribed);
        let (mut a, mut t) = (rest.clone(), rest.clone());
        let (mut b, mut s) = (rest.clone(), rest.clone());
        let loads = LinkLoads { gravity: false, wrenches: &case.wrenches };
        let mut ws = AbaWorkspace::new(&case.tree);
        hybrid(&case.tree, &mut ws, &case.q, &rest, p, &case.values, &loads, &mut a, &mut t)
            .unwrap();
        let mut ws = DerivativeWorkspace::new(&case.tree);
        let mut d = acceleration_derivatives(&case.tree, &mut ws, &case.q, p).unwrap();
        d.apply(&case.values, &case.wrenches, &mut b, &mut s);
        let size = largest(&a).max(largest(&t));
        for i in 0..n {
            assert!((a[i] - b[i]).abs() < bound * size, "seed {}", case.seed);
            assert!((t[i] - s[i]).abs() < bound * size, "seed {}", case.seed);
        }
    }
}

/// The corrected recursion is the derivative; with any one of the four printed faults it is wrong
/// by more than a tenth of the largest entry on some mechanism, and by something on most.
#[test]
fn table_6_needs_all_four_corrections() {
    let faults = [
        Fault::AdjointWithoutInverse,
        Fault::InertiaWithoutIndex,
        Fault::BracesLost,
        Fault::OwnAccelerationLeftOut,
    ];
    let mut worst = [0.0f64; 4];
    for mut case in cases(40) {
        // The table is for joints that are prescribed as a whole.
        for e in case.mechanism.forest().edges() {
            let range = case.mechanism.velocity_range(e.joint);
            let first = case.prescribed.get(range.start).copied().unwrap_or(false);
            case.prescribed[range].fill(first);
        }
        let (n, links) = (case.tree.velocity_count(), case.tree.link_count());
        let bound = C * n as f64 * free_condition(&case);
        let mut ws = DerivativeWorkspace::new(&case.tree);
        let mut d =
            acceleration_derivatives(&case.tree, &mut ws, &case.q, &case.prescribed).unwrap();
        let mut dense = Matrix::zeros(6 * links, n);
        d.dense(&mut dense);
        let size = dense.max_abs().max(1e-300);
        let error = |fault: Fault| {
            let table = Table6::new(&case, fault).columns();
            tree_support::largest_difference(&table, &dense) / size
        };
        let right = error(Fault::None);
        assert!(right < bound, "seed {}: {right:e}", case.seed);
        for (w, f) in worst.iter_mut().zip(faults) {
            *w = w.max(error(f));
        }
    }
    for (w, f) in worst.iter().zip(faults) {
        assert!(*w > 0.1, "{f:?}: {w:e}");
    }
}

/// EQUATIONS 2.3: dB is nonzero on the path from the coordinate to the root alone, so a unit change
/// on one branch leaves the forces that carry another branch to its acceleration; the operator
/// agrees with the sweep over all slots.
#[test]
fn a_unit_change_needs_the_path_alone() {
    for case in cases(30) {
        let n = case.tree.velocity_count();
        let mut ws = DerivativeWorkspace::new(&case.tree);
        let mut d =
            acceleration_derivatives(&case.tree, &mut ws, &case.q, &case.prescribed).unwrap();
        let (mut a, mut t) = (vec![0.0; n], vec![0.0; n]);
        let (mut b, mut s) = (vec![0.0; n], vec![0.0; n]);
        let nothing: Vec<Wrench> = vec![];
        for z in 0..n {
            let unit: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == z))).collect();
            d.apply_unit(z, &mut a, &mut t);
            d.apply(&unit, &nothing, &mut b, &mut s);
            assert_eq!((&a, &t), (&b, &s), "seed {}", case.seed);
        }
    }
}
