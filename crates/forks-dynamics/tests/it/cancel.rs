//! Searches that are stopped end at once, wherever they are, and say so; a hook that never stops
//! changes no bit.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use forks_dynamics::{
    Cancel, Loads,
    mechanism::{
        LinkId, Mechanism,
        lie::{Wrench, glam::DVec3},
    },
    statics::{EquilibriumOptions, EquilibriumStatus, LoadPath, solve_equilibrium},
};
use forks_models::HelixJoints;

/// A hook that stops after it was asked so often, and how often it was.
fn after(count: usize) -> (Cancel, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&asked);
    (Cancel::new(move || seen.fetch_add(1, Ordering::Relaxed) >= count), asked)
}

fn pulled(m: &Mechanism) -> Loads {
    let tip = LinkId::new(m.links().len() - 1);
    Loads::gravity().with_world_wrench(tip, Wrench::new(DVec3::new(0.3, -0.5, 0.8), DVec3::ZERO))
}

#[test]
fn searches_stop_wherever_they_are() {
    let m = forks_models::helix(12, HelixJoints::Hinge3).mechanism;
    let (start, loads) = (m.start_positions(), pulled(&m));
    for path in [LoadPath::Continuous, LoadPath::EqualSteps] {
        let plain = EquilibriumOptions { path, ..EquilibriumOptions::default() };
        let whole = solve_equilibrium(&m, &start, &loads, &plain);
        assert_eq!(whole.status, EquilibriumStatus::Converged);
        let (never, asked) = after(usize::MAX);
        let watched = EquilibriumOptions { cancel: never, ..plain.clone() };
        assert_eq!(solve_equilibrium(&m, &start, &loads, &watched).q, whole.q);
        let all = asked.load(Ordering::Relaxed);
        assert!(all > whole.iterations, "asked {all} times in {} iterations", whole.iterations);
        for stop in (0..all).step_by((all / 12).max(1)) {
            let (cancel, asked) = after(stop);
            let options = EquilibriumOptions { cancel, ..plain.clone() };
            let e = solve_equilibrium(&m, &start, &loads, &options);
            assert_eq!(e.status, EquilibriumStatus::Cancelled, "{path:?}, after {stop}");
            assert!(e.load_scale < 1.0 && e.iterations <= whole.iterations);
            assert!(e.q.iter().all(|x| x.is_finite()));
            // A few more questions on the way out, no more work.
            assert!(asked.load(Ordering::Relaxed) < stop + 20, "after {stop}");
            assert!(e.explanation(&m).unwrap().starts_with("the search was stopped after"));
        }
    }
}

/// Relaxation too: where the path ends the mechanism goes downhill in up to 200 steps.
#[test]
fn descents_stop_as_well() {
    let m = forks_models::helix(12, HelixJoints::Hinge3).mechanism;
    let tip = LinkId::new(m.links().len() - 1);
    let push = Wrench::new(DVec3::new(0.0, 0.0, 500.0), DVec3::ZERO);
    let loads = Loads::gravity().with_world_wrench(tip, push);
    let start = m.start_positions();
    let (never, asked) = after(usize::MAX);
    let options = EquilibriumOptions { cancel: never, ..EquilibriumOptions::default() };
    let _ = solve_equilibrium(&m, &start, &loads, &options);
    let all = asked.load(Ordering::Relaxed);
    for stop in (0..all).step_by((all / 20).max(1)) {
        let (cancel, asked) = after(stop);
        let options = EquilibriumOptions { cancel, ..EquilibriumOptions::default() };
        let e = solve_equilibrium(&m, &start, &loads, &options);
        assert_eq!(e.status, EquilibriumStatus::Cancelled, "after {stop} of {all}");
        assert!(asked.load(Ordering::Relaxed) < stop + 40, "after {stop}");
    }
}
