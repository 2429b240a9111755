//! Rank and basis of the effectors' motion without tuning (\[A16\] §3.2 tunes a tolerance by hand).
//!
//! C = FᵀF with the factor F = (square root of all stiffness) × (displacements per effector
//! wrench). With S = diag(1/r, 1/r, 1/r, 1, 1, 1) per effector, the singular values of F S are the
//! square roots of the eigenvalues of S C S, accurate to rounding of the largest one instead of its
//! root.

use forks_mechanism::{
    Cable, Mechanism,
    lie::Pose,
    linalg::{Accuracy, Matrix, dense},
};

use crate::{attached::Attached, error::ReduceError, response::Response};

/// Singular values below this fraction of the largest count as zero. True ratios seen in mechanisms
/// stay above 1e-4, rounding below 1e-12; the reported gap says how clear the decision was.
const RANK_TOLERANCE: f64 = 1e-9;

/// Rank and basis of the effectors' motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Basis {
    /// Number of independent motions n_η.
    pub rank: usize,
    /// Singular values of F S, descending, √(m/N)-like units with lengths over r.
    pub singular_values: Vec<f64>,
    /// σ_k / σ_{k+1} at the rank; infinite where nothing follows.
    pub gap: f64,
    /// B = S⁻¹ U, 6E × n_η: ξ = B η.
    pub matrix: Matrix,
    /// S U, 6E × n_η: the left inverse of B, transposed.
    pub dual: Matrix,
}

/// Finds rank and basis. At loaded poses the joint displacements themselves are added to the
/// factor, so that motions which only the loads resist count as well.
pub(crate) fn basis(
    m: &Mechanism,
    response: &Response,
    attached: &[Attached],
    loaded: bool,
    names: &str,
) -> Result<Basis, ReduceError> {
    let r = response.radius;
    let scale = |i: usize| if i % 6 < 3 { 1.0 / r } else { 1.0 };
    let mut factor = stiffness_factor(m, response);
    for a in attached {
        push_superelement(&mut factor, a, &a.twists_along(&response.twists));
    }
    if loaded {
        factor.extend((0..response.joints.rows()).map(|i| response.joints.row(i).to_vec()));
    }
    let columns = response.compliance.rows();
    let f = Matrix::from_fn(factor.len(), columns, |i, j| factor[i][j] * scale(j));
    let d = dense::svd(&f).ok_or(ReduceError::NotFinite { quantity: "the compliance factor" })?;
    let largest = d.s.first().copied().unwrap_or(0.0).max(response.uncancelled);
    let rank = d.s.iter().filter(|&&s| s > RANK_TOLERANCE * largest).count();
    if rank == 0 {
        return Err(ReduceError::Immobile { names: names.into() });
    }
    let gap = match d.s.get(rank) {
        Some(&next) if next > 0.0 => d.s[rank - 1] / next,
        _ => f64::INFINITY,
    };
    let u = |i: usize, k: usize| d.v[(i, k)];
    Ok(Basis {
        rank,
        gap,
        matrix: Matrix::from_fn(columns, rank, |i, k| u(i, k) / scale(i)),
        dual: Matrix::from_fn(columns, rank, |i, k| u(i, k) * scale(i)),
        singular_values: d.s,
    })
}

/// Rows of F: √K δθ for joint springs, √k aᵀδθ for springs on combinations, √K ζ for bushings,
/// √k δℓ for cables.
fn stiffness_factor(m: &Mechanism, response: &Response) -> Vec<Vec<f64>> {
    let z = &response.joints;
    let mut rows = Vec::new();
    for (i, j) in m.joints().iter().enumerate() {
        let Some(spring) = &j.spring else { continue };
        let range = m.velocity_range(forks_mechanism::JointId::new(i));
        let k = Matrix::from_fn(j.dof(), j.dof(), |a, b| spring.stiffness.get(a, b));
        let local = z.block(range.start, 0, j.dof(), z.columns());
        push_root(&mut rows, &k, &local);
    }
    for s in m.combination_springs() {
        let mut row = vec![0.0; z.columns()];
        for (c, a) in &s.combination.terms {
            let zr = z.row(m.velocity_index(*c));
            row.iter_mut().zip(zr).for_each(|(r, z)| *r += s.stiffness.sqrt() * a * z);
        }
        rows.push(row);
    }
    for b in m.bushings() {
        let relative = relative_twist(b, &response.world_from_link, &response.twists);
        let k = b.stiffness.to_mat6();
        push_root(&mut rows, &Matrix::from_fn(6, 6, |i, j| k.rows[i][j]), &relative);
    }
    for c in m.cables() {
        let (length, mut row) = length_change(c, &response.world_from_link, &response.twists);
        let root = c.tension(length).stiffness.sqrt();
        row.iter_mut().for_each(|x| *x *= root);
        rows.push(row);
    }
    rows
}

/// √K ξ over the frames, and √C₀⁻¹ (ξ_c − A ξ_B); lengths in metres.
fn push_superelement(rows: &mut Vec<Vec<f64>>, a: &Attached, twists: &Matrix) {
    let e = &a.element;
    let k = e.stiffness.rows();
    if k > 0 {
        push_root(rows, &e.stiffness, &twists.block(0, 0, k, twists.columns()));
    }
    if e.output_compliance.rows() > 0 {
        let off = a.relation().mul(twists);
        let (values, vectors) = e.output_compliance.jacobi_eigen(Accuracy::Norm);
        let top = values.iter().fold(0.0f64, |m, v| m.max(*v));
        for (i, &value) in values.iter().enumerate().filter(|(_, v)| **v > 1e-12 * top) {
            let s = 1.0 / value.sqrt();
            rows.push(off.transpose_mul_vec(&vectors.column(i)).iter().map(|x| s * x).collect());
        }
    }
}

/// Appends the rows √K x, K = V diag(λ) Vᵀ, √K = diag(√λ) Vᵀ.
fn push_root(rows: &mut Vec<Vec<f64>>, k: &Matrix, x: &Matrix) {
    if k.rows() == 1 {
        let s = k[(0, 0)].sqrt();
        rows.push(x.row(0).iter().map(|x| s * x).collect());
        return;
    }
    let (values, vectors) = k.jacobi_eigen(Accuracy::Norm);
    for (i, &value) in values.iter().enumerate() {
        let s = value.max(0.0).sqrt();
        rows.push(x.transpose_mul_vec(&vectors.column(i)).iter().map(|x| s * x).collect());
    }
}

/// A cable's length, and its change per column of the links' twists.
pub(crate) fn length_change(
    c: &Cable,
    world_from_link: &[Pose],
    twists: &[Matrix],
) -> (f64, Vec<f64>) {
    let mut row = vec![0.0; twists.first().map_or(0, Matrix::columns)];
    let length = c.length_and_gradient(world_from_link, |l, w| {
        let change = twists[l.index()].transpose_mul_vec(&w.to_array());
        row.iter_mut().zip(change).for_each(|(r, x)| *r += x);
    });
    (length, row)
}

/// Twist of a bushing's second frame against its first, in the second frame, per column of
/// the links' twists.
pub(crate) fn relative_twist(
    b: &forks_mechanism::Bushing,
    world_from_link: &[Pose],
    twists: &[Matrix],
) -> Matrix {
    let world = |l: forks_mechanism::LinkId| world_from_link[l.index()];
    let second: Pose = world(b.link_b) * b.b_from_bushing;
    let adjoint = |l: forks_mechanism::LinkId| {
        let ad = (second.inverse() * world(l)).adjoint().matrix();
        Matrix::from_fn(6, 6, |i, j| ad.rows[i][j])
    };
    adjoint(b.link_b)
        .mul(&twists[b.link_b.index()])
        .sub(&adjoint(b.link_a).mul(&twists[b.link_a.index()]))
}
