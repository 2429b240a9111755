//! Reductions that are stopped say so, wherever they are; a hook that never stops changes no bit.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use forks_dynamics::Cancel;
use forks_models::HelixJoints;
use forks_reduce::{MassModel, Problem, ProblemOptions, ReduceError, ReduceOptions};

#[test]
fn reductions_stop_wherever_they_are() {
    let m = forks_models::helix(12, HelixJoints::Hinge3).mechanism;
    let problem = Problem::new(&m, &["link11", "link5"], &ProblemOptions::default()).unwrap();
    for mass in [MassModel::Condensed, MassModel::CraigBampton { modes: 4 }] {
        let plain = ReduceOptions { mass, ..ReduceOptions::default() };
        let whole = problem.reduce(problem.at_rest(), &plain).unwrap().model;
        let asked = Arc::new(AtomicUsize::new(0));
        let stopping = |count: usize| {
            asked.store(0, Ordering::Relaxed);
            let seen = Arc::clone(&asked);
            let cancel = Cancel::new(move || seen.fetch_add(1, Ordering::Relaxed) >= count);
            ReduceOptions { cancel, ..plain.clone() }
        };
        let watched = problem.reduce(problem.at_rest(), &stopping(usize::MAX)).unwrap().model;
        assert_eq!(watched.to_bytes(), whole.to_bytes());
        let all = asked.load(Ordering::Relaxed);
        // Every joint of the sweep, and between the parts that come after it.
        assert!(all > m.joints().len(), "asked {all} times");
        for stop in 0..all {
            let found = problem.reduce(problem.at_rest(), &stopping(stop));
            assert_eq!(found.err(), Some(ReduceError::Cancelled), "after {stop} of {all}");
            assert_eq!(asked.load(Ordering::Relaxed), stop + 1, "asked once more, then never");
        }
    }
}
