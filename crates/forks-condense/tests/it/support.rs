//! The direct route: K over joints and free nodes at once, dense.

pub(crate) use forks_testkit::soft_chain::difference;

use forks_condense::{
    Condensed, Patch, TissuePose, condense,
    deform::{
        Curvature, SoftBody,
        dynamics::mechanism::{Mechanism, lie::glam::DVec3, linalg::Matrix},
    },
    finger::{BuiltFinger, SoftFinger},
    reduce::{Problem, ProblemOptions},
};
use forks_testkit::soft_chain::{self, SoftChain};

pub(crate) fn small() -> SoftFinger {
    SoftFinger { cells: [9, 3, 3], poisson: 0.3, ..SoftFinger::default() }
}

pub(crate) fn at_rest(f: &BuiltFinger, patches: &[Patch], modes: usize) -> Condensed {
    let q = f.mechanism.start_positions();
    let at = TissuePose { q: &q, x: f.body.mesh().nodes(), patch_wrenches: &[] };
    condense("finger", &f.body, &f.mechanism, &at, patches, modes).unwrap()
}

pub(crate) fn problem(f: &BuiltFinger, elements: Vec<&Condensed>, effectors: &[&str]) -> Problem {
    let elements = elements.into_iter().map(|c| c.element.clone()).collect();
    Problem::with_superelements(&f.mechanism, elements, effectors, &ProblemOptions::default())
        .unwrap()
}

/// E of a patch at rest: 6 × 3 nodes, world axes at the mean.
pub(crate) fn patch_rows(patch: &Patch, x: &[DVec3]) -> Matrix {
    soft_chain::patch_rows(&patch.nodes, x)
}

/// Dense stiffness of the tissue at positions.
pub(crate) fn stiffness(body: &SoftBody, x: &[DVec3]) -> Matrix {
    let mut k = body.elastic().matrix();
    body.elastic().stiffness(x, Curvature::Exact, &mut k);
    k.to_dense()
}

pub(crate) fn whole(f: &BuiltFinger, joints: f64) -> SoftChain {
    let x = f.body.mesh().nodes();
    let k = stiffness(&f.body, x);
    SoftChain::new(&f.mechanism, x, |n| f.body.holder(n), &k, joints)
}

/// Motion of all nodes per joint coordinate of the finger, then per displacement of a free node.
pub(crate) fn motions(f: &BuiltFinger) -> Matrix {
    whole(f, 0.0).motions
}

/// K over joints and free nodes.
pub(crate) fn whole_stiffness(f: &BuiltFinger, joints: f64) -> Matrix {
    whole(f, joints).stiffness
}

/// C of rows over all nodes, from the whole.
pub(crate) fn compliance(f: &BuiltFinger, joints: f64, rows: &Matrix) -> Matrix {
    whole(f, joints).compliance(rows).unwrap()
}

pub(crate) fn mechanism(f: &BuiltFinger) -> &Mechanism {
    &f.mechanism
}
