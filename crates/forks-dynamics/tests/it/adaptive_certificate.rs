//! The certificate of adaptive quasi-statics against the full solver: for every measure and
//! threshold the true error is at most the certified one, and that is at most the threshold.
//!
//! Rounding allowance: the two solutions' own rounding, C sensitivities·ε over the weakest closing
//! direction kept (as in the agreement with the oracle), in the norm of the measure. For relative
//! measures it is divided by what the error is divided by.

use crate::adaptive_support;

use adaptive_support::{full, joint_norms, load, plain_options, random_wrench, resting_case};
use forks_dynamics::{
    WrenchFrame,
    adaptive::{AdaptivePlan, AdaptiveResult, AdaptiveState, AdaptiveStatus, ErrorMeasure, Target},
    dca::{DcaPlan, DcaWorkspace, dca},
    mechanism::{LinkId, Mechanism, lie::Wrench},
};
use forks_testkit::{
    Rng,
    dynamics::{State, tree_forward_dynamics},
};

/// Roundings of an elimination on 6×6 blocks over a few levels, as for the full solver.
const C: f64 = 64.0;

const MEASURES: [ErrorMeasure; 4] = [
    ErrorMeasure::AbsoluteLinkage,
    ErrorMeasure::RelativeLinkage,
    ErrorMeasure::AbsoluteJoint,
    ErrorMeasure::RelativeJoint,
];

/// True errors of approximate accelerations: linkage and joint, and the norms that they are
/// relative to.
struct Truth {
    linkage: f64,
    joint: f64,
    linkage_norm: f64,
    joint_norm: f64,
}

impl Truth {
    fn new(m: &Mechanism, approximate: &[f64], full: &[f64]) -> Self {
        let difference: Vec<f64> = approximate.iter().zip(full).map(|(a, b)| a - b).collect();
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let max = |x: &[f64]| joint_norms(m, x).into_iter().fold(0.0, f64::max);
        Self {
            linkage: norm(&difference),
            joint: max(&difference),
            linkage_norm: norm(full),
            joint_norm: max(full),
        }
    }

    /// Error, and what it is divided by.
    fn of(&self, measure: ErrorMeasure) -> (f64, f64) {
        match measure {
            ErrorMeasure::AbsoluteLinkage => (self.linkage, 1.0),
            ErrorMeasure::RelativeLinkage => (self.linkage, self.linkage_norm),
            ErrorMeasure::AbsoluteJoint => (self.joint, 1.0),
            ErrorMeasure::RelativeJoint => (self.joint, self.joint_norm),
        }
    }
}

/// Checks one solution; `rounding`: allowance for absolute errors. Gives the error of the reported
/// linkage error over the norm.
fn check(
    target: &Target,
    result: &AdaptiveResult,
    truth: &Truth,
    rounding: f64,
    what: &dyn Fn() -> String,
) -> f64 {
    assert_eq!(result.status, AdaptiveStatus::Converged, "{}", what());
    assert!(result.certified_error <= target.error, "{}: {result:?}", what());
    let (error, scale) = truth.of(target.measure);
    let bound = result.certified_error * scale + rounding;
    assert!(error <= bound, "{}: true {error:e} above {bound:e}, {result:?}", what());
    // Reported = true.
    let gap = (result.linkage_error - truth.linkage).abs();
    assert!(gap <= 1e-6 * truth.linkage + rounding, "{}: {gap:e} {rounding:e}", what());
    let gap_of_norm = (result.linkage_norm - truth.linkage_norm).abs();
    assert!(gap_of_norm <= rounding, "{}: {gap_of_norm:e} above {rounding:e}", what());
    if rounding > 1e-9 * truth.linkage_norm { 0.0 } else { gap / truth.linkage_norm }
}

/// Thresholds 2⁻¹ … 2⁻¹⁹ in all measures; absolute ones relative to the largest acceleration.
fn targets(truth: &Truth) -> impl Iterator<Item = Target> {
    let scale = [1.0, truth.linkage_norm];
    (1..20).flat_map(move |i| {
        MEASURES.into_iter().map(move |measure| {
            let absolute =
                matches!(measure, ErrorMeasure::AbsoluteLinkage | ErrorMeasure::AbsoluteJoint);
            Target::new(measure, 0.5f64.powi(i) * scale[usize::from(absolute)])
        })
    })
}

/// 1,000 states of random trees, floating trees, loops and redundant planar loops.
#[test]
fn it_holds_on_random_linkages() {
    let (mut worst, mut skipped, mut joints) = (0.0f64, 0usize, [0usize; 2]);
    let mut misjudged = 0;
    for seed in 0..1000 {
        let case = resting_case(seed);
        let m = &case.mechanism;
        let plan = AdaptivePlan::new(m, &plain_options()).unwrap();
        let mut state = AdaptiveState::new(&plan);
        load(&mut state, &case);
        let (exact, weakest) = full(&case);
        let weakest = weakest.min(state.loop_ranks().1);
        let sensitivity = case.sensitivity.iter().map(|x| x * x).sum::<f64>().sqrt();
        let rounding = C * f64::EPSILON * sensitivity / weakest;
        // The full solver decides the rank of a few nearly singular loops otherwise than the dense
        // solve.
        let agrees = case.error(&exact) * weakest < C;
        let exact = if agrees { exact } else { case.exact.joints.clone() };
        misjudged += usize::from(!agrees);
        let all = Truth::new(m, &vec![0.0; exact.len()], &exact);
        for target in targets(&all) {
            let result = state.solve(&target);
            let truth = Truth::new(m, state.accelerations(), &exact);
            let what = || format!("seed {seed}, {target:?}");
            worst = worst.max(check(&target, &result, &truth, rounding, &what));
            joints[0] += result.counters.joints_computed;
            joints[1] += m.joints().len();
            skipped += usize::from(result.counters.joints_computed < m.joints().len());
        }
    }
    println!("reported against true error: {worst:.1e} of the norm; {joints:?} joints computed");
    assert!(misjudged <= 2, "{misjudged} states in which the full solver is off");
    assert!(skipped > 1000, "{skipped} solutions leave joints out");
}

/// Trees of a hundred and more links, where pruning matters, with forces on a few links in random
/// poses.
#[test]
fn it_holds_on_large_trees() {
    let (mut worst, mut own_rounding) = (0.0f64, 0.0f64);
    for seed in 0..24 {
        let mut rng = Rng::new(seed);
        let n = 60 + rng.index(200);
        let m = match seed % 4 {
            0 => forks_models::molecules::chain(n, seed),
            1 => forks_models::molecules::polymer(n, seed),
            2 => forks_models::molecules::bushy(n, seed),
            _ => forks_models::millipede(n / 13 + 1, seed),
        }
        .mechanism;
        let q: Vec<f64> = (0..m.tree_position_count()).map(|_| rng.symmetric()).collect();
        let plan = AdaptivePlan::new(&m, &plain_options()).unwrap();
        let mut state = AdaptiveState::new(&plan);
        state.set_positions(&q).unwrap();
        let mut external = vec![Wrench::ZERO; m.links().len()];
        for _ in 0..1 + rng.index(4) {
            let l = 1 + rng.index(m.links().len() - 1);
            external[l] = random_wrench(&mut rng);
            state.set_force(LinkId::new(l), external[l], WrenchFrame::Body).unwrap();
        }
        let full = full_solution(&m, &q, &external);
        let all = Truth::new(&m, &vec![0.0; full.len()], &full);
        // The full solver's own rounding, in numbers of twice the precision, and a few roundings
        // more: the adaptive solver adds and multiplies the same inverse inertias in other frames
        // and another order.
        let own = Truth::new(&m, &full, &exact(&m, &q, &external)).linkage;
        let rounding = 8.0 * own + C * f64::EPSILON * all.linkage_norm;
        own_rounding = own_rounding.max(own / all.linkage_norm);
        for target in targets(&all) {
            let result = state.solve(&target);
            let truth = Truth::new(&m, state.accelerations(), &full);
            let what = || format!("seed {seed}, {target:?}");
            worst = worst.max(check(&target, &result, &truth, rounding, &what));
        }
    }
    println!(
        "reported against true error: {worst:.1e} of the norm; full solver {own_rounding:.1e}"
    );
}

fn full_solution(m: &Mechanism, q: &[f64], external: &[Wrench]) -> Vec<f64> {
    let plan = DcaPlan::new(m).unwrap();
    let mut work = DcaWorkspace::new(&plan);
    let zero = vec![0.0; m.tree_velocity_count()];
    dca(&plan, &mut work, q, &zero, &zero, external).unwrap();
    work.accelerations().to_vec()
}

fn exact(m: &Mechanism, q: &[f64], external: &[Wrench]) -> Vec<f64> {
    let mut state = State::rest(m);
    state.q.copy_from_slice(q);
    state.wrenches = external.iter().map(|w| w.to_array()).collect();
    tree_forward_dynamics(m, &state).joints
}
