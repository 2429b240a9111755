//! The direct route: K over joints and free nodes at once, dense.

use forks_condense::{
    Condensed, Patch, TissuePose, condense,
    deform::{
        Curvature, SoftBody,
        dynamics::mechanism::{
            Mechanism,
            lie::{Pose, glam::DVec3},
            linalg::{Matrix, dense},
        },
    },
    finger::{BuiltFinger, SoftFinger},
    reduce::{Problem, ProblemOptions},
};

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

/// E of a patch at rest by least squares over its nodes: 6 × 3 nodes, world axes at the mean.
pub(crate) fn patch_rows(patch: &Patch, x: &[DVec3]) -> Matrix {
    let middle = patch.nodes.iter().map(|n| x[*n]).sum::<DVec3>() / patch.nodes.len() as f64;
    let rigid = Matrix::from_fn(3 * patch.nodes.len(), 6, |i, j| {
        let (r, axis) = (x[patch.nodes[i / 3]] - middle, DVec3::AXES[j % 3]);
        let u = if j < 3 { axis } else { axis.cross(r) };
        u[i % 3]
    });
    let inverse = dense::lu_solve(&rigid.transpose_mul(&rigid), &rigid.transpose());
    let mut out = Matrix::zeros(6, 3 * x.len());
    for (i, n) in patch.nodes.iter().enumerate() {
        for k in 0..3 {
            for row in 0..6 {
                out[(row, 3 * n + k)] = inverse[(row, 3 * i + k)];
            }
        }
    }
    out
}

/// Motion of all nodes per joint coordinate of the finger (ball joints, at rest: turns of all that
/// is outward of them), then per displacement of a free node.
pub(crate) fn motions(f: &BuiltFinger) -> Matrix {
    let (m, x) = (&f.mechanism, f.body.mesh().nodes());
    let poses: Vec<Pose> = m.link_poses(&m.start_positions());
    let nv = m.velocity_count();
    let free: Vec<usize> = (0..x.len()).filter(|n| f.body.holder(*n).is_none()).collect();
    let mut out = Matrix::zeros(3 * x.len(), nv + 3 * free.len());
    for n in 0..x.len() {
        let Some(holder) = f.body.holder(n) else { continue };
        for bone in 1..=holder.index() {
            for k in 0..3 {
                let u = DVec3::AXES[k].cross(x[n] - poses[bone].translation);
                for a in 0..3 {
                    out[(3 * n + a, 3 * (bone - 1) + k)] = u[a];
                }
            }
        }
    }
    for (i, n) in free.iter().enumerate() {
        for a in 0..3 {
            out[(3 * n + a, nv + 3 * i + a)] = 1.0;
        }
    }
    out
}

/// Dense stiffness of the tissue at positions.
pub(crate) fn stiffness(body: &SoftBody, x: &[DVec3]) -> Matrix {
    let mut k = body.elastic().matrix();
    body.elastic().stiffness(x, Curvature::Exact, &mut k);
    k.to_dense()
}

/// K over joints and free nodes.
pub(crate) fn whole_stiffness(f: &BuiltFinger, joints: f64) -> Matrix {
    let g = motions(f);
    let k = stiffness(&f.body, f.body.mesh().nodes());
    let mut out = g.transpose_mul(&k.mul(&g)).symmetric_part();
    for i in 0..f.mechanism.velocity_count() {
        out[(i, i)] += joints;
    }
    out
}

/// C of rows over all nodes, from the whole.
pub(crate) fn compliance(f: &BuiltFinger, joints: f64, rows: &Matrix) -> Matrix {
    let g = motions(f);
    let e = rows.mul(&g);
    let y = dense::cholesky_solve(&whole_stiffness(f, joints), &e.transpose()).unwrap();
    e.mul(&y).symmetric_part()
}

pub(crate) fn difference(a: &Matrix, b: &Matrix) -> f64 {
    a.sub(b).max_abs() / b.max_abs()
}

pub(crate) fn mechanism(f: &BuiltFinger) -> &Mechanism {
    &f.mechanism
}
