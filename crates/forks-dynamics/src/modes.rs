//! The mechanism linearised at a pose: admissible motions, modes, mass felt at a point.

use forks_mechanism::{
    Mechanism,
    kinematics::loops,
    lie::Pose,
    linalg::{Matrix, dense},
};

use crate::{
    constraint_space::RANK_TOLERANCE, loads::Loads, mass::mass_matrix, scaling::Scaling,
    tangent::tangent_stiffness,
};

/// Motions whose compliance-weighted mass is below this part of the largest have no finite
/// frequency.
const MASSLESS: f64 = 1e-13;

/// Natural modes of a linearised mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct Modes {
    /// ω² (rad²/s²), ascending; negative for a motion away from an unstable equilibrium. Motions
    /// without mass have no entry.
    pub eigenvalues: Vec<f64>,
    /// One column per mode (velocity coordinates of all joints), scaled so that xᵀMx = 1.
    pub shapes: Matrix,
}

impl Modes {
    /// Natural frequencies, rad/s, ascending; 0 where the eigenvalue is not positive.
    pub fn frequencies(&self) -> Vec<f64> {
        self.eigenvalues.iter().map(|x| x.max(0.0).sqrt()).collect()
    }
}

/// A basis N (nv × mobility) of the motions that the loop equations admit at `q`, orthonormal in
/// coordinates made dimensionless by the mechanism's size.
pub fn admissible_motions(m: &Mechanism, q: &[f64], world_from_link: &[Pose]) -> Matrix {
    let scaling = Scaling::new(m, q);
    let mut g = loops::constraint_jacobian(m, q, world_from_link);
    scaling.jacobian(&mut g);
    let n = match dense::nullspace(&g, RANK_TOLERANCE) {
        Some((_, n)) => n,
        None => Matrix::zeros(m.velocity_count(), 0),
    };
    Matrix::from_fn(n.rows(), n.columns(), |i, j| scaling.coordinates[i] * n[(i, j)])
}

/// Modes of K x = ω² M x on the admissible motions, for the symmetric part of the tangent stiffness
/// `k` (nv×nv, [`tangent_stiffness`]).
///
/// `None` where neither the mass nor the stiffness is positive definite on the admissible motions.
pub fn natural_modes(
    m: &Mechanism,
    q: &[f64],
    world_from_link: &[Pose],
    k: &Matrix,
) -> Option<Modes> {
    let (n, stiffness, mass) = on_admissible_motions(m, q, world_from_link, k);
    let (eigenvalues, vectors) = match dense::generalized_symmetric_eigen(&stiffness, &mass) {
        Some(found) if found.0.iter().all(|x| x.is_finite()) => found,
        _ => massless_modes(&stiffness, &mass)?,
    };
    Some(Modes { eigenvalues, shapes: n.mul(&vectors) })
}

/// Modes at the pose without loads: joint springs, bushings and cables alone.
pub fn unloaded_modes(m: &Mechanism, q: &[f64], world_from_link: &[Pose]) -> Option<Modes> {
    let lambda = vec![0.0; loops::constraint_rows(m)];
    let k = tangent_stiffness(m, q, world_from_link, &Loads::none(), &lambda);
    natural_modes(m, q, world_from_link, &k)
}

/// The lowest natural frequencies, rad/s, ascending, accurate also where the highest are larger by
/// many orders: from M x = ω⁻² K x, whose largest eigenvalues keep their digits. Arguments as for
/// [`natural_modes`].
pub fn lowest_frequencies(
    m: &Mechanism,
    q: &[f64],
    world_from_link: &[Pose],
    k: &Matrix,
    count: usize,
) -> Option<Vec<f64>> {
    let mut out = natural_modes(m, q, world_from_link, k)?.frequencies();
    let (_, stiffness, mass) = on_admissible_motions(m, q, world_from_link, k);
    // Where the stiffness is positive definite: no free or unstable motion.
    if let Some((eigenvalues, _)) = massless_modes(&stiffness, &mass) {
        let low = eigenvalues.iter().map(|x| x.max(0.0).sqrt());
        out.iter_mut().zip(low).for_each(|(o, x)| *o = x);
    }
    out.truncate(count);
    Some(out)
}

/// A basis N of the admissible motions, NᵀKN and NᵀMN.
fn on_admissible_motions(
    m: &Mechanism,
    q: &[f64],
    world_from_link: &[Pose],
    k: &Matrix,
) -> (Matrix, Matrix, Matrix) {
    let n = admissible_motions(m, q, world_from_link);
    let stiffness = n.transpose_mul(&k.mul(&n)).symmetric_part();
    let mass = n.transpose_mul(&mass_matrix(m, q).mul(&n)).symmetric_part();
    (n, stiffness, mass)
}

/// M x = ν K x with ν = ω⁻² where some motions have no mass; those are left out.
fn massless_modes(stiffness: &Matrix, mass: &Matrix) -> Option<(Vec<f64>, Matrix)> {
    let (nu, x) = dense::generalized_symmetric_eigen(mass, stiffness)?;
    let largest = nu.last().copied().unwrap_or(0.0);
    let kept: Vec<usize> = (0..nu.len()).rev().filter(|&i| nu[i] > MASSLESS * largest).collect();
    let values = kept.iter().map(|&i| 1.0 / nu[i]).collect();
    // xᵀKx = 1 gives xᵀMx = ν.
    let vectors =
        Matrix::from_fn(x.rows(), kept.len(), |i, j| x[(i, kept[j])] / nu[kept[j]].sqrt());
    Some((values, vectors))
}

/// Inverse mass J N (NᵀMN)⁻¹ Nᵀ Jᵀ felt through a Jacobian `j` (rows × nv), loops included (\[A16\]
/// Eq. 7).
///
/// `None` where an admissible motion has no mass.
pub fn effective_inverse_mass(
    m: &Mechanism,
    q: &[f64],
    world_from_link: &[Pose],
    j: &Matrix,
) -> Option<Matrix> {
    let n = admissible_motions(m, q, world_from_link);
    let mass = n.transpose_mul(&mass_matrix(m, q).mul(&n)).symmetric_part();
    let jn = j.mul(&n);
    let out = jn.mul(&dense::cholesky_solve(&mass, &jn.transpose())?);
    out.is_finite().then(|| out.symmetric_part())
}
