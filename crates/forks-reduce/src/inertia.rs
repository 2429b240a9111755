//! Mass and damping of a reduced model, beside those of the full mechanism.
//!
//! The condensed mass is XᵀMX with X the static shape per reduced coordinate \[Guyan65\]; damping
//! is XᵀDX. The accelerability (\[A16\] Eq. 7) is J M⁻¹ Jᵀ with the loops' couplings in M⁻¹.

use forks_dynamics::{Loads, effective_inverse_mass, lowest_frequencies, tangent_stiffness};
use forks_mechanism::{
    Mechanism,
    lie::Twist,
    linalg::{Matrix, dense},
    link_jacobian, loops,
};
use forks_rom::ReducedModel;

use crate::{
    damping::Damping,
    dynamic::dynamic_model,
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
    /// Static shapes and the lowest modes with all effectors held \[CB68\], which
    /// become further coordinates of the model.
    CraigBampton {
        /// How many; fewer where there are not so many.
        modes: usize,
    },
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
/// Motions whose compliance-weighted mass is below this part of the largest have no finite
/// frequency.
const MASSLESS: f64 = 1e-13;
/// How many of the full mechanism's frequencies are reported.
const REPORTED_FREQUENCIES: usize = 24;

/// Mass and damping of a reduction with its joints' damping, and the full mechanism's frequencies
/// at the same pose: [`inertia_report`] of [`dynamic_model`]. The mass is `None` where that model
/// does not exist.
pub fn reduced_inertia(
    m: &Mechanism,
    effectors: &[Effector],
    at: Linearisation<'_>,
    reduction: &Reduction,
    mass: MassModel,
) -> ReducedInertia {
    match dynamic_model(m, effectors, at, reduction, mass, &Damping::default()) {
        Ok(model) => inertia_report(m, effectors, at, reduction, &model),
        Err(_) => ReducedInertia {
            mass: None,
            reduced_frequencies: vec![],
            ..inertia_report(m, effectors, at, reduction, &reduction.model)
        },
    }
}

/// Mass, damping and frequencies of a model of this reduction, beside those of the full mechanism.
pub fn inertia_report(
    m: &Mechanism,
    effectors: &[Effector],
    at: Linearisation<'_>,
    reduction: &Reduction,
    model: &ReducedModel,
) -> ReducedInertia {
    let poses = &reduction.response.world_from_link;
    let dense = m.velocity_count() <= DENSE_LIMIT;
    let data = model.data();
    ReducedInertia {
        mass: Some(data.mass.clone()),
        damping: data.damping.clone(),
        inverse_mass: dense
            .then(|| inverse_mass(m, effectors, at.positions(), reduction))
            .flatten(),
        reduced_frequencies: frequencies(&data.mass, &data.hessian),
        full_frequencies: if dense { full_frequencies(m, at, poses) } else { vec![] },
    }
}

/// ω from M x = ω⁻² 𝓗 x, ascending; none for motions without mass.
fn frequencies(mass: &Matrix, hessian: &Matrix) -> Vec<f64> {
    let Some((nu, _)) = dense::generalized_symmetric_eigen(mass, hessian) else { return vec![] };
    let least = MASSLESS * nu.last().copied().unwrap_or(0.0);
    nu.iter().rev().filter(|&&x| x > least).map(|x| (1.0 / x).sqrt()).collect()
}

/// J M⁻¹ Jᵀ with the loops in M⁻¹, 6E × 6E; `None` where a motion has no mass.
pub(crate) fn inverse_mass(
    m: &Mechanism,
    effectors: &[Effector],
    q: &[f64],
    reduction: &Reduction,
) -> Option<Matrix> {
    let j = effector_jacobian(m, q, reduction, effectors);
    effective_inverse_mass(m, q, &reduction.response.world_from_link, &j)
}

/// Jacobian of the effectors, 6E × nv.
pub(crate) fn effector_jacobian(
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
pub(crate) fn accelerability(a: &Matrix, reduction: &Reduction) -> Option<Matrix> {
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
