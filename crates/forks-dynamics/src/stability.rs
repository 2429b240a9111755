//! Is an equilibrium stable, and which joints move where nothing resists?

use forks_mechanism::{JointId, Mechanism, dense, lie::Matrix};

use crate::{constraint_space::ConstraintSpace, modes::moving_joints};

/// Stiffness of an admissible motion below this part of the largest one counts as none.
const FREE_MOTION: f64 = 1e-13;
/// Above this part of the largest entry the antisymmetric part of K_t matters.
const NOT_SYMMETRIC: f64 = 1e-9;
/// A joint takes part in a free motion if it moves by more than this part of the joint that moves most.
const TAKES_PART: f64 = 1e-3;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stability {
    Stable,
    Unstable,
    /// Joints that move in the unresisted motions.
    Free(Vec<JointId>),
}

/// True if the symmetric part of the scaled tangent is positive definite on the admissible motions.
pub(crate) fn is_positive_definite(k: &Matrix, space: &ConstraintSpace) -> bool {
    let size = k.max_abs();
    let on_motions = space.admissible(k, size).symmetric_part();
    on_motions.is_finite()
        && dense::cholesky_solve(&on_motions, &Matrix::zeros(k.rows(), 1)).is_some()
}

/// Judges the scaled tangent stiffness on the admissible motions.
pub(crate) fn stability(m: &Mechanism, k: &Matrix, space: &ConstraintSpace) -> Stability {
    let size = k.max_abs();
    if k.rows() == space.rank() {
        return Stability::Stable;
    }
    if size == 0.0 {
        let motions = dense::nullspace(&space.basis, FREE_MOTION);
        return Stability::Free(motions.map_or(vec![], |n| moving_joints(m, &n.1, TAKES_PART)));
    }
    let on_motions = space.admissible(k, size);
    let symmetric = on_motions.symmetric_part();
    let Some((values, vectors)) = dense::symmetric_eigen(&symmetric) else {
        return Stability::Unstable;
    };
    let free = (0..values.len())
        .filter(|&i| values[i].abs() <= FREE_MOTION * size * (values.len() as f64).sqrt())
        .collect::<Vec<_>>();
    let skewness = on_motions.sub(&symmetric).max_abs();
    if !free.is_empty() && skewness <= NOT_SYMMETRIC * size {
        let motions = Matrix::from_fn(k.rows(), free.len(), |i, j| vectors[(i, free[j])]);
        return Stability::Free(moving_joints(m, &motions, TAKES_PART));
    }
    if values[0] > 0.0 {
        return Stability::Stable;
    }
    if skewness <= NOT_SYMMETRIC * size {
        return Stability::Unstable;
    }
    match dense::eigenvalues(&on_motions) {
        Some(all) => {
            let real = all.iter().filter(|(re, im)| im.abs() <= 1e-9 * re.abs().max(1e-300));
            if real.clone().any(|(re, _)| re.abs() <= FREE_MOTION * size) {
                let motions = dense::nullspace(&on_motions, FREE_MOTION).map(|n| n.1);
                Stability::Free(motions.map_or(vec![], |n| moving_joints(m, &n, TAKES_PART)))
            } else if real.clone().any(|(re, _)| *re < 0.0) {
                Stability::Unstable
            } else {
                Stability::Stable
            }
        }
        None => Stability::Unstable,
    }
}
