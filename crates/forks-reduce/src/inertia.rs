//! Mass and damping of a reduced model, beside those of the full mechanism.
//!
//! The condensed mass is XᵀMX with X the static shape per reduced coordinate (Guyan 1965); damping is
//! XᵀDX. The accelerability (\[A16\] Eq. 7) is J M⁻¹ Jᵀ with the loops' couplings in M⁻¹.

use forks_dynamics::{Loads, effective_inverse_mass, lowest_frequencies, tangent_stiffness};
use forks_mechanism::{
    Mechanism,
    dense::{self, Matrix},
    lie::Twist,
    link_jacobian, loops,
};

use crate::{
    reduce::Reduction,
    response::{Effector, Linearisation},
};

/// How the reduced mass is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MassModel {
    /// Static shapes: XᵀMX. Frequencies a little too high.
    #[default]
    Condensed,
    /// The mass felt at infinite frequency, (J M⁻¹ Jᵀ)⁻¹: frequencies far too high (\[A16\]).
    Accelerability,
}

/// Mass, damping and frequencies.
#[derive(Clone, Debug, PartialEq)]
pub struct ReducedInertia {
    /// n_η × n_η; `None` where the mass model does not exist (motions without mass).
    pub mass: Option<Matrix>,
    /// n_η × n_η.
    pub damping: Matrix,
    /// J M⁻¹ Jᵀ, 6E × 6E; `None` where a motion has no mass or the mechanism is too large.
    pub inverse_mass: Option<Matrix>,
    /// Frequencies of the reduced model, rad/s, ascending.
    pub reduced_frequencies: Vec<f64>,
    /// Lowest frequencies of the full mechanism, rad/s, ascending; empty where it is too large.
    pub full_frequencies: Vec<f64>,
}

/// Above this many coordinates the dense solves of the full mechanism's modes are left out.
pub const DENSE_LIMIT: usize = 1500;
/// How many of the full mechanism's frequencies are reported.
const REPORTED_FREQUENCIES: usize = 24;

/// Mass and damping of a reduction, and the full mechanism's frequencies at the same pose.
pub fn reduced_inertia(
    m: &Mechanism,
    effectors: &[Effector],
    at: Linearisation<'_>,
    reduction: &Reduction,
    model: MassModel,
) -> ReducedInertia {
    let poses = &reduction.response.world_from_link;
    let q = at.positions();
    let dense = m.velocity_count() <= DENSE_LIMIT;
    let inverse_mass = dense
        .then(|| {
            effective_inverse_mass(m, q, poses, &effector_jacobian(m, q, reduction, effectors))
        })
        .flatten();
    let mass = match model {
        MassModel::Condensed => Some(reduction.model.data().mass.clone()),
        MassModel::Accelerability => {
            inverse_mass.as_ref().and_then(|a| accelerability(a, reduction))
        }
    };
    let hessian = &reduction.model.data().hessian;
    let reduced = mass.as_ref().and_then(|m| dense::generalized_symmetric_eigen(hessian, m));
    ReducedInertia {
        damping: reduction.model.data().damping.clone(),
        reduced_frequencies: reduced.map_or_else(Vec::new, |(values, _)| {
            values.into_iter().map(|x| x.max(0.0).sqrt()).collect()
        }),
        full_frequencies: if dense { full_frequencies(m, at, poses) } else { vec![] },
        mass,
        inverse_mass,
    }
}

/// Jacobian of the effectors, 6E × nv.
fn effector_jacobian(
    m: &Mechanism,
    q: &[f64],
    reduction: &Reduction,
    effectors: &[Effector],
) -> Matrix {
    let mut out = Matrix::zeros(6 * effectors.len(), m.velocity_count());
    for (e, effector) in effectors.iter().enumerate() {
        let j = link_jacobian(m, q, &reduction.response.world_from_link, effector.link);
        let ad = effector.link_from_effector.adjoint();
        for k in 0..j.columns() {
            let t = ad.apply_inverse(Twist::from_array(core::array::from_fn(|i| j[(i, k)])));
            for (i, x) in t.to_array().into_iter().enumerate() {
                out[(6 * e + i, k)] = x;
            }
        }
    }
    out
}

/// (B⁺ A B⁺ᵀ)⁻¹.
fn accelerability(a: &Matrix, reduction: &Reduction) -> Option<Matrix> {
    let dual = &reduction.basis.dual;
    let reduced = dual.transpose_mul(&a.mul(dual)).symmetric_part();
    let inverse = dense::cholesky_solve(&reduced, &Matrix::identity(reduced.rows()))?;
    inverse.is_finite().then(|| inverse.symmetric_part())
}

fn full_frequencies(
    m: &Mechanism,
    at: Linearisation<'_>,
    poses: &[forks_mechanism::lie::Pose],
) -> Vec<f64> {
    let found = match at {
        Linearisation::Rest { q } => m.unstressed_at(q).ok().and_then(|m| {
            let lambda = vec![0.0; loops::constraint_rows(&m)];
            let k = tangent_stiffness(&m, q, poses, &Loads::none(), &lambda);
            lowest_frequencies(&m, q, poses, &k, REPORTED_FREQUENCIES)
        }),
        Linearisation::Loaded { q, loads, multipliers } => {
            let k = tangent_stiffness(m, q, poses, loads, multipliers);
            lowest_frequencies(m, q, poses, &k, REPORTED_FREQUENCIES)
        }
    };
    found.unwrap_or_default()
}
