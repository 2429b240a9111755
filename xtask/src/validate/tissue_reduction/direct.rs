//! The rival: one dense matrix over all joints and free nodes of the finger.

use forks_condense::{
    Condensed, Patch, TissuePose, condense,
    deform::Curvature,
    finger::BuiltFinger,
    reduce::{Problem, ProblemOptions},
};
use forks_mechanism::{
    lie::glam::DVec3,
    linalg::{Matrix, dense},
};

use crate::words::said;

/// The finger with its dense matrices at rest.
pub(super) struct Direct {
    /// Motion of all nodes per joint coordinate and per displacement of a free node.
    pub(super) motions: Matrix,
    /// K over these.
    pub(super) stiffness: Matrix,
}

impl Direct {
    pub(super) fn new(f: &BuiltFinger, joints: f64) -> Self {
        let (m, x) = (&f.mechanism, f.body.mesh().nodes());
        let poses = m.link_poses(&m.start_positions());
        let nv = m.velocity_count();
        let free: Vec<usize> = (0..x.len()).filter(|n| f.body.holder(*n).is_none()).collect();
        let mut motions = Matrix::zeros(3 * x.len(), nv + 3 * free.len());
        for n in 0..x.len() {
            let Some(holder) = f.body.holder(n) else { continue };
            for bone in 1..=holder.index() {
                for k in 0..3 {
                    let u = DVec3::AXES[k].cross(x[n] - poses[bone].translation);
                    (0..3).for_each(|a| motions[(3 * n + a, 3 * (bone - 1) + k)] = u[a]);
                }
            }
        }
        for (i, n) in free.iter().enumerate() {
            (0..3).for_each(|a| motions[(3 * n + a, nv + 3 * i + a)] = 1.0);
        }
        let mut k = f.body.elastic().matrix();
        f.body.elastic().stiffness(x, Curvature::Exact, &mut k);
        let mut stiffness = motions.transpose_mul(&k.to_dense().mul(&motions)).symmetric_part();
        (0..nv).for_each(|i| stiffness[(i, i)] += joints);
        Self { motions, stiffness }
    }

    /// Displacements of joints and free nodes per unit of every row's load.
    pub(super) fn response(&self, rows: &Matrix) -> Result<Matrix, String> {
        let e = rows.mul(&self.motions);
        let found = dense::cholesky_solve(&self.stiffness, &e.transpose());
        found.ok_or_else(|| "the whole is not stable".to_owned())
    }

    /// C of rows over all nodes.
    pub(super) fn compliance(&self, rows: &Matrix) -> Result<Matrix, String> {
        Ok(rows.mul(&self.motions).mul(&self.response(rows)?).symmetric_part())
    }
}

/// E of a patch at positions: the rigid twist about its mean that fits best, world axes.
pub(super) fn patch_rows(patch: &Patch, x: &[DVec3]) -> Matrix {
    let middle = patch.nodes.iter().map(|n| x[*n]).sum::<DVec3>() / patch.nodes.len() as f64;
    let rigid = Matrix::from_fn(3 * patch.nodes.len(), 6, |i, j| {
        let (r, axis) = (x[patch.nodes[i / 3]] - middle, DVec3::AXES[j % 3]);
        (if j < 3 { axis } else { axis.cross(r) })[i % 3]
    });
    let inverse = dense::lu_solve(&rigid.transpose_mul(&rigid), &rigid.transpose());
    let mut out = Matrix::zeros(6, 3 * x.len());
    for (i, n) in patch.nodes.iter().enumerate() {
        for k in 0..3 {
            (0..6).for_each(|row| out[(row, 3 * n + k)] = inverse[(row, 3 * i + k)]);
        }
    }
    out
}

/// Rows of the displacements of some nodes.
pub(super) fn node_rows(nodes: &[usize], count: usize) -> Matrix {
    let of = |i: usize, j: usize| f64::from(u8::from(j == 3 * nodes[i / 3] + i % 3));
    Matrix::from_fn(3 * nodes.len(), 3 * count, of)
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

pub(super) fn difference(a: &Matrix, b: &Matrix) -> f64 {
    a.sub(b).max_abs() / b.max_abs()
}
