//! Ladders whose chains are long: the sweep goes down both sides abreast.

use forks_reduce::{Problem, ProblemOptions};

/// Compliance of the last rung along x.
fn reduced(rungs: usize) -> f64 {
    let m = forks_models::ladder(rungs).mechanism;
    let last = format!("rung{}", rungs - 1);
    let problem = Problem::new(&m, &[&last], &ProblemOptions::default()).unwrap();
    problem.linearise(problem.at_rest()).unwrap().compliance[(0, 0)]
}

#[test]
fn the_order_of_the_sweep_does_not_change_what_it_finds() {
    // 64 links are kept at most depth first; a ladder above that is swept abreast. Both sides of
    // the limit lie on one smooth curve: third differences are small beside the values.
    let c: Vec<f64> = (60..=68).map(reduced).collect();
    for w in c.windows(4) {
        let third = w[3] - 3.0 * w[2] + 3.0 * w[1] - w[0];
        assert!(third.abs() < 1e-3 * w[3], "{c:?}");
    }
}
