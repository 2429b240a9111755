//! Mass and damping of a reduced model, beside those of the full mechanism.
//!
//! The condensed mass is XᵀMX with X the static shape per reduced coordinate (Guyan 1965); damping is
//! XᵀDX. The accelerability (\[A16\] Eq. 7) is J M⁻¹ Jᵀ with the loops' couplings in M⁻¹.

use forks_dynamics::{Loads, effective_inverse_mass, lowest_frequencies, tangent_stiffness};
use forks_mechanism::{
    JointId, Mechanism,
    dense::{self, Matrix},
    lie::Twist,
    link_jacobian, loops,
};

use crate::{
    basis::relative_twist,
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
        MassModel::Condensed => Some(condensed_mass(m, reduction)),
        MassModel::Accelerability => {
            inverse_mass.as_ref().and_then(|a| accelerability(a, reduction))
        }
    };
    let hessian = &reduction.model.data().hessian;
    let reduced = mass.as_ref().and_then(|m| dense::generalized_symmetric_eigen(hessian, m));
    ReducedInertia {
        damping: condensed_damping(m, reduction),
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

/// Σ X_lᵀ I_l X_l over links, plus rotors.
fn condensed_mass(m: &Mechanism, reduction: &Reduction) -> Matrix {
    let data = reduction.model.data();
    let n = reduction.model.dof();
    let mut out = Matrix::zeros(n, n);
    for (link, rest) in m.links().iter().zip(&data.links) {
        if link.inertia.is_zero() {
            continue;
        }
        let inertia = link.inertia.matrix().to_mat6();
        let momentum = Matrix::from_fn(6, 6, |i, j| inertia.rows[i][j]).mul(&rest.map);
        add(&mut out, &rest.map.transpose_mul(&momentum), 1.0);
    }
    let z = joint_map(reduction);
    for (i, j) in m.joints().iter().enumerate() {
        for (k, v) in m.velocity_range(JointId::new(i)).enumerate() {
            add_outer(&mut out, j.armature[k], z.row(v));
        }
    }
    out.symmetric_part()
}

/// Zᵀ D Z over joints, springs on combinations and bushings.
fn condensed_damping(m: &Mechanism, reduction: &Reduction) -> Matrix {
    let n = reduction.model.dof();
    let mut out = Matrix::zeros(n, n);
    let z = joint_map(reduction);
    for (i, j) in m.joints().iter().enumerate() {
        let range = m.velocity_range(JointId::new(i));
        if j.damping.is_zero() {
            continue;
        }
        let d = Matrix::from_fn(j.dof(), j.dof(), |a, b| j.damping.get(a, b));
        let local = z.block(range.start, 0, range.len(), n);
        add(&mut out, &local.transpose_mul(&d.mul(&local)), 1.0);
    }
    for s in m.combination_springs() {
        let mut row = vec![0.0; n];
        for (c, a) in &s.combination.terms {
            let zr = z.row(m.velocity_index(*c));
            row.iter_mut().zip(zr).for_each(|(r, z)| *r += a * z);
        }
        add_outer(&mut out, s.damping, &row);
    }
    let per_eta = per_eta(reduction);
    for b in m.bushings() {
        let d = b.damping.to_mat6();
        let relative = relative_twist(b, &reduction.response).mul(&per_eta);
        let force = Matrix::from_fn(6, 6, |i, j| d.rows[i][j]).mul(&relative);
        add(&mut out, &relative.transpose_mul(&force), 1.0);
    }
    out.symmetric_part()
}

/// Effector wrenches per unit η.
fn per_eta(reduction: &Reduction) -> Matrix {
    reduction.basis.dual.mul(&reduction.model.data().hessian)
}

/// Joint displacements per unit η, nv × n_η.
fn joint_map(reduction: &Reduction) -> Matrix {
    reduction.response.joints.mul(&per_eta(reduction))
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

fn add(out: &mut Matrix, x: &Matrix, s: f64) {
    for i in 0..out.rows() {
        for (o, x) in out.row_mut(i).iter_mut().zip(x.row(i)) {
            *o += s * x;
        }
    }
}

fn add_outer(out: &mut Matrix, s: f64, x: &[f64]) {
    if s == 0.0 {
        return;
    }
    for i in 0..x.len() {
        for (o, b) in out.row_mut(i).iter_mut().zip(x) {
            *o += s * x[i] * b;
        }
    }
}
