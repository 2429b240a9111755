//! Adaptive states with the forces of a random case, for the tests of adaptive quasi-statics.

use crate::dca_support;

pub(crate) use dca_support::{Case, options};
use forks_dynamics::{
    WrenchFrame,
    adaptive::{AdaptiveOptions, AdaptiveState},
    dca::DcaStatus,
    mechanism::{JointId, LinkId, Mechanism, lie::Wrench},
};
use forks_testkit::{dynamics::StateOptions, random_mechanism};

/// A random mechanism at rest: trees, floating trees, loops anywhere, planar loops by turns.
pub(crate) fn resting_case(seed: u64) -> Case {
    case_of(seed, random_mechanism(seed, &options(seed)))
}

pub(crate) fn case_of(seed: u64, m: Mechanism) -> Case {
    let still = StateOptions { velocity: 0.0, ..StateOptions::default() };
    Case::of(seed, m, &still)
}

/// Options that agree with the full solver: nothing takes loops' gaps back.
pub(crate) fn plain_options() -> AdaptiveOptions {
    AdaptiveOptions { loop_correction: 0.0, ..AdaptiveOptions::default() }
}

/// Gives a state the forces of a case: wrenches in the links' frames, motors, springs.
pub(crate) fn load(state: &mut AdaptiveState<'_>, case: &Case) {
    for (l, w) in case.wrenches.iter().enumerate().skip(1) {
        state.set_force(LinkId::new(l), *w, WrenchFrame::Body).unwrap();
    }
    set_forces(state, &case.mechanism, &case.forces);
}

pub(crate) fn set_forces(state: &mut AdaptiveState<'_>, m: &Mechanism, forces: &[f64]) {
    for j in 0..m.joints().len() {
        let id = JointId::new(j);
        state.set_joint_force(id, &forces[m.velocity_range(id)]).unwrap();
    }
}

/// Accelerations by the full solver and the weakest direction it kept.
pub(crate) fn full(case: &Case) -> (Vec<f64>, f64) {
    let (work, status) = case.solve(&Default::default()).unwrap();
    let DcaStatus::Solved { weakest, .. } = status else {
        panic!("seed {}: {status:?}", case.seed)
    };
    (work.accelerations().to_vec(), weakest)
}

/// Norms of the accelerations of all joints.
pub(crate) fn joint_norms(m: &Mechanism, a: &[f64]) -> Vec<f64> {
    let square = |id: JointId| a[m.velocity_range(id)].iter().map(|x| x * x).sum::<f64>();
    (0..m.joints().len()).map(|j| square(JointId::new(j)).sqrt()).collect()
}

/// A random wrench.
pub(crate) fn random_wrench(rng: &mut forks_testkit::Rng) -> Wrench {
    Wrench::from_array(std::array::from_fn(|_| rng.symmetric()))
}
