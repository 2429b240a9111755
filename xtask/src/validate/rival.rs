//! The frontier sweep against the dense KKT solve, which shares no kernel with it.

use forks_mechanism::{LinkId, linalg::Matrix};
use forks_testkit::System;

use super::{
    case::Case,
    record::{Recorder, larger},
};

/// Relative difference that both routes must keep.
const KKT_BOUND: f64 = 1e-8;

pub(crate) fn check(case: &Case, out: &mut Recorder) {
    let m = case.problem.mechanism();
    let response = &case.reduction.response;
    out.at_most("sweep: compliance from frontier = from maps", response.consistency, 1e-8);
    // The dense oracle knows effectors at their links' frames only.
    if case
        .problem
        .effectors
        .iter()
        .any(|e| e.link_from_effector != forks_mechanism::lie::Pose::IDENTITY)
    {
        return;
    }
    let links: Vec<LinkId> = case.problem.effectors.iter().map(|e| e.link).collect();
    let system = System::new(m, &case.problem.start);
    let dense = match system.reduce(&system.stiffness, &links) {
        Ok(d) => d,
        Err(u) => {
            let problem = format!("the dense solve finds {} free motions", u.motions.columns());
            out.fail("sweep = KKT: compliance", KKT_BOUND, problem);
            return;
        }
    };
    let relative = |a: &Matrix, b: &Matrix| a.sub(b).norm() / b.norm().max(f64::MIN_POSITIVE);
    out.at_most(
        "sweep = KKT: compliance",
        relative(&response.compliance, &dense.compliance),
        KKT_BOUND,
    );
    out.at_most(
        "sweep = KKT: joint displacements",
        relative(&response.joints, &dense.displacements),
        KKT_BOUND,
    );
    let largest = dense.twist_maps.iter().map(Matrix::norm).fold(0.0, larger);
    let twists = response.twists.iter().zip(&dense.twist_maps);
    let worst = twists.map(|(a, b)| a.sub(b).norm() / largest).fold(0.0, larger);
    out.at_most("sweep = KKT: twist maps of all links", worst, KKT_BOUND);
    out.equal(
        "rank = rank of the Jacobian on the loop nullspace",
        case.reduction.basis.rank,
        dense.rank,
    );
}
