//! What wrenches that keep their world axes add to the stiffness of the effectors.

use forks_mechanism::{
    lie::{Wrench, skew},
    linalg::{Matrix, dense},
};

use crate::error::ReduceError;

/// `Q = blockdiag [[0, ½[f]×], [−½[f]×, ½[τ]×]]` of the static wrench on each effector (effector
/// frames), 6E × 6E: in exponential coordinates ξ a wrench w that keeps its world axes does the
/// work w · ξ + ½ ξᵀQξ to second order.
pub fn load_stiffness(static_wrenches: &[Wrench]) -> Matrix {
    let n = 6 * static_wrenches.len();
    let mut q = Matrix::zeros(n, n);
    for (e, w) in static_wrenches.iter().enumerate() {
        let (f, t) = (skew(w.force) * 0.5, skew(w.torque) * 0.5);
        for i in 0..3 {
            for j in 0..3 {
                q[(6 * e + i, 6 * e + 3 + j)] = f.col(j)[i];
                q[(6 * e + 3 + i, 6 * e + j)] = -f.col(j)[i];
                q[(6 * e + 3 + i, 6 * e + 3 + j)] = t.col(j)[i];
            }
        }
    }
    q
}

/// Compliance under loads that keep their world axes, from the compliance C_s in exponential
/// coordinates: C = C_s (1 − Q C_s)⁻¹; symmetric only without torques.
///
/// # Errors
/// [`ReduceError::NotFinite`] at a pose of zero stiffness.
pub(crate) fn world_fixed_compliance(
    c: &Matrix,
    static_wrenches: &[Wrench],
) -> Result<Matrix, ReduceError> {
    if static_wrenches.iter().all(|w| *w == Wrench::ZERO) {
        return Ok(c.clone());
    }
    let system = Matrix::identity(c.rows()).sub(&load_stiffness(static_wrenches).mul(c));
    // X (1 − Q C_s) = C_s, transposed for the solver.
    let out = dense::lu_solve(&system.transpose(), &c.transpose()).transpose();
    if out.is_finite() {
        return Ok(out);
    }
    Err(ReduceError::NotFinite { quantity: "the compliance under world-fixed loads" })
}
