//! The dense oracle against matrices written down by hand.

use forks_testkit::{
    Loads, Rng,
    closed_forms::{self, ClosedForm},
    reduce, reduce_loaded,
};

/// All of these have condition numbers below 1e3.
const BOUND: f64 = 1e4 * f64::EPSILON;

fn check(name: &str, c: &ClosedForm, rank: usize) {
    let r = reduce(&c.mechanism, &c.mechanism.start_positions(), &c.effectors)
        .unwrap_or_else(|u| panic!("{name}: unresisted {:?}", u.joints));
    let error = r.compliance.sub(&c.compliance).max_abs() / c.compliance.max_abs();
    assert!(error < BOUND, "{name}: {error:e}");
    assert_eq!(r.rank, rank, "{name}: {:?}", r.motion_singular_values);
}

#[test]
fn parallelograms() {
    let c = closed_forms::parallelogram(0.5, 1.0, [1e-3; 4]);
    assert!((c.compliance[(0, 0)] - 2.5e-4).abs() < 1e-19);
    check("parallelogram", &c, 1);
    check("uneven", &closed_forms::parallelogram(0.2, 0.7, [1e-3, 2e-3, 5e-4, 1e-2]), 1);
}

#[test]
fn chains() {
    check("cantilever", &closed_forms::cantilever(7, 0.2, 50.0), 2);
    let mut rng = Rng::new(11);
    for _ in 0..20 {
        let points: Vec<_> = (0..5).map(|_| rng.vector()).collect();
        let axes: Vec<_> = (0..5).map(|_| rng.direction()).collect();
        let c: Vec<_> = (0..5).map(|_| rng.range(1e-3, 5e-3)).collect();
        check("serial chain", &closed_forms::serial_chain(&points, &axes, &c, rng.vector()), 5);
    }
}

#[test]
fn springs() {
    check("series", &closed_forms::springs_in_series(&[10.0, 30.0, 70.0]), 1);
    check("parallel", &closed_forms::springs_in_parallel(&[10.0, 0.0, 70.0]), 1);
}

#[test]
fn slider_cranks() {
    for phi in [0.3, 1.2, 2.0, -0.7] {
        let k = [40.0, 25.0, 10.0, 300.0];
        check("sprung", &closed_forms::slider_crank(0.3, 0.8, phi, k), 1);
        let k = [0.0, 0.0, 0.0, 300.0];
        check("slider alone", &closed_forms::slider_crank(0.3, 0.8, phi, k), 1);
    }
}

#[test]
fn couplings_and_tendons() {
    check("gear", &closed_forms::gear_pair([100.0, 30.0], -2.5), 1);
    check("gear with a passive hinge", &closed_forms::gear_pair([0.0, 30.0], 0.4), 1);
    check("tendon", &closed_forms::tendon_pair([100.0, 30.0], [0.5, -1.5], 60.0), 2);
}

#[test]
fn pendulums_in_gravity() {
    for phi in [0.0, 0.4, -1.1, 2.5] {
        let c = closed_forms::loaded_pendulum(30.0, 2.0, 0.6, 9.81, phi);
        let loads = Loads { gravity: true, ..Loads::default() };
        let q = c.mechanism.start_positions();
        let r = reduce_loaded(&c.mechanism, &q, &loads, &c.effectors).expect("stable");
        assert!(r.imbalance < 1e-14, "{:e}", r.imbalance);
        let error = r.reduction.compliance.sub(&c.compliance).max_abs();
        assert!(error < BOUND * c.compliance.max_abs(), "{phi}: {error:e}");
    }
    let c = closed_forms::loaded_pendulum(5.0, 2.0, 0.6, 9.81, 2.5);
    let loads = Loads { gravity: true, ..Loads::default() };
    let q = c.mechanism.start_positions();
    assert!(reduce_loaded(&c.mechanism, &q, &loads, &c.effectors).is_err(), "upside down");
}
