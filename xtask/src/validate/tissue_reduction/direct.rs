//! The finger with its rival, the whole over all joints and free nodes.

use forks_condense::{Patch, deform::Curvature, finger::BuiltFinger};
use forks_mechanism::{lie::glam::DVec3, linalg::Matrix};
use forks_testkit::soft_chain::{self, SoftChain};
pub(super) use forks_testkit::soft_chain::{difference, node_rows};

pub(super) use crate::finger::{condensed, problem};

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
