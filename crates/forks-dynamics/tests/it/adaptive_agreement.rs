//! Adaptive quasi-statics without an error to spare is the full solver, on random mechanisms.

use crate::adaptive_support;

use adaptive_support::{load, plain_options, resting_case};
use forks_dynamics::adaptive::{AdaptivePlan, AdaptiveState, AdaptiveStatus, ErrorMeasure, Target};

/// Roundings of an elimination on 6×6 blocks (6·6 products per entry) over a few levels, as for the
/// full solver.
const C: f64 = 64.0;

const MEASURES: [ErrorMeasure; 4] = [
    ErrorMeasure::AbsoluteLinkage,
    ErrorMeasure::RelativeLinkage,
    ErrorMeasure::AbsoluteJoint,
    ErrorMeasure::RelativeJoint,
];

/// ε_max = 0 reproduces the maximal-coordinate oracle as the full solver does, for every measure.
#[test]
fn without_error_it_is_the_full_solver() {
    let mut worst = [0.0f64; 4];
    for seed in 0..200 {
        let case = resting_case(seed);
        let plan = AdaptivePlan::new(&case.mechanism, &plain_options()).unwrap();
        let mut state = AdaptiveState::new(&plan);
        load(&mut state, &case);
        let (_, weakest) = adaptive_support::full(&case);
        // Bases of the same directions differ, and so do the eigenvalues that they see.
        let weakest = weakest.min(state.loop_ranks().1);
        for measure in MEASURES {
            let result = state.solve(&Target::new(measure, 0.0));
            assert_eq!(result.status, AdaptiveStatus::Converged, "seed {seed}");
            assert_eq!(result.certified_error, 0.0, "seed {seed}");
            let error = case.error(state.accelerations()) * weakest;
            assert!(error < C, "seed {seed}: {error:.2} sensitivity·ε/weakest");
            let class = &mut worst[seed as usize % 4];
            *class = class.max(error);
        }
    }
    println!("trees, floating, loops, planar loops: {worst:.2?}");
}
