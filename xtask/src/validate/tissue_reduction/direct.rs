//! The finger with its rival, the whole over all joints and free nodes.

use forks_condense::{
    Condensed, Patch, TissuePose, condense,
    deform::Curvature,
    finger::BuiltFinger,
    reduce::{Problem, ProblemOptions},
};
use forks_mechanism::{lie::glam::DVec3, linalg::Matrix};
use forks_testkit::soft_chain::{self, SoftChain};
pub(super) use forks_testkit::soft_chain::{difference, node_rows};

use crate::words::said;

/// The finger with its dense matrices at rest.
pub(super) struct Direct(pub(super) SoftChain);

impl Direct {
    pub(super) fn new(f: &BuiltFinger, joints: f64) -> Self {
        let x = f.body.mesh().nodes();
        let mut k = f.body.elastic().matrix();
        f.body.elastic().stiffness(x, Curvature::Exact, &mut k);
        let holder = |n: usize| f.body.holder(n);
        Self(SoftChain::new(&f.mechanism, x, holder, &k.to_dense(), joints))
    }

    /// Displacements of joints and free nodes per unit of every row's load.
    pub(super) fn response(&self, rows: &Matrix) -> Result<Matrix, String> {
        self.0.response(rows).ok_or_else(|| "the whole is not stable".to_owned())
    }

    /// C of rows over all nodes.
    pub(super) fn compliance(&self, rows: &Matrix) -> Result<Matrix, String> {
        self.0.compliance(rows).ok_or_else(|| "the whole is not stable".to_owned())
    }
}

/// E of a patch at positions: the rigid twist about its mean that fits best, world axes.
pub(super) fn patch_rows(patch: &Patch, x: &[DVec3]) -> Matrix {
    soft_chain::patch_rows(&patch.nodes, x)
}

pub(super) fn condensed(f: &BuiltFinger, modes: usize) -> Result<Condensed, String> {
    let q = f.mechanism.start_positions();
    let at = TissuePose { q: &q, x: f.body.mesh().nodes(), patch_wrenches: &[] };
    let pad = std::slice::from_ref(&f.pad);
    condense("finger", &f.body, &f.mechanism, &at, pad, modes).map_err(said)
}

pub(super) fn problem(
    f: &BuiltFinger,
    c: &Condensed,
    effectors: &[&str],
) -> Result<Problem, String> {
    let elements = vec![c.element.clone()];
    let options = ProblemOptions::default();
    Problem::with_superelements(&f.mechanism, elements, effectors, &options).map_err(said)
}
